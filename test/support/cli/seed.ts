import { DocumentStore } from "appkernel"
import { Effect } from "effect"

export const seed = Effect.gen(function*() {
  const { insertMany } = yield* DocumentStore.DocumentStore
  yield* insertMany("Person", [
    { _id: "ann", name: "Ann", age: 30, revision: 1 },
    { _id: "ben", name: "Ben", age: 40, revision: 1 }
  ])
})
