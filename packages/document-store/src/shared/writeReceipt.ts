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

/**
 * Runs an effect, and succeeds also with the `transaction` of its last recorded changes. `note` is told of each, by the embedded store
 * before anybody reads the changes.
 */
export const withTransactionId = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  note?: (transaction: string) => void
): Effect.Effect<{ readonly value: A; readonly transaction: string | undefined }, E, R> =>
  Effect.suspend(() => {
    const receipt: WriteReceipt = note === undefined ? { transaction: undefined } : new NotedReceipt(note)
    return Effect.map(
      Effect.provideService(effect, WriteReceipt, receipt),
      (value) => ({ value, transaction: receipt.transaction })
    )
  })

// internal

class NotedReceipt implements WriteReceipt {
  #transaction: string | undefined
  readonly #note: (transaction: string) => void

  constructor(note: (transaction: string) => void) {
    this.#note = note
  }

  get transaction(): string | undefined {
    return this.#transaction
  }

  set transaction(transaction: string | undefined) {
    this.#transaction = transaction
    if (transaction !== undefined) this.#note(transaction)
  }
}
