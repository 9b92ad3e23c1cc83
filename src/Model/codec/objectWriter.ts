/** Writes objects with known keys as JSON text: by a loop over its members at first, and by generated code once it is used often. */
import { ownOf } from "../../internal/objects.ts"
import { canGenerate } from "./literal.ts"

/** Writes an object with a text after its head; `undefined` if a member is missing or has another type. */
export type ObjectWriter = (object: { readonly [key: string]: unknown }, inserted: string) => string | undefined

export interface Member {
  readonly key: string
  /** Writes a value without its quotation marks; `undefined` for a value of another type. */
  readonly write: (value: unknown) => string | undefined
  /** The text before the value: the name, a colon, and the opening quotation mark of a text. */
  readonly opening: string
  /** The closing quotation mark, or nothing. */
  readonly closing: string
  readonly optional: boolean
  /** Whether `null` in the object means missing. */
  readonly isNullMissing: boolean
  readonly writeDefault: (() => string | undefined) | undefined
}

/** Writes objects that begin with `head`, which has a brace, or members with a trailing comma, as the inserted text has. */
export const objectWriter = (head: string, members: ReadonlyArray<Member>): ObjectWriter => {
  let write = interpreter(head, members)
  let written = 0
  const own = ownOf(members.map(({ key }) => key))
  return (object, inserted) => {
    if (written < manyObjects && ++written === manyObjects && canGenerate) write = generated(head, members)
    return write(own(object), inserted)
  }
}

// internal

// Generating code takes about as long as writing so many objects saves.
const manyObjects = 500

const interpreter = (head: string, members: ReadonlyArray<Member>): ObjectWriter => (object, inserted) => {
  let text = head + inserted
  let comma = ""
  for (const { closing, isNullMissing, key, opening, optional, write, writeDefault } of members) {
    const value = object[key]
    const isMissing = value === undefined || value === null && isNullMissing
    if (isMissing && optional && writeDefault === undefined) continue
    const written = isMissing ? writeDefault?.() : write(value)
    if (written === undefined) return undefined
    text += comma + opening + written + closing
    comma = ","
  }
  return comma === "" ? ended(text) : `${text}}`
}

/** Ends an object without written members: its last comma has to go. */
const ended = (text: string): string => text === "{" ? "{}" : `${text.slice(0, -1)}}`

/**
 * What {@link interpreter} does, in code of its own for these members: V8 then reads each key at a place that knows the shapes of
 * the objects, and inlines the writers. A closing quotation mark is written with the next member's opening where this one is
 * always there: fewer pieces are faster to join.
 */
const generated = (head: string, members: ReadonlyArray<Member>): ObjectWriter => {
  const lines: Array<string> = []
  let open = ""
  // Whether a member before is always there, and with it the comma.
  let isBegun = false
  const pieces = (before: string, after: string): string =>
    `${isBegun ? "" : "comma + "}${JSON.stringify(before)} + written${
      after === "" ? "" : ` + ${JSON.stringify(after)}`
    }`
  for (const [i, { closing, isNullMissing, key, opening, optional, writeDefault }] of members.entries()) {
    const missing = `value === undefined${isNullMissing ? " || value === null" : ""}`
    const comma = isBegun ? "," : ""
    lines.push(`value = object[${JSON.stringify(key)}]`)
    if (optional && writeDefault === undefined) {
      if (open !== "") lines.push(`text += ${JSON.stringify(open)}`)
      open = ""
      lines.push(
        `if (!(${missing})) {`,
        `if ((written = write${i}(value)) === undefined) return undefined`,
        `text += ${pieces(comma + opening, closing)}`,
        "comma = \",\" }"
      )
    } else {
      lines.push(
        `written = ${missing} ? ${
          writeDefault === undefined ? "undefined" : `members[${i}].writeDefault()`
        } : write${i}(value)`,
        "if (written === undefined) return undefined",
        `text += ${pieces(open + comma + opening, "")}`
      )
      open = closing
      isBegun = true
    }
  }
  lines.push(
    isBegun ? `return text + ${JSON.stringify(`${open}}`)}` : "return comma === \"\" ? ended(text) : text + \"}\""
  )
  const writers = members.map((_, i) => `const write${i} = members[${i}].write`)
  // The code contains only the schema's keys and texts around values, as JSON strings.
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function(
    "head",
    "members",
    "ended",
    `${writers.join("\n")}
return (object, inserted) => {
let text = head + inserted, comma = "", value, written
${lines.join("\n")}
}`
  )(head, members, ended) as ObjectWriter
}
