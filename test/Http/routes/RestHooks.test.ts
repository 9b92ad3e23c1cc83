import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { EmbeddedStore } from "../../../src/index.ts"
import { apart, engine, journal, Refusal } from "../../support/hooked.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { hooksContract } from "./RestHooks.contract.ts"

storeMatrix((name, store) => hooksContract(name, store, undefined, name === "mongodb" ? 60 : 200))
hooksContract("described apart", EmbeddedStore.layerMemory, apart)

it.effect("a typed client gets a hook's failure as an instance of its class, and as its endpoint's error", () =>
  Effect.gen(function*() {
    const { client: { tasks } } = yield* engine.test()
    const refused = yield* Effect.flip(tasks.create({ payload: { title: "refuse" } }))
    assert.deepStrictEqual(refused, new Refusal({ why: "beforePost" }))
    const { result } = yield* tasks.create({ payload: { title: "fine" } })
    const params = { id: result }
    const why = yield* Effect.catchTag(
      tasks.patch({ params, payload: { title: "refuse" } }),
      "Refusal",
      ({ why }) => Effect.succeed(why)
    )
    assert.strictEqual(why, "beforePatch")
    const vetoed = yield* Effect.flip(tasks.get({ params: { id: "vetoed" } }))
    assert.strictEqual(vetoed._tag, "Vetoed")
  }).pipe(Effect.scoped, Effect.provide(journal)))
