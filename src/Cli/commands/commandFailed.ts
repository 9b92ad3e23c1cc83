/** The failure of a command that has said why. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"

/** Ends a command with a code: 1 if it found or could not do something, 2 if it was called wrongly. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  detail: Schema.String,
  code: Schema.Literals([1, 2]).pipe(Schema.withConstructorDefault(Effect.succeed(1 as const)))
}) {
  override readonly [Runtime.errorExitCode] = this.code
  override readonly [Runtime.errorReported] = false
  override get message(): string {
    return this.detail
  }
}

/** Prints why a command fails, and ends it with its code. */
export const reported = <A, E extends { readonly message: string }, R>(
  command: Effect.Effect<A, E, R>
): Effect.Effect<A, CommandFailed, R> =>
  Effect.catch(
    command,
    (error) =>
      Effect.andThen(
        Console.error(error.message),
        Effect.fail(error instanceof CommandFailed ? error : new CommandFailed({ detail: error.message }))
      )
  )
