/** What tests of upgrades share. */
import { Clock, Effect } from "effect"
import { RetryClock } from "../../packages/document-store/src/shared/retryOnConflict.ts"
import { DocumentStore } from "../../src/index.ts"

/** Runs an effect in which no process waits for another one to learn what is said. */
export const atOnce = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    let passed = 0n
    return Effect.provideService(effect, RetryClock, {
      ...clock,
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + (passed += 10_000_000_000n)
    })
  })

/** Says that every process understands this form, without the wait of `Upgrade.finish`. */
export const sayUnderstood = (collection: string, form: number) =>
  Effect.flatMap(
    DocumentStore.DocumentStore,
    (store) => store.updateOne("appkernel.forms", { _id: collection }, { $max: { understood: form } }, { upsert: true })
  )
