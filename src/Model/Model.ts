/**
 * Models: one class, several schemas.
 *
 * The class is the instance type; `store` is the stored document, `wire` what callers read, `create` what callers may
 * send, and `patch` a partial change.
 *
 * **Example** (A model and its schemas)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * class User extends Model.Class<User>()("User", {
 *   id: Model.id({ prefix: "U" }),
 *   name: Schema.String,
 *   password: Schema.String.pipe(Model.omitted)
 * }) {}
 *
 * Object.keys(User.wire.fields) // => ["_type", "id", "name"]
 * Object.keys(User.create.fields) // => ["id", "name", "password"]
 * ```
 *
 * @since 0.1.0
 */
import type * as ByteSize from "effect/ByteSize"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as VariantSchema from "effect/schema/VariantSchema"
import type * as SchemaAST from "effect/SchemaAST"
import { DeclarationError } from "../internal/declarationError.ts"
import {
  type EarlierForm,
  type Versions,
  versionsOf,
  versionsTypeId,
  viewFields,
  type ViewOf,
  viewTypeId
} from "./EarlierForm.ts"
import { type Field, omitted as omittedField } from "./Field.ts"
import type { ModelIndex, ShardKind } from "./FieldIndex.ts"
import { finaliser } from "./instance/finaliser.ts"
import { makeClass } from "./instance/modelClass.ts"
import type { ModelError, Problem } from "./ModelError.ts"
import type { FieldAttributes } from "./shape/annotations.ts"
import type { validationTypeId } from "./shape/variants.ts"
import { type ModelLike, modelTypeId, type Validation, type Variant } from "./shape/variants.ts"

export { Date, DateTime, type Temporal } from "./codec/temporal.ts"
export { type EarlierForm, was } from "./EarlierForm.ts"
export {
  converted,
  field,
  generated,
  id,
  indexed,
  marshalled,
  omitted,
  optional,
  readOnly,
  withDefault
} from "./Field.ts"
export {
  audited,
  type AuditedTime,
  type AuditedUser,
  type Deletion,
  historied,
  type Revision,
  softDeleted,
  versioned
} from "./fieldTypes/managedFields.ts"
export { ObjectId } from "./fieldTypes/objectId.ts"
export {
  type OnDelete,
  type Referable,
  reference,
  referencedBy,
  type ReferenceOptions,
  type Referring
} from "./fieldTypes/reference.ts"
export { file, type FileOptions, files, type PictureSize, type StoredFile } from "./File.ts"
export {
  appendTo,
  dumps,
  type DumpsOptions,
  type Elements,
  fromRecord,
  type FromRecordOptions,
  fromWire,
  type Lists,
  type Record,
  removeFrom,
  type Seen,
  toRecord,
  type ToRecordOptions
} from "./instance/conversions.ts"
export {
  /**
   * The JSON schema (draft-04) of a model's documents, in their wire form or as MongoDB stores them: the specification's
   * `get_json_schema`. Its options are those of `JsonSchema.Options`.
   *
   * @category conversions
   * @since 0.1.0
   */
  make as jsonSchema
} from "./JsonSchema.ts"
export {
  /**
   * The metadata of the fields that callers see, for user interfaces: the specification's `get_parameter_spec`.
   *
   * @category conversions
   * @since 0.1.0
   */
  make as metadata
} from "./Metadata.ts"
export type { Sent, SentFields } from "./shape/sentForm.ts"

/**
 * Any model.
 *
 * @category models
 * @since 0.1.0
 */
export interface Any extends ModelLike {}

/**
 * The type of the model's identifiers: that of its field `id`, or `string` if the identifier has another name.
 *
 * @category models
 * @since 0.1.0
 */
export type Id<M extends Any> = M["Type"] extends { readonly id: infer I } ? I
  : unknown extends M["Type"] ? unknown
  : string

/**
 * The type of a class that {@link Class} makes.
 *
 * @category models
 * @since 0.1.0
 */
export type Model<Self, Name extends string, F extends Model.Fields> =
  & VariantSchema.Class<
    Self,
    Model.Variants<F>,
    Schema.Struct<VariantSchema.ExtractFields<"store", Model.Variants<F>, true>>,
    Variant,
    "store"
  >
  & {
    readonly [modelTypeId]: { readonly [key: string]: FieldAttributes }
    readonly [validationTypeId]: Validation | undefined
    /** The name of the class, which is the value of `_type`. */
    readonly modelName: Name
    /** The stored document, with the identifier under `id`. */
    readonly store: Schema.Struct<VariantSchema.ExtractFields<"store", Model.Variants<F>>>
    /** The document that callers read. */
    readonly wire: Schema.Struct<Model.WireFields<Name, F>>
    /** The document that callers may send. */
    readonly create: Schema.Struct<VariantSchema.ExtractFields<"create", Model.Variants<F>>>
    /**
     * A JSON merge patch (RFC 7396): a missing field stays unchanged, `null` removes an optional field, objects are
     * merged.
     */
    readonly patch: Schema.Struct<VariantSchema.ExtractFields<"patch", Model.Variants<F>>>
  }

