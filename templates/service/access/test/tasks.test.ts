import { assert, describe, it } from "@effect/vitest"
import { AccessPolicy, EmbeddedStore, Jwt } from "appkernel"
import { Effect, Layer, Redacted } from "effect"
import { engine } from "../src/engine.ts"
import { accounts } from "../src/Users.ts"

/** What the service needs besides its engine, with an empty store in memory. */
const store = Layer.mergeAll(EmbeddedStore.layerMemory, Jwt.layer, accounts)

describe("tasks", () => {
  it.effect("are finished once, and go with their project", () =>
    Effect.gen(function*() {
      const { as } = yield* engine.test({ store })
      const ann = yield* as({ subject: "U1", roles: ["user"] })
      const { result: project } = yield* ann.projects.create({ payload: { name: "Garden" } })
      const { result: id } = yield* ann.tasks.create({ payload: { project, title: "Sow beans" } })

      const { state } = yield* ann.tasks.finish({ params: { id } })
      assert.strictEqual(state, "done")
      const again = yield* Effect.flip(ann.tasks.finish({ params: { id } }))
      assert.strictEqual(again._tag, "AlreadyDone")

      yield* ann.projects.delete({ params: { id: project } })
      const gone = yield* Effect.flip(ann.tasks.get({ params: { id } }))
      assert.strictEqual(gone._tag, "NotFound")
    }))

  it.effect("are those of their owner only", () =>
    Effect.gen(function*() {
      const { anonymous, as } = yield* engine.test({ store })
      const ann = yield* as({ subject: "U1", roles: ["user"] })
      const ben = yield* as({ subject: "U2", roles: ["user"] })
      const { result: project } = yield* ann.projects.create({ payload: { name: "Garden" } })
      const { result: id } = yield* ann.tasks.create({ payload: { project, title: "Sow beans" } })

      const hidden = yield* Effect.flip(ben.tasks.get({ params: { id } }))
      assert.strictEqual(hidden._tag, "NotFound")
      assert.deepStrictEqual((yield* ben.tasks.list())._items, [])
      const refused = yield* Effect.flip(ben.tasks.create({ payload: { project, title: "Not mine" } }))
      assert.strictEqual(refused._tag, "BadRequest")
      const unauthorized = yield* Effect.flip(anonymous.tasks.list())
      assert.strictEqual(unauthorized._tag, "Unauthorized")
    }))
})

describe("users", () => {
  it.effect("sign up and sign in", () =>
    Effect.gen(function*() {
      const { anonymous } = yield* engine.test({ store })
      const [email, password] = ["ann@example.com", "correct horse"]
      yield* anonymous.users.create({ payload: { email, password } })
      const { token_type } = yield* anonymous.tokens.token({
        payload: { grant_type: "password", username: email, password: Redacted.make(password) }
      })
      assert.strictEqual(token_type, "Bearer")
    }))

  it("may call every endpoint of the service", () => {
    assert.deepStrictEqual(AccessPolicy.unreachable(engine.policy), [])
  })
})
