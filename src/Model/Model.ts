/**
 * Models: one class, several schemas.
 *
 * The class is the instance; `store` is the stored document, `wire` what a caller sees, `create` what a caller may send,
 * and `patch` a partial change.
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
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as VariantSchema from "effect/schema/VariantSchema"
import type * as SchemaAST from "effect/SchemaAST"
import type { Field } from "./Field.ts"
import { type ModelIndex, modelIndexesTypeId } from "./FieldIndex.ts"
import { type Arguments, constructed } from "./instance/constructorArguments.ts"
import { display } from "./instance/display.ts"
import { finaliser } from "./instance/finaliser.ts"
import { mergePatchOf } from "./instance/mergePatch.ts"
import type { ModelError, Problem } from "./ModelError.ts"
import { type FieldAttributes, modelAnnotation } from "./shape/annotations.ts"
import { attributesOf, schemasOf } from "./shape/fields.ts"
import { assertStorable } from "./shape/storable.ts"
import {
  assertNotReserved,
  assertSeparable,
  type ModelLike,
  modelTypeId,
  type Validation,
  validationTypeId,
  type Variant,
  variants
} from "./shape/variants.ts"

export { Date, DateTime, type Temporal } from "./codec/temporal.ts"
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
export { audited, historied, softDeleted, versioned } from "./fieldTypes/managedFields.ts"
export { ObjectId } from "./fieldTypes/objectId.ts"
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
   * The JSON schema (draft-04) of the model, or MongoDB's kind of it: `JsonSchema.make`.
   *
   * @category conversions
   * @since 0.1.0
   */
  make as getJsonSchema
} from "./JsonSchema.ts"
export {
  /**
   * What a user interface needs to know of the model's fields: `Metadata.make`.
   *
   * @category conversions
   * @since 0.1.0
   */
  make as getParameterSpec
} from "./Metadata.ts"

/**
 * Any model.
 *
 * @category models
 * @since 0.1.0
 */
export interface Any extends ModelLike {}

/**
 * What {@link Class} makes.
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
    /** The class's name, as it stands in `_type`. */
    readonly modelName: Name
    /** The document as it is stored, its identifier still named `id`. */
    readonly store: Schema.Struct<VariantSchema.ExtractFields<"store", Model.Variants<F>>>
    /** What a caller sees. */
    readonly wire: Schema.Struct<Model.WireFields<Name, F>>
    /** What a caller may send. */
    readonly create: Schema.Struct<VariantSchema.ExtractFields<"create", Model.Variants<F>>>
    /** A JSON merge patch (RFC 7396): what is absent stays, `null` removes what is optional, objects are merged. */
    readonly patch: Schema.Struct<VariantSchema.ExtractFields<"patch", Model.Variants<F>>>
  }

/**
 * @category models
 * @since 0.1.0
 */
export declare namespace Model {
  /** The fields of a model as they are written. */
  export type Fields = { readonly [key: string]: Field.Input }

  type WithOptionalPatch<C> = {
    readonly [V in keyof C]: V extends "patch" ? C[V] extends Schema.Top ? Schema.optionalKey<C[V]> : never : C[V]
  }

  /** The fields of a model, each with its schema in every variant. */
  export type Variants<F extends Fields> = {
    readonly [K in keyof F]: VariantSchema.Field<WithOptionalPatch<Field.ConfigOf<F[K]>>>
  }

  /** What an instance holds. */
  export type Values<F extends Fields> = Schema.Struct.Type<VariantSchema.ExtractFields<"store", Variants<F>, true>>

  /** What a model has besides its fields: rules for several of them, and indexes. */
  export interface Options<Values> {
    /** Indexes over several fields, and others that can't stand at a single one. */
    readonly indexes?:
      | ReadonlyArray<ModelIndex<(keyof Values & string) | `${keyof Values & string}.${string}`>>
      | undefined
    /** Validators that look at several fields: those of `Validator.related`. */
    readonly validators?: ReadonlyArray<SchemaAST.Check<Values>> | undefined
    /** Looks at an instance whose fields are valid, each for itself, and fails with what is wrong with it. */
    readonly validate?:
      | ((instance: Values) => Effect.Effect<void, Problem | ReadonlyArray<Problem>>)
      | undefined
  }

