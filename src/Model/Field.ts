/**
 * The attributes of a model's fields beside their type: whether a field is optional, where its value comes from, and who
 * may see it.
 *
 * A field is any Effect Schema, piped through these combinators. A bare schema is a required field with the same
 * stored, wire and input form.
 *
 * @since 0.1.0
 */
import * as Function from "effect/Function"
import type * as Schema from "effect/Schema"
import type * as VariantSchema from "effect/schema/VariantSchema"
import * as Struct from "effect/Struct"
import type * as Types from "effect/Types"
import type { Converter } from "./Converter.ts"
import type { Index } from "./FieldIndex.ts"
import type * as Generator from "./Generator.ts"
import type { Marshaller } from "./Marshaller.ts"
import { notEmptyTypeId } from "./shape/annotations.ts"
import { defaulted, supplied } from "./shape/defaults.ts"
import { composed } from "./shape/fieldConverter.ts"
import {
  type AnyField,
  applyChange,
  attributesOf,
  convertedOnly,
  evolve,
  evolveValue,
  type FieldInput,
  optionality,
  type OptionalStored,
  valueOf,
  withoutChecks,
  withStorableCheckOf
} from "./shape/fields.ts"
import { type Nested, storableSchema, type Variant, withChecksOf } from "./shape/variants.ts"

export { id } from "./fieldTypes/identifier.ts"
export type { OptionalStored } from "./shape/fields.ts"

/**
 * A field with separate schemas for stored, read, created and patched documents (`store`, `wire`, `create` and `patch`).
 * Documents of a kind without a schema do not have the field.
 *
 * @category models
 * @since 0.1.0
 */
export type Field<Config extends Field.Config> = VariantSchema.Field<Config>

