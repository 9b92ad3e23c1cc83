/** Writes of the providers whose answers are lost, and services that need a key with each write. */
import { connect, KernelError } from "@appkernel/react-admin"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { vi } from "vitest"
import { KernelEngine, Model, Resource } from "../../../src/index.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id({ prefix: "N" }),
  title: Schema.String,
  ...Model.versioned
}) {}

const Notes = Resource.make(Note, { methods: ["GET", "POST", "PATCH", "DELETE"] })
  .action("rename", {
    method: "POST",
    payload: { title: Schema.String },
    success: Schema.String
  }, (note, { payload: { title } }) => Effect.succeed(`${note.title} is ${title}`))

const notesWith = (idempotencyKeys: "none" | "required") =>
  KernelEngine.make("notes")
    .register(Notes, { many: ["DELETE"], idempotencyKeys })
    .enableOpenApi({ title: "Notes", version: "1.0.0" })
    .test()

/** A connection that loses answers to writes, and the keys that they had. */
const losing = (baseUrl: string) => {
  const keys: Array<string | null> = []
  let left = 0
  const connection = connect({
    url: baseUrl,
    fetch: async (input, init) => {
      const { headers, method } = new Request(input, init)
      const answer = await fetch(input, init)
      if (method === "GET") return answer
      keys.push(headers.get("idempotency-key"))
      if (left === 0) return answer
      left -= 1
      throw new TypeError("fetch failed")
    }
  })
  return {
    ...connection,
    keys,
    lose: (answers: number) => {
      left = answers
    }
  }
}

const statusOf = (promise: Promise<unknown>) =>
  promise.then(() => "done", (error: unknown) => error instanceof KernelError ? error.status : error)

describe("Writes of the providers", () => {
  it.effect("have keys where the service needs them", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* notesWith("required")
      const { dataProvider, keys } = losing(baseUrl)
      yield* Effect.promise(async () => {
        const { data: { id } } = await dataProvider.create("notes", { data: { title: "One" } })
        const { data: previousData } = await dataProvider.getOne("notes", { id })
        await dataProvider.update("notes", { id, data: { title: "Two" }, previousData })
        const { data } = await dataProvider.runAction("notes", "rename", id, { title: "Three" })
        assert.strictEqual(data, "Two is Three")
        await dataProvider.delete("notes", { id })
        const { data: other } = await dataProvider.create("notes", { data: { title: "One" } })
        assert.strictEqual(new Set(keys).size, 5)
        // A write of many takes no key.
        assert.deepStrictEqual((await dataProvider.deleteMany("notes", { ids: [other.id] })).data, [other.id])
        assert.strictEqual(keys.at(-1), null)
      })
    }))

  it.effect("are made once if they are tried again since their answer was lost, and each time otherwise", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* notesWith("required")
      const { dataProvider, lose } = losing(baseUrl)
      const create = (title: string) => dataProvider.create("notes", { data: { title } })
      const titles = async () => {
        const { data } = await dataProvider.getList("notes", { sort: { field: "title", order: "ASC" } })
        return data.map(({ title }) => title)
      }
      yield* Effect.promise(async () => {
        lose(2)
        assert.deepStrictEqual([await statusOf(create("One")), await statusOf(create("One"))], [0, 0])
        const { data: { id } } = await create("One")
        assert.deepStrictEqual(await titles(), ["One"])
        const { data: previousData } = await dataProvider.getOne("notes", { id })
        const update = () => dataProvider.update("notes", { id, data: { title: "Two" }, previousData })
        lose(1)
        assert.deepStrictEqual([await statusOf(update()), await statusOf(update())], [0, "done"])
        assert.deepStrictEqual(await titles(), ["Two"])
        // It has been answered, and what is asked again or at once is another one.
        await create("One")
        await Promise.all([create("Three"), create("Three")])
        lose(1)
        assert.deepStrictEqual([await statusOf(create("Four")), await statusOf(create("Five"))], [0, "done"])
        assert.deepStrictEqual(await titles(), ["Five", "Four", "One", "Three", "Three", "Two"])
        vi.useFakeTimers({ toFake: ["Date"] })
        lose(1)
        await statusOf(create("Six"))
        // Nobody tries again for so long.
        vi.advanceTimersByTime(11 * 60_000)
        await create("Six")
        assert.deepStrictEqual((await titles()).filter((title) => title === "Six").length, 2)
      }).pipe(Effect.ensuring(Effect.sync(() => vi.useRealTimers())))
    }))

  it.effect("have no keys where the service takes none", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* notesWith("none")
      const { dataProvider, keys } = losing(baseUrl)
      yield* Effect.promise(() => dataProvider.create("notes", { data: { title: "One" } }))
      assert.deepStrictEqual(keys, [null])
    }))
})
