/**
 * Filters find a document that lacks a field as one with the field's default, as which it is read.
 *
 * A condition that the default meets is true of documents without the field, too; one that only a missing value meets is true
 * of none. Which of the two a condition is follows from its evaluation, whatever its operators are. An equality stays one
 * search in an index.
 */
import { anyOf, asLast, conjunctionOf, isAsStored, isLast, negated } from "@appkernel/document-store/shared"
import { catchRejection, isOperatorDocument, parseFilter } from "@appkernel/mql"
import { equals, isArray, isDocument, segmentsOf } from "@appkernel/mql/values"
import { identity, memoize } from "effect/Function"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type ModelLike, modelsIn } from "../../Model/internal.ts"
import type { Document, Filter } from "../DocumentStore.ts"
import { type FieldCodec, fieldCodecsOf } from "../query/fieldCodec.ts"
import { hasDefaults } from "./storedCollection.ts"

/** Makes the filter for stored documents of the model; the same one for the same filter. */
export const withDefaults: (model: ModelLike) => (filter: Filter) => Filter = memoize((model) => {
  if (!hasDefaults(model)) return identity
  noteDefaults(model)
  const withDefaults = memoize((filter: Filter) => filterOf(model, filter))
  return (filter) => isUnaffected(model, filter) ? filter : withDefaults(filter)
})

/** Tests documents as they are. A malformed filter, which is the store's to reject, matches none. */
export const plainMatcher = (filter: Filter): (document: Document) => boolean => {
  const parsed = parseFilter(filter, { now: 0 })
  return (document) =>
    Result.isSuccess(parsed) &&
    Result.getOrElse(catchRejection(() => parsed.success.matches(document)), () => false)
}

// internal

const defaultOf = ({ attributes, encode }: FieldCodec): Option.Option<unknown> =>
  attributes.absent === undefined ? Option.none() : Option.some(encode(attributes.absent()))

const notedDefaults = new WeakMap<FieldCodec, unknown>()

/** Notes the defaults of a model's fields and of those in them. */
const noteDefaults = (model: ModelLike): void => {
  for (const codec of modelsIn(model).flatMap((one) => [...fieldCodecsOf(one, false).values()])) {
    const value = defaultOf(codec)
    if (Option.isSome(value)) notedDefaults.set(codec, value.value)
  }
}

/** The default of a field as it is stored, if it is the same each time: not the time or a random value. */
const constantOf = (codec: FieldCodec): Option.Option<unknown> =>
  Option.filter(defaultOf(codec), (value) => equals(value, notedDefaults.get(codec)))

const filterOf = (model: ModelLike, filter: Filter): Filter => {
  if (isAsStored(filter)) return filter
  const changed = conjunctionOf(...Object.entries(filter).flatMap(([key, operand]) => partsOf(model, key, operand)))
  return isLast(filter) ? asLast(changed) : changed
}

/** Whether all conditions are on fields without a default, outside of other models. */
const isUnaffected = (model: ModelLike, filter: Filter): boolean => {
  const codecs = fieldCodecsOf(model, false)
  for (const key in filter) {
    if (key.startsWith("$") || key.includes(".")) return false
    const codec = codecs.get(key)
    if (codec !== undefined && (codec.attributes.absent !== undefined || codec.model !== undefined)) return false
  }
  return true
}

const partsOf = (model: ModelLike, key: string, operand: unknown): ReadonlyArray<Filter> =>
  (key === "$and" || key === "$or" || key === "$nor") && isArray(operand)
    ? [{ [key]: operand.map((part) => isDocument(part) ? filterOf(model, part) : part) }]
    : key.startsWith("$")
    ? [{ [key]: operand }]
    : conditionsOn(model, key, operand)

/** A field on the path of a condition. */
interface Step {
  readonly name: string
  readonly codec: FieldCodec
}

const stepsOn = (model: ModelLike, segments: ReadonlyArray<string>): ReadonlyArray<Step> => {
  const steps: Array<Step> = []
  let within: ModelLike | undefined = model
  for (const name of segments) {
    const codec: FieldCodec | undefined = within && fieldCodecsOf(within, false).get(name)
    if (codec === undefined) break
    steps.push({ name, codec })
    within = codec.model
  }
  return steps
}

const conditionsOn = (model: ModelLike, path: string, given: unknown): ReadonlyArray<Filter> => {
  const segments = segmentsOf(path)
  const steps = stepsOn(model, segments)
  const nested = steps.length === segments.length ? steps.at(-1)?.codec.model : undefined
  const operand = nested === undefined ? given : onItems(nested, given)
  // Of a list, each operator may be met by another item.
  const isSplit = steps.some(({ codec }) => codec.isList)
  return operatorsIn(operand, isSplit).map((part) =>
    steps.reduceRight<Filter>(
      (condition, step, at) => withDefault(condition, steps.slice(0, at), step, segments.slice(at), part),
      { [path]: part }
    )
  )
}

