/** The errors of stores of files. `FileStore` exports them. */
import * as Schema from "effect/Schema"

/**
 * Occurs when a store has no bytes under an identifier: nobody put them, or they are removed. A retry fails as well.
 *
 * @category errors
 * @since 0.1.0
 */
export class FileMissing extends Schema.TaggedError<FileMissing>()("FileMissing", { id: Schema.String }) {
  override get message(): string {
    return `There are no bytes under the identifier ${JSON.stringify(this.id)}`
  }
}

/**
 * Occurs when a content is longer than its limit, in bytes. The store keeps nothing of it. A retry with the same content
 * fails as well.
 *
 * @category errors
 * @since 0.1.0
 */
export class FileTooLarge extends Schema.TaggedError<FileTooLarge>()("FileTooLarge", { limit: Schema.Int }) {
  override get message(): string {
    return `The file has more than ${this.limit} bytes`
  }
}

/**
 * Occurs when a picture can't be read, or has more pixels than its `limit`: then no other picture is made of it. A retry fails as
 * well.
 *
 * @category errors
 * @since 0.1.0
 */
export class PictureRefused extends Schema.TaggedError<PictureRefused>()("PictureRefused", {
  limit: Schema.optionalKey(Schema.Int)
}) {
  override get message(): string {
    return this.limit === undefined ? "The picture can't be read" : `The picture has more than ${this.limit} pixels`
  }
}

/**
 * Occurs when a store of files does not answer, refuses the access, or has no space left. `retryable` says whether the same
 * call may succeed later without intervention.
 *
 * @category errors
 * @since 0.1.0
 */
export class FileStoreFailed extends Schema.TaggedError<FileStoreFailed>()("FileStoreFailed", {
  operation: Schema.String,
  detail: Schema.String,
  retryable: Schema.Boolean
}) {
  override get message(): string {
    return `The store of files failed (${this.operation}): ${this.detail}`
  }
}