/**
 * Types of {@link Field}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace Field {
  /** The schemas of a field, by variant. */
  export type Config = { readonly [V in Variant]?: Schema.Top }

  /** Any field with schemas for several variants. */
  export type Any = AnyField

  /** The input of the combinators: a schema or a field. */
  export type Input = FieldInput

  /** A field that a validator of type `A` accepts: a schema of such values, or a field that holds them. */
  export type Holding<A> =
    | Schema.Top & { readonly Type: A }
    | Any & { readonly schemas: { readonly store: Schema.Top & { readonly Type: A } } }

  /** The type of a field with a validator added. */
  export type Checked<F> = F extends Schema.Top ? F["Rebuild"] : Same<F>

  /** The schemas of a field by variant, for fields and bare schemas alike. */
  export type ConfigOf<F> = F extends { readonly schemas: infer C } ? C
    : { readonly [V in Variant]: Nested<F, V> }

  export type Type<F> = ConfigOf<F> extends { readonly store: infer S extends Schema.Top } ? S["Type"] : never

  type As<C> = C extends Config ? C : never
  type Evolve<C, M extends { readonly [V in Variant]?: unknown }> = As<
    { readonly [V in keyof C]: V extends keyof M ? M[V] : C[V] }
  >
  type At<C, V extends Variant> = V extends keyof C ? C[V] & Schema.Top : never
  type Bare<S extends Schema.Top> = S extends Schema.withConstructorDefault<infer Inner> ? Inner : S
  type Required<S extends Schema.Top> = S extends Schema.optionalKey<infer Inner> ? Inner : S

  /** Callers may send `null` for a missing value. */
  type Nullable<S> = S extends Schema.NullOr<Schema.Top> ? S : Schema.NullOr<S & Schema.Top>

  /** A field with unchanged schemas. */
  export type Same<F> = Field<As<ConfigOf<F>>>

  /** An optional field. */
  export type Optional<F> = Field<
    Evolve<ConfigOf<F>, {
      readonly store: OptionalStored<At<ConfigOf<F>, "store">>
      readonly wire: Schema.optionalKey<At<ConfigOf<F>, "wire">>
      readonly create: Schema.optionalKey<Schema.NullOr<At<ConfigOf<F>, "create">>>
      readonly patch: Schema.NullOr<At<ConfigOf<F>, "patch">>
    }>
  >

  /** A field whose value the server supplies if it is missing. */
  export type Supplied<F> = Field<
    Evolve<ConfigOf<F>, {
      readonly store: Schema.withConstructorDefault<Bare<At<ConfigOf<F>, "store">> & Schema.WithoutConstructorDefault>
      readonly create: Schema.optionalKey<Nullable<Required<At<ConfigOf<F>, "create">>>>
      readonly patch: Nullable<At<ConfigOf<F>, "patch">>
    }>
  >

  /** A field with a default, which also applies to stored documents that lack the field. */
  export type Defaulted<F> = Field<
    Evolve<ConfigOf<F>, {
      readonly store: Schema.withConstructorDefault<
        Schema.withDecodingDefaultTypeKey<Bare<At<ConfigOf<F>, "store">>> & Schema.WithoutConstructorDefault
      >
      readonly create: Schema.optionalKey<Nullable<Required<At<ConfigOf<F>, "create">>>>
      readonly patch: Nullable<At<ConfigOf<F>, "patch">>
    }>
  >

  /** A field that callers never read. */
  export type Omitted<F> = Field<As<Omit<ConfigOf<F>, "wire">>>

  /** A field that callers read and can't send. */
  export type ReadOnly<F> = Field<As<Omit<ConfigOf<F>, "create" | "patch">>>

  /** A field with the stored form `S` and the wire form `W`. */
  export type Marshalled<S extends Schema.Top, W extends Schema.Top> = Field<
    { readonly store: S; readonly wire: W; readonly create: W; readonly patch: W }
  >

  /** The attributes of a field of type `A`. */
  export interface Options<A> {
    /** Whether the field must have a value. Defaults to false, and to true with `Validator.notEmpty`. */
    readonly required?: boolean | undefined
    /** The value for a missing one, or a function that returns it. */
    readonly default?: A | (() => A) | undefined
    /** Validators of the value: the combinators of `Validator`. A converter's output has to satisfy them. */
    readonly validators?: ReadonlyArray<((self: ValidatorInput<A>) => FieldInput) | RequiringValidator<A>> | undefined
    /** Supplies a missing value before the default applies. */
    readonly generator?: Generator.Generator<A | undefined> | undefined
    /** Converts a given value. */
    readonly converter?: Converter<A> | undefined
    /** The forms of the value in the store and on the wire. */
    readonly marshaller?: AnyMarshaller<A> | undefined
    /** Whether the field is excluded from every output. Defaults to false. */
    readonly omit?: boolean | undefined
    /** Whether callers read the field and can't send it. Defaults to false. */
    readonly readOnly?: boolean | undefined
    readonly index?: Index | undefined
  }

  type ValidatorInput<A> = Schema.Top & { readonly Type: A }

  /**
   * A validator that makes the field required. It has a type of its own next to the other validators, so that the compiler
   * keeps the properties of each array element.
   */
  interface RequiringValidator<A> {
    (self: ValidatorInput<A>): FieldInput
    readonly [notEmptyTypeId]: true
  }

  type AnyMarshaller<A> = Marshaller<
    Schema.Top & { readonly Type: A },
    Schema.Top & { readonly Type: A }
  >

  /** A field with the attributes of `field`. */
  export type FromOptions<S extends Schema.Constraint, O> = OmittedBy<
    O,
    ReadOnlyBy<O, SuppliedBy<O, MarshalledBy<O, S>>>
  >

  type MarshalledBy<O, S> = O extends { readonly marshaller: Marshaller<infer Store, infer Wire> }
    ? Marshalled<Store, Wire>
    : Same<S>
  type SuppliedBy<O, F> = O extends { readonly default: unknown } ? Defaulted<GeneratedBy<O, F>>
    : O extends { readonly required: true } ? GeneratedBy<O, F>
    : HasNotEmpty<O> extends true ? GeneratedBy<O, F>
    : GeneratedBy<O, Optional<F>>
  type HasNotEmpty<O> = O extends { readonly validators: ReadonlyArray<infer V> }
    ? [Extract<V, { readonly [notEmptyTypeId]: true }>] extends [never] ? false : true
    : false
  type ReadOnlyBy<O, F> = O extends { readonly readOnly: true } ? ReadOnly<F> : F
  type GeneratedBy<O, F> = O extends { readonly generator: unknown } ? Supplied<F> : F
  type OmittedBy<O, F> = O extends { readonly omit: true } ? Omitted<F> : F
}

