/**
 * What the page begins with. It asks the service who is signed in, and what they may see, while the browser still loads what shows it.
 */
import { connect } from "@appkernel/react-admin"
import { isObject } from "./data/documents.ts"
import { patiently } from "./data/retry.ts"
import { initialLocale } from "./messages/locales.ts"

const metaOf = (selector: string) => document.querySelector<HTMLMetaElement>(`meta[${selector}]`)

/** Where the service is, what describes it, and where somebody signs in by a cookie, as the page says. */
const settings = (): {
  readonly url: string
  readonly document?: string
  readonly session?: string
  readonly tokens?: string
} => {
  const said: unknown = JSON.parse(metaOf("name=appkernel-explorer")?.content ?? "{}")
  const { document, session, tokens, url } = isObject(said) ? said : {}
  return {
    url: new URL(typeof url === "string" ? url : "/", globalThis.location.href).href,
    ...(typeof document === "string" ? { document } : {}),
    ...(typeof session === "string" ? { session } : {}),
    ...(typeof tokens === "string" ? { tokens } : {})
  }
}

const start = async (root: Element): Promise<void> => {
  const locale = initialLocale()
  const connection = connect({ ...settings(), language: locale })
  const checked = patiently(() => connection.authProvider.checkAuth({}))
  // Whoever shows the page asks again, and is told why it failed.
  void checked.then(() => connection.describe()).catch(() => undefined)
  // Where it is needed, its failure is met.
  if (locale === "de") void import("./messages/german.ts").catch(() => undefined)
  const { show } = await import("./page.tsx")
  // Browsers hide the nonce from everything but the property.
  await show(root, { checked, connection, locale, nonce: metaOf("property=csp-nonce")?.nonce })
}

/** Says that the page could not be loaded, in the place of what the document begins with. */
const showFailure = (root: Element): void => {
  const [text, label] = initialLocale() === "de"
    ? ["Diese Seite konnte nicht geladen werden.", "Neu laden"]
    : ["This page could not be loaded.", "Load it again"]
  const said = document.createElement("p")
  said.setAttribute("role", "alert")
  said.textContent = text
  const button = document.createElement("button")
  button.textContent = label
  button.addEventListener("click", () => globalThis.location.reload())
  const shell = root.querySelector(".shell") ?? root
  shell.append(said, button)
}

const root = document.querySelector("#root")
if (root !== null) void start(root).catch(() => showFailure(root))
