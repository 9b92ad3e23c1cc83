/**
 * The shapes that every answer has beyond a model's own fields.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Problem } from "../Model/ModelError.ts"

/**
 * One link: where it leads, by which methods, and for an action the names of its arguments.
 *
 * @category models
 * @since 0.1.0
 */
export const Link = Schema.Struct({
  href: Schema.String,
  methods: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  args: Schema.optionalKey(Schema.Array(Schema.String))
}).annotate({ identifier: "Link" })

/**
 * Links by relation: `self`, `collection`, and one for each action.
 *
 * @category models
 * @since 0.1.0
 */
export const Links = Schema.Record(Schema.String, Link).annotate({ identifier: "Links" })

/**
 * What a write did: the identifier of the document that was written.
 *
 * @category models
 * @since 0.1.0
 */
export const OperationResult = Schema.Struct({
  _type: Schema.tag("OperationResult"),
  result: Schema.String
}).annotate({ identifier: "OperationResult" })

/**
 * What the insertion of a list did: the identifiers of the documents, in their order.
 *
 * @category models
 * @since 0.1.0
 */
export const OperationIds = Schema.Struct({
  _type: Schema.tag("OperationResult"),
  result: Schema.Array(Schema.String)
}).annotate({ identifier: "OperationIds" })

/**
 * What a removal did: the number of documents that were removed.
 *
 * @category models
 * @since 0.1.0
 */
export const OperationCount = Schema.Struct({
  _type: Schema.tag("OperationResult"),
  result: Schema.Int
}).annotate({ identifier: "OperationCount" })

/**
 * The body of every error. `code` is the HTTP status; `errors` has one entry for each problem of a 400.
 *
 * @category models
 * @since 0.1.0
 */
export const ErrorMessage = Schema.Struct({
  _type: Schema.tag("ErrorMessage"),
  code: Schema.Int,
  message: Schema.String,
  errors: Schema.optionalKey(Schema.Array(Problem))
}).annotate({ identifier: "ErrorMessage" })
