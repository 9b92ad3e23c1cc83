/**
 * What a field of a model has beyond its type: whether it must be given, where its value comes from, who may see it.
 *
 * A field is any Effect Schema, piped through these combinators. On its own a schema is a required field that is
 * stored, seen and sent alike.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import type * as VariantSchema from "effect/schema/VariantSchema"
import * as SchemaAST from "effect/SchemaAST"
import * as Struct from "effect/Struct"
import type * as Types from "effect/Types"
import type { Converter } from "./Converter.ts"
import type { Index } from "./FieldIndex.ts"
import * as Generator from "./Generator.ts"
import type { Marshaller } from "./Marshaller.ts"
import { type FieldAttributes, notEmptyTypeId } from "./shape/annotations.ts"
import { composed } from "./shape/conversion.ts"
import {
  type AnyField,
  applyChange,
  attributesOf,
  convertedOnly,
  evolve,
  evolveValue,
  type FieldInput,
  optionality,
  valueOf,
  withoutChecks
} from "./shape/fields.ts"
import { type Nested, storableSchema, type Variant, variants, withChecksOf } from "./shape/variants.ts"

/**
 * A field whose schemas differ between what is stored, seen, sent and changed. A missing variant means that the field
 * does not exist there.
 *
 * @category models
 * @since 0.1.0
 */
export type Field<Config extends Field.Config> = VariantSchema.Field<Config>

/**
 * @category models
 * @since 0.1.0
 */
export declare namespace Field {
  /** The schemas of a field, by variant. */
  export type Config = { readonly [V in Variant]?: Schema.Top }

  /** Any field with schemas of its own. */
  export type Any = AnyField

  /** What the combinators take: a schema, or a field that other combinators already made of it. */
  export type Input = FieldInput

  /** What a rule for values of type `A` can be put on: a schema of such values, or a field that holds them. */
  export type Holding<A> =
    | Schema.Top & { readonly Type: A }
    | Any & { readonly schemas: { readonly store: Schema.Top & { readonly Type: A } } }

  /** What it was, with one more rule. */
  export type Checked<F> = F extends Schema.Top ? F["Rebuild"] : Same<F>

  /** The schemas of a field by variant, whichever way it was written. */
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

  /** `null` from a caller is no value. */
  type Nullable<S> = S extends Schema.NullOr<Schema.Top> ? S : Schema.NullOr<S & Schema.Top>

  /** A field whose schemas are as they were. */
  export type Same<F> = Field<As<ConfigOf<F>>>

  /** A field that need not be there. */
  export type Optional<F> = Field<
    Evolve<ConfigOf<F>, {
      readonly store: OptionalStored<At<ConfigOf<F>, "store">>
      readonly wire: Schema.optionalKey<At<ConfigOf<F>, "wire">>
      readonly create: Schema.optionalKey<Schema.NullOr<At<ConfigOf<F>, "create">>>
      readonly patch: Schema.NullOr<At<ConfigOf<F>, "patch">>
    }>
  >

  /** A field that is always there and need not be sent. */
  export type Supplied<F> = Field<
    Evolve<ConfigOf<F>, {
      readonly store: Schema.withConstructorDefault<Bare<At<ConfigOf<F>, "store">> & Schema.WithoutConstructorDefault>
      readonly create: Schema.optionalKey<Nullable<Required<At<ConfigOf<F>, "create">>>>
      readonly patch: Nullable<At<ConfigOf<F>, "patch">>
    }>
  >

  /** A field that reads as its default where a stored document lacks it. */
  export type Defaulted<F> = Field<
    Evolve<ConfigOf<F>, {
      readonly store: Schema.withConstructorDefault<
        Schema.withDecodingDefaultTypeKey<Bare<At<ConfigOf<F>, "store">>> & Schema.WithoutConstructorDefault
      >
      readonly create: Schema.optionalKey<Nullable<Required<At<ConfigOf<F>, "create">>>>
      readonly patch: Nullable<At<ConfigOf<F>, "patch">>
    }>
  >

  /** A field that no caller ever sees. */
  export type Omitted<F> = Field<As<Omit<ConfigOf<F>, "wire">>>

  /** A field that a caller sees and can't send. */
  export type ReadOnly<F> = Field<As<Omit<ConfigOf<F>, "create" | "patch">>>

  /** A field that is stored as `S` and seen, sent and changed as `W`. */
  export type Marshalled<S extends Schema.Top, W extends Schema.Top> = Field<
    { readonly store: S; readonly wire: W; readonly create: W; readonly patch: W }
  >

