/** Each write of many is decided as the request that would write its document alone, at its time. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Redacted, Schema } from "effect"
import { HttpError, KernelEngine, Model, Permission, Repository, Resource, Role } from "../../../src/index.ts"
import { refused, sendTo } from "../../support/rest.ts"
import { shop } from "../../support/tokens.ts"

class Task extends Model.Class<Task>()("Task", {
  id: Schema.String,
  state: Schema.Literals(["open", "closed"]),
  ...Model.versioned
}) {}

/** Looks at other documents than the addressed one: three tasks may be closed. */
const quota = Permission.make("fewer than three are closed", {}, () =>
  Effect.gen(function*() {
    const tasks = yield* Repository.for(Task)
    return (yield* Effect.orDie(tasks.count(($) => $.state.equals("closed")))) < 3
  }))

const engine = KernelEngine.make("tasks").register(
  Resource.make(Task, { methods: ["GET", "PUT", "PATCH"] })
    .require(Role("clerk"), ["GET", "PUT"])
    .require(Permission.and(Role("clerk"), quota), "PATCH"),
  { many: ["PATCH", "PUT"] }
).enableSecurity()

const started = Effect.gen(function*() {
  const { baseUrl, store, token } = yield* engine.test()
  yield* store.insertMany("Task", ["A", "B", "C", "D", "E"].map((_id) => ({ _id, state: "open", version: 1 })))
  const signed = yield* token({ subject: "me", roles: ["clerk"] })
  const ask = (method: string, path: string, body: unknown, prefer = "") =>
    sendTo(baseUrl, method, path, body, { prefer, authorization: `Bearer ${Redacted.value(signed)}` })
  const closed = Effect.map(store.find("Task", { filter: { state: "closed" } }), (found) => found.length)
  return { ask, closed }
})

describe("Writes of many documents", () => {
  it.effect("ask a permission that looks at other documents again for each, as the requests for each would", () =>
    Effect.gen(function*() {
      const { ask, closed } = yield* started
      const denied = refused(403, yield* ask("PATCH", "/tasks?state=open", { state: "closed" }))
      assert.strictEqual(denied.body.document, "D")
      assert.strictEqual(yield* closed, 0)
      const each = yield* ask("PATCH", "/tasks?state=open", { state: "closed" }, "handling=lenient")
      assert.deepStrictEqual(
        each.body.results.map(({ status, version }: { readonly status: number; readonly version?: number }) => [
          status,
          version
        ]),
        [[200, 2], [200, 2], [200, 2], [403, undefined], [403, undefined]]
      )
      assert.strictEqual(yield* closed, 3)
    }).pipe(Effect.provide(shop("EdDSA")), Effect.scoped))

  it.effect("say of a long list what is wrong with its first hundred items at most", () =>
    Effect.gen(function*() {
      const { ask } = yield* started
      refused(413, yield* ask("PUT", "/tasks", Array.from({ length: 400_000 }, () => 0)))
      const wrong = refused(400, yield* ask("PUT", "/tasks", Array.from({ length: 1_000 }, () => 0)))
      assert.lengthOf(wrong.body.errors, 101)
      assert.match(wrong.body.errors[100].message, /At least 900 more problems/u)
    }).pipe(Effect.provide(shop("EdDSA")), Effect.scoped))

  it.effect("run every hook after the writes, and answer with the failure of one once", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const hooked = KernelEngine.make("tasks").register(
        Resource.make(Task, { methods: ["GET", "PATCH"] }).afterPatch((task) =>
          Effect.suspend(() => {
            ran.push(task.id)
            return task.id === "A" ? Effect.fail(new HttpError.Conflict({ message: "too late" })) : Effect.void
          })
        ),
        { many: ["PATCH"] }
      )
      const { baseUrl, store } = yield* hooked.test()
      yield* store.insertMany("Task", ["A", "B"].map((_id) => ({ _id, state: "open", version: 1 })))
      const late = refused(409, yield* sendTo(baseUrl, "PATCH", "/tasks?state=open", { state: "closed" }))
      assert.deepStrictEqual([late.body.document, ran], ["A", ["A", "B"]])
      assert.lengthOf(yield* store.find("Task", { filter: { state: "closed" } }), 2)
    }).pipe(Effect.scoped))

  it.effect("hold the bytes of a page for their answers only while these are large, and don't wait for them", () =>
    Effect.gen(function*() {
      class Text extends Model.Class<Text>()("Text", { id: Schema.String, text: Schema.String }) {}
      let waiting = { arrived: 0, all: yield* Deferred.make<void>() }
      const texts = KernelEngine.make("texts").register(
        Resource.make(Text, { methods: ["GET", "PATCH"] }).beforePatch((text) =>
          Effect.gen(function*() {
            if (!text.id.startsWith("last")) return text
            // All requests are here at once.
            if (++waiting.arrived === 5) yield* Deferred.succeed(waiting.all, undefined)
            yield* Deferred.await(waiting.all)
            return text
          })
        ),
        { many: ["PATCH"] }
      )
      const { baseUrl, store } = yield* texts.test()
      const numbers = [0, 1, 2, 3, 4]
      yield* store.insertMany(
        "Text",
        numbers.flatMap((i) => ["a", "b", "last"].map((name) => ({ _id: `${name}${i}`, text: "" })))
      )
      const whole = "return=representation"
      // What comes last is small, since others may have been answered by then.
      const bodyOf = (ids: ReadonlyArray<string>, text: string) =>
        ids.map((id) => ({ id, text: id.startsWith("last") ? "" : text }))
      const ask = (ids: ReadonlyArray<string>, text: string) =>
        Effect.map(
          sendTo(baseUrl, "PATCH", "/texts", bodyOf(ids, text), { prefer: `handling=lenient, ${whole}` }),
          ({ body, headers, status }) => {
            assert.strictEqual(status, 207)
            const documents: number = body.results.filter(({ document }: { document?: unknown }) => document).length
            return { documents, isWhole: String(headers["preference-applied"]).includes(whole) }
          }
        )
      const together = (ids: ReadonlyArray<string>, text: string) =>
        Effect.gen(function*() {
          waiting = { arrived: 0, all: yield* Deferred.make<void>() }
          const all = numbers.map((i) => ask(ids.map((id) => `${id}${i}`), text))
          return yield* Effect.all(all, { concurrency: "unbounded" })
        })
      const answered = (documents: number) => ({ documents, isWhole: true })
      assert.deepStrictEqual(yield* together(["a", "last"], "small"), numbers.map(() => answered(2)))
      // Four pages may be held at once. The fifth answer has what needs none.
      const large = "ä".repeat(100_000)
      const answers = yield* together(["a", "b", "last"], large)
      assert.deepStrictEqual(answers.map(({ documents }) => documents).toSorted((a, b) => a - b), [2, 3, 3, 3, 3])
      assert.deepStrictEqual(answers.filter(({ isWhole }) => !isWhole).map(({ documents }) => documents), [2])
      assert.deepStrictEqual(yield* ask(["a0", "b0"], large), answered(2))
    }).pipe(
      Effect.scoped,
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({
        appkernel: { query: { max_page_bytes: 1_000_000 } }
      })))
    ))
})
