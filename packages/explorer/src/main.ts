/**
 * What the page begins with. It asks the service who is signed in, and what they may see, while the browser still loads what shows it.
 * Who can't be signed in gets the form first.
 */
import { connect, type KernelConnection } from "@appkernel/react-admin"
import { isObject } from "./data/documents.ts"
import { patiently } from "./data/retry.ts"
import { english } from "./messages/english.ts"
import { initialLocale } from "./messages/locales.ts"
import { makeSignInForm, prefersDark, type SignInTexts } from "./signIn/signInForm.ts"
import { signIns } from "./signIn/signIns.ts"

const metaOf = (selector: string) => document.querySelector<HTMLMetaElement>(`meta[${selector}]`)

/** Where the service is, what describes it, and where somebody signs in by a cookie, as the page says. */
const settings = (): {
  readonly url: string
  readonly document?: string
  readonly session?: string
  readonly tokens?: string
  /** Whether nobody can be signed in, since the browser has no cookie. */
  readonly isStranger: boolean
} => {
  const said: unknown = JSON.parse(metaOf("name=appkernel-explorer")?.content ?? "{}")
  const { document, isStranger, session, tokens, url } = isObject(said) ? said : {}
  return {
    url: new URL(typeof url === "string" ? url : "/", globalThis.location.href).href,
    ...(typeof document === "string" ? { document } : {}),
    ...(typeof session === "string" ? { session } : {}),
    ...(typeof tokens === "string" ? { tokens } : {}),
    isStranger: isStranger === true
  }
}

/** The keys under which react-admin keeps what somebody prefers. */
const preference = (name: "theme" | "locale"): string => `RaStoreappkernel-explorer.${name}`

const loadPage = () => import("./page.tsx")

/** Shows the form to sign in, which needs nothing of the page, until somebody has. */
const signedIn = async (root: Element, connection: KernelConnection, locale: string): Promise<void> => {
  const texts = locale === "de"
    ? await import("./messages/german.ts").then(({ german }): SignInTexts => german.explorer.signIn, () => undefined)
    : undefined
  document.documentElement.lang = texts === undefined ? "en" : locale
  const chosen = localStorage.getItem(preference("theme"))
  let isDark = chosen === null ? prefersDark() : chosen === "\"dark\""
  return new Promise((resolve) => {
    const form = makeSignInForm({
      signIn: async (entered) => {
        await connection.authProvider.login(entered)
        signIns.postMessage("signedIn")
        resolve()
      },
      onLocale: (chosen) => {
        localStorage.setItem(preference("locale"), JSON.stringify(chosen))
        globalThis.location.reload()
      },
      onTheme: (chosen) => {
        localStorage.setItem(preference("theme"), JSON.stringify(chosen))
        isDark = chosen === "dark"
        show()
      }
    })
    const show = () => form.show({ texts: texts ?? english.signIn, locale, isDark })
    show()
    root.replaceChildren(form.element)
    form.focus()
    // Whoever writes is about to need the page.
    form.element.addEventListener("input", () => void loadPage().catch(() => undefined), { once: true })
  })
}

const start = async (root: Element): Promise<void> => {
  const locale = initialLocale()
  const { isStranger, ...options } = settings()
  const connection = connect({ ...options, language: locale })
  if (isStranger) await signedIn(root, connection, locale)
  const checked = patiently(() => connection.authProvider.checkAuth({}))
  // Whoever shows the page asks again, and is told why it failed.
  void checked.then(() => connection.describe()).catch(() => undefined)
  // Where it is needed, its failure is met.
  if (locale === "de") void import("./messages/german.ts").catch(() => undefined)
  const { show } = await loadPage()
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
  const shell = root.querySelector(".shell, .card") ?? root
  shell.append(said, button)
}

const root = document.querySelector("#root")
if (root !== null) void start(root).catch(() => showFailure(root))