  export type WireFields<Name extends string, F extends Fields> =
    & { readonly _type: Schema.tag<Name> }
    & VariantSchema.ExtractFields<"wire", Variants<F>>
}

/**
 * Declares a model: `class User extends Model.Class<User>()("User", { …fields }) {}`. `name` is the model's name on the
 * wire (`_type`), in URLs (in the plural), and in the store. `options` are rules that look at several fields; `finalise`
 * asks them when every field is valid by itself.
 *
 * **Details**
 *
 * A field may be another model, a `Schema.Array` or `Schema.NullOr` of one, or any of these through `Model.optional`. A
 * model that holds its own kind names itself in a suspended schema: `Schema.suspend((): Schema.Codec<Category, Stored>
 * => Category)`. An instance shows itself to `JSON.stringify`, consoles and loggers without what the model omits.
 *
 * **Gotchas**
 *
 * Dies when a model stands anywhere else in a field, as in a record or a tuple, and when a field is named `_type`, `_id`
 * or `_links`. So it does when the values of a field can't be stored or shown, and says why: symbols, declared types without
 * a JSON form, redacted values that are not omitted, names with a dot or a dollar at the beginning. The types of `wire`, `create` and `patch` say of a suspended schema what the schema itself says.
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
  const all: { [key: string]: VariantSchema.Field<{ readonly [V in Variant]?: Schema.Top }> } = {}
  const attributes: { [key: string]: FieldAttributes } = {}
  for (const [key, field] of Object.entries(fields)) {
    assertNotReserved(name, key)
    const { patch, ...schemas } = schemasOf(field)
    all[key] = variants.Field(
      patch === undefined ? schemas : { ...schemas, patch: Schema.optionalKey(mergePatchOf(patch)) }
    )
    // However it is written, `id` is the identifier.
    attributes[key] = { ...(key === "id" ? { managed: "id" } : {}), ...attributesOf(field) }
    for (const schema of [schemas.wire, schemas.create, patch]) {
      if (schema !== undefined) assertSeparable(name, key, schema, { suspended: false })
    }
    const visible = schemas.wire ?? schemas.store
    if (visible !== undefined) {
      assertStorable(name, key, visible.ast, { isVisible: schemas.wire !== undefined, suspended: false })
    }
  }
  const annotations = { [modelAnnotation]: () => Model }
  const Base = variants.Class<unknown>(name)(all, annotations)
  const wire = { _type: Schema.tag(name), ...Base.wire.fields }
  const own = {
    [modelTypeId]: attributes,
    [validationTypeId]: options?.validate,
    [modelIndexesTypeId]: options?.indexes ?? [],
    modelName: name,
    store: withChecks(Base.store, options?.validators ?? []).annotate({
      ...annotations,
      identifier: `${name}Stored`
    }),
    wire: Schema.Struct(wire).annotate({ ...annotations, identifier: name }),
    create: Base.create.annotate({ ...annotations, identifier: `${name}Create` }),
    patch: Base.patch.annotate({ ...annotations, identifier: `${name}Patch` })
  }
  // The variants that `Base` defines can't be defined again in place.
  class Model extends (Base as unknown as new(...args: Arguments) => object) {
    constructor(input: Arguments[0], options?: Arguments[1]) {
      super(...constructed(Model as never, input, options))
    }
    static make(input: Arguments[0], options?: Arguments[1]): unknown {
      return input instanceof this ? input : new this(input, options)
    }
  }
  for (const key of Reflect.ownKeys(own)) {
    Object.defineProperty(Model, key, { value: Reflect.get(own, key), enumerable: true })
  }
  Object.defineProperties(Model.prototype, display(name, attributes))
  // What the loop above makes of `fields` is what the type says of them, field by field.
  return Model as never
}

const withChecks = <S extends Schema.Top>(
  schema: S,
  [check, ...others]: ReadonlyArray<SchemaAST.Check<never>>
): S["Rebuild"] | S =>
  check === undefined
    ? schema
    // The checks are for values of the schema's type.
    : (schema.check as (...checks: ReadonlyArray<SchemaAST.Check<never>>) => S["Rebuild"])(check, ...others)

/**
 * Makes an instance of what a caller sent. For each field: the generator where there is no value, then the default
 * where there is still none, then the converter, then the validators. Every problem of every field is reported.
 *
 * Fails with `PropertyRequiredException` when something required is missing, else with `ValidationException`.
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
