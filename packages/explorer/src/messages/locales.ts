/** The languages of the page. */
const isOffered = (locale: string): boolean => locale === "en" || locale === "de"

/** The language that somebody has chosen before or, without one, the first of their browser's that there is. */
export const initialLocale = (): string => {
  const chosen = localStorage.getItem("RaStoreappkernel-explorer.locale")?.replaceAll("\"", "")
  const wanted = [chosen ?? "", ...navigator.languages.map((language) => language.split("-")[0] ?? "")]
  return wanted.find(isOffered) ?? "en"
}
