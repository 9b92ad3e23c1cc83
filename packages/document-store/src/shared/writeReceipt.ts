/** Tells who writes which transaction of its log a store has given the write. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** What the store has noted of the last recorded write of a fiber. */
export interface WriteReceipt {
  /** The `transaction` of its changes; `undefined` if nothing was recorded. */
  transaction: string | undefined
}

/** Where the writes of a fiber are noted. `undefined`: nowhere. */
export const WriteReceipt = Context.Reference<WriteReceipt | undefined>("appkernel/Repository/WriteReceipt", {
  defaultValue: () => undefined
})

/** Runs an effect, and succeeds also with the `transaction` of its last recorded changes. */
export const withTransactionId = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly value: A; readonly transaction: string | undefined }, E, R> =>
  Effect.suspend(() => {
    const receipt: WriteReceipt = { transaction: undefined }
    return Effect.map(
      Effect.provideService(effect, WriteReceipt, receipt),
      (value) => ({ value, transaction: receipt.transaction })
    )
  })
