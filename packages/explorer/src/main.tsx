import { connect } from "@appkernel/react-admin"
import createCache from "@emotion/cache"
import { CacheProvider } from "@emotion/react"
import { createRoot } from "react-dom/client"
import { App } from "./App.tsx"
import { isObject } from "./data/documents.ts"
import { initialLocale, messages } from "./messages/messages.ts"

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
  // Browsers hide the nonce from everything but the property.
  const nonce = metaOf("property=csp-nonce")?.nonce
  const styles = createCache({ key: "explorer", prepend: true, ...(nonce === undefined ? {} : { nonce }) })
  const locale = initialLocale()
  const connection = connect({ ...settings(), language: locale })
  const i18nProvider = connection.i18nProvider(messages)
  if (i18nProvider.getLocale() !== locale) await i18nProvider.changeLocale(locale)
  createRoot(root).render(
    <CacheProvider value={styles}>
      <App connection={connection} i18nProvider={i18nProvider} />
    </CacheProvider>
  )
}

const root = document.querySelector("#root")
if (root !== null) void start(root)
