/** Whether a number is what was written, to all of its digits: a double has 15 to 17. */
export const isKept = (source: string, number: number): boolean => {
  const digits = digitsOf(source)
  if (digits === "") return number === 0
  return Number.isFinite(number) && digits.length <= 100 && digitsOf(number.toPrecision(digits.length)) === digits
}

/** The digits that count, without the place of the point. */
const digitsOf = (source: string): string =>
  // A run of zeros is looked at from its first one alone.
  (source.split(/e/iu, 1)[0] ?? "").replaceAll(/\D/gu, "").replace(/^0+/u, "").replace(/(?<!0)0+$/u, "")