/**
 * Types of {@link Model}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace Model {
  /** The declared fields of a model. */
  export type Fields = { readonly [key: string]: Field.Input }

  type WithOptionalPatch<C> = {
    readonly [V in keyof C]: V extends "patch" ? C[V] extends Schema.Top ? Schema.optionalKey<C[V]> : never : C[V]
  }

  /** The schemas of a model's fields in every variant. */
  export type Variants<F extends Fields> = {
    readonly [K in keyof F]: VariantSchema.Field<WithOptionalPatch<Field.ConfigOf<F[K]>>>
  }

  /** The values of an instance. */
  export type Values<F extends Fields> = Schema.Struct.Type<VariantSchema.ExtractFields<"store", Variants<F>, true>>

  /** The options of a model: rules over several fields, indexes, its shards, and what the model was before. */
  export interface Options<Values> {
    /** Indexes over several fields, and others that can't be declared on a single field. */
    readonly indexes?:
      | ReadonlyArray<ModelIndex<(keyof Values & string) | `${keyof Values & string}.${string}`>>
      | undefined
    /**
     * The key by which a cluster distributes the documents: its fields in order, ranges of values with 1, one field by hashes with
     * `"hashed"`. The collection is sharded by the operator; the model says so, so that the key has an index, and what the
     * framework writes reaches one shard where it knows the key. The values of the key never change in a document, and documents can
     * be unique only within it. Defaults to none.
     */
    readonly shardKey?: { readonly [P in keyof Values & string]?: ShardKind } | undefined
    /** Validators over several fields, as made by `Validator.related`. */
    readonly validators?: ReadonlyArray<SchemaAST.Check<Values>> | undefined
    /** Validates an instance whose fields are each valid, and fails with its problems. */
    readonly validate?:
      | ((instance: Values) => Effect.Effect<void, Problem | ReadonlyArray<Problem>>)
      | undefined
    /**
     * The earlier forms of the model, the oldest first: see {@link was}. Documents that are stored in one of them are read as
     * if they were in the newest form.
     */
    readonly versions?: readonly [...ReadonlyArray<EarlierForm<never>>, EarlierForm<Values>] | undefined
    /**
     * Records every change of the model's documents, so that `Repository.changes` and `Repository.live` have them. `true` has
     * the defaults of {@link Logged}. Defaults to false: nothing is recorded, and writes cost nothing more.
     */
    readonly logged?: boolean | Logged | undefined
  }

  /** How long the changes of a model are kept. */
  export interface Logged {
    /** How long a change is kept at least, unless the log is too large. Defaults to 7 days. */
    readonly keep?: Duration.Input | undefined
    /** The size of the kept changes. When they have more, the oldest are removed. Defaults to 256 MiB. */
    readonly maxSize?: ByteSize.Input | undefined
  }

  export type WireFields<Name extends string, F extends Fields> =
    & { readonly _type: Schema.tag<Name> }
    & VariantSchema.ExtractFields<"wire", Variants<F>>
}

