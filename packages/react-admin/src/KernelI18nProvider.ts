/**
 * The provider of texts: the methods of react-admin's `I18nProvider`.
 *
 * @since 0.1.0
 */

/**
 * Texts by their keys, nested or not, as in the language packages of react-admin.
 *
 * @category models
 * @since 0.1.0
 */
export interface Messages {
  readonly [key: string]: string | Messages
}

/**
 * A language with its texts, or with how they are loaded.
 *
 * @category models
 * @since 0.1.0
 */
export interface Language {
  /** `en`. */
  readonly locale: string
  /** `English`. */
  readonly name: string
  readonly messages: Messages | (() => Promise<Messages>)
}

/**
 * The provider of texts. The names of resources and fields, `resources.orders.fields.placed`, are the service's in the language of
 * the reader, unless the messages have them.
 *
 * @category models
 * @since 0.1.0
 */
export interface KernelI18nProvider {
  readonly translate: (key: string, options?: { readonly [name: string]: unknown }) => string
  /** Also the service is asked in this language from then on. */
  readonly changeLocale: (locale: string, options?: unknown) => Promise<void>
  readonly getLocale: () => string
  readonly getLocales: () => Array<{ locale: string; name: string }>
}
