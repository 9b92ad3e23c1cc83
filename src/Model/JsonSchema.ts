/**
 * The JSON schema (draft-04) of a model's wire form, and MongoDB's validator of its stored form.
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
   * Whether undeclared properties are accepted, at any depth. Defaults to true.
   *
   * If they are rejected, `_type` and, on the root document, `_links` are still accepted, since documents from a server
   * carry them. The schema for MongoDB accepts `_id` in every document.
   */
  readonly additionalProperties?: boolean | undefined
  /** Whether to make a schema for MongoDB's `$jsonSchema`, which describes stored documents. Defaults to false. */
  readonly mongoCompatibility?: boolean | undefined
}

/**
 * The schema of a model's documents, in their wire form or as MongoDB stores them.
 *
 * **Details**
 *
 * The wire schema has nested models and schemas with an identifier under `definitions`, and leaves omitted fields out.
 * `required` lists what callers have to send, as the metadata does: no field with a default or a generator, and no
 * field that the framework manages. A `Model.optional` field may also be `null`. Date-times and dates have a `format`,
 * `date-time` and `date`, and a `pattern` that describes the accepted text exactly. E-mail addresses have a `format`.
 *
 * The schema for MongoDB is the `validator: { $jsonSchema }` of `createCollection`. It describes the stored form:
 * omitted fields are included, the identifier is `_id`, dates are BSON dates, and integers are integers whether they
 * are stored as `int`, `long` or `double`. Nested models are inlined; a recursive reference accepts any object.
 * Patterns are included if PCRE reads them as JavaScript does, `format` never. The annotation `bsonType` defines the
 * BSON type of a declared type other than a date, a `Uint8Array` or a `RegExp`: `Schema.instanceOf(ObjectId).annotate({
 * bsonType: "objectId" })`.
 *
 * **Gotchas**
 *
 * A schema can't express every check of a decoder. Only the type is described for rules in code (`Validator.past`,
 * `Validator.future`, filters), for patterns that need more than the flag `u`, and for the text of transformed types
 * (`Schema.FiniteFromString`). Validators that assert the format `date-time` (RFC 3339) reject date-times without a
 * zone, which the wire form has.
 *
 * **Example** (A schema that rejects unknown properties)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model, Validator } from "appkernel"
 *
 * class Tag extends Model.Class<Tag>()("Tag", {
 *   name: Schema.String.pipe(Validator.notEmpty, Validator.max(20))
 * }) {}
 *
 * const schema = Model.jsonSchema(Tag, { additionalProperties: false, mongoCompatibility: true })
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
