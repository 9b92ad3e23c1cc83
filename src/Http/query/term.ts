/**
 * What stands behind the `=` of a filter: an operator and what the field is compared with.
 *
 * @internal
 */
export interface Term {
  readonly operator: "=" | ">" | "<" | ">=" | "<=" | "~" | "!" | "[]" | "![]" | "#"
  /** One, but for those of a list. */
  readonly operands: ReadonlyArray<Operand>
}

/** @internal */
export interface Operand {
  readonly text: string
  /** Whether it stands in quotes, in which nothing has a meaning of its own. */
  readonly isQuoted: boolean
}

/**
 * Reads the value of a filter. `#` asks for a size only where there is one, and is text elsewhere.
 *
 * @internal
 */
export const parseTerm = (value: string, hasSize: boolean): Term => {
  const compared = /^(?:[><]=?|~)/u.exec(value)?.[0] as Term["operator"] | undefined
  if (compared !== undefined) return { operator: compared, operands: [operandOf(value.slice(compared.length))] }
  if (isList(value)) return { operator: "[]", operands: itemsOf(value) }
  if (value.startsWith("!")) {
    const rest = value.slice(1)
    return isList(rest)
      ? { operator: "![]", operands: itemsOf(rest) }
      : { operator: "!", operands: [operandOf(rest)] }
  }
  return hasSize && /^#\d+$/u.test(value)
    ? { operator: "#", operands: [{ text: value.slice(1), isQuoted: false }] }
    : { operator: "=", operands: [operandOf(value)] }
}

/**
 * Whether the value is a list: `[a,b]`.
 *
 * @internal
 */
export const isList = (value: string): boolean => value.length > 1 && value.startsWith("[") && value.endsWith("]")

/**
 * The text as the value of a filter, where it stands for nothing but itself.
 *
 * @internal
 */
export const quoted = (text: string): string => `"${text.replace(/["\\]/gu, "\\$&")}"`

const operandOf = (text: string): Operand =>
  text.length > 1 && text.startsWith("\"") && text.endsWith("\"")
    ? { text: unescaped(text.slice(1, -1)), isQuoted: true }
    : { text, isQuoted: false }

const unescaped = (text: string): string => text.replace(/\\(["\\])/gu, "$1")

const quotedItem = /"((?:[^"\\]|\\.)*)"\s*(?:,|$)/suy

/** The items of a list. Commas in an item are in quotes, and so are spaces at its ends. */
const itemsOf = (list: string): ReadonlyArray<Operand> => {
  const text = list.slice(1, -1)
  const items: Array<Operand> = []
  if (text.trim() === "") return items
  // Where nothing is left behind a comma, there is one more item, which is empty.
  for (let start = 0; start <= text.length;) {
    const comma = text.indexOf(",", start)
    const plainEnd = comma === -1 ? text.length : comma
    const first = start + leadingSpace(text, start)
    quotedItem.lastIndex = first
    const inQuotes = text[first] === "\"" ? quotedItem.exec(text) : null
    items.push(
      inQuotes === null
        ? { text: text.slice(start, plainEnd).trim(), isQuoted: false }
        : { text: unescaped(inQuotes[1] ?? ""), isQuoted: true }
    )
    const end = inQuotes === null ? plainEnd : first + inQuotes[0].length - (inQuotes[0].endsWith(",") ? 1 : 0)
    start = end + 1
  }
  return items
}

const space = /\s*/uy

const leadingSpace = (text: string, start: number): number => {
  space.lastIndex = start
  return space.exec(text)?.[0].length ?? 0
}
