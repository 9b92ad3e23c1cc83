/** The operators of updates, as functions from operands to changes. */
import { EJSON } from "bson"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as SchemaAST from "effect/SchemaAST"
import * as crypto from "node:crypto"
import { temporalKind } from "../../Model/internal.ts"
import { type ModelError, Problem, PropertyRequiredException, ValidationException } from "../../Model/ModelError.ts"
import type { Filter } from "../DocumentStore.ts"
import { QueryRejected } from "../RepositoryError.ts"
import { type Condition, elementFilter } from "./condition.ts"
import type { FieldCodec } from "./fieldCodec.ts"
import { type FieldPath, withNestedFields } from "./fieldPath.ts"

/**
 * A change of one field.
 *
 * @category models
 * @since 0.1.0
 */
export interface Change {
  /** The store's operator, such as `$set`. */
  readonly operator: string
  /** The path of the field in the stored document. */
  readonly path: string
  /** Encodes the operand. `undefined` for `$set` removes the field. */
  readonly operand: Effect.Effect<unknown, ModelError | QueryRejected>
  /** The filters of the `$[…]` placeholders in the path. */
  readonly arrayFilters: ReadonlyArray<Filter>
}

/**
 * Options of an append.
 *
 * @category models
 * @since 0.1.0
 */
export interface AppendOptions {
  /** The index of the first new element, from 0. A negative index counts from the end. Defaults to the end. */
  readonly position?: number | undefined
  /** Truncates the list to this many first elements or, if negative, last elements. Defaults to no truncation. */
  readonly slice?: number | undefined
}

/** The operators of a field, by name. */
interface UpdateOperators {
  readonly [operator: string]: unknown
}

type Operand = Effect.Effect<unknown, ModelError | QueryRejected>

type Where = (element: object) => Condition

/** The update operators of a field. Those of a list lead to the operators of its elements. @internal */
export const updateOperatorsOf = (field: FieldPath): UpdateOperators => operatorsAt({ field, arrayFilters: [] })

/**
 * Whether the nested fields of a field can be updated directly. The fields of a list's elements are reached through the
 * operators that select elements.
 *
 * @internal
 */
export const hasUpdatableFields = ({ isList }: FieldCodec): boolean => !isList

// internal

/** A field to update, and the array filters of the elements that its path selects. */
interface UpdateTarget {
  readonly field: FieldPath
  readonly arrayFilters: ReadonlyArray<Filter>
}

const changeOf = ({ arrayFilters, field }: UpdateTarget, operator: string, operand: Operand): Change => {
  const { codec, name, path } = field
  const isManaged = codec.attributes.managed !== undefined && !name.includes(".")
  return {
    operator,
    path,
    operand: isManaged ? reject(`"${name}" is kept up to date by the framework`) : operand,
    arrayFilters
  }
}

const operatorsAt = (target: UpdateTarget): UpdateOperators => {
  const { field } = target
  const { codec } = field
  const operand = (value: unknown) => withDocumentPath(field, codec.convertAndEncode(value))
  const operators: UpdateOperators = {
    set: (value: unknown) => changeOf(target, "$set", operand(value)),
    unset: () => changeOf(target, "$unset", Effect.succeed(""))
  }
  if (codec.isList) return listOperators(target, operators)
  if (codec.model !== undefined) return operators
  return {
    ...operators,
    min: (value: unknown) => changeOf(target, "$min", operand(value)),
    max: (value: unknown) => changeOf(target, "$max", operand(value)),
    increment: (amount: number) => changeOf(target, "$inc", numericOperand(field, amount, codec.amount())),
    multiply: (factor: number) => changeOf(target, "$mul", numericOperand(field, factor, codec.factor())),
    currentDate: () =>
      SchemaAST.toEncoded(codec.own.ast).annotations?.[temporalKind] === "datetime"
        ? changeOf(target, "$currentDate", Effect.succeed(true))
        : changeOf(target, "$set", Effect.map(DateTime.now, (now) => codec.encode(now)))
  }
}