/**
 * Makes the field optional. In input and in stored documents, `null` means missing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const optional = <F extends Field.Input>(self: F): Field.Optional<F> =>
  evolve(self, optionality(Function.identity), { optional: true })

/**
 * Supplies `value()` if there is no value: in a new instance, and in a stored document that lacks the field.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withDefault = <F extends Field.Input>(value: () => Field.Type<F>) => (self: F): Field.Defaulted<F> =>
  defaulted(self, value) as Field.Defaulted<F> // `defaulted` evolves the schemas as the type declares

/**
 * Supplies a missing value by the generator. Callers may send a value of their own.
 *
 * @category combinators
 * @since 0.1.0
 */
export const generated =
  <F extends Field.Input>(generator: Generator.Generator<Field.Type<F> | undefined>) => (self: F): Field.Supplied<F> =>
    supplied(self, generator, {}) as Field.Supplied<F> // `supplied` evolves the schemas as the type declares

/**
 * Converts a given value before the instance is validated. Validators before it in the pipe apply to the input, those
 * after it to the output. A value that the converter returns unchanged counts as converted, so only the validators
 * after it apply.
 *
 * **Gotchas**
 *
 * An instance holds converted values only: the constructor and every write of a repository reject others. Use
 * `Model.finalise` to make an instance of an unconverted value. The constructor does not test a converter that is
 * asynchronous and does not declare what it `makes`.
 *
 * **Example** (Validators before and after a converter)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Model, Validator } from "appkernel"
 *
 * class Tag extends Model.Class<Tag>()("Tag", {
 *   name: Schema.String.pipe(
 *     Model.converted((text) => Effect.succeed(text.trim())),
 *     Validator.notEmpty
 *   )
 * }) {}
 *
 * const tag = await Effect.runPromise(Model.finalise(Tag, { name: " milk " }))
 * tag.name // => "milk"
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const converted = <F extends Field.Input>(converter: Converter<Field.Type<F>>) => (self: F): Field.Same<F> => {
  const { converter: first, unconverted } = attributesOf(self)
  // A converter of the field's type is never called with another type.
  const next = converter as Converter<unknown>
  const conversion = first === undefined ? next : composed(first, next)
  const change = first === undefined
    ? { store: (schema: Schema.Top) => convertedOnly(withoutChecks(schema), conversion), wire: withoutChecks }
    : { store: (schema: Schema.Top) => convertedOnly(schema, conversion) }
  return evolveValue(self, (value) => applyChange(value, change), {
    converter: conversion,
    unconverted: first === undefined ? valueOf(self) : unconverted
  })
}

/**
 * Gives the field its own stored form and its own wire form. Validators of the schema still apply to the value.
 *
 * **Example** (A date-time as a UNIX timestamp)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Marshaller, Model, Validator } from "appkernel"
 *
 * class Event extends Model.Class<Event>()("Event", {
 *   at: Model.DateTime.pipe(Validator.past, Model.marshalled(Marshaller.timestamp))
 * }) {}
 *
 * Schema.decodeUnknownSync(Event.create)({ at: 1_769_851_800.5 }).at.epochMilliseconds // => 1769851800500
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const marshalled =
  <S extends Schema.Top, W extends Schema.Top & { readonly Type: S["Type"] }>(marshaller: Marshaller<S, W>) =>
  (self: Schema.Constraint & { readonly Type: S["Type"] }): Field.Marshalled<S, W> =>
    evolveValue(self, ({ store }) => {
      const as = (schema: Schema.Top) => store === undefined ? schema : withChecksOf(store, schema)
      const wire = as(marshaller.wire)
      const stored = storableSchema(as(marshaller.store))
      return { store: stored, wire, create: withStorableCheckOf(stored, wire), patch: wire }
    }, { marshalled: true })

/**
 * Accepts the field in input and stores it, but excludes it from every response, link, log, error and output schema.
 *
 * @category combinators
 * @since 0.1.0
 */
