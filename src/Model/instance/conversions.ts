/**
 * Converts instances to records and text and back, and makes changed copies of instances. `Model` exports all of it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { dual } from "effect/Function"
import { memoize } from "effect/Function"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { compileParsers } from "../codec/compiledParsers.ts"
import { bodyDecoder } from "../codec/explainer.ts"
import { jsonCodec } from "../codec/jsonCodec.ts"
import { modelErrorOf } from "../codec/validationContext.ts"
import type { ModelError } from "../ModelError.ts"
import { isModelLike, type ModelLike, modelTypeId, nestedModel } from "../shape/variants.ts"
import { constructorOf } from "./finaliser.ts"
import { inspector } from "./inspector.ts"
import { withoutOmitted } from "./omission.ts"
import { recordDecoder, recordEncoder } from "./recordCodec.ts"

/**
 * An instance in its stored form: a date-time is a `Date`, a nested model is a record.
 *
 * @category models
 * @since 0.1.0
 */
export interface Record {
  readonly [field: string]: unknown
}

/**
 * Options of {@link dumps}.
 *
 * @category models
 * @since 0.1.0
 */
export interface DumpsOptions {
  /** Whether to validate the instance first. Defaults to true. */
  readonly validate?: boolean | undefined
  /** Whether to write one member per line, indented by two spaces. Defaults to false. */
  readonly prettyPrint?: boolean | undefined
}

/**
 * Options of {@link toRecord}.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToRecordOptions {
  /** Whether `id` is renamed to `_id`, as in the store. Defaults to false. */
  readonly convertId?: boolean | undefined
  /** Whether to validate the instance first. Defaults to true. */
  readonly validate?: boolean | undefined
  /** Whether to leave omitted fields out, including those of nested models. Defaults to false. */
  readonly skipOmittedFields?: boolean | undefined
}

/**
 * Options of {@link fromRecord}.
 *
 * @category models
 * @since 0.1.0
 */
export interface FromRecordOptions {
  /** Whether undeclared keys become properties of the instance. Defaults to false: they are ignored. */
  readonly setUnmanagedParameters: boolean
}

/**
 * The fields of `A` that are lists, each with the elements to append.
 *
 * @category models
 * @since 0.1.0
 */
export type Lists<A> = {
  readonly [K in keyof A as NonNullable<A[K]> extends ReadonlyArray<unknown> ? K : never]?: NonNullable<A[K]>
}

/**
 * The fields of `A` that are lists, each with the element to remove.
 *
 * @category models
 * @since 0.1.0
 */
export type Elements<A> = {
  readonly [K in keyof A as NonNullable<A[K]> extends ReadonlyArray<unknown> ? K : never]?: NonNullable<
    A[K]
  > extends ReadonlyArray<infer E> ? E : never
}

/**
 * The JSON text (RFC 8259) of an instance in its wire form: `_type` first, without omitted fields.
 *
 * Fails like `finalise` if the instance is not valid, unless `validate` is false.
 *
 * **Example** (Text without omitted fields)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * class User extends Model.Class<User>()("User", {
 *   name: Schema.String,
 *   password: Schema.String.pipe(Model.omitted)
 * }) {}
 *
 * const text = await Effect.runPromise(Model.dumps(new User({ name: "Jane", password: "secret" })))
 * text // => '{"_type":"User","name":"Jane"}'
 * ```
 *
 * @category conversions
 * @since 0.1.0
 */
export const dumps: {
  (options?: DumpsOptions): (self: object) => Effect.Effect<string, ModelError>
  (self: object, options?: DumpsOptions): Effect.Effect<string, ModelError>
} = dual(
  (args) => isInstance(args[0]),
  (self: object, options: DumpsOptions = {}): Effect.Effect<string, ModelError> => {
    const text = Effect.sync(() => JSON.stringify(wireFormOf(self), undefined, options.prettyPrint ? 2 : 0))
    return options.validate === false ? text : Effect.andThen(inspector(modelOfInstance(self))(self), text)
  }
)

/** An instance in its wire form, as {@link dumps} writes it. @internal */
export const wireFormOf = (self: object): unknown => wireEncoder(modelOfInstance(self))(self)

