/**
 * Conditions on the documents of a model, typed by its fields.
 *
 * A condition is written as a function of the model's fields: `($) => $.address.city.equals("Bern")`. A value has the
 * field's decoded type and is encoded by the field's own schema. Validators do not run, so a query may look for a value
 * that must not be written.
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
import { memoize } from "effect/Function"
import type * as Schema from "effect/Schema"
import type * as Model from "../Model/Model.ts"
import type { Filter } from "./DocumentStore.ts"
import { type Condition, native, operatorsOf } from "./query/condition.ts"
import { fieldCodecOf } from "./query/fieldCodec.ts"
import { operatorsOfField, rootBase, withNestedFields } from "./query/fieldPath.ts"
import type { AnyList, AnyModel, AnyMoment, EncodedOf, FieldsOf, Own, TypeOf } from "./query/fieldTypes.ts"
import type { CaseOptions } from "./query/filterCombinators.ts"

export { and, type Condition, native, not, or } from "./query/condition.ts"
export { type CaseOptions } from "./query/filterCombinators.ts"
export { type Path, select, type Selection } from "./query/selection.ts"
export { type Sort, type SortTerm, toSort } from "./query/sort.ts"

/**
 * The operators of a field whose values are of type `A`.
 *
 * **Details**
 *
 * Through a list of models (`$.lines.quantity`) a condition holds when it holds for at least one element. `notEquals` and
 * `notIn` hold when they hold for all elements.
 *
 * @category models
 * @since 0.1.0
 */
export interface Field<A> {
  /** The value equals this value. */
  readonly equals: (value: A) => Condition
  /** The value differs from this value, or is missing. */
  readonly notEquals: (value: A) => Condition
  /** The value equals one of these values. */
  readonly in: (values: ReadonlyArray<A>) => Condition
  /** The value equals none of these values, or is missing. */
  readonly notIn: (values: ReadonlyArray<A>) => Condition
  /** The field has a value. `null` is one only where the field's type has `null`. */
  readonly isPresent: () => Condition
  /** The field has no value: the contrary of `isPresent`, except through a list of models. */
  readonly isMissing: () => Condition
}

/**
 * The operators of a field whose values have an order. Stored values are compared: texts by code point, calendar dates
 * without the time of day. A missing value is neither less nor greater than any value.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ordered<A> extends Field<A> {
  /** The value is greater than this value. */
  readonly greaterThan: (value: NonNullable<A>) => Condition
  /** The value is greater than or equal to this value. */
  readonly greaterThanOrEqualTo: (value: NonNullable<A>) => Condition
  /** The value is less than this value. */
  readonly lessThan: (value: NonNullable<A>) => Condition
  /** The value is less than or equal to this value. */
  readonly lessThanOrEqualTo: (value: NonNullable<A>) => Condition
  /** The value is between these bounds, which are included. */
  readonly between: (minimum: NonNullable<A>, maximum: NonNullable<A>) => Condition
}

/**
 * The operators of a point in time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Moment<A> extends Ordered<A> {
  /** Alias of `lessThan`. */
  readonly before: (value: NonNullable<A>) => Condition
  /** Alias of `greaterThan`. */
  readonly after: (value: NonNullable<A>) => Condition
}

/**
 * The operators of a text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Text<A> extends Ordered<A> {
  /** The text contains this text. Case is ignored unless `caseSensitive` is true. No index is used. */
  readonly contains: (text: string, options?: CaseOptions) => Condition
  /**
   * The text starts with this prefix. Case is ignored unless `caseSensitive` is true; only a case-sensitive condition uses
   * an index on the field.
   */
  readonly startsWith: (prefix: string, options?: CaseOptions) => Condition
  /**
   * The expression matches a part of the text. Use only syntax that JavaScript and the store share: the embedded store uses
   * RE2. The flags `i`, `m` and `s` are applied, others are ignored.
   */
  readonly matches: (pattern: RegExp) => Condition
}

/**
 * The operators of a list of type `A` with elements of type `Element`.
 *
 * @category models
 * @since 0.1.0
 */
export interface List<A, Element> extends Field<A> {
  /** The list contains this element. */
  readonly contains: (element: Element) => Condition
  /** The list has this number of elements. */
  readonly size: (elements: number) => Condition
}

/**
 * The operators of a list whose elements are of the model `M`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Models<A, Element, M> extends List<A, Element> {
  /** A single element matches the complete condition. */
  readonly any: (where: (element: Fields<M>) => Condition) => Condition
}

/**
 * The operators of a field, by its schema. A nested field with the same name as an operator of its model is hidden by the
 * operator: use `path` for it.
 *
 * @category models
 * @since 0.1.0
 */
export type FieldOf<S> = Own<S> extends infer O
  ? O extends AnyModel ? Field<TypeOf<S>> & Inner<FieldsOf<O>, Field<unknown>>
  : O extends AnyList<infer Item>
    ? Own<Item> extends infer I extends AnyModel
      ? Models<TypeOf<S>, TypeOf<Item>, I> & Inner<FieldsOf<I>, Models<unknown, unknown, unknown>>
    : List<TypeOf<S>, TypeOf<Item>>
  : Scalar<TypeOf<S>, NonNullable<EncodedOf<O>>>
  : never

/**
 * The fields of the model `M`, each with its operators and its nested fields.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields<M> = { readonly [K in keyof FieldsOf<M>]: FieldOf<FieldsOf<M>[K]> }

/**
 * A condition on the documents of the model `M`, as a function of its fields.
 *
 * @category models
 * @since 0.1.0
 */
export type Where<M extends Model.Any> = (fields: Fields<M>) => Condition

/**
 * Options of {@link text}.
 *
 * @category models
 * @since 0.1.0
 */
export interface TextOptions extends CaseOptions {
  /** The language of word stems and stop words, such as `"de"` or `"none"`. Defaults to that of the text index. */
  readonly language?: string | undefined
  /** Whether letters with and without accents differ. Defaults to false. */
  readonly diacriticSensitive?: boolean | undefined
}

/**
 * The condition as a filter of the store. Without a condition, the filter matches every document.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toFilter = <M extends Model.Any>(model: M, where: Where<M> | undefined): Filter =>
  // `fieldsOf` has one property for each field of the model, as the type has.
  where === undefined ? {} : where(fieldsOf(model) as Fields<M>).filter

/**
 * The operators of a path that is not a field of the model. The schema describes its values: `Query.path("meta.colour",
 * Schema.String).equals("red")`. Within `any` the path begins at the element. Dies when the path is empty or begins with
 * `$`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const path = <S extends Schema.Top>(path: string, schema: S): FieldOf<S> => {
  if (path === "" || path.startsWith("$")) {
    return Effect.runSync(Effect.die(new Error(`"${path}" is not a path in a document`)))
  }
  const codec = fieldCodecOf("value", schema, {})
  const field = { model: "", path, name: path, codec, list: undefined, mayBeMissing: true }
  // The operators follow from the schema in the same way as the type does.
  return withNestedFields(field, operatorsOf, () => true) as FieldOf<S>
}

/**
 * A search in the text index of the collection. A document matches when it has at least one of the words, all
 * `"phrases in quotes"`, and no word with a `-` before it. It cannot be used within `any` or `not`.
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

const fieldsOf = memoize((model: Model.Any) => operatorsOfField(rootBase(model), operatorsOf, () => true))
