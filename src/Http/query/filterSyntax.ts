/** The syntax of filters in URLs: parses operators such as `~`, `>` and `[…]`, and quoted operands. */

/** The value of a filter parameter: an operator and its operands. */
export interface FilterValue {
  readonly operator: "=" | ">" | "<" | ">=" | "<=" | "~" | "!" | "[]" | "![]" | "#"
  /** One operand, or several in a list. */
  readonly operands: ReadonlyArray<Operand>
}

export interface Operand {
  readonly text: string
  /** Whether the operand is quoted, so that it has no special meaning. */
  readonly isQuoted: boolean
}

/** Parses the value of a filter. `#` compares the size of a field that has one, and is plain text otherwise. */
export const parseFilterValue = (value: string, hasSize: boolean): FilterValue => {
  const compared = /^(?:[><]=?|~)/u.exec(value)?.[0] as FilterValue["operator"] | undefined
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

/** Whether the value is a list: `[a,b]`. */
export const isList = (value: string): boolean => value.length > 1 && value.startsWith("[") && value.endsWith("]")

const operandOf = (text: string): Operand =>
  text.length > 1 && text.startsWith("\"") && text.endsWith("\"")
    ? { text: unescaped(text.slice(1, -1)), isQuoted: true }
    : { text, isQuoted: false }

const unescaped = (text: string): string => text.replace(/\\(["\\])/gu, "$1")

const quotedItem = /"((?:[^"\\]|\\.)*)"\s*(?:,|$)/suy

/** The items of a list. Quotes protect commas in an item and spaces at its ends. */
const itemsOf = (list: string): ReadonlyArray<Operand> => {
  const text = list.slice(1, -1)
  const items: Array<Operand> = []
  if (text.trim() === "") return items
  // A trailing comma adds an empty item.
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
