/** What hooks, rules and further routes of a service reach for a caller. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { KernelEngine, Model, Query, Repository, Resource, Role } from "../../src/index.ts"
import type { FreshStore } from "../support/mongo.ts"
import { sendTo, signed } from "../support/rest.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { shop } from "../support/tokens.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  team: Schema.String.pipe(Model.optional),
  text: Schema.String
}) {}

const count = Effect.flatMap(Repository.for(Note), (notes) => notes.count())

/** What the hooks counted. */
class Counted extends Context.Service<Counted, Array<string>>()("Counted") {}

const counting = (hook: string) => () =>
  Effect.gen(function*() {
    const counted = yield* Counted
    counted.push(`${hook} ${yield* count}`)
  })

const Notes = Resource.make(Note, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .beforePost(counting("before POST"))
  .afterPost(counting("after POST"))
  .beforePatch(counting("before PATCH"))
  .afterDelete(counting("after DELETE"))
  .grant(Role("writer"), { methods: ["POST", "DELETE"] })
  .grant(Role("editor"), { methods: "PATCH", rows: () => ($) => $.team.equals("red") })
  .grant(Role("reader"), { methods: "GET" })
  .grant(Role("red"), { methods: "GET", rows: () => ($) => $.team.equals("red") })
  // There may be no such claim, whatever its type says.
  .grant(Role("member"), { methods: "GET", rows: (me) => ($) => $.team.equals(me.claims["team"] as string) })
  .grant(Role("listed"), { methods: "GET", rows: (me) => ($) => $.team.in([me.claims["team"] as string, "red"]) })
  .grant(Role("native"), { methods: "GET", rows: (me) => () => Query.native({ team: me.claims["team"] }) })
  .grant(Role("others"), { methods: "GET", rows: (me) => ($) => $.team.notEquals(me.claims["team"] as string) })

const further = HttpRouter.add(
  "GET",
  "/further",
  Effect.gen(function*() {
    const all = yield* Effect.flatMap(Repository.unrestricted(Note), (notes) => notes.count())
    return HttpServerResponse.text(`${yield* count} of ${all}`)
  })
)

const engine = KernelEngine.make("notes").register(Notes).enableSecurity()

const notes = [
  new Note({ id: "N1", team: "red", text: "a" }),
  new Note({ id: "N2", team: "blue", text: "b" }),
  new Note({ id: "N3", text: "c" })
]

const started = (store: FreshStore) =>
  Effect.gen(function*() {
    const counted: Array<string> = []
    const { baseUrl, repositories } = yield* engine.use(further).test({
      store: Layer.fresh(Layer.merge(store, Layer.succeed(Counted, counted)))
    })
    yield* repositories.notes.bulkInsert(notes)
    const as = Effect.fnUntraced(function*(roles: ReadonlyArray<string>, claims: Schema.JsonObject = {}) {
      const token = yield* signed({ subject: "U1", roles, claims })
      return (method: string, path: string, body?: unknown) => sendTo(baseUrl, method, path, body, token)
    })
    return { as, baseUrl, counted }
  })

storeMatrix((name, store) =>
  describe(`Rules of a caller / ${name}`, () => {
    it.effect("let a hook read what the caller may read, whatever the request writes", () =>
      Effect.gen(function*() {
        const { as, counted } = yield* started(store)
        const reader = yield* as(["writer", "editor", "reader"])
        assert.strictEqual((yield* reader("POST", "/notes", { text: "d" })).status, 201)
        assert.strictEqual((yield* reader("PATCH", "/notes/N1", { text: "e" })).status, 200)
        assert.strictEqual((yield* reader("DELETE", "/notes/N2")).status, 200)
        assert.deepStrictEqual(counted.splice(0), ["before POST 3", "after POST 4", "before PATCH 4", "after DELETE 3"])
        const red = yield* as(["writer", "editor", "red"])
        assert.strictEqual((yield* red("POST", "/notes", { text: "f", team: "red" })).status, 201)
        assert.deepStrictEqual(counted, ["before POST 1", "after POST 2"])
      }).pipe(Effect.provide(shop("EdDSA"))))

    it.effect("admit nothing by a value that is not there", () =>
      Effect.gen(function*() {
        const { as } = yield* started(store)
        for (const role of ["member", "listed", "native", "others"]) {
          const caller = yield* as([role])
          assert.deepStrictEqual(JSON.parse((yield* caller("GET", "/notes")).text)._items, [], role)
          assert.strictEqual((yield* caller("GET", "/notes/N3")).status, 404)
          const unsaid = yield* as([role], { team: null })
          assert.deepStrictEqual(JSON.parse((yield* unsaid("GET", "/notes")).text)._items, [], `${role} of null`)
          assert.strictEqual((yield* unsaid("GET", "/notes/N3")).status, 404)
        }
        const blue = yield* as(["member"], { team: "blue" })
        assert.match((yield* blue("GET", "/notes")).text, /N2/u)
      }).pipe(Effect.provide(shop("EdDSA"))))

    it.effect("hold on the routes that an engine uses beside its own", () =>
      Effect.gen(function*() {
        const { as, baseUrl } = yield* started(store)
        const texts = yield* Effect.forEach(
          ["reader", "red", "writer"],
          (role) => Effect.flatMap(as([role]), (caller) => Effect.map(caller("GET", "/further"), ({ text }) => text))
        )
        assert.deepStrictEqual(texts, ["3 of 3", "1 of 3", "0 of 3"])
        assert.strictEqual(yield* Effect.promise(async () => (await fetch(`${baseUrl}/further`)).text()), "0 of 3")
      }).pipe(Effect.provide(shop("EdDSA"))))
  })
)
