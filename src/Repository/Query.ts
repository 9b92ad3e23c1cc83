/**
 * Conditions on the documents of a model, typed by its fields.
 *
 * A condition is written as a function of the model's fields: `($) => $.address.city.equals("Bern")`. A value has the
 * field's decoded type and is encoded by the field's own schema, without its validators: what may not be written can
 * still be looked for.
 *
 * **Example** (Conditions)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model, Query } from "appkernel"
 *
 * class Line extends Model.Class<Line>()("Line", { product: Schema.String, quantity: Schema.Int }) {}
 *
 * class Order extends Model.Class<Order>()("Order", {
 *   id: Model.id({ prefix: "O" }),
 *   customer: Schema.String,
 *   lines: Schema.Array(Line)
 * }) {}
 *
 * Query.toFilter(Order, ($) => $.id.in(["O1", "O2"])) // => { _id: { $in: ["O1", "O2"] } }
 *
 * const { customer, lines } = Query.toFilter(Order, ($) =>
 *   $.customer.contains("jan").and($.lines.any((line) => line.product.equals("tea").and(line.quantity.greaterThan(3)))))
 *
 * customer // => { $regex: "jan", $options: "i" }
 * lines // => { $elemMatch: { product: { $eq: "tea" }, quantity: { $gt: 3 } } }
 * ```
 *
 * @since 0.1.0
 */
import type { BigDecimal } from "effect/BigDecimal"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { perModel } from "../Model/introspection.ts"
import type * as Model from "../Model/Model.ts"
import type { Filter } from "./DocumentStore.ts"
import { type Condition, native, operatorsOf } from "./query/condition.ts"
import { partOf } from "./query/fieldCodec.ts"
import { fieldsUnder, opened, rootOf } from "./query/fieldPath.ts"
import type { AnyList, AnyModel, AnyMoment, EncodedOf, FieldsOf, Own, TypeOf } from "./query/fieldTypes.ts"

export { and, type Condition, native, not, or } from "./query/condition.ts"
export { type Path, select, type Selection } from "./query/selection.ts"
export { type SortKey, toSort } from "./query/sortKeys.ts"

/**
 * What can be said of a field whose values are of type `A`.
 *
 * **Details**
 *
 * Through a list of models (`$.lines.quantity`) a condition holds when it does for one of the elements; `notEquals` and
 * `notIn` hold when they do for all.
 *
 * @category models
 * @since 0.1.0
 */
export interface Field<A> {
  /** The value is this one. */
  readonly equals: (value: A) => Condition
  /** The value is another one, or there is none. */
  readonly notEquals: (value: A) => Condition
  /** The value is one of these. */
  readonly in: (values: ReadonlyArray<A>) => Condition
  /** The value is none of these, or there is none. */
  readonly notIn: (values: ReadonlyArray<A>) => Condition
  /** There is a value. Of an optional field, `null` is none. */
  readonly exists: () => Condition
  /** There is no value. Of an optional field, `null` is none. */
  readonly isMissing: () => Condition
}

/**
 * What can be said of a field whose values come one after the other. They do so as the store has them: texts by their
 * code points, calendar dates without the time of the day. A missing value is neither less nor greater.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ordered<A> extends Field<A> {
  /** The value comes after this one. */
  readonly greaterThan: (value: NonNullable<A>) => Condition
  /** The value comes after this one, or is it. */
  readonly greaterThanOrEqualTo: (value: NonNullable<A>) => Condition
  /** The value comes before this one. */
  readonly lessThan: (value: NonNullable<A>) => Condition
  /** The value comes before this one, or is it. */
  readonly lessThanOrEqualTo: (value: NonNullable<A>) => Condition
  /** The value is one of these bounds or between them. */
  readonly between: (minimum: NonNullable<A>, maximum: NonNullable<A>) => Condition
}

/**
 * What can be said of a point in time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Moment<A> extends Ordered<A> {
  /** The same as `lessThan`. */
  readonly before: (value: NonNullable<A>) => Condition
  /** The same as `greaterThan`. */
  readonly after: (value: NonNullable<A>) => Condition
}

/**
 * What can be said of a text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Text<A> extends Ordered<A> {
  /** The text has this one in it, upper and lower case being the same. No index helps. */
  readonly contains: (text: string) => Condition
  /** The text begins with this one, case by case. An index helps. */
  readonly startsWith: (prefix: string) => Condition
  /**
   * The text has a part that the expression matches: in the syntax that JavaScript and the store share, which is RE2's
   * in the embedded one. Of the flags, `i`, `m` and `s` count.
   */
  readonly matches: (pattern: RegExp) => Condition
}

