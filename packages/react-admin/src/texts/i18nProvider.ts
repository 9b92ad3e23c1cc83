/** Texts for people: of the language packages of react-admin, and those of the service. */
import type { FieldDescription, ServiceDescription } from "../Description.ts"
import { isJson, type Json } from "../description/json.ts"
import { KernelError } from "../KernelError.ts"
import type { KernelI18nProvider, Language, Messages } from "../KernelI18nProvider.ts"

/** Makes the provider. The first language is that of readers who have chosen none of them. */
export const makeI18nProvider = ({ description, languages, locale, onLocale }: {
  readonly languages: readonly [Language, ...ReadonlyArray<Language>]
  /** The language to begin with; it is loaded if it is not there. */
  readonly locale: string | undefined
  readonly description: () => ServiceDescription | undefined
  readonly onLocale: (locale: string) => void
}): KernelI18nProvider => {
  const [fallback] = languages
  const loaded = new Map<string, Messages>()
  for (const { locale, messages } of languages) if (typeof messages !== "function") loaded.set(locale, messages)
  let current = locale !== undefined && loaded.has(locale) ? locale : fallback.locale
  // What is asked meanwhile is in the language that is still to be loaded.
  if (!languages.some((one) => one.locale === locale)) onLocale(current)
  const jsonText = (key: string): string | undefined =>
    messageAt(loaded.get(current), key) ?? ownText(description(), key) ?? messageAt(loaded.get(fallback.locale), key)
  return {
    translate: (key, options = {}) => {
      const text = jsonText(key) ?? (typeof options["_"] === "string" ? options["_"] : key)
      return filled(text, options, current)
    },
    changeLocale: async (next) => {
      const language = languages.find((one) => one.locale === next)
      if (language === undefined) throw new KernelError(0, `There are no texts in ${next}`)
      if (!loaded.has(next)) {
        loaded.set(next, typeof language.messages === "function" ? await language.messages() : language.messages)
      }
      current = next
      onLocale(next)
    },
    getLocale: () => current,
    getLocales: () => languages.map(({ locale, name }) => ({ locale, name }))
  }
}

const messageAt = (messages: Messages | undefined, key: string): string | undefined => {
  let found: string | Messages | undefined = messages
  for (const name of key.split(".")) {
    found = isJson(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  if (typeof found === "string") return found
  const flat = messages !== undefined && Object.hasOwn(messages, key) ? messages[key] : undefined
  return typeof flat === "string" ? flat : undefined
}

/** The labels of the service: `resources.orders.name` and `resources.orders.fields.lines.quantity`. */
const ownText = (description: ServiceDescription | undefined, key: string): string | undefined => {
  const [first, name, what, ...path] = key.split(".")
  if (first !== "resources") return undefined
  const resource = description?.resources.find((one) => one.name === name)
  if (resource === undefined) return undefined
  if (what === "name") return `${resource.label} |||| ${resource.labelPlural}`
  return what === "fields" ? fieldAt(resource.fields, path)?.label : undefined
}

const fieldAt = (
  fields: ReadonlyArray<FieldDescription>,
  [name, ...rest]: ReadonlyArray<string>
): FieldDescription | undefined => {
  // The place of an element in a list is no field.
  if (name !== undefined && /^\d+$/u.test(name)) return fieldAt(fields, rest)
  const found = fields.find((field) => field.name === name)
  return rest.length === 0 ? found : fieldAt(found?.fields ?? found?.items?.fields ?? [], rest)
}

/** The text for a number, with its values: `%{smart_count} order |||| %{smart_count} orders`. */
const filled = (text: string, options: Json, locale: string): string => {
  const forms = text.split("||||").map((one) => one.trim())
  const count = options["smart_count"]
  const form = typeof count === "number" && new Intl.PluralRules(locale).select(count) !== "one"
    ? forms.at(-1)
    : forms[0]
  return (form ?? text).replaceAll(/%\{(\w+)\}/gu, (whole, name: string) => {
    const value = options[name]
    return typeof value === "string" || typeof value === "number" ? String(value) : whole
  })
}
