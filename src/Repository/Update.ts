/**
 * Changes that the store makes of a document in one atomic operation, typed by the fields of a model.
 *
 * They are written as a function of the model's fields: `($) => [$.loginCount.increment(1), $.roles.append("admin")]`.
 * Nobody reads the document before, so no two writers lose each other's changes.
 *
 * **Details**
 *
 * What is set, appended or added goes through the field's converter and validators first, as in `Model.finalise`, and is
 * encoded by the field's own schema. A versioned model's version goes up by one.
 *
 * **Gotchas**
 *
 * The document as a whole is not validated: neither bounds that a number leaves by `increment` or `multiply`, nor the
 * length of a list, nor rules about several fields. A field set in an optional model that is not there makes a model of
 * this one field; set the model instead.
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
import { EJSON } from "bson"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { managedField, perModel } from "../Model/introspection.ts"
import type * as Model from "../Model/Model.ts"
import { type ModelError, type Problem, PropertyRequiredException, ValidationException } from "../Model/ModelError.ts"
import type { Filter, Update } from "./DocumentStore.ts"
import type * as Query from "./Query.ts"
import { fieldsUnder, rootOf } from "./query/fieldPath.ts"
import type { AnyList, AnyModel, AnyMoment, EncodedOf, FieldsOf, Own, TypeOf } from "./query/fieldTypes.ts"
import { type AppendOptions, type Change, changesOf, opensForUpdate } from "./query/updateCombinators.ts"
import { QueryRejected } from "./RepositoryError.ts"

export type { AppendOptions, Change } from "./query/updateCombinators.ts"

/**
 * An update as a store takes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface AtomicUpdate {
  readonly update: Update
  /** An option of the store's `updateOne`, `updateMany` and `findOneAndUpdate`. */
  readonly arrayFilters: ReadonlyArray<Filter> | undefined
}

/**
 * How a field with values of type `A` can change.
 *
 * @category models
 * @since 0.1.0
 */
export interface Value<A> {
  /** The field gets this value. */
  readonly set: (value: A) => Change
}

/**
 * How a field can change that need not be there.
 *
 * @category models
 * @since 0.1.0
 */
export interface Optional {
  /** The field is removed. */
  readonly unset: () => Change
}

/**
 * How a field can change whose values come one after the other.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ordered<A> extends Value<A> {
  /** The field gets this value if its own is greater, or if it has none. */
  readonly min: (value: NonNullable<A>) => Change
  /** The field gets this value if its own is less, or if it has none. */
  readonly max: (value: NonNullable<A>) => Change
}

/**
 * How a number can change.
 *
 * @category models
 * @since 0.1.0
 */
export interface Numeric<A> extends Ordered<A> {
  /** Adds the amount, which may be negative, to the number, or to 0 where there is none. */
  readonly increment: (amount: number) => Change
  /** Multiplies the number by the factor; where there is none, the result is 0. */
  readonly multiply: (factor: number) => Change
}

/**
 * How a point in time can change.
 *
 * @category models
 * @since 0.1.0
 */
export interface Moment<A> extends Ordered<A> {
  /** The field gets the present time: that of the store, where the store keeps date-times as such. */
  readonly currentDate: () => Change
}

/**
 * How a list can change, whose elements the schema `Item` describes. A list that is not there begins empty.
 *
 * @category models
 * @since 0.1.0
 */
export interface List<Item> {
  /** Puts the element at the end. */
  readonly append: (element: Input<Item>) => Change
  /** Puts the elements at the end, or elsewhere. */
  readonly appendAll: (elements: ReadonlyArray<Input<Item>>, options?: AppendOptions) => Change
  /** Puts the element at the end, unless the list has it. */
  readonly addToSet: (element: Input<Item>) => Change
  /** Puts those of the elements at the end that the list doesn't have. */
  readonly addAllToSet: (elements: ReadonlyArray<Input<Item>>) => Change
  /** Takes out every element that equals this one. */
  readonly remove: (element: TypeOf<Item>) => Change
  /** Takes out every element that equals one of these. */
  readonly removeAll: (elements: ReadonlyArray<TypeOf<Item>>) => Change
  /** Takes out the first element. */
  readonly popFirst: () => Change
  /** Takes out the last element. */
  readonly popLast: () => Change
  /** The first element that the query's condition on this list holds for; without such a condition, it is refused. */
  readonly matched: FieldOf<Item>
  /** Each of the elements. */
  readonly each: FieldOf<Item>
  /** The element at the place, from 0. One behind the end makes the list longer, with `null` in between. */
  readonly at: (place: number) => FieldOf<Item>
}

