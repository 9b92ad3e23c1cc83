import type { Language } from "@appkernel/react-admin"
import raEnglish from "ra-language-english"
import { english } from "./english.ts"
import { languages } from "./locales.ts"

/** The languages of the page. German is loaded when somebody reads it. */
export const messages: readonly [Language, ...ReadonlyArray<Language>] = [
  // react-admin's package has texts alone.
  {
    locale: "en",
    name: languages.en,
    messages: { ...raEnglish as unknown as Record<string, typeof english>, explorer: english }
  },
  { locale: "de", name: languages.de, messages: async () => (await import("./german.ts")).german }
]
