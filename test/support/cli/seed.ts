import { DocumentStore } from "appkernel"
import { Config, Effect } from "effect"

export const seed = Effect.gen(function*() {
  const age = yield* Config.Int("age").pipe(Config.nested("ann"), Config.withDefault(30))
  const { insertMany } = yield* DocumentStore.DocumentStore
  yield* insertMany("Person", [
    { _id: "ann", name: "Ann", age, revision: 1 },
    { _id: "ben", name: "Ben", age: 40, revision: 1 }
  ])
})
