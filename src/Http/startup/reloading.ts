/** Reads the configuration again, and changes what can change while the service runs. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type { Reload } from "../../internal/reload.ts"
import { configurationChanges } from "../config/inForce.ts"
import * as KernelConfig from "../KernelConfig.ts"

/** Reads everything first: if a part can't be used, nothing changes. One line logs what has, or needs a restart. */
export const makeReload = (
  options: KernelConfig.Options,
  started: KernelConfig.Loaded,
  reloads: ReadonlySet<Reload>
): Effect.Effect<void, never, FileSystem.FileSystem> => {
  // A key that needs a restart keeps the value that it was started with.
  let inForce = started.inForce
  return Effect.gen(function*() {
    const next = yield* KernelConfig.load(options)
    const differing = configurationChanges(inForce, next.inForce)
    const prepared = yield* Effect.forEach(
      [...reloads],
      ({ keys, prepare }) =>
        Effect.map(prepare, ({ apply, changed, restart }) => ({
          apply,
          keys: keys.filter((key) => restart?.includes(key) !== true),
          changed
        }))
    ).pipe(Effect.provideContext(next.context))
    for (const { apply } of prepared) yield* apply
    const taken = new Set(prepared.flatMap(({ keys }) => keys))
    const values = new Map(inForce.map(({ key, value }) => [key, value]))
    const changed = Object.fromEntries([
      ...differing.filter(({ key }) => taken.has(key)).map(({ key, value }) =>
        [key, { from: values.get(key), to: value }] as const
      ),
      ...prepared.flatMap(({ changed }) => Object.entries(changed ?? {}))
    ])
    const needsRestart = differing.filter(({ key }) => !taken.has(key)).map(({ key }) => key)
    const before = new Map(inForce.map((one) => [one.key, one]))
    inForce = next.inForce.map((one) => taken.has(one.key) ? one : before.get(one.key) ?? one)
    yield* next.log
    yield* Effect.logInfo("The configuration was read again").pipe(
      Effect.annotateLogs({ changed, needs_restart: needsRestart })
    )
  }).pipe(
    Effect.catch((error) =>
      Effect.logError(`The configuration was read again and can't be used, so nothing changes. ${error.message}`)
    )
  )
}
