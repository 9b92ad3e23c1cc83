/**
 * The failure of a command that has said why.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"

/** @internal */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", { detail: Schema.String }) {
  override readonly [Runtime.errorReported] = false
  override get message(): string {
    return this.detail
  }
}

/**
 * Prints why a command fails, and ends it with the code 1.
 *
 * @internal
 */
export const reported = <A, E extends { readonly message: string }, R>(
  command: Effect.Effect<A, E, R>
): Effect.Effect<A, CommandFailed, R> =>
  Effect.catch(
    command,
    ({ message }) => Effect.andThen(Console.error(message), Effect.fail(new CommandFailed({ detail: message })))
  )
