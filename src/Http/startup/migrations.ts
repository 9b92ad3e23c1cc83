/** Runs, awaits or refuses pending migrations at startup, as the configuration says. */
import * as Effect from "effect/Effect"
import { Application } from "../../internal/application.ts"
import * as Migration from "../../Repository/Migration.ts"
import * as KernelConfig from "../KernelConfig.ts"

/** What a start does while migrations have not run, by the configuration. A test ignores them. */
export const awaitMigrations = Effect.fnUntraced(function*(migrations: ReadonlyArray<Migration.Migration>) {
  const onStart = (yield* Application)?.isTest === true ? "ignore" : yield* KernelConfig.migrationsOnStart
  if (onStart === "ignore") return
  if (onStart === "run") {
    yield* Migration.run(migrations, { compareTexts: false })
    return
  }
  const missing = Effect.map(Migration.status(migrations), ({ pending }) => pending)
  let ids = yield* missing
  if (ids.length === 0) return
  if (onStart === "refuse") return yield* new Migration.MigrationsMissing({ ids })
  yield* Effect.logInfo(`Waiting for the migrations ${ids.join(", ")}, which npx appkernel migrate runs`)
  while (ids.length > 0) {
    yield* Effect.sleep("1 second")
    ids = yield* missing
  }
})
