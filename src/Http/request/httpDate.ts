/** Dates in headers (RFC 9110, section 5.6.7). */

/** The milliseconds since 1970 of a date in one of its three forms; `undefined` for any other text. */
export const parseHttpDate = (text: string): number | undefined => {
  // The last form has no time zone, which Node would take for its own.
  const millis = fixed.test(text) || obsolete.test(text)
    ? Date.parse(text)
    : ofC.test(text)
    ? Date.parse(`${text} GMT`)
    : Number.NaN
  return Number.isNaN(millis) ? undefined : millis
}

// internal

const fixed =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/u

const obsolete =
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d\d-(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-\d\d \d\d:\d\d:\d\d GMT$/u

const ofC =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d \d{4}$/u
