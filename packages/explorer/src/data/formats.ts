/** Formats of numbers and times. A browser takes milliseconds to make one, so that each is made once. */

/** The reader's own form of a language, as the browser has it: English is `en-GB` to many, and German `de-CH`. */
export const regional = (language: string, preferred: ReadonlyArray<string> = navigator.languages): string =>
  preferred.find((tag) => tag === language || tag.startsWith(`${language}-`)) ?? language

const once = <Options, Format>(make: (locale: string, options?: Options) => Format) => {
  const made = new Map<string, Format>()
  return (language: string, options?: Options): Format => {
    const locale = regional(language)
    const key = locale + JSON.stringify(options)
    const known = made.get(key)
    if (known !== undefined) return known
    const format = make(locale, options)
    made.set(key, format)
    return format
  }
}

export const numberFormat = once((locale, options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options))

export const dateTimeFormat = once((locale, options?: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(locale, options)
)

export const relativeTimeFormat = once(
  (locale, options?: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(locale, options)
)
