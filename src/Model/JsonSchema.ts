/**
 * The JSON schema (draft-04) of what a caller sees of a model, and the validator that MongoDB takes for what is stored.
 *
 * @since 0.1.0
 */
import * as Function from "effect/Function"
import { toDraft04, toMongo } from "./jsonSchema/dialect.ts"
import { describeModel } from "./jsonSchema/writer.ts"
import { isModelLike, type ModelLike } from "./shape/variants.ts"

/**
 * A draft-04 document: `$schema`, `title`, `type`, `properties`, `required`, `additionalProperties`, and `definitions`
 * for nested models. For MongoDB: `title`, `bsonType`, `properties`, `required`, `additionalProperties`.
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/**
 * Options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Whether properties that are not the model's are accepted, at any depth. Defaults to true.
   *
   * When they are refused, `_type` and, on the outermost document, `_links` are still accepted, since the documents that
   * a server sends have them. In the schema for MongoDB it is `_id` that every document may have.
   */
  readonly additionalProperties?: boolean | undefined
  /**
   * Whether the schema is one for MongoDB's `$jsonSchema`, which describes documents as they are stored. Defaults to
   * false.
   */
  readonly mongoCompatibility?: boolean | undefined
}

/**
 * The schema of a model's documents: as a caller sees them, or as MongoDB stores them.
 *
 * **Details**
 *
 * On the wire, nested models and schemas with an identifier stand under `definitions`. Omitted fields are not part of it.
 * `required` names what a caller has to send, as the metadata does: no field with a default or a generator, and nothing
 * that the framework keeps. A `Model.optional` field may also be `null`. Date-times and dates have a `format`, `date-time`
 * and `date`, and a `pattern` that says exactly what is accepted. E-mail addresses have a `format`.
 *
 * For MongoDB, the schema is what `validator: { $jsonSchema }` of `createCollection` takes. It describes the stored form:
 * omitted fields are part of it, the identifier is `_id`, dates are BSON dates, and whole numbers are whole whether they
 * are stored as `int`, `long` or `double`. Nested models stand where they are used; where a model comes up inside itself,
 * any object is accepted. Patterns are those that PCRE reads as JavaScript does; others are left out, as is `format`.
 * What a declared type is in BSON, other than a date, a `Uint8Array` or a `RegExp`, it says by the annotation `bsonType`:
 * `Schema.instanceOf(ObjectId).annotate({ bsonType: "objectId" })`.
 *
 * **Gotchas**
 *
 * A schema can't say all that a decoder checks: rules that are code (`Validator.past`, `Validator.future`, filters),
 * patterns that can't be written with the flag `u` alone, and the texts of transformed types (`Schema.FiniteFromString`) are described by
 * their type alone. Validators that assert the format `date-time` (RFC 3339) refuse date-times without a zone, as those
 * on the wire are.
 *
 * **Example** (A schema that refuses unknown properties)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { JsonSchema, Model, Validator } from "appkernel"
 *
 * class Tag extends Model.Class<Tag>()("Tag", {
 *   name: Schema.String.pipe(Validator.notEmpty, Validator.max(20))
 * }) {}
 *
 * const schema = JsonSchema.make(Tag, { additionalProperties: false, mongoCompatibility: true })
 * schema["properties"] // => { name: { bsonType: "string", minLength: 1, maxLength: 20 }, _id: {} }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  (options?: Options): (model: ModelLike) => JsonSchema
  (model: ModelLike, options?: Options): JsonSchema
} = Function.dual(
  (args) => isModelLike(args[0]),
  (model: ModelLike, { additionalProperties = true, mongoCompatibility = false }: Options = {}): JsonSchema => {
    const schema = { title: model.modelName }
    return mongoCompatibility
      ? { ...schema, ...toMongo(describeModel(model, { variant: "store", additionalProperties })) }
      : {
        $schema: "http://json-schema.org/draft-04/schema#",
        ...schema,
        ...toDraft04(describeModel(model, { variant: "wire", additionalProperties }))
      }
  }
)