  /** The attributes of a field of type `A`, all in one place. */
  export interface Options<A> {
    /** Whether the field must have a value. Defaults to false, and to true with `Validator.notEmpty`. */
    readonly required?: boolean | undefined
    /** The value when there is none, or a function that gives it. */
    readonly default?: A | (() => A) | undefined
    /** Rules for the value: the combinators of `Validator`. What a converter gives has to follow them. */
    readonly validators?: ReadonlyArray<((self: ValidatorInput<A>) => Input) | Demanding<A>> | undefined
    /** Supplies the value when there is none, before the default. */
    readonly generator?: Generator.Generator<A | undefined> | undefined
    /** Changes a value that is there. */
    readonly converter?: Converter<A> | undefined
    /** The forms of the value in the store and on the wire. */
    readonly marshaller?: AnyMarshaller<A> | undefined
    /** Whether the field is left out of every output. Defaults to false. */
    readonly omit?: boolean | undefined
    /** Whether a caller sees the field and can't send it. Defaults to false. */
    readonly readOnly?: boolean | undefined
    readonly index?: Index | undefined
  }

  /** @internal */
  export type ValidatorInput<A> = Schema.Top & { readonly Type: A }

  /**
   * A validator that asks for a value to be there. It stands beside the others, so that the compiler keeps each as it is
   * written, with what it has beyond its signature.
   *
   * @internal
   */
  export interface Demanding<A> {
    (self: ValidatorInput<A>): Input
    readonly [notEmptyTypeId]: true
  }

  /** @internal */
  export type AnyMarshaller<A> = Marshaller<
    Schema.Top & { readonly Type: A },
    Schema.Top & { readonly Type: A }
  >

