/**
 * What the page begins with. It asks the service who is signed in, and what they may see, while the browser still loads what shows it.
 * Who can't be signed in gets the form first.
 */
import { connect, type ConnectOptions, type KernelConnection } from "@appkernel/react-admin"
import { isObject } from "./data/documents.ts"
import { patiently } from "./data/retry.ts"
import { english } from "./messages/english.ts"
import { initialLocale, preference } from "./messages/locales.ts"
import { makeSignInForm, prefersDark, type SignInTexts } from "./signIn/signInForm.ts"
import { signedOut, signIns } from "./signIn/signIns.ts"

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

/** Lets the browser answer whoever uses the page. */
const pause = () =>
  new Promise((resolve) => {
    setTimeout(resolve)
  })

/** Loads what the page stands on. */
const loadParts = async () => {
  await import("./react.ts")
  await pause()
  await import("./theme.ts")
  await pause()
}

const preload = () => loadParts().then(() => import("./page.tsx"))

/** A connection and the language that it speaks. */
interface Speaking {
  readonly connection: KernelConnection
  readonly locale: string
}

/** Shows the form to sign in, which needs nothing of the page, until somebody has, in the language that they have chosen. */
const signedIn = async (root: Element, options: ConnectOptions, begun: Speaking): Promise<Speaking> => {
  let speaking = begun
  let texts: SignInTexts | undefined
  const speak = async (locale: string) => {
    texts = locale === "de"
      ? await import("./messages/german.ts").then(({ german }): SignInTexts => german.explorer.signIn, () => undefined)
      : english.signIn
    document.documentElement.lang = texts === undefined ? "en" : locale
  }
  await speak(begun.locale)
  const chosen = localStorage.getItem(preference("theme"))
  let isDark = chosen === null ? prefersDark() : chosen === "\"dark\""
  return new Promise((resolve) => {
    const form = makeSignInForm({
      signIn: async (entered) => {
        const signing = speaking
        await signing.connection.authProvider.login(entered)
        signIns.postMessage("signedIn")
        resolve(signing)
        // The page takes the place of the form, which is busy until then.
        await new Promise(() => undefined)
      },
      onLocale: (locale) => {
        localStorage.setItem(preference("locale"), JSON.stringify(locale))
        speaking = { connection: connect({ ...options, language: locale }), locale }
        // A browser may not load again what has failed before the page is.
        void speak(locale).then(() => texts === undefined ? globalThis.location.reload() : show())
      },
      onTheme: (chosen) => {
        localStorage.setItem(preference("theme"), JSON.stringify(chosen))
        isDark = chosen === "dark"
        show()
      }
    })
    // Without its texts, a language can be chosen again.
    const show = () =>
      form.show({ texts: texts ?? english.signIn, locale: texts === undefined ? "en" : speaking.locale, isDark })
    show()
    root.replaceChildren(form.element)
    form.focus()
    // Whoever writes is about to need the page.
    form.element.addEventListener("input", () => void preload().catch(() => undefined), { once: true })
  })
}

const start = async (root: Element): Promise<void> => {
  const { isStranger, ...said } = settings()
  const options = { ...said, onSignedOut: () => void signedOut.dispatchEvent(new Event("signedOut")) }
  const language = initialLocale()
  const begun = { connection: connect({ ...options, language }), locale: language }
  const { connection, locale } = isStranger ? await signedIn(root, options, begun) : begun
  const checked = patiently(() => connection.authProvider.checkAuth({}))
  // Whoever shows the page asks again, and is told why it failed.
  void checked.then(() => connection.describe()).catch(() => undefined)
  // Where it is needed, its failure is met.
  if (locale === "de") void import("./messages/german.ts").catch(() => undefined)
  await loadParts()
  const { show } = await import("./page.tsx")
  await pause()
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
