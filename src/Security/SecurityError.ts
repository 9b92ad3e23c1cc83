/**
 * The failures of credentials and keys.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Occurs when the files of the keys can't be used: a file is missing, holds no supported key, or the two files are no
 * pair. `problem` is one sentence that names the file and quotes nothing of it. A retry fails again.
 *
 * @category errors
 * @since 0.1.0
 */
export class KeysInvalid extends Schema.TaggedError<KeysInvalid>()("KeysInvalid", {
  problem: Schema.String
}) {
  override get message(): string {
    return `The keys for tokens can't be used: ${this.problem}`
  }
}
