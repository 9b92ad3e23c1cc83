import type { Document, Filter } from "../DocumentStore.ts"
import type { FieldPath } from "./fieldPath.ts"

/** A filter for each thing that can be said of a field. */
interface Filters {
  readonly [operator: string]: (...operands: ReadonlyArray<never>) => Filter
}

/**
 * What can be said of a field, in the store's terms. Operands that the field's type has are encoded as its values are.
 *
 * @internal
 */
export const filtersOf = (field: FieldPath): Filters => {
  if (field.part.isList) return { ...ofAny(field), ...ofList(field) }
  return field.part.model === undefined ? { ...ofAny(field), ...ofScalar(field) } : ofAny(field)
}

const ofAny = (field: FieldPath): Filters => {
  const { part: { encode }, path } = field
  return {
    equals: (value: unknown) => ({ [path]: { $eq: encode(value) } }),
    notEquals: (value: unknown) => ({ [path]: { $ne: encode(value) } }),
    in: (values: ReadonlyArray<unknown>) => ({ [path]: { $in: values.map((value) => encode(value)) } }),
    notIn: (values: ReadonlyArray<unknown>) => ({ [path]: { $nin: values.map((value) => encode(value)) } }),
    exists: () => one(field, presence(field).exists),
    isMissing: () => one(field, presence(field).isMissing)
  }
}

const ofScalar = (field: FieldPath): Filters => {
  const { part: { encode }, path } = field
  const compared = (operator: string) => (value: unknown): Filter => ({ [path]: { [operator]: encode(value) } })
  return {
    greaterThan: compared("$gt"),
    greaterThanOrEqualTo: compared("$gte"),
    lessThan: compared("$lt"),
    lessThanOrEqualTo: compared("$lte"),
    before: compared("$lt"),
    after: compared("$gt"),
    between: (minimum: unknown, maximum: unknown) => one(field, { $gte: encode(minimum), $lte: encode(maximum) }),
    contains: (text: string) => ({ [path]: { $regex: escaped(text), $options: "i" } }),
    startsWith: (prefix: string) => one(field, startingWith(prefix)),
    matches: ({ flags, source }: RegExp) => ({
      [path]: { $regex: withoutUnits(source), $options: flags.replace(/[^ims]/gu, "") }
    })
  }
}

const ofList = ({ part, path }: FieldPath): Filters => ({
  contains: (element: unknown) => {
    const encoded = part.element()?.encode(element)
    // Of a missing list and of a list of lists, an equality says more.
    return { [path]: encoded === null || Array.isArray(encoded) ? { $elemMatch: { $eq: encoded } } : { $eq: encoded } }
  },
  size: (elements: number) => ({ [path]: { $size: elements } })
})

/** Operators that one and the same value has to meet, where the path may lead to several. */
const one = ({ list, path }: FieldPath, operators: Document): Filter =>
  list === undefined
    ? { [path]: operators }
    : { [list]: { $elemMatch: { [path.slice(list.length + 1)]: operators } } }

const presence = ({ part }: FieldPath): { readonly exists: Document; readonly isMissing: Document } => {
  if (part.nullIsValue) return { exists: { $exists: true }, isMissing: { $exists: false } }
  // What is said of null is said of the elements, too.
  return part.element()?.nullIsValue === true
    ? { exists: { $type: "array" }, isMissing: { $not: { $type: "array" } } }
    // The first serves sparse indexes.
    : { exists: { $exists: true, $ne: null }, isMissing: { $eq: null } }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&").replaceAll("\0", "\\x00")

// Only JavaScript writes characters as `\u00e9`.
const withoutUnits = (source: string): string =>
  source.replace(/\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|[^])/giu, (escape, point?: string, unit?: string) => {
    const code = Number.parseInt(point ?? unit ?? "", 16)
    return Number.isNaN(code) ? escape : escaped(String.fromCodePoint(code))
  })

/** An interval, for which an index can be used. */
const startingWith = (prefix: string): Document => {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === lastCodePoint) points.pop()
  const last = points.pop()
  // Surrogates stand for no characters of their own.
  return last === undefined
    ? { $gte: prefix }
    : { $gte: prefix, $lt: String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1) }
}

const lastCodePoint = 0x10ffff
