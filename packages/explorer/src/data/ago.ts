import { relativeTimeFormat } from "./formats.ts"

/** How long ago something was, in the words of a language. */
const units: ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]> = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1]
]

/** How long ago a time is, in the words of the reader: "3 hours ago". */
export const ago = (time: Date, now: Date, locale: string): string => {
  const seconds = (time.getTime() - now.getTime()) / 1_000
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1]
  return relativeTimeFormat(locale, { numeric: "auto" }).format(Math.round(seconds / length), unit)
}
