/** Writes JSON strings without `JSON.stringify` where a text needs no escapes, which is the usual case. */

// eslint-disable-next-line no-control-regex
const needsEscape = /[\u0000-\u001f"\\\ud800-\udfff]/

/** A JSON string. */
export const quote = (text: string): string => needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`

/** What is between the quotation marks of {@link quote}. */
export const escaped = (text: string): string => needsEscape.test(text) ? JSON.stringify(text).slice(1, -1) : text