/**
 * Declares a model: `class User extends Model.Class<User>()("User", { …fields }) {}`. `name` is the model's name on the
 * wire (`_type`), in URLs (in the plural), and in the store. `options` are rules over several fields; `finalise` runs
 * them once every field is valid.
 *
 * **Details**
 *
 * A field may be another model, a `Schema.Array` or `Schema.NullOr` of one, or any of these through `Model.optional`. A
 * recursive model refers to itself in a suspended schema: `Schema.suspend((): Schema.Codec<Category, Stored> =>
 * Category)`. `JSON.stringify`, consoles and loggers show an instance without its omitted fields.
 *
 * **Gotchas**
 *
 * Dies if a model stands anywhere else in a field, as in a record or a tuple, and if a field is named `_type`, `_id`,
 * `_links` or `_embedded`. Also dies, with the reason, if the values of a field can't be stored or shown: symbols, declared types
 * without a JSON form, redacted values that are not omitted, names with a dot or a leading dollar sign. The types of
 * `wire`, `create` and `patch` keep a suspended schema as it is declared. A unique index that does not begin with the
 * `shardKey` is refused too, since no cluster can hold it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Class = <Self = never>() =>
<const Name extends string, const F extends Model.Fields>(
  name: Name,
  fields: F,
  options?: Model.Options<Model.Values<F>>
): [Self] extends [never] ? "Missing `Self` generic: `class Self extends Model.Class<Self>()(…)`"
  : Model<Self, Name, F> =>
{
  const versions = options?.versions === undefined
    ? {}
    : { [versionsTypeId]: versionsOf(name, fields, options.versions) }
  // `makeClass` builds what the type describes field by field.
  return makeClass(name, fields, options, versions) as never
}

/**
 * An earlier form of a model, as a model: its repository reads and writes the same documents, in that form. Register it beside
 * the model itself to serve callers that know no other form. `as` is a model with the same fields, which gives it its type.
 *
 * **Details**
 *
 * What is made of omitted fields is omitted. The rules of a registration are about the fields of its own form. What is written
 * has to be valid in the newest form as well, and is converted as the newest form has it.
 *
 * **Gotchas**
 *
 * Dies if a step from the newest form down to this one has no `down`, and if `as` has other fields, or is another form already.
 *
 * **Example** (Two forms of one document)
 *
 * ```ts
 * import { Effect, Layer, Schema } from "effect"
 * import { EmbeddedStore, Model, Repository } from "appkernel"
 *
 * class Person extends Model.Class<Person>()("Person", { id: Model.id(), fullName: Schema.String }, {
 *   versions: [Model.was.renamed("name", "fullName")]
 * }) {}
 *
 * class PersonV1 extends Model.Class<PersonV1>()("Person", { id: Model.id(), name: Schema.String }) {}
 *
 * const program = Effect.gen(function*() {
 *   const people = yield* Repository.make(Person)
 *   const peopleV1 = yield* Repository.make(Model.form(Person, 1, PersonV1))
 *   yield* people.insert(new Person({ id: "P1", fullName: "Ada Lovelace" }))
 *   return (yield* peopleV1.findById("P1")).name
 * }).pipe(Effect.provide(EmbeddedStore.layerMemory))
 *
 * await Effect.runPromise(program) // => "Ada Lovelace"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const form: {
  <M extends Any>(model: M, form: number): Any & { readonly modelName: M["modelName"] }
  <V extends Any>(model: Any, form: number, as: V): V
} = (model: Any, form: number, as?: Any): Any => {
  // Only `Class` sets this property.
  const versions = (Reflect.get(model, versionsTypeId) ?? { fields: {}, steps: [] }) as Versions
  const omitted = Object.entries(model[modelTypeId]).flatMap(([key, { omitted }]) => omitted === true ? [key] : [])
  const view = viewFields(versions, new Set(omitted), form)
  if (typeof view === "string") throw new DeclarationError(`${model.modelName} ${view}`)
  const own = Object.entries(view.fields).map(([key, field]) => [
    key,
    view.omitted.has(key) ? omittedField(field) : field
  ])
  // The fields were declared as those of a model.
  const made = Class<unknown>()(model.modelName, Object.fromEntries(own) as Model.Fields)
  const differing = as && differenceOf(made, as)
  if (differing !== undefined) {
    throw new DeclarationError(`${as?.modelName} is not form ${form} of ${model.modelName}: "${differing}" differs`)
  }
  if (as === undefined || !Object.hasOwn(as, viewTypeId)) {
    return Object.defineProperty(as ?? made, viewTypeId, { value: { model, version: form } })
  }
  // Only this function sets this property.
  const known = Reflect.get(as, viewTypeId) as ViewOf<Any>
  if (known.model === model && known.version === form) return as
  throw new DeclarationError(`${as.modelName} is form ${known.version} of ${known.model.modelName} already`)
}

/** The first field that one of the models has, and the other has not, or callers see in another way. */
const differenceOf = (one: Any, other: Any): string | undefined => {
  const shown = (model: Any, key: string): string =>
    JSON.stringify([key in model.store.fields, key in model.wire.fields, key in model.create.fields])
  return [...Object.keys(one.store.fields), ...Object.keys(other.store.fields)].find((key) =>
    shown(one, key) !== shown(other, key)
  )
}

/**
 * Makes an instance of what a caller sent. Each field goes through the generator if there is no value, the default if
 * there is still none, the converter, then the validators. All problems of all fields are reported.
 *
 * Fails with `PropertyRequiredException` if a required field is missing, otherwise with `ValidationException`.
 *
 * **Example** (Defaults and generated values)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", {
 *   id: Model.id({ prefix: "N" }),
 *   text: Schema.String,
 *   tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => []))
 * }) {}
 *
 * const note = await Effect.runPromise(Model.finalise(Note, { text: "milk" }))
 * note.tags // => []
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const finalise: <M extends Any>(
  model: M,
  input: M["create"]["Type"]
) => Effect.Effect<M["Type"], ModelError> = (model, input) => finaliser(model)(input)