/**
 * How a list of models with the fields `F` can change.
 *
 * @category models
 * @since 0.1.0
 */
export interface Models<Item, F> extends List<Item> {
  /** Takes out the elements that fulfil the condition. */
  readonly removeWhere: (where: (element: Query.Fields<F>) => Query.Condition) => Change
  /** Each of the elements that fulfil the condition. */
  readonly where: (where: (element: Query.Fields<F>) => Query.Condition) => FieldOf<Item>
}

/**
 * What can be set as the value of a schema: of a model, what `Model.finalise` takes, which every instance is.
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
 * How a field can change, by its schema. A field within a model that is called `set` or `unset` is out of reach.
 *
 * @category models
 * @since 0.1.0
 */
export type FieldOf<S> =
  & (S extends { readonly "~type.optionality": "optional" } ? Optional : unknown)
  & (Own<S> extends infer O ? O extends AnyModel ? Value<Input<S>> & Inner<FieldsOf<O>>
    : O extends AnyList<infer Item>
      ? Value<Input<S>> & (Own<Item> extends infer I extends AnyModel ? Models<Item, FieldsOf<I>> : List<Item>)
    : Scalar<TypeOf<S>, NonNullable<EncodedOf<O>>>
    : never)

/**
 * The fields of a model that can be changed: neither the identifier nor the version.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields<M extends Model.Any> = {
  readonly [
    K in Exclude<keyof M["store"]["fields"] & keyof M["patch"]["fields"], Versioned<M["store"]["fields"]>>
  ]: FieldOf<M["store"]["fields"][K]>
}

/**
 * Changes documents of the model `M`. No two changes may be of one field, or of a field and one in it.
 *
 * @category models
 * @since 0.1.0
 */
export type Changes<M extends Model.Any> = (fields: Fields<M>) => ReadonlyArray<Change>

/**
 * The changes in the store's terms. Converters run, and validators look at what is set, appended or added.
 *
 * Fails as `Model.finalise` does when a value is not valid, with everything that is wrong with any of them; with
 * `QueryRejected` when there is no change, when two changes are of one field, or of a field and one in it, and when a
 * change is of a field that the framework keeps up to date itself.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toUpdate: <M extends Model.Any>(
  model: M,
  changes: Changes<M>
) => Effect.Effect<AtomicUpdate, ModelError | QueryRejected> = Effect.fnUntraced(
  function*<M extends Model.Any>(model: M, changes: Changes<M>) {
    // The fields made here are those that the type lists, one for each of the model's.
    const made = changes(fieldsOf(model) as Fields<M>)
    const versionField = managedField(model, "version")
    const version = versionField === undefined ? [] : [native("$inc", versionField, 1)]
    const all = [...made, ...version]
    const problem = problemOf(model, made, all)
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
    if (first !== undefined) return yield* merged(first, others)
    return { update, arrayFilters: distinct(made.flatMap(({ arrayFilters }) => arrayFilters)) }
  }
)

/**
 * A change in the store's own terms, for what the typed ones can't say: `Update.native("$rename", "old", "new")`. The
 * operand is neither validated nor encoded.
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

const fieldsOf = perModel((model: Model.Any) => fieldsUnder(rootOf(model), changesOf, opensForUpdate))

const rejected = (detail: string) => new QueryRejected({ operation: "update", detail })

const problemOf = (
  model: Model.Any,
  made: ReadonlyArray<Change>,
  all: ReadonlyArray<Change>
): string | undefined => {
  if (made.length === 0) return "an update needs changes"
  const id = managedField(model, "id")
  if (made.some(({ path }) => path.split(".")[0] === "_id")) return `"${id ?? "_id"}" can't change`
  // A path and another one that it leads through stand side by side.
  const paths = all.map(({ path }) => `${path}.`).toSorted()
  const conflict = paths.find((path, i) => i > 0 && path.startsWith(paths[i - 1] ?? path))
  return conflict === undefined ? undefined : `several changes of "${conflict.slice(0, -1)}" conflict`
}

/** What is wrong with any of the values, as one failure; what is missing counts most. */
const merged = (first: ModelError, others: ReadonlyArray<ModelError>): ModelError => {
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

/** The same elements have the same identifier, and the same filter. */
const distinct = (filters: ReadonlyArray<Filter>): ReadonlyArray<Filter> | undefined =>
  filters.length === 0
    ? undefined
    : [...new Map(filters.map((filter) => [EJSON.stringify(filter, { relaxed: false }), filter])).values()]
