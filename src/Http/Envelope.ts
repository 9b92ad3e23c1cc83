/**
 * The envelope of responses: links, results of writes, and the bodies of errors.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Problem } from "../Model/ModelError.ts"

const texts = Schema.Array(Schema.String)

/**
 * One link: its URL, its methods, for an action the names of its arguments, and for a file those of the sizes that its picture has.
 *
 * @category models
 * @since 0.1.0
 */
export const Link = Schema.Struct({
  href: Schema.String,
  methods: Schema.optionalKey(Schema.Union([Schema.String, texts])),
  /** Whether `href` is a URI template (RFC 6570), whose parameters are those of an action's path. */
  templated: Schema.optionalKey(Schema.Boolean),
  args: Schema.optionalKey(texts),
  sizes: Schema.optionalKey(texts)
}).annotate({ identifier: "Link" })

/**
 * Links by relation: `self`, `collection`, and one for each action.
 *
 * @category models
 * @since 0.1.0
 */
export const Links = Schema.Record(Schema.String, Link).annotate({ identifier: "Links" })

/**
 * The result of a write: the identifier of the written document.
 *
 * @category models
 * @since 0.1.0
 */
export const OperationResult = Schema.Struct({
  _type: Schema.tag("OperationResult"),
  result: Schema.String
}).annotate({ identifier: "OperationResult" })

/**
 * The result of a bulk insert: the identifiers of the documents, in order.
 *
 * @category models
 * @since 0.1.0
 */
export const OperationIds = Schema.Struct({
  _type: Schema.tag("OperationResult"),
  result: Schema.Array(Schema.String)
}).annotate({ identifier: "OperationIds" })

/**
 * The result of a removal: the number of removed documents.
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
