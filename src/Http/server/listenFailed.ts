import * as Schema from "effect/Schema"

/**
 * Occurs when the server can't listen on its address.
 */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  address: Schema.String,
  port: Schema.Int,
  detail: Schema.String
}) {
  override get message(): string {
    return `Can't listen on ${this.address}:${this.port}: ${this.detail}`
  }
}
