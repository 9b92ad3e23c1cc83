/** `appkernel migrate`: runs the migrations of an engine. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { beginVersions } from "../../Repository/internal.ts"
import * as Migration from "../../Repository/Migration.ts"
import { engineModule, modelsOf, withStore } from "./engineModule.ts"
import { CommandFailed, counted, jsonFlag, numberFlag, print, reported, switchFlag } from "./output.ts"

const wayOut = "Stop the service first, or let it migrate when it starts: migrations.on_start is run"

export const migrateCommand = Command.make(
  "migrate",
  {
    module: engineModule,
    dryRun: switchFlag("dry-run", "Runs nothing, and says what would run"),
    acceptEdited: switchFlag("accept-edited", "Takes migrations that were edited after they have run as they are now"),
    lease: numberFlag(
      "lease",
      1,
      "The seconds after which the lock of a process that has died can be taken. Defaults to 15"
    ).pipe(Flag.withDefault(15)),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ acceptEdited, dryRun, json, lease, module }) {
    const { failure, status } = yield* withStore(
      module,
      { inUse: dryRun ? undefined : wayOut },
      (engine) =>
        Effect.gen(function*() {
          const { migrations } = engine
          if (!dryRun) yield* beginVersions(modelsOf(engine))
          const failure = dryRun ? undefined : yield* Migration.run(migrations, {
            lease: Duration.seconds(lease),
            acceptEdited,
            onBegin: (id) => Console.error(`Running ${id}`),
            onWait: (holder) => Console.error(`Waiting for the migrations of ${holder}`)
          }).pipe(Effect.as(undefined), Effect.catchTag("MigrationFailed", (failed) => Effect.succeed(failed)))
          return { failure, status: yield* Migration.status(migrations) }
        })
    )
    const { applied, edited, interrupted, pending, unknown } = status
    yield* print(json, { ...status, ...failure === undefined ? {} : { error: failure.message } }, [
      pending.length === 0
        ? `${counted(applied.length, "migration")} have run, none is missing`
        : `${counted(applied.length, "migration")} have run, ${pending.length} have not:`,
      ...pending.map((id) => `  ${id}${interrupted.includes(id) ? " (interrupted, runs again)" : ""}`),
      ...edited.map((id) => `  ${id} was edited after it has run`),
      ...unknown.map((id) => `  ${id} has run, and the engine does not name it`)
    ])
    if (failure !== undefined) return yield* failure
    if (pending.length + edited.length + unknown.length > 0) {
      return yield* new CommandFailed({ detail: dryRun ? "Nothing was run" : "Not everything was done" })
    }
  }, reported)
).pipe(
  Command.withDescription("Run the migrations that the store has not had, each once"),
  Command.withExamples([{ command: "appkernel migrate --dry-run", description: "Say which would run" }])
)
