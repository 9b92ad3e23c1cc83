import type { KernelConnection } from "@appkernel/react-admin"
import createCache, { type StylisElement } from "@emotion/cache"
import { CacheProvider } from "@emotion/react"
import { startTransition } from "react"
import { App } from "./App.tsx"
import { messages } from "./messages/messages.ts"
import { createRoot } from "./react.ts"

/**
 * Adapts styles to the browsers of today, in the place of all prefixes there have been. Safari needs one, and printed backgrounds have
 * another name now. A rule of buttons is for Firefox of before 2020: other browsers fail at it, which takes them time for each kind of
 * button.
 */
const forBrowsers = (element: StylisElement): void => {
  const { props, type, value } = element
  if (type === "decl" && props === "user-select") element.return = `-webkit-${value}${value}`
  if (type === "decl" && props === "color-adjust") element.return = `-webkit-print-${value}print-${value}`
  // A rule that says nothing is left out.
  if (type === "rule" && value.includes("::-moz-focus-inner")) element.children = []
}

/** Shows the page. */
export const show = async (root: Element, { checked, connection, locale, nonce }: {
  /** Whether somebody is signed in, which is asked already. */
  readonly checked: Promise<void>
  readonly connection: KernelConnection
  readonly locale: string
  readonly nonce: string | undefined
}): Promise<void> => {
  const styles = createCache({
    key: "explorer",
    prepend: true,
    stylisPlugins: [forBrowsers],
    ...(nonce === undefined ? {} : { nonce })
  })
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
