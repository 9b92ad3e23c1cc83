import type { KernelConnection } from "@appkernel/react-admin"
import createCache from "@emotion/cache"
import { CacheProvider } from "@emotion/react"
import { startTransition } from "react"
import { createRoot } from "react-dom/client"
import { App } from "./App.tsx"
import { messages } from "./messages/messages.ts"

/** Shows the page. */
export const show = async (root: Element, { checked, connection, locale, nonce }: {
  /** Whether somebody is signed in, which is asked already. */
  readonly checked: Promise<void>
  readonly connection: KernelConnection
  readonly locale: string
  readonly nonce: string | undefined
}): Promise<void> => {
  const styles = createCache({ key: "explorer", prepend: true, ...(nonce === undefined ? {} : { nonce }) })
  const i18nProvider = connection.i18nProvider(messages)
  if (i18nProvider.getLocale() !== locale) {
    // Without its texts, the page and what the service says in it go on in the first language.
    await i18nProvider.changeLocale(locale).catch(() => i18nProvider.changeLocale(i18nProvider.getLocale()))
  }
  // In parts, between which the browser answers whoever uses it.
  startTransition(() => {
    createRoot(root).render(
      <CacheProvider value={styles}>
        <App checked={checked} connection={connection} i18nProvider={i18nProvider} />
      </CacheProvider>
    )
  })
}
