/** A store in memory whose reads and long writes do as little as they can in each turn of the loop. */
import { Effect, Layer } from "effect"
import { DocumentStore } from "../../packages/document-store/src/DocumentStore.ts"
import { spend } from "../../packages/document-store/src/internal/stepBudget.ts"
import * as keyValueMemory from "../../packages/embedded-store/src/storage/memory/store.ts"
import type { SteppedKeyValue } from "../../packages/embedded-store/src/storage/orderedStore.ts"
import { fromKeyValue } from "../../packages/embedded-store/src/store/fromKeyValue.ts"

/** More than the budget of a step. */
const budget = 1e9

const inSmallTurns = (store: SteppedKeyValue): SteppedKeyValue => ({
  ...store,
  read: (operation, step) =>
    store.read(operation, () => {
      spend(budget)
      return step()
    }),
  writeInSteps: (operation, job) =>
    store.writeInSteps(operation, () => {
      const steps = job()
      return {
        next: () => {
          spend(budget)
          return steps.next()
        }
      }
    })
})

export const layerInSmallTurns: Layer.Layer<DocumentStore> = Layer.effect(
  DocumentStore,
  Effect.orDie(Effect.flatMap(keyValueMemory.make, (store) => fromKeyValue(inSmallTurns(store), "memory")))
)
