/**
 * The errors of stores and repositories.
 *
 * @since 0.1.0
 */
import { DuplicateKey, QueryRejected, type ReadError, type StoreError } from "@appkernel/document-store/StoreError"
import * as Schema from "effect/Schema"
import { englishOf, textOfKey } from "../internal/texts.ts"
import { Problem, PropertyRequiredException, ValidationException } from "../Model/ModelError.ts"

export * from "@appkernel/document-store/StoreError"

/**
 * Occurs when no document of the model has the identifier. A retry fails until one is inserted.
 *
 * @category errors
 * @since 0.1.0
 */
export class DocumentNotFound extends Schema.TaggedError<DocumentNotFound>()("DocumentNotFound", {
  model: Schema.String,
  id: Schema.String
}) {
  override get message(): string {
    return englishOf(textOfKey("errors.DocumentNotFound", this))
  }
}

/**
 * Occurs when the expected version of a write differs from the stored version, because another writer changed the document
 * in between. Nothing is written. Read the document again, repeat the change, and write again.
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
    return englishOf(textOfKey("errors.VersionConflict", this))
  }
}

/**
 * Occurs when a write would leave a document behind which the rules of the caller do not allow. Nothing is written. A retry
 * with the same values fails as well. The error contains no value and no rule.
 *
 * @category errors
 * @since 0.1.0
 */
export class AccessDenied extends Schema.TaggedError<AccessDenied>()("AccessDenied", { model: Schema.String }) {
  override get message(): string {
    return `The caller may not write this ${this.model}`
  }
}

/**
 * Occurs when the files of a model would have more bytes together than the quota of its registration, or those of the documents with
 * the same value of `field`. `limit` is the quota, in bytes. Nothing is written. A retry fails until other files are removed.
 *
 * @category errors
 * @since 0.1.0
 */
export class FileQuotaExceeded extends Schema.TaggedError<FileQuotaExceeded>()("FileQuotaExceeded", {
  model: Schema.String,
  field: Schema.optionalKey(Schema.String),
  limit: Schema.Int
}) {
  override get message(): string {
    const { field, limit, model } = this
    return englishOf(
      field === undefined
        ? textOfKey("errors.FileQuota", { model, limit })
        : textOfKey("errors.FileQuotaBy", { model, field, limit })
    )
  }
}

/**
 * Occurs when a document is deleted that another one refers to by a reference with `onDelete: "restrict"`, or that
 * one without a way up to the newest form may refer to by any reference that was changed. Nothing is deleted. `by` and `field` are the model and the field that refer to it. A retry fails until no document does.
 *
 * @category errors
 * @since 0.1.0
 */
export class DocumentReferenced extends Schema.TaggedError<DocumentReferenced>()("DocumentReferenced", {
  model: Schema.String,
  id: Schema.String,
  by: Schema.String,
  field: Schema.String
}) {
  override get message(): string {
    return englishOf(textOfKey("errors.DocumentReferenced", this))
  }
}

/**
 * Any failure of a delete.
 *
 * @category errors
 * @since 0.1.0
 */
export type DeleteError = ReadError | DocumentReferenced

/**
 * Any failure of a write to documents of a model. A `ValidationException` of a valid instance is about a reference to a
 * document that does not exist, or, for an earlier form of a model, about what the newest form refuses. Only models with files have
 * quotas.
 *
 * @category errors
 * @since 0.1.0
 */
export type WriteError = StoreError | AccessDenied | FileQuotaExceeded | ValidationException

/**
 * Occurs when a bulk insert rejects some of its instances. `failures` has each rejection with the instance's index, from 0, in
 * order. `insertedCount` instances are inserted nevertheless.
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
      error: Schema.Union([
        DuplicateKey,
        QueryRejected,
        AccessDenied,
        FileQuotaExceeded,
        PropertyRequiredException,
        ValidationException
      ])
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
 * Occurs when a stored document cannot be decoded by its model: another program wrote it, or the model changed without a
 * default or a marshaller for the stored values. `problems` names the fields, never their values.
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
