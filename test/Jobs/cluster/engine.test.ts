import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { DocumentStore, Workflows } from "../../../src/index.ts"
import { onMongo } from "../../support/mongo.ts"

onMongo("Runners", (store) =>
  it.layer(store, { excludeTestServices: true })("Engines / mongodb", (it) => {
    it.effect("have addresses of their own, also with one name of a host and one number of a process", () =>
      Effect.gen(function*() {
        const { find } = yield* DocumentStore.DocumentStore
        yield* Layer.build(Layer.fresh(Workflows.layer))
        yield* Layer.build(Layer.fresh(Workflows.layer))
        const runners = yield* Effect.repeat(find("appkernel_runners", { filter: { _id: { $ne: "machines" } } }), {
          until: (found) => found.length > 1,
          schedule: Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "20 seconds" }))
        }).pipe(Effect.andThen(find("appkernel_runners", { filter: { _id: { $ne: "machines" } } })))
        assert.lengthOf(runners, 2)
      }).pipe(Effect.scoped))
  }))
