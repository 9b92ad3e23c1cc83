import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import {
  ApiKeys,
  EmbeddedStore,
  KernelEngine,
  Model,
  Permission,
  Repository,
  Resource,
  Service
} from "../../src/index.ts"
import { atOnce, send, serving } from "../support/rest.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { accessContract } from "./Access.contract.ts"

storeMatrix(accessContract)

class Task extends Model.Class<Task>()("Task", { id: Model.id(), owner: Schema.String }) {}

const asked = { permission: 0, conditional: 0, rows: 0, restriction: 0 }

const counted = Permission.make("counted", {}, () => Effect.sync(() => ++asked.permission > 0))

/** It depends on the document, and may hold for the links of one that it is not asked about. */
const conditional = Permission.make("conditional", { model: Task }, ({ document }) =>
  Effect.map(document, (task) => {
    asked.conditional++
    return task._tag === "Some" && task.value.owner === "U1"
  }))

const Tasks = Resource.make(Task, { methods: ["GET", "PATCH"] })
  .action("count", { success: Schema.Int }, () =>
    Effect.gen(function*() {
      const tasks = yield* Repository.for(Task)
      yield* Effect.all([tasks.find(), tasks.count(), tasks.exists(($) => $.owner.equals("U1"))], { concurrency: 3 })
      return yield* tasks.count()
    }))
  .grant(counted, {
    rows: (me) =>
      Effect.sync(() => {
        asked.rows++
        return ($) => $.owner.equals(me.subject)
      })
  })
  .require(conditional)
  .restrict((me) =>
    Effect.sync(() => {
      asked.restriction++
      return ($) => $.owner.equals(me.subject)
    })
  )

const Counts = Service.make("CountService").operation(
  "tasks",
  { success: Schema.Int, require: counted },
  () => Effect.flatMap(Repository.for(Task), (tasks) => Effect.andThen(tasks.find(), tasks.count()))
)

const engine = KernelEngine.make("tasks").register(Tasks).register(Counts).enableSecurity()

describe("rules that are effects", () => {
  it.effect("are asked once for a request", () =>
    Effect.gen(function*() {
      const { as, repositories } = yield* engine.test()
      const { id } = yield* repositories.tasks.insert(new Task({ owner: "U1" }))
      const { counts, tasks } = yield* as({ subject: "U1" })
      const calls = {
        action: tasks.count({ params: { id } }),
        operation: counts.tasks(),
        read: tasks.get({ params: { id } }),
        list: tasks.list(),
        patch: tasks.patch({ params: { id }, payload: { owner: "U1" } })
      }
      for (const [name, call] of Object.entries<Effect.Effect<unknown, unknown>>(calls)) {
        Object.assign(asked, { permission: 0, conditional: 0, rows: 0, restriction: 0 })
        yield* atOnce(4, () => call)
        // The handler of the action works with other documents than the addressed one.
        const conditional = name === "action" ? 8 : 4
        assert.deepStrictEqual(asked, { permission: 4, conditional, rows: 4, restriction: 4 }, name)
      }
    }))
})

describe("a service with access control", () => {
  it.effect("does not start if nothing can prove who calls", () =>
    Effect.gen(function*() {
      const open = KernelEngine.make("tasks").register(Tasks).enableSecurity()
      const error = yield* Effect.flip(Effect.scoped(Layer.build(serving(open, EmbeddedStore.layerMemory))))
      assert.strictEqual(error._tag, "CredentialsUnprovided")
      assert.include(error.message, "nothing can prove who calls: provide Jwt.layer for bearer tokens")
      const keys = Layer.provide(serving(open, EmbeddedStore.layerMemory), ApiKeys.layer)
      assert.strictEqual((yield* Effect.provide(send("GET", "/tasks"), keys)).status, 401)
    }))
})
