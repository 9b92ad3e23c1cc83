/** Sentences that a store's errors and the answers of a service have in common, and how arguments are put into them. */

/** The sentence of a violated unique index whose fields are known, and of one whose fields are not. */
export const duplicates = {
  named: "There is another {model} with the same {fields}",
  unnamed: "There is another {model} with a value that no two of them can have"
} as const

/** The sentence with its arguments in the place of their names. */
export const filled = (sentence: string, valueOf: (name: string) => string | number): string =>
  sentence.replaceAll(/\{(\w+)\}/gu, (_, name: string) => String(valueOf(name)))
