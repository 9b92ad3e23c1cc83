/**
 * Changes of a document that the store applies in one atomic operation, typed by the fields of a model.
 *
 * They are written as a function of the model's fields: `($) => [$.loginCount.increment(1), $.roles.append("admin")]`.
 * The document is not read before the update, so concurrent updates of different fields are never lost.
 *
 * **Details**
 *
 * A value that is set, appended or added is converted and validated as in `Model.finalise`, and encoded by the field's own
 * schema. In a versioned model, the version is incremented.
 *
 * **Gotchas**
 *
 * The updated document is not validated: `increment` and `multiply` may leave the bounds of a number, and neither the
 * length of a list nor the rules over several fields are checked. Setting a field of an optional nested model that is
 * missing stores a nested model with this field only; set the nested model instead.
 *
 * **Example** (Changes)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Model, Update } from "appkernel"
 *
 * class User extends Model.Class<User>()("User", {
 *   id: Model.id({ prefix: "U" }),
 *   loginCount: Schema.Int,
 *   roles: Schema.Array(Schema.String),
 *   nickname: Schema.String.pipe(Model.optional)
 * }) {}
 *
 * const { update } = await Effect.runPromise(
 *   Update.toUpdate(User, ($) => [$.loginCount.increment(1), $.roles.append("admin"), $.nickname.unset()])
 * )
 * update // => { $inc: { loginCount: 1 }, $push: { roles: { $each: ["admin"] } }, $unset: { nickname: "" } }
 * ```
 *
 * @since 0.1.0
 */
import { conflictingPath } from "@appkernel/mql/values"
import { EJSON } from "bson"
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import type * as Schema from "effect/Schema"
import { managedField } from "../Model/internal.ts"
import type * as Model from "../Model/Model.ts"
import { type ModelError, type Problem, PropertyRequiredException, ValidationException } from "../Model/ModelError.ts"
import type { Filter, Update } from "./DocumentStore.ts"
import type * as Query from "./Query.ts"
import { operatorsOfField, rootBase } from "./query/fieldPath.ts"
import type {
  AnyList,
  AnyModel,
  AnyMoment,
  EncodedOf,
  FieldsOf,
  Own,
  ReadOnlyNames,
  TypeOf
} from "./query/fieldTypes.ts"
import { type AppendOptions, type Change, hasUpdatableFields, updateOperatorsOf } from "./query/updateCombinators.ts"
import { QueryRejected } from "./RepositoryError.ts"

export type { AppendOptions, Change } from "./query/updateCombinators.ts"

/**
 * An update in the form that a store accepts.
 *
 * @category models
 * @since 0.1.0
 */
export interface AtomicUpdate {
  readonly update: Update
  /** An option of the store's operations that take an update. */
  readonly arrayFilters: ReadonlyArray<Filter> | undefined
}

/**
 * The operators of a field with values of type `A`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Value<A> {
  /** Sets the field to this value. */
  readonly set: (value: A) => Change
}

/**
 * The operators of an optional field.
 *
 * @category models
 * @since 0.1.0
 */
export interface Optional {
  /** Removes the field. */
  readonly unset: () => Change
}

/**
 * The operators of a field whose values have an order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ordered<A> extends Value<A> {
  /** Sets the field to this value if the current value is greater or missing. */
  readonly min: (value: NonNullable<A>) => Change
  /** Sets the field to this value if the current value is less or missing. */
  readonly max: (value: NonNullable<A>) => Change
}

/**
 * The operators of a number.
 *
 * @category models
 * @since 0.1.0
 */
export interface Numeric<A> extends Ordered<A> {
  /** Adds the amount, which may be negative. A missing number counts as 0. */
  readonly increment: (amount: number) => Change
  /** Multiplies by the factor. A missing number becomes 0. */
  readonly multiply: (factor: number) => Change
}

/**
 * The operators of a point in time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Moment<A> extends Ordered<A> {
  /** Sets the field to the current time. The store's clock is used if the field is stored as a date-time. */
  readonly currentDate: () => Change
}

/**
 * The operators of a list with elements of the schema `Item`. A missing list counts as empty.
 *
 * @category models
 * @since 0.1.0
 */
