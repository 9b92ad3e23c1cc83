import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { engine } from "../src/engine.ts"

describe("tasks", () => {
  it.effect("are finished once, and go with their project", () =>
    Effect.gen(function*() {
      const { client } = yield* engine.test()
      const { result: project } = yield* client.projects.create({ payload: { name: "Garden" } })
      const { result: id } = yield* client.tasks.create({ payload: { project, title: "Sow beans" } })

      const { state } = yield* client.tasks.finish({ params: { id } })
      assert.strictEqual(state, "done")
      const again = yield* Effect.flip(client.tasks.finish({ params: { id } }))
      assert.strictEqual(again._tag, "AlreadyDone")

      yield* client.projects.delete({ params: { id: project } })
      const gone = yield* Effect.flip(client.tasks.get({ params: { id } }))
      assert.strictEqual(gone._tag, "NotFound")
    }))
})