/**
 * An instance as a record in its stored form. Omitted fields are included unless `skipOmittedFields` is true.
 *
 * Fails like `finalise` if the instance is not valid, unless `validate` is false.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toRecord: {
  (options?: ToRecordOptions): (self: object) => Effect.Effect<Record, ModelError>
  (self: object, options?: ToRecordOptions): Effect.Effect<Record, ModelError>
} = dual(
  (args) => isInstance(args[0]),
  (self: object, options: ToRecordOptions = {}): Effect.Effect<Record, ModelError> => {
    const model = modelOfInstance(self)
    const record = Effect.sync(() => {
      const all = encodersOf(model)[options.convertId === true ? "_id" : "id"](self)
      return options.skipOmittedFields === true ? withoutOmitted(model, all) : all
    })
    return options.validate === false ? record : Effect.andThen(inspector(model)(self), record)
  }
)

/**
 * The instance of a record whose identifier is under `id` or `_id`. The record is decoded like a stored document: a
 * missing field with a default gets the default, and validators do not run. A record with the model's `_type` may also
 * have the wire form that {@link dumps} writes; it is then decoded as by {@link fromWire}, without omitted fields.
 *
 * Fails with `PropertyRequiredException` if a required field is missing, otherwise with `ValidationException` if a
 * value has the wrong type.
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromRecord: {
  <M extends ModelLike>(
    model: M,
    options: FromRecordOptions
  ): (record: Record) => Effect.Effect<M["Type"], ModelError>
  <M extends ModelLike>(model: M): (record: Record) => Effect.Effect<M["Type"], ModelError>
  <M extends ModelLike>(model: M, record: Record, options?: FromRecordOptions): Effect.Effect<M["Type"], ModelError>
} = (model: ModelLike, record?: Record | FromRecordOptions, options?: FromRecordOptions): never => {
  const read = (record: Record, { setUnmanagedParameters }: FromRecordOptions) =>
    decoderOf(model)(record).pipe(
      // The record may have the wire form that `dumps` writes.
      Effect.catch((problems) =>
        record["_type"] === model.modelName ? fromWire(model, record) : modelErrorOf(model, record, problems)
      ),
      Effect.map((instance) =>
        setUnmanagedParameters ? Object.defineProperties(Object(instance), unmanaged(model, record)) : instance
      )
    )
  const ignoring = { setUnmanagedParameters: false }
  // The overloads declare the result for each call.
  return (record === undefined
    ? (record: Record) => read(record, ignoring)
    : isFromRecordOptions(record)
    ? (given: Record) => read(given, record)
    : read(record, options ?? ignoring)) as never
}

/**
 * The type of an instance that was decoded from its wire form: required fields that the model omits are missing.
 *
 * @category models
 * @since 0.1.0
 */
export type Seen<M extends ModelLike> = [RequiredOmitted<M>] extends [never] ? M["Type"]
  : Omit<M["Type"], RequiredOmitted<M>>

type RequiredOmitted<M extends ModelLike> = {
  readonly [K in Exclude<keyof M["Type"] & keyof M["store"]["fields"], keyof M["wire"]["fields"]>]: {} extends
    Pick<M["Type"], K> ? never : K
}[Exclude<keyof M["Type"] & keyof M["store"]["fields"], keyof M["wire"]["fields"]>]

/**
 * The instance of a wire document, such as the body of a response: parsed JSON with the model's `_type`. Undeclared
 * keys such as `_links` are ignored. An omitted field is absent or has its default. Nested models become instances.
 *
 * Fails with `PropertyRequiredException` if a required field is missing, otherwise with `ValidationException`.
 *
 * **Example** (From an instance to text and back)
 *
 * ```ts
 * import { DateTime, Effect, Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * class User extends Model.Class<User>()("User", {
 *   name: Schema.String,
 *   born: Model.Date,
 *   password: Schema.String.pipe(Model.omitted)
 * }) {}
 *
 * const user = await Effect.runPromise(Model.fromWire(User, { _type: "User", name: "Jane", born: "2000-02-29" }))
 * user.born.epochMilliseconds // => 951782400000
 * user instanceof User // => true
 * ```
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromWire = <M extends ModelLike>(model: M, body: unknown): Effect.Effect<Seen<M>, ModelError> => {
  const decoded = wireDecoder(model)(body)
  return decoded._tag === "Invalid"
    ? modelErrorOf(model, body, decoded.problems)
    // The instance has every property of the type.
    : Effect.sync(() => seenInstance(model, decoded.value) as Seen<M>)
}

/**
 * A copy of the instance with elements appended to its lists. A missing list starts with them.
 *
 * Fails like `finalise` if the copy is not valid.
 *
 * **Example** (Appending and removing)
 *
 * ```ts
 * import { Effect, pipe, Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * class User extends Model.Class<User>()("User", { roles: Schema.Array(Schema.String) }) {}
 *
 * const user = await pipe(
 *   new User({ roles: ["user"] }),
 *   Model.appendTo({ roles: ["admin", "auditor"] }),
 *   Effect.flatMap(Model.removeFrom({ roles: "user" })),
 *   Effect.runPromise
 * )
 * user.roles // => ["admin", "auditor"]
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const appendTo: {
  <A extends object>(lists: Lists<NoInfer<A>>): (self: A) => Effect.Effect<A, ModelError>
  <A extends object>(self: A, lists: Lists<A>): Effect.Effect<A, ModelError>
} = dual(
  2,
  <A extends object>(self: A, lists: Lists<A>): Effect.Effect<A, ModelError> =>
    withLists(self, lists, (list, added) => [...list, ...Array.isArray(added) ? added : []])
)

/**
 * A copy of the instance without every occurrence of an element in its lists. Elements are compared by value.
 *
 * Fails like `finalise` if the copy is not valid.
 *
 * @category combinators
 * @since 0.1.0
 */