const listOperators = (target: UpdateTarget, fieldOperators: UpdateOperators): UpdateOperators => {
  const element = elementCodecOf(target)
  const { model } = element
  const addAllToSet = (elements: ReadonlyArray<unknown>) =>
    changeOf(target, "$addToSet", Effect.map(elementOperands(target, elements), ($each) => ({ $each })))
  // `$pullAll` compares values. `$pull` would interpret a document as a condition.
  const removeAll = (elements: ReadonlyArray<unknown>) =>
    changeOf(target, "$pullAll", Effect.succeed(elements.map((value) => element.encode(value))))
  const operators: UpdateOperators = {
    ...fieldOperators,
    append: (value: unknown) => appendAll(target, [value]),
    appendAll: (elements: ReadonlyArray<unknown>, options?: AppendOptions) => appendAll(target, elements, options),
    addToSet: (value: unknown) => addAllToSet([value]),
    addAllToSet,
    remove: (value: unknown) => removeAll([value]),
    removeAll,
    popFirst: () => changeOf(target, "$pop", Effect.succeed(-1)),
    popLast: () => changeOf(target, "$pop", Effect.succeed(1)),
    get matched() {
      return elementOperators(target, "$")
    },
    get each() {
      return elementOperators(target, "$[]")
    },
    at: (index: number) => elementOperators(target, String(index))
  }
  if (model === undefined) return operators
  // Descriptors are copied, because the getters of `operators` are evaluated on access only.
  return Object.defineProperties({
    removeWhere: (where: Where) => changeOf(target, "$pull", Effect.succeed(elementFilter(model, where))),
    where: (where: Where) => {
      const { filter, identifier } = arrayFilterOf(elementFilter(model, where))
      return elementOperators(target, `$[${identifier}]`, [filter])
    }
  }, Object.getOwnPropertyDescriptors(operators))
}

const elementCodecOf = ({ field: { codec } }: UpdateTarget): FieldCodec => codec.element() ?? codec

const elementOperators = (
  { arrayFilters, field }: UpdateTarget,
  segment: string,
  filters: ReadonlyArray<Filter> = []
): object => {
  const codec = elementCodecOf({ arrayFilters, field })
  return withNestedFields(
    { ...field, path: `${field.path}.${segment}`, codec, list: undefined },
    (inner) => operatorsAt({ field: inner, arrayFilters: [...arrayFilters, ...filters] }),
    hasUpdatableFields
  )
}

const elementOperands = (
  target: UpdateTarget,
  elements: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<unknown>, ModelError | QueryRejected> => {
  const { field } = target
  const element = elementCodecOf(target)
  return field.codec.attributes.converter === undefined
    ? Effect.forEach(elements, (value) => withDocumentPath(field, element.convertAndEncode(value)))
    : reject(`"${field.name}" is converted as a whole`)
}

const appendAll = (
  target: UpdateTarget,
  elements: ReadonlyArray<unknown>,
  { position, slice }: AppendOptions = {}
): Change =>
  changeOf(
    target,
    "$push",
    Effect.map(elementOperands(target, elements), ($each) => ({
      $each,
      ...(position === undefined ? {} : { $position: position }),
      ...(slice === undefined ? {} : { $slice: slice })
    }))
  )

const reject = (detail: string) => Effect.fail(new QueryRejected({ operation: "update", detail }))

/** Encodes a number operand. Fails unless the field stores numbers as they are: the store could not compute with others. */
const numericOperand = (field: FieldPath, value: number, codec: FieldCodec): Operand =>
  Object.is(field.codec.encode(value), value)
    ? withDocumentPath(field, codec.convertAndEncode(value))
    : reject(`"${field.name}" is stored in another form`)

/** Prefixes the fields in errors of a nested field with its path in the document. */
const withDocumentPath = (
  { model, name }: FieldPath,
  effect: Effect.Effect<unknown, ModelError>
): Operand => {
  const prefix = name.slice(0, name.lastIndexOf(".") + 1)
  return Effect.mapError(effect, (error) => {
    const facts = {
      model,
      field: prefix + error.field,
      problems: error.problems.map((problem) => new Problem({ ...problem, field: prefix + problem.field }))
    }
    return error._tag === "PropertyRequiredException"
      ? new PropertyRequiredException(facts)
      : new ValidationException({
        ...facts,
        validator: error.validator,
        detail: error.detail,
        ...("value" in error ? { value: error.value } : {})
      })
  })
}

/** Turns a filter into an array filter. Its identifier is a hash, so equal filters have the same identifier. */
const arrayFilterOf = (filter: Filter): { readonly identifier: string; readonly filter: Filter } => {
  const hash = crypto.hash("sha256", EJSON.stringify(filter, { relaxed: false }))
  const identifier = `e${hash.slice(0, 12)}`
  return { identifier, filter: prefixPaths(identifier, filter) }
}

const prefixPaths = (identifier: string, filter: Filter): Filter =>
  Object.fromEntries(
    Object.entries(filter).map(([key, operand]) =>
      key.startsWith("$") && Array.isArray(operand)
        ? [key, operand.map((branch: Filter) => prefixPaths(identifier, branch))]
        : [`${identifier}.${key}`, operand]
    )
  )
