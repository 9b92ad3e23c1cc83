/** The instant of a date-time of the service, which is in UTC where it names no zone. */
export const instantOf = (value: unknown): Date | undefined => {
  if (typeof value !== "string" || value === "") return undefined
  const time = new Date(/(?:Z|[+-]\d{2}:?\d{2})$/iu.test(value) ? value : `${value}Z`)
  return Number.isNaN(time.getTime()) ? undefined : time
}

const two = (part: number): string => String(part).padStart(2, "0")

/** As an input of the type `datetime-local` takes it: in the reader's zone. */
export const toLocalInput = (value: unknown): string => {
  const time = instantOf(value)
  if (time === undefined) return ""
  const seconds = time.getSeconds() === 0 ? "" : `:${two(time.getSeconds())}`
  return `${String(time.getFullYear()).padStart(4, "0")}-${two(time.getMonth() + 1)}-${two(time.getDate())}T${
    two(time.getHours())
  }:${two(time.getMinutes())}${seconds}`
}

/**
 * As the service takes what somebody has entered into such an input. The time that was there before says what the input does not
 * show: parts of a second, and which of the two hours it is when clocks are set back.
 */
export const fromLocalInput = (value: string, before?: unknown): string | null => {
  if (value === "") return null
  const time = new Date(value)
  if (Number.isNaN(time.getTime())) return value
  const shown = toLocalInput(time.toISOString())
  if (typeof before === "string" && toLocalInput(before) === shown) return before
  const known = instantOf(before)
  if (known === undefined) return time.toISOString()
  const minutes = known.getTimezoneOffset() - time.getTimezoneOffset()
  const sameOffset = new Date(time.getTime() + minutes * 60_000).toISOString()
  return toLocalInput(sameOffset) === shown ? sameOffset : time.toISOString()
}

/** A calendar day, which has no zone: `2026-01-31` is that day everywhere. */
export const dayOf = (value: unknown): Date | undefined => {
  const parts = typeof value === "string" ? /^(\d{4})-(\d{2})-(\d{2})/u.exec(value) : null
  if (parts === null) return undefined
  const day = new Date(0)
  day.setUTCFullYear(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]))
  return day
}
