import { EJSON } from "bson"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as SchemaAST from "effect/SchemaAST"
import * as crypto from "node:crypto"
import { temporalKind } from "../../Model/introspection.ts"
import { type ModelError, Problem, PropertyRequiredException, ValidationException } from "../../Model/ModelError.ts"
import type { Filter } from "../DocumentStore.ts"
import { QueryRejected } from "../RepositoryError.ts"
import { type Condition, elementFilter } from "./condition.ts"
import type { FieldPart } from "./fieldCodec.ts"
import { type FieldPath, opened } from "./fieldPath.ts"

/**
 * One change of one field.
 *
 * @category models
 * @since 0.1.0
 */
export interface Change {
  /** The store's operator, as `$set`. */
  readonly operator: string
  /** Where in the document, in the store's terms. */
  readonly path: string
  /** The operand in the store's terms; nothing, where `$set` is to remove the field. */
  readonly operand: Effect.Effect<unknown, ModelError | QueryRejected>
  /** What the path's `$[…]` stand for. */
  readonly arrayFilters: ReadonlyArray<Filter>
}

/**
 * Where elements go that are appended.
 *
 * @category models
 * @since 0.1.0
 */
export interface AppendOptions {
  /** The place of the first one, from 0; a negative one counts from the end. Defaults to the end. */
  readonly position?: number | undefined
  /** How many elements the list keeps afterwards: the first ones, or of a negative number the last ones. Defaults to all. */
  readonly slice?: number | undefined
}

/** A change for each way in which a field can change. */
interface Changes {
  readonly [operator: string]: unknown
}

type Operand = Effect.Effect<unknown, ModelError | QueryRejected>

type Where = (element: object) => Condition

/**
 * How a field of a model can change. What elements of a list can do follows from their own part.
 *
 * @internal
 */
export const changesOf = (field: FieldPath): Changes => changesAt(field, [])

/**
 * A path leads through a model, but through a list only by way of its elements.
 *
 * @internal
 */
export const opensForUpdate = ({ isList }: FieldPart): boolean => !isList

const changesAt = (field: FieldPath, arrayFilters: ReadonlyArray<Filter>): Changes => {
  const { name, part, path } = field
  const { attributes: { managed } } = part
  const isManaged = managed !== undefined && !name.includes(".")
  const change = (operator: string, operand: Operand): Change => ({
    operator,
    path,
    operand: isManaged ? reject(`"${name}" is kept up to date by the framework`) : operand,
    arrayFilters
  })
  const accept = (value: unknown, by = part) => within(field, by.accept(value))
  const any: Changes = {
    set: (value: unknown) => change("$set", accept(value)),
    unset: () => change("$unset", Effect.succeed(""))
  }
  if (part.isList) return lists(field, arrayFilters, change, accept, any)
  if (part.model !== undefined) return any
  return {
    ...any,
    min: (value: unknown) => change("$min", accept(value)),
    max: (value: unknown) => change("$max", accept(value)),
    increment: (amount: number) => change("$inc", number(field, amount, part.amount())),
    multiply: (factor: number) => change("$mul", number(field, factor, part.factor())),
    currentDate: () =>
      SchemaAST.toEncoded(part.own.ast).annotations?.[temporalKind] === "datetime"
        ? change("$currentDate", Effect.succeed(true))
        : change("$set", Effect.map(DateTime.now, (now) => part.encode(now)))
  }
}

const lists = (
  field: FieldPath,
  arrayFilters: ReadonlyArray<Filter>,
  change: (operator: string, operand: Operand) => Change,
  accept: (value: unknown, by: FieldPart) => Operand,
  any: Changes
): Changes => {
  const { part, path } = field
  const element = part.element() ?? part
  const { model } = element
  const acceptAll = (
    elements: ReadonlyArray<unknown>
  ): Effect.Effect<ReadonlyArray<unknown>, ModelError | QueryRejected> =>
    part.attributes.converter === undefined
      ? Effect.forEach(elements, (value) => accept(value, element))
      : reject(`"${field.name}" is converted as a whole`)
  const appendAll = (elements: ReadonlyArray<unknown>, { position, slice }: AppendOptions = {}) =>
    change(
      "$push",
      Effect.map(acceptAll(elements), ($each) => ({
        $each,
        ...(position === undefined ? {} : { $position: position }),
        ...(slice === undefined ? {} : { $slice: slice })
      }))
    )
  const addAllToSet = (elements: ReadonlyArray<unknown>) =>
    change("$addToSet", Effect.map(acceptAll(elements), ($each) => ({ $each })))
  // Unlike `$pull`, it never takes a document for a condition.
  const removeAll = (elements: ReadonlyArray<unknown>) =>
    change("$pullAll", Effect.succeed(elements.map((value) => element.encode(value))))
  const elementAt = (segment: string, filters: ReadonlyArray<Filter> = []) =>
    opened(
      { ...field, path: `${path}.${segment}`, part: element, list: undefined },
      (inner) => changesAt(inner, [...arrayFilters, ...filters]),
      opensForUpdate
    )
  const ofLists: Changes = {
    ...any,
    append: (value: unknown) => appendAll([value]),
    appendAll,
    addToSet: (value: unknown) => addAllToSet([value]),
    addAllToSet,
    remove: (value: unknown) => removeAll([value]),
    removeAll,
    popFirst: () => change("$pop", Effect.succeed(-1)),
    popLast: () => change("$pop", Effect.succeed(1)),
    get matched() {
      return elementAt("$")
    },
    get each() {
      return elementAt("$[]")
    },
    at: (place: number) => elementAt(String(place))
  }
  if (model === undefined) return ofLists
  return Object.defineProperties({
    removeWhere: (where: Where) => change("$pull", Effect.succeed(elementFilter(model, where))),
    where: (where: Where) => {
      const { filter, identifier } = identified(elementFilter(model, where))
      return elementAt(`$[${identifier}]`, [filter])
    }
  }, Object.getOwnPropertyDescriptors(ofLists))
}

const reject = (detail: string) => Effect.fail(new QueryRejected({ operation: "update", detail }))

/** A number in the field's own form; what is stored in another one can't be reckoned with. */
const number = (field: FieldPath, value: number, by: FieldPart): Operand =>
  Object.is(field.part.encode(value), value)
    ? within(field, by.accept(value))
    : reject(`"${field.name}" is stored in another form`)

/** Tells of a part of a document in the document's terms. */
const within = ({ model, name }: FieldPath, effect: Effect.Effect<unknown, ModelError>): Operand => {
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

/** The filter for what an identifier of its own stands for: the same for the same filter. */
const identified = (filter: Filter): { readonly identifier: string; readonly filter: Filter } => {
  const hash = crypto.createHash("sha256").update(EJSON.stringify(filter, { relaxed: false })).digest("hex")
  const identifier = `e${hash.slice(0, 12)}`
  return { identifier, filter: behind(identifier, filter) }
}

const behind = (identifier: string, filter: Filter): Filter =>
  Object.fromEntries(
    Object.entries(filter).map(([key, operand]) =>
      key.startsWith("$") && Array.isArray(operand)
        ? [key, operand.map((branch: Filter) => behind(identifier, branch))]
        : [`${identifier}.${key}`, operand]
    )
  )
