/** The operators of conditions, as functions from operands to filters. */
import { literalPattern, prefixInterval, withoutUnicodeEscapes } from "@appkernel/document-store/shared"
import type { Document, Filter } from "../DocumentStore.ts"
import type { FieldPath } from "./fieldPath.ts"

/** The operators of a field, by name. */
interface FilterOperators {
  readonly [operator: string]: (...operands: ReadonlyArray<never>) => Filter
}

/** The operators of a field. Operands of the field's type are encoded as its values are. @internal */
export const filtersOf = (field: FieldPath): FilterOperators => {
  if (field.codec.isList) return { ...fieldFilters(field), ...listFilters(field) }
  return field.codec.model === undefined ? { ...fieldFilters(field), ...scalarFilters(field) } : fieldFilters(field)
}

/**
 * Whether upper and lower case differ.
 *
 * @category models
 * @since 0.1.0
 */
export interface CaseOptions {
  /** Defaults to false: `"jan"` then is in `"Jane"`. */
  readonly caseSensitive?: boolean | undefined
}

// internal

const expression = ($regex: string, options: CaseOptions | undefined): Document =>
  options?.caseSensitive === true ? { $regex } : { $regex, $options: "i" }

/** `undefined` stays, which stores take as `null`: a rule distinguishes a value that is not there. */
const encoderOf = ({ encode }: FieldPath["codec"]) => (value: unknown) =>
  value === undefined ? undefined : encode(value)

const fieldFilters = (field: FieldPath): FilterOperators => {
  const { codec, path } = field
  const encode = encoderOf(codec)
  return {
    equals: (value: unknown) => ({ [path]: { $eq: encode(value) } }),
    notEquals: (value: unknown) => ({ [path]: { $ne: encode(value) } }),
    in: (values: ReadonlyArray<unknown>) => ({ [path]: { $in: values.map((value) => encode(value)) } }),
    notIn: (values: ReadonlyArray<unknown>) => ({ [path]: { $nin: values.map((value) => encode(value)) } }),
    isPresent: () => onOneValue(field, presence(field).isPresent),
    isMissing: () => onOneValue(field, presence(field).isMissing)
  }
}

const scalarFilters = (field: FieldPath): FilterOperators => {
  const { codec, path } = field
  const encode = encoderOf(codec)
  const compared = (operator: string) => (value: unknown): Filter => ({ [path]: { [operator]: encode(value) } })
  return {
    greaterThan: compared("$gt"),
    greaterThanOrEqualTo: compared("$gte"),
    lessThan: compared("$lt"),
    lessThanOrEqualTo: compared("$lte"),
    before: compared("$lt"),
    after: compared("$gt"),
    between: (minimum: unknown, maximum: unknown) =>
      onOneValue(field, { $gte: encode(minimum), $lte: encode(maximum) }),
    contains: (text: string, options?: CaseOptions) => ({ [path]: expression(literalPattern(text), options) }),
    startsWith: (prefix: string, options?: CaseOptions) =>
      options?.caseSensitive === true
        ? onOneValue(field, prefixInterval(prefix))
        : { [path]: expression(`^${literalPattern(prefix)}`, options) },
    matches: ({ flags, source }: RegExp) => ({
      [path]: { $regex: withoutUnicodeEscapes(source), $options: flags.replace(/[^ims]/gu, "") }
    })
  }
}

const listFilters = ({ codec, path }: FieldPath): FilterOperators => ({
  contains: (element: unknown) => {
    const item = codec.element()
    const encoded = item === undefined ? undefined : encoderOf(item)(element)
    // `$eq: null` also matches a missing list, and `$eq` of a list also matches the list itself.
    return {
      [path]: (encoded ?? null) === null || Array.isArray(encoded) ? { $elemMatch: { $eq: encoded } } : { $eq: encoded }
    }
  },
  size: (elements: number) => ({ [path]: { $size: elements } })
})

/** Requires one value to match all operators. The path may lead through a list and so to several values. */
const onOneValue = ({ list, path }: FieldPath, operators: Document): Filter =>
  list === undefined
    ? { [path]: operators }
    : { [list]: { $elemMatch: { [path.slice(list.length + 1)]: operators } } }

const presence = ({ codec }: FieldPath): { readonly isPresent: Document; readonly isMissing: Document } => {
  if (codec.nullIsValue) return { isPresent: { $exists: true }, isMissing: { $exists: false } }
  // A comparison with null also applies to the elements of a list, so it cannot be used when elements may be null.
  return codec.element()?.nullIsValue === true
    ? { isPresent: { $type: "array" }, isMissing: { $not: { $type: "array" } } }
    // `$exists: true` lets the store use a sparse index.
    : { isPresent: { $exists: true, $ne: null }, isMissing: { $eq: null } }
}