export interface List<Item> {
  /** Appends the element. */
  readonly append: (element: Input<Item>) => Change
  /** Appends the elements, or inserts them at `position`. */
  readonly appendAll: (elements: ReadonlyArray<Input<Item>>, options?: AppendOptions) => Change
  /** Appends the element unless the list contains it. */
  readonly addToSet: (element: Input<Item>) => Change
  /** Appends the elements that the list does not contain. */
  readonly addAllToSet: (elements: ReadonlyArray<Input<Item>>) => Change
  /** Removes every element that equals this one. */
  readonly remove: (element: TypeOf<Item>) => Change
  /** Removes every element that equals one of these. */
  readonly removeAll: (elements: ReadonlyArray<TypeOf<Item>>) => Change
  /** Removes the first element. */
  readonly popFirst: () => Change
  /** Removes the last element. */
  readonly popLast: () => Change
  /** The first element that matches the query's condition on this list. Rejected when the query has none. */
  readonly matched: FieldOf<Item>
  /** Every element. */
  readonly each: FieldOf<Item>
  /** The element at an index, from 0. An index beyond the end extends the list, and fills the gap with `null`. */
  readonly at: (index: number) => FieldOf<Item>
}

/**
 * The operators of a list whose elements are of the model `M`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Models<Item, M> extends List<Item> {
  /** Removes the elements that match the condition. */
  readonly removeWhere: (where: (element: Query.Fields<M>) => Query.Condition) => Change
  /** Every element that matches the condition. */
  readonly where: (where: (element: Query.Fields<M>) => Query.Condition) => FieldOf<Item>
}

/**
 * The input for a value of a schema. For a model, the input of `Model.finalise`, which includes every instance.
 *
 * @category models
 * @since 0.1.0
 */
export type Input<S> = Own<S> extends infer O
  ? O extends { readonly create: { readonly Type: infer A } } ? A | Extract<TypeOf<S>, null>
  : O extends AnyList<infer Item> ? Own<Item> extends AnyModel ? ReadonlyArray<Input<Item>> | Extract<TypeOf<S>, null>
    : TypeOf<S>
  : TypeOf<S>
  : never

/**
 * The operators of a field, by its schema. A nested field named `set` or `unset` is hidden by the operator.
 *
 * @category models
 * @since 0.1.0
 */
export type FieldOf<S> =
  & (S extends { readonly "~type.optionality": "optional" } ? Optional : unknown)
  & (Own<S> extends infer O ? O extends AnyModel ? Value<Input<S>> & Inner<FieldsOf<O>>
    : O extends AnyList<infer Item>
      ? Value<Input<S>> & (Own<Item> extends infer I extends AnyModel ? Models<Item, I> : List<Item>)
    : Scalar<TypeOf<S>, NonNullable<EncodedOf<O>>>
    : never)

/**
 * The fields of a model that an update may change, which excludes the identifier and those that the framework sets.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields<M extends Model.Any> = {
  readonly [
    K in
      | Exclude<keyof M["store"]["fields"] & keyof M["patch"]["fields"], Versioned<M["store"]["fields"]>>
      | ReadOnlyNames<M>
  ]: FieldOf<M["store"]["fields"][K]>
}

/**
 * A JSON merge patch by code: what callers may send, and fields with `Model.readOnly`.
 *
 * @category models
 * @since 0.1.0
 */
export type Patch<M extends Model.Any> = [ReadOnlyNames<M>] extends [never] ? M["patch"]["Type"]
  :
    & M["patch"]["Type"]
    & {
      readonly [K in ReadOnlyNames<M>]?:
        | Input<M["store"]["fields"][K]>
        | (M["store"]["fields"][K] extends { readonly "~type.optionality": "optional" } ? null : never)
    }

/**
 * The changes of an update, as a function of the fields of the model `M`. Two changes must not affect the same field, or a
 * field and one nested in it.
 *
 * @category models
 * @since 0.1.0
 */
export type Changes<M extends Model.Any> = (fields: Fields<M>) => ReadonlyArray<Change>

