import { connect } from "@appkernel/react-admin"
import createCache from "@emotion/cache"
import { CacheProvider } from "@emotion/react"
import { createRoot } from "react-dom/client"
import { App } from "./App.tsx"
import { initialLocale } from "./messages/messages.ts"

/** What the page says of where it is: the nonce of its styles, and the address of the service. */
const said = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"], meta[property="${name}"]`)?.content

const root = document.querySelector("#root")
if (root !== null) {
  const script = document.querySelector<HTMLScriptElement>("script[nonce]")
  const nonce = script?.nonce ?? said("csp-nonce")
  const styles = createCache({ key: "explorer", prepend: true, ...(nonce === undefined ? {} : { nonce }) })
  const connection = connect({
    url: said("appkernel-service") ?? globalThis.location.origin,
    language: initialLocale()
  })
  createRoot(root).render(
    <CacheProvider value={styles}>
      <App connection={connection} />
    </CacheProvider>
  )
}