export const omitted = <F extends Field.Input>(self: F): Field.Omitted<F> =>
  evolveValue(self, Struct.omit(["wire"]), { omitted: true })

/**
 * The server sets the field, by a generator, a default, a hook or code. Callers read it. A value that a caller sends is
 * ignored, so that a document that was read can be sent back.
 *
 * **Gotchas**
 *
 * A document is complete before its hooks run, so a field that a hook sets must be optional or have a default.
 *
 * **Example** (The user who approved an order)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * class Order extends Model.Class<Order>()("Order", {
 *   product: Schema.String,
 *   approved_by: Schema.String.pipe(Model.optional, Model.readOnly)
 * }) {}
 *
 * Object.keys(Order.create.fields) // => ["product"]
 * Object.keys(Order.wire.fields) // => ["_type", "product", "approved_by"]
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const readOnly = <F extends Field.Input>(self: F): Field.ReadOnly<F> =>
  evolveValue(self, Struct.omit(["create", "patch"]), { readOnly: true })

/**
 * Declares a database index over the field.
 *
 * @category combinators
 * @since 0.1.0
 */
export const indexed = (index: Index) => <F extends Field.Input>(self: F): Field.Same<F> => evolve(self, {}, { index })

/**
 * Declares a field by its attributes. It has the same behaviour and types as the schema piped through the combinators,
 * except that a field is optional unless it is declared required.
 *
 * **Details**
 *
 * The attributes apply in the order of finalisation: the generator for a missing value, the default for a value that is
 * still missing, the converter, the validators. To validate the input before the converter, pipe the schema through a
 * validator: `Model.field(Schema.String.pipe(Validator.min(8)), { converter })`.
 *
 * **Example** (Combinators and attributes)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model, Validator } from "appkernel"
 *
 * class Task extends Model.Class<Task>()("Task", {
 *   name: Model.field(Schema.String, { required: true, validators: [Validator.notEmpty] }),
 *   title: Schema.String.pipe(Validator.notEmpty),
 *   note: Model.field(Schema.String)
 * }) {}
 *
 * new Task({ name: "a", title: "b" }).note // => undefined
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const field = <S extends Schema.Top, const O extends Field.Options<S["Type"]> = {}>(
  schema: S,
  options?: O & Field.Options<S["Type"]>
): Types.Simplify<Field.FromOptions<S, O>> => {
  const { converter, default: byDefault, generator, index, marshaller, omit, required, validators, ...others }:
    Field.Options<unknown> = options ?? {}
  const isRequired = required === true || validators?.some((validator) => notEmptyTypeId in validator) === true
  const steps: ReadonlyArray<((self: Field.Input) => Field.Input) | undefined> = [
    // The steps are combinators of fields of any type.
    marshaller && ((self) => marshalled(marshaller)(self as S)),
    converter && converted(converter),
    ...(validators ?? []) as ReadonlyArray<(self: Field.Input) => Field.Input>,
    isRequired || byDefault !== undefined ? undefined : optional,
    generator && generated(generator),
    // A default has the type of the field, and a function makes one.
    byDefault === undefined
      ? undefined
      : withDefault(typeof byDefault === "function" ? byDefault as never : () => byDefault as never),
    index && indexed(index),
    others.readOnly === true ? readOnly : undefined,
    omit === true ? omitted : undefined
  ]
  // `FromOptions` says what the steps make of the schema.
  return steps.reduce<Field.Input>((self, step) => step === undefined ? self : step(self), schema) as never
}