/**
 * What can be said of a list of type `A` with elements of type `Element`.
 *
 * @category models
 * @since 0.1.0
 */
export interface List<A, Element> extends Field<A> {
  /** The list has this element. */
  readonly contains: (element: Element) => Condition
  /** The list has so many elements. */
  readonly size: (elements: number) => Condition
}

/**
 * What can be said of a list of models with the fields `F`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Models<A, Element, F> extends List<A, Element> {
  /** There is an element that fulfils the condition as a whole. */
  readonly any: (where: (element: Fields<F>) => Condition) => Condition
}

/**
 * What can be said of a field, by its schema. A field within a model that has the name of something that can be said of
 * the model itself is out of reach: `path` reaches it.
 *
 * @category models
 * @since 0.1.0
 */
export type FieldOf<S> = Own<S> extends infer O
  ? O extends AnyModel ? Field<TypeOf<S>> & Inner<FieldsOf<O>, Field<unknown>>
  : O extends AnyList<infer Item>
    ? Own<Item> extends infer I extends AnyModel
      ? Models<TypeOf<S>, TypeOf<Item>, FieldsOf<I>> & Inner<FieldsOf<I>, Models<unknown, unknown, unknown>>
    : List<TypeOf<S>, TypeOf<Item>>
  : Scalar<TypeOf<S>, NonNullable<EncodedOf<O>>>
  : never

/**
 * The fields of a model, and those of the models in it.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields<F> = { readonly [K in keyof F]: FieldOf<F[K]> }

/**
 * Chooses documents of the model `M`.
 *
 * @category models
 * @since 0.1.0
 */
export type Where<M extends Model.Any> = (fields: Fields<M["store"]["fields"]>) => Condition

/**
 * Options of {@link text}.
 *
 * @category models
 * @since 0.1.0
 */
export interface TextOptions {
  /** Whose word stems and stop words count: `"de"`, `"none"`. Defaults to the language of the text index. */
  readonly language?: string | undefined
  /** Defaults to false. */
  readonly caseSensitive?: boolean | undefined
  /** Whether letters with and without accents differ. Defaults to false. */
  readonly diacriticSensitive?: boolean | undefined
}

/**
 * The condition in the store's terms; without one, every document.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toFilter = <M extends Model.Any>(model: M, where: Where<M> | undefined): Filter =>
  // The fields made here are those that the type lists, one for each of the model's.
  where === undefined ? {} : where(fieldsOf(model) as Fields<M["store"]["fields"]>).filter

/**
 * A path that is none of the model's fields, whose values are those of the schema: `Query.path("meta.colour",
 * Schema.String).equals("red")`. Within `any` it begins at the element. Dies when the path is empty or begins with `$`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const path = <S extends Schema.Top>(path: string, schema: S): FieldOf<S> => {
  if (path === "" || path.startsWith("$")) {
    return Effect.runSync(Effect.die(new Error(`"${path}" is not a path in a document`)))
  }
  const field = { model: "", path, name: path, part: partOf("value", schema, {}), list: undefined, mayBeMissing: true }
  // What is made of a schema is what the type says of it.
  return opened(field, operatorsOf, () => true) as FieldOf<S>
}

/**
 * Documents with these words, by the text index of their collection: any of them, `"phrases in quotes"` and no `-word`.
 * It can't stand within `any` or `not`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (search: string, options?: TextOptions): Condition => {
  const { caseSensitive, diacriticSensitive, language } = options ?? {}
  return native({
    $text: {
      $search: search,
      ...(language === undefined ? {} : { $language: language }),
      ...(caseSensitive === undefined ? {} : { $caseSensitive: caseSensitive }),
      ...(diacriticSensitive === undefined ? {} : { $diacriticSensitive: diacriticSensitive })
    }
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Inner<F, Operators> = { readonly [K in Exclude<keyof F, keyof Operators>]: FieldOf<F[K]> }

type Scalar<A, Encoded> = [NonNullable<A>] extends [never] ? Field<A>
  : [NonNullable<A>] extends [AnyMoment] ? Moment<A>
  : [NonNullable<A>] extends [string] ? [Encoded] extends [string] ? Text<A> : Ordered<A>
  : [NonNullable<A>] extends [number | bigint | BigDecimal] ? Ordered<A>
  : Field<A>

const fieldsOf = perModel((model: Model.Any) => fieldsUnder(rootOf(model), operatorsOf, () => true))
