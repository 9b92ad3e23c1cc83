/** The languages of the page, by their names in themselves. */
export const languages = { en: "English", de: "Deutsch" } as const

/** The key under which react-admin keeps what somebody prefers. */
export const preference = (name: "theme" | "locale"): string => `RaStoreappkernel-explorer.${name}`

/** The language that somebody has chosen before or, without one, the first of their browser's that there is. */
export const initialLocale = (): string => {
  const chosen = localStorage.getItem(preference("locale"))?.replaceAll("\"", "")
  const wanted = [chosen ?? "", ...navigator.languages.map((language) => language.split("-")[0] ?? "")]
  return wanted.find((locale) => Object.hasOwn(languages, locale)) ?? "en"
}