/**
 * A condition as several, for each of which a default is tested by itself: of a list, each operator may be met by another
 * item. A question for null or existence is one for what is stored.
 */
const operatorsIn = (operand: unknown, isSplit: boolean): ReadonlyArray<unknown> => {
  if (!isOperatorDocument(operand) || Object.keys(operand).some((operator) => operator.startsWith("$near"))) {
    return [operand]
  }
  const entries = Object.entries(operand)
  const stored = entries.filter(isOfStored)
  const { $options, $regex, ...others } = Object.fromEntries(entries.filter((entry) => !isOfStored(entry)))
  const pattern = $regex === undefined ? {} : { $regex, ...($options === undefined ? {} : { $options }) }
  const tested = isSplit
    ? [pattern, ...Object.entries(others).map(([operator, value]) => ({ [operator]: value }))]
    : [{ ...others, ...pattern }]
  return [Object.fromEntries(stored), ...tested].filter((part) => Object.keys(part).length > 0)
}

const isOfStored = ([operator, value]: readonly [string, unknown]): boolean =>
  operator === "$exists" || value === null || (isArray(value) && value.includes(null))

/** Applies a filter of a nested model's fields to the items that it is of. */
const onItems = (model: ModelLike, operand: unknown): unknown =>
  !isOperatorDocument(operand) ? operand : Object.fromEntries(
    Object.entries(operand).map(([operator, value]) => [
      operator,
      operator === "$elemMatch" && isDocument(value)
        ? filterOf(model, value)
        : operator === "$not"
        ? onItems(model, value)
        : operator === "$all" && isArray(value)
        ? value.map((item) => onItems(model, item))
        : value
    ])
  )

/** The condition for documents that may lack a field on its path, which is within others. */
const withDefault = (
  condition: Filter,
  within: ReadonlyArray<Step>,
  { codec, name }: Step,
  path: ReadonlyArray<string>,
  operand: unknown
): Filter =>
  Option.match(
    Object.entries(isOperatorDocument(operand) ? operand : { $eq: operand }).some(isOfStored)
      ? Option.none()
      : constantOf(codec),
    {
      onNone: () => condition,
      onSome: (value) => {
        // The version of a write is such a condition.
        if (isScalar(operand) && isScalar(value) && operand !== value && path.length === 1 && !codec.isList) {
          return condition
        }
        const accepts = plainMatcher({ [path.join(".")]: operand })
        const isMet = accepts({ [name]: value })
        if (isMet === accepts({})) return condition
        const absent = absentIn(within, name, codec)
        if (!isMet) return conjunctionOf(condition, negated(absent))
        const values = path.length === 1 && !codec.isList && !within.some((step) => step.codec.isList)
          ? equalValues(operand)
          : undefined
        if (values === undefined || codec.nullIsValue) return anyOf([condition, absent]) ?? {}
        return { ...absent, [[...within.map((step) => step.name), name].join(".")]: { $in: [...values, null] } }
      }
    }
  )

const isScalar = (value: unknown): boolean => typeof value === "number" || typeof value === "string"

const equalValues = (operand: unknown): ReadonlyArray<unknown> | undefined => {
  const { $eq, $in, ...others } = isOperatorDocument(operand) ? operand : { $eq: operand }
  if (Object.keys(others).length > 0 || ($eq !== undefined && $in !== undefined)) return undefined
  const values = isArray($in) ? $in : [$eq]
  return values.some((value) => value === undefined || value instanceof RegExp) ? undefined : values
}

/** The filter of documents that have what the field is in, and lack the field. */
const absentIn = (within: ReadonlyArray<Step>, name: string, codec: FieldCodec): Filter => {
  const at = within.findIndex((step) => step.codec.isList)
  const outer = within.slice(0, at < 0 ? undefined : at + 1).map((step) => step.name).join(".")
  if (at >= 0) return { [outer]: { $elemMatch: absentIn(within.slice(at + 1), name, codec) } }
  // Where null is a value, or may be an item, it says nothing of the field.
  const isAbsent = codec.nullIsValue
    ? { $exists: false }
    : codec.isList
    ? { $eq: null, $not: { $type: "array" } }
    : null
  return outer === "" ? { [name]: isAbsent } : { [outer]: { $ne: null }, [`${outer}.${name}`]: isAbsent }
}
