const values: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["yes", true],
  ["y", true],
  // What a browser sends for a checkbox without a value.
  ["on", true],
  ["false", false],
  ["no", false],
  ["n", false],
  ["off", false]
])

/**
 * The boolean that a text of a URL or of a form stands for; `undefined` when it is none.
 *
 * @internal
 */
export const booleanOf = (text: string): boolean | undefined => values.get(text.toLowerCase())