export const removeFrom: {
  <A extends object>(elements: Elements<NoInfer<A>>): (self: A) => Effect.Effect<A, ModelError>
  <A extends object>(self: A, elements: Elements<A>): Effect.Effect<A, ModelError>
} = dual(
  2,
  <A extends object>(self: A, elements: Elements<A>): Effect.Effect<A, ModelError> =>
    withLists(self, elements, (list, removed) => list.filter((element) => !Equal.equals(element, removed)))
)

// internal

const isInstance = (u: unknown): u is object => u instanceof Object && isModelLike(u.constructor)

/** An object without a model is a mistake in the program. */
const modelOfInstance = (self: object): ModelLike =>
  isModelLike(self.constructor)
    ? self.constructor
    : Effect.runSync(Effect.die(new Error("Only the instance of a model can be used here")))

const decoderOf = memoize((model: ModelLike) => recordDecoder(model))

const wireDecoder = memoize((model: ModelLike) => bodyDecoder(model.wire))

/** The decoded wire form has the values of the model's fields. */
const seenInstance = (model: ModelLike, seen: { readonly [key: string]: unknown }): unknown => {
  const values: { [key: string]: unknown } = {}
  for (const [key, schema] of Object.entries(model.store.fields)) {
    const value = seen[key] ??
      (Object.hasOwn(model.wire.fields, key) ? seen[key] : model[modelTypeId][key]?.default?.())
    if (value === undefined) continue
    const inner = nestedModel(schema)
    // A nested document was decoded by the nested model's own schema.
    const one = (part: unknown): unknown =>
      inner === undefined || typeof part !== "object" || part === null
        ? part
        : seenInstance(inner, part as { readonly [key: string]: unknown })
    values[key] = inner !== undefined && Array.isArray(value) ? value.map(one) : one(value)
  }
  return constructorOf(model)(values)
}

const encodersOf = memoize((model: ModelLike) => ({ id: recordEncoder(model, "id"), _id: recordEncoder(model, "_id") }))

const wireEncoder = memoize((model: ModelLike) => {
  // Fields need no services.
  const codec = jsonCodec(model.wire as unknown as Schema.Codec<unknown>)
  compileParsers(SchemaAST.flip(codec.ast))
  const encode = SchemaParser.encodeUnknownSync(codec, { disableChecks: true })
  return (instance: unknown) => encode(asWire(model, instance))
})

/** The fields of the wire form with the model's name, in nested models too. */
const asWire = (model: ModelLike, instance: unknown): unknown => {
  if (typeof instance !== "object" || instance === null) return instance
  const seen: { [key: string]: unknown } = { _type: model.modelName }
  for (const [key, value] of Object.entries(instance)) {
    if (!Object.hasOwn(model.wire.fields, key)) continue
    const inner = nestedModel(model.store.fields[key])
    seen[key] = inner === undefined
      ? value
      : Array.isArray(value)
      ? value.map((item) => asWire(inner, item))
      : asWire(inner, value)
  }
  return seen
}

/** Keys that would hide a member of the class or its prototype are excluded. */
const unmanaged = (model: ModelLike, record: Record): PropertyDescriptorMap => {
  const prototype: unknown = Reflect.get(model, "prototype")
  return Object.fromEntries(
    Object.entries(record)
      .filter(([key]) => key !== "_id" && key !== "_type" && !(key in Object(prototype)))
      .filter(([key]) => !Object.hasOwn(model.store.fields, key))
      .map(([key, value]) => [key, { value, enumerable: true, configurable: true, writable: true }])
  )
}

const isFromRecordOptions = (u: Record | FromRecordOptions): u is FromRecordOptions =>
  Object.keys(u).length === 1 && "setUnmanagedParameters" in u && typeof u.setUnmanagedParameters === "boolean"

const withLists = <A extends object>(
  self: A,
  given: object,
  change: (list: ReadonlyArray<unknown>, given: unknown) => ReadonlyArray<unknown>
): Effect.Effect<A, ModelError> => {
  const model = modelOfInstance(self)
  const values: { [key: string]: unknown } = Object.assign<{ [key: string]: unknown }, object>({}, self)
  for (const [key, of] of Object.entries(given)) {
    if (of === undefined) continue
    const list = values[key]
    values[key] = change(Array.isArray(list) ? list : [], of)
  }
  // The class constructs instances of itself.
  const changed: A = Reflect.construct(model as never, [values, { disableChecks: true }])
  return Effect.as(inspector(model)(changed), changed)
}
