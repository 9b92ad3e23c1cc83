/** The spellings of booleans that URLs, forms and the configuration accept. */

const values: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["yes", true],
  ["y", true],
  // Browsers send `on` for a checkbox without a value.
  ["on", true],
  ["false", false],
  ["no", false],
  ["n", false],
  ["off", false]
])

/** Parses a boolean of a URL or a form; `undefined` for any other text. */
export const booleanOf = (text: string): boolean | undefined => values.get(text.toLowerCase())
