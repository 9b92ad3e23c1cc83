/** The form by which somebody signs in: of the browser's own elements, so that it is there before all that shows the rest. */
import { KernelError } from "@appkernel/react-admin"
import { languages } from "../messages/locales.ts"
import { dark, fontFamily, light, type Tones } from "../palette.ts"

/** What the form says, and how it looks. */
interface SignInView {
  readonly texts: SignInTexts
  readonly locale: string
  readonly isDark: boolean
  /** What there is to say of a sign-out that has not ended the sign-in. */
  readonly warning?: string | undefined
}

export interface SignInTexts {
  readonly title: string
  readonly to: string
  readonly username: string
  readonly password: string
  readonly submit: string
  readonly failed: string
  readonly language: string
  readonly theme: string
}

export interface SignInForm {
  readonly element: HTMLElement
  readonly show: (view: SignInView) => void
  /** Begins with the name. */
  readonly focus: () => void
}

/** Makes the form. A sign-in that fails is said in it, and another one begins when it is over. */
export const makeSignInForm = ({ onLocale, onTheme, signIn }: {
  readonly signIn: (entered: { readonly username: string; readonly password: string }) => Promise<unknown>
  readonly onLocale: (locale: string) => void
  readonly onTheme: (theme: "light" | "dark") => void
}): SignInForm => {
  addStyle()
  let view: SignInView | undefined
  const title = made("h1")
  const to = made("p")
  const warning = made("p", { role: "alert", hidden: true, className: "warning" })
  const problem = made("p", { role: "alert", hidden: true, className: "problem" })
  const [username, nameLabel] = field({ name: "username", autocomplete: "username", required: true })
  const password = field({ name: "password", type: "password", autocomplete: "current-password", required: true })
  const submit = made("button", { type: "submit" })
  const form = made("form", {}, warning, problem, nameLabel, password[1], submit)
  const language = made(
    "select",
    {},
    ...Object.entries(languages).map(([value, textContent]) => made("option", { value, lang: value, textContent }))
  )
  const theme = made("button", { type: "button", textContent: "◐" })
  const element = made(
    "div",
    { className: "sign-in" },
    made("header", {}, language, theme),
    made("main", {}, made("div", { className: "card" }, mark(), title, to, form))
  )
  const say = (text: string) => {
    problem.textContent = text
    problem.hidden = text === ""
  }
  // A button that is disabled loses the focus.
  const setBusy = (isBusy: boolean) => {
    form.ariaBusy = submit.ariaDisabled = String(isBusy)
  }
  language.addEventListener("change", () => onLocale(language.value))
  theme.addEventListener("click", () => onTheme(view?.isDark === true ? "light" : "dark"))
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (form.ariaBusy === "true") return
    setBusy(true)
    say("")
    void signIn({ username: username.value, password: password[0].value })
      // What a browser says of a request without an answer is in its own language.
      .catch((error: unknown) =>
        say(error instanceof KernelError && error.status !== 0 ? error.message : view?.texts.failed ?? "")
      )
      .finally(() => setBusy(false))
  })
  return {
    element,
    show: (next) => {
      view = next
      const { isDark, locale, texts } = next
      title.textContent = texts.title
      to.textContent = texts.to.replace("%{host}", globalThis.location.host)
      nameLabel.firstChild!.textContent = texts.username
      password[1].firstChild!.textContent = texts.password
      submit.textContent = texts.submit
      language.ariaLabel = texts.language
      language.value = locale
      theme.ariaLabel = theme.title = texts.theme
      warning.textContent = next.warning ?? ""
      warning.hidden = next.warning === undefined
      element.classList.toggle("dark", isDark)
    },
    focus: () => username.focus()
  }
}

/** Whether the browser asks for dark pages. */
export const prefersDark = (): boolean => globalThis.matchMedia("(prefers-color-scheme: dark)").matches

// internal

const made = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: ReadonlyArray<Node>
): HTMLElementTagNameMap[Name] => {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

/** An input in its label. */
const field = (properties: Partial<HTMLInputElement>) => {
  const input = made("input", properties)
  return [input, made("label", {}, made("span"), input)] as const
}

const mark = (): Node =>
  new DOMParser().parseFromString(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="currentColor"/>` +
      `<g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"><path d="M8 11.5h16M8 16.5h10M8 21.5h6"/>` +
      `<circle cx="21.5" cy="20" r="3.2"/><path d="m24 22.6 2 2"/></g></svg>`,
    "image/svg+xml"
  ).documentElement

const tonesOf = ({ accent, border, edge, error, mode, onAccent, page, quiet, surface, text }: Tones): string =>
  `--accent:${accent};--border:${border};--edge:${edge};--error:${error};--on-accent:${onAccent};--page:${page};` +
  `--quiet:${quiet};--surface:${surface};--text:${text};color-scheme:${mode}`

const css = `.sign-in{${tonesOf(light)};min-height:100vh;display:flex;flex-direction:column;background:var(--page);` +
  `color:var(--text);font:400 .875rem/1.5 ${fontFamily};overflow-wrap:anywhere}.sign-in.dark{${tonesOf(dark)}}
.sign-in *{box-sizing:border-box;font:inherit}
.sign-in header{display:flex;justify-content:flex-end;gap:8px;padding:8px}
.sign-in header>*{min-height:36px;min-width:36px;padding:0 8px;border:0;border-radius:7px;background:none;color:inherit}
.sign-in option{background:var(--surface)}
.sign-in main{flex:1;display:grid;place-items:center;padding:16px 16px 96px}
.sign-in .card{width:100%;max-width:384px;padding:32px;border:1px solid var(--border);border-radius:8px;background:var(--surface)}
@media (max-width:600px){.sign-in .card{padding:24px}}
.sign-in svg{display:block;width:36px;color:var(--accent)}
.sign-in h1{margin:16px 0 4px;font-size:1.375rem;font-weight:650;letter-spacing:-.01em;line-height:1.25}
.sign-in p{margin:0 0 16px}.sign-in .card>p{color:var(--quiet)}.sign-in [role=alert]{padding:8px 12px;border:1px solid;border-radius:8px}
.sign-in .problem{color:var(--error)}
.sign-in label{display:block;margin-top:12px;color:var(--quiet)}
.sign-in input{display:block;width:100%;height:42px;margin-top:4px;padding:0 14px;border:1px solid var(--edge);border-radius:8px;` +
  `background:var(--surface);color:var(--text);font-size:max(1rem,16px)}
.sign-in :focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.sign-in [type=submit]{width:100%;height:42px;margin-top:20px;border:0;border-radius:7px;background:var(--accent);` +
  `color:var(--on-accent);font-weight:600;cursor:pointer}.sign-in [aria-disabled=true]{opacity:.65;cursor:default}`

let hasStyle = false

const addStyle = (): void => {
  if (hasStyle) return
  hasStyle = true
  const style = made("style", { textContent: css })
  // Browsers hide the nonce from everything but the property.
  style.nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? ""
  document.head.append(style)
}
