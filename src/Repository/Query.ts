/**
 * Conditions on the documents of a model, typed by its fields.
 *
 * A condition is written as a function of the model's fields: `($) => $.address.city.equals("Bern")`. A value has the
 * field's decoded type and is encoded by the field's own schema.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { modelTypeId, nestedModel } from "../Model/internal/variants.ts"
import type * as Model from "../Model/Model.ts"
import type { Filter } from "./DocumentStore.ts"

/**
 * Something that a document fulfils or not.
 *
 * @category models
 * @since 0.1.0
 */
export interface Condition {
  /** The condition in the store's terms. */
  readonly filter: Filter
  /** Both. */
  readonly and: (that: Condition) => Condition
  /** Either, or both. */
  readonly or: (that: Condition) => Condition
}

/**
 * What can be said of a field whose values are of type `A`.
 *
 * @category models
 * @since 0.1.0
 */
export type Field<A> =
  & {
    /** The value is this one. */
    readonly equals: (value: A) => Condition
    /** The value is one of these. */
    readonly in: (values: ReadonlyArray<A>) => Condition
  }
  & (NonNullable<A> extends ReadonlyArray<infer Element> ? {
      /** The list has this element. */
      readonly contains: (element: Element) => Condition
    }
    : unknown)

/**
 * The fields of a model, and those of the models in it.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields<F> = {
  readonly [K in keyof F]-?:
    & Field<Value<F[K]>>
    & (NestedFields<F[K]> extends never ? unknown : Fields<NestedFields<F[K]>>)
}

/**
 * Chooses documents of the model `M`.
 *
 * @category models
 * @since 0.1.0
 */
export type Where<M extends Model.Any> = (fields: Fields<M["store"]["fields"]>) => Condition

/**
 * The condition in the store's terms; without one, every document.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toFilter = <M extends Model.Any>(model: M, where: Where<M> | undefined): Filter =>
  // The fields made here are those that the type lists, one for each of the model's.
  where === undefined ? {} : where(fieldsOf(model) as Fields<M["store"]["fields"]>).filter

/**
 * A condition in the store's own query language, for what the typed ones can't say.
 *
 * @category constructors
 * @since 0.1.0
 */
export const native = (filter: Filter): Condition => ({
  filter,
  and: (that) => native({ $and: [filter, that.filter] }),
  or: (that) => native({ $or: [filter, that.filter] })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Value<S> = S extends { readonly Type: infer A } ? A : never

type NestedFields<S> = S extends { readonly store: { readonly fields: infer F } } ? F
  : S extends { readonly from: infer From } ? NestedFields<From>
  : S extends { readonly schema: infer Inner } ? NestedFields<Inner>
  : S extends { readonly members: readonly [infer Inner, Schema.Null] } ? NestedFields<Inner>
  : never

const cache = new WeakMap<Model.Any, object>()

const fieldsOf = (model: Model.Any): object => {
  const known = cache.get(model)
  if (known !== undefined) return known
  const fields = fieldsUnder(model, "")
  cache.set(model, fields)
  return fields
}

const fieldsUnder = (model: Model.Any, prefix: string): object => {
  const fields = Object.create(null)
  for (const [name, schema] of Object.entries(model.store.fields)) {
    const path = model[modelTypeId][name]?.managed === "id" && prefix === "" ? "_id" : prefix + name
    Object.defineProperty(fields, name, {
      enumerable: true,
      get: () => {
        // A field of a struct is a schema; whatever is model-like was made by `Class`.
        const field = fieldAt(path, schema as Schema.Top)
        const inner = nestedModel(schema)
        return inner === undefined ? field : Object.assign(fieldsUnder(inner, `${path}.`), field)
      }
    })
  }
  return fields
}

const fieldAt = (path: string, schema: Schema.Top) => {
  // Fields are plain codecs.
  const encode = SchemaParser.encodeUnknownSync(schema as unknown as Schema.Codec<unknown>)
  const encodeElement = (element: unknown): unknown => {
    const encoded: unknown = encode([element])
    return Array.isArray(encoded) ? encoded[0] : encoded
  }
  return {
    equals: (value: unknown) => native({ [path]: { $eq: encode(value) } }),
    in: (values: ReadonlyArray<unknown>) => native({ [path]: { $in: values.map((value) => encode(value)) } }),
    contains: (element: unknown) => native({ [path]: { $elemMatch: { $eq: encodeElement(element) } } })
  }
}
