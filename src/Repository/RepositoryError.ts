/**
 * Why a store or a repository could not do what it was asked to do.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Problem, PropertyRequiredException, ValidationException } from "../Model/ModelError.ts"

/**
 * Occurs when a write would put a value into a unique index that another document already holds. Nothing was written.
 * A retry with the same values fails too. The value itself is not carried: it may be one that must not be shown.
 *
 * @category errors
 * @since 0.1.0
 */
export class DuplicateKey extends Schema.TaggedError<DuplicateKey>()("DuplicateKey", {
  collection: Schema.String,
  index: Schema.String,
  fields: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `Another document of "${this.collection}" has the same ${this.fields.join(", ")}`
  }
}

/**
 * Occurs when the store does not answer, refuses the connection, or has no room left. `retryable` says whether the
 * same call may succeed later without anybody's doing.
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  operation: Schema.String,
  detail: Schema.String,
  retryable: Schema.Boolean
}) {
  override get message(): string {
    return `The store is unavailable (${this.operation}): ${this.detail}`
  }
}

/**
 * An index that is asked for, and another one that stands in its way. `installed` and `requested` are their definitions
 * as MongoDB's extended JSON, from the same fields in the same order: `{"name":"by age","key":{"age":1}}`.
 *
 * @category models
 * @since 0.1.0
 */
export const IndexConflict = Schema.Struct({
  collection: Schema.String,
  index: Schema.String,
  installed: Schema.String,
  requested: Schema.String
})

/**
 * Occurs when the store refuses a filter, an update, a pipeline, an index or a document: as malformed, as not fulfilling
 * the rules of its collection, or, with `conflict`, because another definition of an index is installed. A retry fails
 * too. `advice` is what whoever asks can do about it; it says nothing of what is stored.
 *
 * @category errors
 * @since 0.1.0
 */
export class QueryRejected extends Schema.TaggedError<QueryRejected>()("QueryRejected", {
  operation: Schema.String,
  detail: Schema.String,
  conflict: Schema.optionalKey(IndexConflict),
  advice: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `The store rejected the ${this.operation}: ${this.detail}`
  }
}

/**
 * Occurs when a read took longer than the time limit that it was given, and was stopped in the store. A retry takes as
 * long: ask for less, or for what an index serves.
 *
 * @category errors
 * @since 0.1.0
 */
export class QueryTimeout extends Schema.TaggedError<QueryTimeout>()("QueryTimeout", {
  operation: Schema.String
}) {
  override get message(): string {
    return `The ${this.operation} took too long and was stopped`
  }
}

/**
 * Occurs when the store at hand has no such feature. Another store may have it.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unsupported extends Schema.TaggedError<Unsupported>()("Unsupported", {
  operation: Schema.String,
  feature: Schema.String
}) {
  override get message(): string {
    return `The store does not support ${this.feature} (${this.operation})`
  }
}

/**
 * Occurs when no document of the model has the identifier.
 *
 * @category errors
 * @since 0.1.0
 */
export class DocumentNotFound extends Schema.TaggedError<DocumentNotFound>()("DocumentNotFound", {
  model: Schema.String,
  id: Schema.String
}) {
  override get message(): string {
    return `${this.model} ${this.id} does not exist`
  }
}

/**
 * Occurs when a write names a version that is not the stored one: somebody else wrote in between. Nothing was written.
 * Read the document again, repeat the change, and write once more.
 *
 * @category errors
 * @since 0.1.0
 */
export class VersionConflict extends Schema.TaggedError<VersionConflict>()("VersionConflict", {
  model: Schema.String,
  id: Schema.String,
  expected: Schema.Int
}) {
  override get message(): string {
    return `${this.model} ${this.id} no longer has version ${this.expected}`
  }
}

/**
 * Any failure of a store.
 *
 * @category errors
 * @since 0.1.0
 */
export type StoreError = DuplicateKey | StoreUnavailable | QueryRejected | QueryTimeout | Unsupported

/**
 * Any failure of a store that has nothing to do with unique indexes: all that a read or a removal may fail with.
 *
 * @category errors
 * @since 0.1.0
 */
export type ReadError = Exclude<StoreError, DuplicateKey>

/**
 * Occurs when some of several instances are refused. `failures` has each with its place among them, from 0, in order;
 * `insertedCount` are stored all the same.
 *
 * @category errors
 * @since 0.1.0
 */
export class BulkInsertFailed extends Schema.TaggedError<BulkInsertFailed>()("BulkInsertFailed", {
  collection: Schema.String,
  insertedCount: Schema.Int,
  failures: Schema.Array(
    Schema.Struct({
      index: Schema.Int,
      error: Schema.Union([DuplicateKey, QueryRejected, PropertyRequiredException, ValidationException])
    })
  )
}) {
  override get message(): string {
    const [first] = this.failures
    const others = this.failures.length > 1 ? ` and ${this.failures.length - 1} more` : ""
    return `Not all of ${this.collection} could be inserted: at ${first?.index ?? 0}, ${
      first?.error.message ?? ""
    }${others}`
  }
}

/**
 * Occurs when a stored document does not have the form of its model: somebody else wrote it, or the model changed
 * without a default or a marshaller for what is stored. `problems` names the fields, never their values.
 *
 * @category errors
 * @since 0.1.0
 */
export class DocumentInvalid extends Schema.TaggedError<DocumentInvalid>()("DocumentInvalid", {
  model: Schema.String,
  id: Schema.String,
  problems: Schema.Array(Problem)
}) {
  override get message(): string {
    const problems = this.problems.map(({ field, message }) => `${field} ${message}`).join("; ")
    return `The stored ${this.model} ${this.id} is not a valid one: ${problems}`
  }
}
