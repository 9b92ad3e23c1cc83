/** The types of fields, paths and selections, computed from the schemas of a model. */
import type * as DateTime from "effect/DateTime"
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"

/** The decoded type of a schema. */
export type TypeOf<S> = S extends { readonly Type: infer A } ? A : never

export type EncodedOf<S> = S extends { readonly Encoded: infer E } ? E : never

/** A field's own schema, without the wrappers for optionality and defaults. */
export type Own<S> = S extends AnyModel ? S
  : S extends { readonly from: Schema.optionalKey<infer Inner> } ? Own<Inner>
  : S extends { readonly schema: infer Inner } ? Own<Inner>
  : S extends { readonly members: readonly [infer Inner, Schema.Null] } ? Own<Inner>
  : S

/** The type of a field's value or, of a list, of its elements. */
export type ElementOf<S> = NonNullable<TypeOf<S>> extends ReadonlyArray<infer Element> ? Element
  : NonNullable<TypeOf<S>>

/**
 * A property that only models have. The fields are looked up by key, because inferring them as part of this type costs the
 * compiler hundreds of times as much.
 */
export interface AnyModel {
  readonly modelName: string
}

/** The stored fields of a model. */
export type FieldsOf<M> = Get<Get<M, "store">, "fields">

type Get<A, K extends string> = A[K & keyof A]

export interface AnyList<Item> {
  readonly ast: SchemaAST.Arrays
  readonly value: Item
}

/** The fields of the nested model of a field, its elements, or its optional value; else `never`. */
type FieldsIn<S> = Own<S> extends infer O ? O extends AnyModel ? FieldsOf<O>
  : O extends AnyList<infer Item> ? Own<Item> extends infer I extends AnyModel ? FieldsOf<I> : never
  : never
  : never

export type AnyMoment = DateTime.DateTime | Date

/** The names of a model's fields and, after dots, of the nested fields, up to three levels deep. */
export type PathOf<F> = PathWithin<F, [0, 0]>

type PathWithin<F, Depth extends ReadonlyArray<0>> = {
  readonly [K in keyof F & string]:
    | K
    | (Depth extends readonly [0, ...infer Less extends ReadonlyArray<0>]
      ? FieldsIn<F[K]> extends infer Inner ? [Inner] extends [never] ? never : `${K}.${PathWithin<Inner, Less>}`
      : never
      : never)
}[keyof F & string]

/**
 * The names of the fields that have a single value to sort by and, after dots, of such nested fields, up to three levels
 * deep, each with and without a `-` before it. No list, no nested model or struct as a whole, and nothing in a list has a
 * single value.
 */
export type SortTermOf<F> = SortableWithin<F, [0, 0]> extends infer P ? P extends string ? P | `-${P}` : never
  : never

type SortableWithin<F, Depth extends ReadonlyArray<0>> = {
  readonly [K in keyof F & string]: Own<F[K]> extends infer O
    ? O extends AnyModel
      ? Depth extends readonly [0, ...infer Less extends ReadonlyArray<0>] ? `${K}.${SortableWithin<FieldsOf<O>, Less>}`
      : never
    : O extends AnyCollection ? never
    : K
    : never
}[keyof F & string]

/** A list, a tuple, a struct or a record. */
interface AnyCollection {
  readonly ast: SchemaAST.Arrays | SchemaAST.Objects
}

/** `A` with the values at the paths only. */
export type Selected<A, P extends string> = {
  readonly [K in keyof A as K extends Head<P> ? K : never]: K extends P ? A[K] : SelectedIn<A[K], Tail<P, K>>
}

type SelectedIn<A, P extends string> = A extends ReadonlyArray<infer Item> ? ReadonlyArray<SelectedIn<Item, P>>
  : A extends object ? Selected<A, P>
  : A

type Head<P extends string> = P extends `${infer K}.${string}` ? K : P

type Tail<P extends string, K> = K extends string ? P extends `${K}.${infer Rest}` ? Rest : never : never

/** The names of the fields of a model that callers can't send and code may set: those with `Model.readOnly`. */
export type ReadOnlyNames<M extends AnyModel> = M extends {
  readonly store: { readonly fields: infer Stored }
  readonly create: { readonly fields: infer Sent }
  readonly patch: { readonly fields: infer Changed }
} ? {
    [K in Exclude<keyof Stored, keyof Sent | keyof Changed>]: Stored[K] extends
      { readonly "~appkernel/Model/trait": unknown } ? never
      : K
  }[Exclude<keyof Stored, keyof Sent | keyof Changed>]
  : never
