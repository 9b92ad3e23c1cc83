/**
 * What commands print: results on the standard output, for people or for programs, and progress on the standard error.
 */
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"

/** A flag with a whole number from a least one on. */
export const numberFlag = (name: string, least: number, description: string) =>
  Flag.Int(name).pipe(
    Flag.withDescription(description),
    Flag.filter((given) => given >= least, () => `expected a number from ${least}`)
  )

/** A flag that is off unless it is given. */
export const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

export const jsonFlag = switchFlag("json", "Prints the result as JSON, for programs")

/** Prints a result, or the lines that say it. */
export const print = (json: boolean, result: unknown, lines: ReadonlyArray<string>): Effect.Effect<void> =>
  Console.log(json ? JSON.stringify(result, undefined, 2) : lines.join("\n"))

/** Prints how far a command is, once in a second. */
export const makeProgress = Effect.sync(() => {
  let last = 0
  return (text: string): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - last < 1000) return Effect.void
      last = now
      return Console.error(text)
    })
})

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`

/** Where a document is written to. */
export const outFlag = Flag.String("out").pipe(
  Flag.withDescription("The file that is written. Defaults to the standard output"),
  Flag.optional
)

export const checkFlag = switchFlag(
  "check",
  "Writes nothing, and fails if the file of --out is not as it would be written"
)

/** Writes a document, or compares it with what is there. */
export const writeOrCompare = Effect.fnUntraced(function*(
  text: string,
  { check, out }: { readonly check: boolean; readonly out: Option.Option<string> }
) {
  const files = yield* FileSystem.FileSystem
  if (Option.isNone(out)) {
    if (check) return yield* new CommandFailed({ detail: "--check needs --out, the file to compare with", code: 2 })
    return yield* Console.log(text)
  }
  const file = out.value
  const before = (yield* files.exists(file)) ? yield* files.readFileString(file) : undefined
  if (before === `${text}\n`) return yield* Console.error(`${file} is as it was`)
  if (check) {
    return yield* new CommandFailed({ detail: `${file} ${before === undefined ? "is missing" : "is not up to date"}` })
  }
  yield* files.writeFileString(file, `${text}\n`)
  yield* Console.error(`Wrote ${file}`)
})

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