/**
 * The changes as an update of the store. Values that are set, appended or added are converted and validated.
 *
 * Fails as `Model.finalise` does when values are invalid, with the problems of all of them. Fails with `QueryRejected` when
 * there is no change, when two changes affect the same field or a field and one nested in it, and when a change affects a
 * managed field.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toUpdate: <M extends Model.Any>(
  model: M,
  changes: Changes<M>
) => Effect.Effect<AtomicUpdate, ModelError | QueryRejected> = Effect.fnUntraced(
  function*<M extends Model.Any>(model: M, changes: Changes<M>) {
    // `fieldsOf` has one property for each field of the model, as the type has.
    const requested = changes(fieldsOf(model) as Fields<M>)
    const versionField = managedField(model, "version")
    const version = versionField === undefined ? [] : [native("$inc", versionField, 1)]
    const all = [...requested, ...version]
    const problem = updateProblem(model, requested, all)
    if (problem !== undefined) return yield* rejected(problem)
    const invalid: Array<ModelError> = []
    const update: { [operator: string]: { [path: string]: unknown } } = {}
    for (const { operand, operator, path } of all) {
      const value = yield* Effect.catchTag(
        operand,
        ["ValidationException", "PropertyRequiredException"],
        (error) => Effect.sync(() => void invalid.push(error))
      )
      const isRemoved = operator === "$set" && value === undefined
      const fields = update[isRemoved ? "$unset" : operator] ??= {}
      fields[path] = isRemoved ? "" : value
    }
    const [first, ...others] = invalid
    if (first !== undefined) return yield* combineErrors(first, others)
    return { update, arrayFilters: distinct(requested.flatMap(({ arrayFilters }) => arrayFilters)) }
  }
)

/**
 * A change by an operator of the store, for changes that the typed operators cannot express: `Update.native("$rename",
 * "old", "new")`. The operand is neither validated nor encoded.
 *
 * @category constructors
 * @since 0.1.0
 */
export const native = (operator: string, path: string, operand: unknown): Change => ({
  operator,
  path,
  operand: Effect.succeed(operand),
  arrayFilters: []
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Versioned<F> = F extends { readonly version: Schema.withConstructorDefault<Schema.Int> } ? "version" : never

type Inner<F> = { readonly [K in Exclude<keyof F, keyof (Value<unknown> & Optional)>]: FieldOf<F[K]> }

type Scalar<A, Encoded> = [NonNullable<A>] extends [never] ? Value<A>
  : [NonNullable<A>] extends [number] ? [Encoded] extends [number] ? Numeric<A> : Value<A>
  : [NonNullable<A>] extends [AnyMoment] ? Moment<A>
  : Value<A>

const fieldsOf = memoize((model: Model.Any) => operatorsOfField(rootBase(model), updateOperatorsOf, hasUpdatableFields))

const rejected = (detail: string) => new QueryRejected({ operation: "update", detail })

const updateProblem = (
  model: Model.Any,
  requested: ReadonlyArray<Change>,
  all: ReadonlyArray<Change>
): string | undefined => {
  if (requested.length === 0) return "an update needs changes"
  const id = managedField(model, "id")
  if (requested.some(({ path }) => path.split(".")[0] === "_id")) return `"${id ?? "_id"}" can't change`
  const conflict = conflictingPath(all.map(({ path }) => path))
  return conflict === undefined ? undefined : `several changes of "${conflict}" conflict`
}

/** Combines the errors of several values. The result is a `PropertyRequiredException` if one of them is. */
const combineErrors = (first: ModelError, others: ReadonlyArray<ModelError>): ModelError => {
  if (others.length === 0) return first
  const errors = [first, ...others]
  const problems = errors.flatMap((error) => error.problems).toSorted((a, b) => rankOf(a) - rankOf(b))
  const leading = errors.find((error) => error._tag === "PropertyRequiredException") ?? first
  return leading._tag === "PropertyRequiredException"
    ? new PropertyRequiredException({ model: leading.model, field: leading.field, problems })
    : new ValidationException({
      model: leading.model,
      validator: leading.validator,
      field: leading.field,
      detail: leading.detail,
      problems,
      ...("value" in leading ? { value: leading.value } : {})
    })
}

const rankOf = ({ validator }: Problem): number => validator === "Required" ? 0 : 1

/** Removes duplicates: several changes of the same elements have the same array filter. */
const distinct = (filters: ReadonlyArray<Filter>): ReadonlyArray<Filter> | undefined =>
  filters.length === 0
    ? undefined
    : [...new Map(filters.map((filter) => [EJSON.stringify(filter, { relaxed: false }), filter])).values()]
