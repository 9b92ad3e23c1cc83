/** Explains which rules of a collection a document breaks, without the values of the document. */

/** A rule and the place of what breaks it. */
export interface BrokenRule {
  readonly path: ReadonlyArray<string>
  readonly keyword: string
}

// A document may break any number of rules; the message is bounded.
const maxRules = 20

/** The rules that a document breaks, as in `name (required), age (minimum)`. */
export const describeBroken = (rules: ReadonlyArray<BrokenRule>): string => {
  const names = Array.from(new Set(rules.map(nameOf)))
  return names.length === 0
    ? "the document does not fulfil the rules of its collection"
    : `the document does not fulfil the rules of its collection: ${names.slice(0, maxRules).join(", ")}`
      + (names.length > maxRules ? ", …" : "")
}

const nameOf = ({ keyword, path }: BrokenRule): string => path.length === 0 ? keyword : `${path.join(".")} (${keyword})`