  /** @internal */
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
 * Stored as `S`, or not at all; a stored `null` reads as not at all.
 *
 * @category models
 * @since 0.1.0
 */
export interface OptionalStored<S extends Schema.Top>
  extends Schema.decodeTo<Schema.optionalKey<Schema.toType<S>>, Schema.optionalKey<Schema.NullOr<S>>>
{
  readonly "Rebuild": OptionalStored<S>
}

/**
 * The identifier: a string that is the document's `_id`. When none is given, a UUID behind `prefix`: a random one, or with
 * `version: 7` one that begins with the time, so that new documents come last.
 *
 * @category constructors
 * @since 0.1.0
 */
export const id = (
  options?: { readonly prefix?: string | undefined; readonly version?: 4 | 7 | undefined }
): Field<{
  readonly store: Schema.withConstructorDefault<Schema.String>
  readonly wire: Schema.String
  readonly create: Schema.optionalKey<Schema.NullOr<Schema.String>>
}> => {
  const text = Schema.NonEmptyString
  return supplied(variants.Field({ store: text, wire: text, create: text }), Generator.uuid(options), { managed: "id" })
}

/**
 * The field need not be there. `null` from a caller or in a stored document means the same as leaving it out.
 *
 * @category combinators
 * @since 0.1.0
 */
export const optional = <F extends Field.Input>(self: F): Field.Optional<F> =>
  evolve(self, optionality(Function.identity), { optional: true })

/**
 * When there is no value, `value()` is it: in a new instance, and in a stored document that lacks the field.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withDefault = <F extends Field.Input>(value: () => Field.Type<F>) => (self: F): Field.Defaulted<F> =>
  evolve(self, {
    store: (schema) =>
      erased(erased(schema).pipe(Schema.withDecodingDefaultTypeKey(Effect.sync(value)))).pipe(
        Schema.withConstructorDefault(attributesOf(self).generator ?? Effect.sync(value))
      ),
    create: sendable,
    patch: nullable
  }, { default: value })

/**
 * When there is no value, the generator supplies it, if it has one. A caller may send one.
 *
 * @category combinators
 * @since 0.1.0
 */
export const generated =
  <F extends Field.Input>(generator: Generator.Generator<Field.Type<F> | undefined>) => (self: F): Field.Supplied<F> =>
    supplied(self, generator, {}) as Field.Supplied<F> // `supplied` evolves what the type says

/**
 * Changes a value that was given, before it is validated as part of the instance. Validators that stand before it in
 * the pipe are for what a caller sends, those after it for what it gives. A value that it gives back unchanged was
 * converted before, so that only those after it count.
 *
 * **Gotchas**
 *
 * An instance holds converted values only: the constructor and every write of a repository refuse others. Let
 * `Model.finalise` make the instance of a value that is yet to be converted. A converter that needs time for its answer,
 * and does not say what it `makes`, is not asked by the constructor.
 *
 * **Example** (A rule on either side)
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
  // A converter of the field's type never sees a value of another.
  const next = converter as Converter<unknown>
  const whole = first === undefined ? next : composed(first, next)
  const change = first === undefined
    ? { store: (schema: Schema.Top) => convertedOnly(withoutChecks(schema), whole), wire: withoutChecks }
    : { store: (schema: Schema.Top) => convertedOnly(schema, whole) }
  return evolveValue(self, (value) => applyChange(value, change), {
    converter: whole,
    unconverted: first === undefined ? valueOf(self) : unconverted
  })
}

/**
 * Stored and sent in forms of their own. The rules that the schema has so far stay those for the value.
 *
 * **Example** (A moment as a UNIX timestamp)
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
      return { store: storableSchema(as(marshaller.store)), wire, create: wire, patch: wire }
    }, { marshalled: true })

/**
 * Accepted in input and stored; never part of an answer, a link, a log, an error or the schema of an output.
 *
 * @category combinators
 * @since 0.1.0
 */
export const omitted = <F extends Field.Input>(self: F): Field.Omitted<F> =>
  evolveValue(self, Struct.omit(["wire"]), { omitted: true })

/**
 * The server sets the field, by a generator, a default, a hook or code. A caller sees it; what a caller sends for it is
 * ignored, so that a document that was read can be sent back.
 *
 * **Gotchas**
 *
 * A document is complete before its hooks run, so that a field that a hook sets is optional or has a default.
 *
 * **Example** (Who approved an order)
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
 * Asks the database for an index over the field.
 *
 * @category combinators
 * @since 0.1.0
 */
export const indexed = (index: Index) => <F extends Field.Input>(self: F): Field.Same<F> => evolve(self, {}, { index })

/**
 * A field by its attributes, for those who prefer them in one place. It is the same as the schema piped through the
 * combinators, and has the same types; but a field is required only if it says so.
 *
 * **Details**
 *
 * The attributes apply in the order of finalisation: the generator where there is no value, the default where there is
 * still none, the converter, the validators. For a rule about what a caller sends, which comes before the converter, pipe
 * the schema through it: `Model.field(Schema.String.pipe(Validator.min(8)), { converter })`.
 *
 * **Example** (Both ways)
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
    // The steps are the combinators of fields of any type.
    marshaller && ((self) => marshalled(marshaller)(self as S)),
    converter && converted(converter),
    ...(validators ?? []) as ReadonlyArray<(self: Field.Input) => Field.Input>,
    isRequired || byDefault !== undefined ? undefined : optional,
    generator && generated(generator),
    byDefault === undefined
      ? undefined
      : withDefault(typeof byDefault === "function" ? byDefault as never : () => byDefault as never),
    index && indexed(index),
    others.readOnly === true ? readOnly : undefined,
    omit === true ? omitted : undefined
  ]
  return steps.reduce<Field.Input>((self, step) => step === undefined ? self : step(self), schema) as never
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function supplied(self: Field.Input, generator: Generator.Generator<unknown>, attributes: FieldAttributes): Field.Any {
  return evolve(self, {
    store: (schema) => erased(schema).pipe(Schema.withConstructorDefault(Effect.map(generator, orMissing))),
    create: sendable,
    patch: nullable
  }, { ...attributes, generator })
}

/** What a caller need not send, or may send as `null`. */
function sendable(schema: Schema.Top): Schema.Top {
  const inner = "schema" in schema ? schema.schema : undefined
  return Schema.optionalKey(
    nullable(SchemaAST.isOptional(schema.ast) && Schema.isSchema(inner) ? inner : schema)
  )
}

function nullable(schema: Schema.Top): Schema.Top {
  const { ast } = schema
  return ast._tag === "Union" && ast.types.some(({ _tag }) => _tag === "Null") ? schema : Schema.NullOr(schema)
}

/** What a constructor takes for no value at all. */
function orMissing(value: unknown): unknown {
  return value === undefined ? SchemaCompiler.missing : value
}

// The value has the field's type, which `Schema.Top` has forgotten.
type Erased = Schema.Codec<unknown> & Schema.WithoutConstructorDefault
function erased(schema: Schema.Top): Erased {
  return schema as unknown as Erased
}
