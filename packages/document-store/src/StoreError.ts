/**
 * The errors of stores.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { duplicates, filled } from "./internal/sentences.ts"

/**
 * Occurs when a write violates a unique index. Nothing is written. A retry with the same values fails as well. The error
 * does not contain the value, which may be confidential. `fields` is empty if the caller must not learn which they are.
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
    return filled(
      this.fields.length === 0 ? duplicates.unnamed : duplicates.named,
      (name) => name === "model" ? `document of "${this.collection}"` : this.fields.join(", ")
    )
  }
}

/**
 * Occurs when the store does not answer, rejects the connection, or has no disk space left. `retryable` says whether the
 * same call may succeed later without intervention.
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
 * Occurs when stored bytes are not those that were written: their checksum differs, because the disk or another program
 * changed them. Only what they hold is affected. Restore it from a backup; `EmbeddedStore.verify` tells all that is damaged.
 *
 * `document` is the identifier of the document, if it can still be told. `index` is the index whose entry is damaged.
 *
 * @category errors
 * @since 0.1.0
 */
export class DataDamaged extends Schema.TaggedError<DataDamaged>()("DataDamaged", {
  collection: Schema.String,
  document: Schema.optionalKey(Schema.String),
  index: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    const what = this.index === undefined
      ? `The stored document ${this.document ?? "of an unknown identifier"}`
      : `An entry of the index ${this.index}`
    return `${what} in ${this.collection} is damaged: its checksum is wrong`
  }
}

/**
 * A requested index and the installed index that conflicts with it. `installed` and `requested` are their definitions as
 * MongoDB's extended JSON, with the fields in the same order: `{"name":"by age","key":{"age":1}}`.
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
 * Occurs when the store rejects a filter, an update, a pipeline, an index or a document: because it is malformed, because it
 * violates the validator of its collection, or, with `conflict`, because an index is installed with a different definition.
 * A retry fails as well. `advice` tells the caller how to correct the request, and contains no stored values.
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
 * Occurs when a read exceeds its time limit and is stopped in the store. A retry takes as long. Read fewer documents, or use
 * a query that an index serves.
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
 * Occurs when the store does not support a feature. Another store may support it.
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
 * Occurs when changes after a position are asked for that the store does not have: they are no longer kept, they were not
 * recorded, or the position is of another store, or of a state before a backup was restored. A retry fails as well. Read the
 * documents again, and the changes from there on.
 *
 * @category errors
 * @since 0.1.0
 */
export class PositionGone extends Schema.TaggedError<PositionGone>()("PositionGone", { position: Schema.String }) {
  override get message(): string {
    return `The changes after ${this.position} are not kept: read the documents again, and the changes from there on`
  }
}

/**
 * Any failure of a store.
 *
 * @category errors
 * @since 0.1.0
 */
export type StoreError = DuplicateKey | StoreUnavailable | DataDamaged | QueryRejected | QueryTimeout | Unsupported

/**
 * Any failure of a store except a violated unique index: the failures of reads and deletes.
 *
 * @category errors
 * @since 0.1.0
 */
export type ReadError = Exclude<StoreError, DuplicateKey>
