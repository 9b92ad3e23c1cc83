/**
 * Two versions of one service over one store, and one service that serves an earlier form of its models.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import {
  Converter,
  DocumentStore,
  EmbeddedStore,
  Index,
  KernelEngine,
  Model,
  ModelError,
  Repository,
  Upgrade,
  Validator
} from "../../src/index.ts"
import { type Headers, sendTo } from "../support/rest.ts"

class Old extends Model.Class<Old>()("Person", {
  id: Model.id(),
  name: Schema.String,
  hash: Schema.String.pipe(Model.omitted),
  city: Schema.String,
  ...Model.versioned
}) {}

class Person extends Model.Class<Person>()("Person", {
  id: Model.id(),
  first: Schema.String,
  last: Schema.String,
  passwordHash: Schema.String.pipe(Model.omitted),
  city: Schema.String,
  score: Schema.Int.pipe(Model.withDefault(() => 7)),
  ...Model.versioned
}, {
  versions: [
    Model.was.added("score"),
    // The secret's older name was no secret: it stays hidden all the same.
    Model.was.replaced(["passwordHash"], { hash: Schema.String }, {
      up: ({ hash }) => ({ passwordHash: hash }),
      down: ({ passwordHash }: { readonly passwordHash: string }) => ({ hash: passwordHash })
    }),
    Model.was.replaced(["first", "last"], { name: Schema.String }, {
      up: ({ name }) => {
        const at = name.lastIndexOf(" ")
        return { first: name.slice(0, Math.max(at, 0)), last: name.slice(at + 1) }
      },
      down: ({ first, last }) => ({ name: `${first} ${last}`.trim() })
    })
  ]
}) {}

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  text: Schema.String,
  ...Model.versioned,
  ...Model.audited
}) {}

/** Its rules came with its second form. */
class Post extends Model.Class<Post>()("Post", {
  id: Model.id(),
  title: Schema.String.pipe(Validator.max(9)),
  level: Schema.Int.pipe(Validator.max(5)),
  code: Schema.String.pipe(Model.converted(Converter.lowerCase)),
  from: Schema.Int,
  to: Schema.Int
}, {
  versions: [
    Model.was.retyped("level", Schema.String, { up: Number, down: String }),
    Model.was.retyped("code", Schema.String, {
      up: (code) => {
        if (code === "none") throw new RangeError(code)
        return code
      },
      down: (code) => code
    }),
    Model.was.renamed("name", "title")
  ],
  validators: [
    Validator.related("Allowed", "title", ({ title }) => title !== "forbidden", { message: "must be allowed" })
  ],
  validate: ({ from, to }) =>
    from <= to
      ? Effect.void
      : Effect.fail(new ModelError.Problem({ field: "to", validator: "Order", message: "must not be below from" }))
}) {}

const posts = KernelEngine.make("posts")
  .register(Post, { urlBase: "/v2", methods: ["GET", "POST", "PUT", "PATCH"], name: "posts", lists: true })
  .register(Post, { urlBase: "/v1", methods: ["GET", "POST", "PUT", "PATCH"], name: "postsV1", form: 1, lists: true })

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const oldEngine = KernelEngine.make("old").register(Old, { methods })

const newEngine = KernelEngine.make("new")
  .register(Person, { urlBase: "/api/v2", methods, name: "people" })
  .register(Person, {
    urlBase: "/api/v1",
    methods,
    name: "peopleV1",
    form: 1,
    deprecated: "2026-01-01T00:00:00Z",
    sunset: "2027-01-01T00:00:00Z"
  })
  .enableOpenApi({ title: "People", version: "2" })

const json = (method: string, url: string, body?: unknown, headers: Headers = {}) =>
  sendTo(url, method, "", body, body === undefined ? headers : { prefer: "return=representation", ...headers })

describe("versions of a service", () => {
  it.live("serve one store at once, and hide what is hidden in every form", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      const shared = Layer.succeed(DocumentStore.DocumentStore, store)
      const older = yield* oldEngine.test({ store: shared })
      const newer = yield* newEngine.test({ store: shared })
      const [old, v1, v2] = [
        `${older.baseUrl}/persons`,
        `${newer.baseUrl}/api/v1/persons`,
        `${newer.baseUrl}/api/v2/persons`
      ]
      const answers: Array<string> = []
      const call = (...args: Parameters<typeof json>) =>
        Effect.tap(json(...args), ({ text }) => Effect.sync(() => answers.push(text)))
      const ada = { id: "P1", name: "Ada Lovelace", hash: "s3cret", city: "London" }
      assert.strictEqual((yield* call("POST", old, ada)).status, 201)
      const read = yield* call("GET", `${v2}/P1`)
      assert.deepInclude(read.body, { _type: "Person", first: "Ada", last: "Lovelace", score: 7, version: 1 })
      const patched = yield* call("PATCH", `${v2}/P1`, { first: "Augusta Ada", score: 9 })
      assert.deepInclude(patched.body, { first: "Augusta Ada", last: "Lovelace", version: 2 })
      // The earlier form of the new service, and the old service.
      for (const url of [old, v1]) {
        assert.deepInclude((yield* call("GET", `${url}/P1`)).body, { name: "Augusta Ada Lovelace", version: 2 })
        const found = yield* call("GET", `${url}?name=~augusta`)
        assert.deepStrictEqual(found.body._items.map(({ id }: { readonly id: string }) => id), ["P1"])
        assert.strictEqual((yield* call("GET", `${url}?first=Ada`)).status, 400)
      }
      const bob = yield* call("POST", v1, { id: "P2", name: "Bob Day", hash: "s3cret", city: "Rome" })
      assert.strictEqual(bob.status, 201)
      assert.strictEqual(bob.headers["deprecation"], "@1767225600")
      assert.strictEqual(bob.headers["sunset"], "Fri, 01 Jan 2027 00:00:00 GMT")
      assert.deepInclude((yield* call("GET", `${v2}?last=Day&sort_by=first`)).body._items[0], {
        id: "P2",
        first: "Bob"
      })
      const moved = yield* call("PATCH", `${v1}/P1`, { city: "Paris" })
      assert.deepInclude(moved.body, { name: "Augusta Ada Lovelace", city: "Paris", version: 3 })
      // What the earlier form does not have stays.
      const put = yield* call("PUT", `${v1}/P1`, { ...ada, name: "Augusta Ada Lovelace", city: "Bath", version: 3 })
      assert.strictEqual(put.status, 200, put.text)
      assert.deepInclude((yield* call("GET", `${v2}/P1`)).body, { first: "Augusta Ada", score: 9, city: "Bath" })
      assert.strictEqual((yield* call("PATCH", `${old}/P1`, { name: "A B" })).status, 200)
      assert.deepInclude((yield* call("GET", `${v2}/P1`)).body, { first: "A", last: "B", score: 9 })
      const many = yield* call(
        "GET",
        `${v1}/aggregate?pipe=${encodeURIComponent("[{\"$group\":{\"_id\":\"$name\"}}]")}`
      )
      assert.sameMembers(many.body._items.map(({ _id }: { readonly _id: string }) => _id), ["A B", "Bob Day"])
      assert.sameMembers(
        Object.keys((yield* call("GET", `${v1}/schema`)).body.properties).filter((key) => key !== "_links"),
        ["_type", "id", "name", "city", "version"]
      )
      assert.strictEqual((yield* call("DELETE", `${v1}/P2`)).status, 200)
      assert.strictEqual((yield* call("GET", `${v2}/P2`)).status, 404)
      const openApi = yield* call("GET", `${newer.baseUrl}/openapi.json`)
      assert.isTrue(openApi.body.paths["/api/v1/persons"].get.deprecated)
      assert.isUndefined(openApi.body.paths["/api/v2/persons"].get.deprecated)
      const described = (path: string) => {
        const { $ref } = openApi.body.paths[path].get.responses["200"].content["application/json"].schema.anyOf[0]
        return Object.keys(openApi.body.components.schemas[$ref.split("/").at(-1)].properties)
      }
      assert.includeMembers(described("/api/v1/persons/{id}"), ["name"])
      assert.includeMembers(described("/api/v2/persons/{id}"), ["first", "last"])
      for (const text of answers) assert.notInclude(text, "s3cret")
      for (const text of answers.slice(0, -1)) assert.notMatch(text, /hash"|_form|_ahead/iu)
    }).pipe(Effect.provide(EmbeddedStore.layerMemory), Effect.scoped))

  it.live("serve documents from before their model had a version and audit fields", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.insertMany("Note", ["N1", "N2", "N3"].map((_id) => ({ _id, text: "old" })))
      const engine = KernelEngine.make("notes").register(Note, { methods })
      const { baseUrl } = yield* engine.test({ store: Layer.succeed(DocumentStore.DocumentStore, store) })
      const read = yield* json("GET", `${baseUrl}/notes/N1`)
      assert.deepInclude(read.body, { text: "old", version: 0, inserted: "1970-01-01T00:00:00.000000" })
      const tag = String(read.headers["etag"])
      const found = yield* json("GET", `${baseUrl}/notes?version=0&inserted=<2000-01-01T00:00:00Z&sort_by=version`)
      assert.lengthOf(found.body._items, 3)
      assert.strictEqual((yield* json("GET", `${baseUrl}/notes/N1`, undefined, { "if-none-match": tag })).status, 304)
      const put = (id: string, text: string, ifMatch: string) =>
        json("PUT", `${baseUrl}/notes/${id}`, { text }, { "if-match": ifMatch })
      assert.strictEqual((yield* put("N1", "a", "\"1\"")).status, 412)
      const written = yield* put("N1", "a", tag)
      assert.deepInclude(written.body, { text: "a", version: 1, inserted: "1970-01-01T00:00:00.000000" })
      assert.notStrictEqual(written.body.updated, written.body.inserted)
      assert.strictEqual((yield* put("N1", "b", tag)).status, 412)
      assert.strictEqual((yield* json("PUT", `${baseUrl}/notes/N2`, { text: "c" })).body.version, 1)
      assert.strictEqual((yield* json("DELETE", `${baseUrl}/notes/N2`, undefined, { "if-match": tag })).status, 412)
      assert.strictEqual((yield* json("PATCH", `${baseUrl}/notes/N3`, { text: "d", version: 1 })).status, 409)
      assert.strictEqual((yield* json("PATCH", `${baseUrl}/notes/N3`, { text: "d", version: 0 })).body.version, 1)
    }).pipe(Effect.provide(EmbeddedStore.layerMemory), Effect.scoped))

  it.live("write the newest form at once on a new store, and not on one that another version has begun", () =>
    Effect.gen(function*() {
      const ada = { id: "P1", first: "Ada", last: "Lovelace", passwordHash: "x", city: "London" }
      const formOf = Effect.fnUntraced(function*(before: typeof oldEngine | undefined) {
        const store = yield* EmbeddedStore.makeMemory
        const shared = Layer.succeed(DocumentStore.DocumentStore, store)
        if (before !== undefined) yield* Effect.scoped(before.test({ store: shared }))
        const { baseUrl } = yield* newEngine.test({ store: shared })
        assert.strictEqual((yield* json("POST", `${baseUrl}/api/v2/persons`, ada)).status, 201)
        return [
          (yield* store.findById("Person", "P1"))?.["_form"],
          (yield* Upgrade.storedForms(Person).pipe(
            Effect.provide(shared)
          )).isComplete
        ]
      })
      // Queries look for earlier forms until an upgrade has come to its end: they may be brought from elsewhere.
      assert.deepStrictEqual(yield* formOf(undefined), [4, false])
      assert.deepStrictEqual(yield* formOf(oldEngine), [undefined, false])
    }).pipe(Effect.scoped))

  it.live("write the newest form at once on a new store whose first document a layer inserts at the start", () =>
    Effect.gen(function*() {
      class User extends Model.Class<User>()("User", {
        id: Model.id(),
        email: Schema.String.pipe(Model.indexed(Index.unique))
      }) {}
      const first = Effect.flatMap(
        Repository.for(User),
        (users) => users.insert(new User({ id: "U1", email: "admin@example.com" }))
      )
      const own = Effect.flatMap(
        Repository.for(Person),
        (people) =>
          people.insert(
            new Person({ id: "P0", first: "A", last: "B", passwordHash: "x", city: "Rome", score: 1, version: 1 })
          )
      )
      class Plain extends Model.Class<Plain>()("Plain", { id: Model.id() }) {}
      const plain = Effect.flatMap(Repository.for(Plain), (all) => all.insert(new Plain({ id: "L1" })))
      const layers = [
        Layer.provide(Layer.effectDiscard(first), Repository.layer(User)),
        Layer.provide(Layer.effectDiscard(plain), Repository.layer(Plain)),
        Layer.provide(Layer.effectDiscard(own), Repository.layer(Person))
      ]
      for (const inserting of layers) {
        const store = Layer.provideMerge(Layer.orDie(inserting), Layer.fresh(EmbeddedStore.layerMemory))
        const { baseUrl, store: made } = yield* newEngine.test({ store })
        const ada = { id: "P1", first: "Ada", last: "Lovelace", passwordHash: "x", city: "London" }
        assert.strictEqual((yield* json("POST", `${baseUrl}/api/v2/persons`, ada)).status, 201)
        const stored = yield* made.find("Person", {})
        assert.deepStrictEqual(stored.map((document) => document["_form"]), stored.map(() => 4))
      }
    }).pipe(Effect.scoped))

  it.live("take nothing by an earlier form that the newest one refuses, by any method", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* posts.test({ store: EmbeddedStore.layerMemory })
      const [v1, v2] = [`${baseUrl}/v1/posts`, `${baseUrl}/v2/posts`]
      const good = { name: "one", level: "1", code: "A", from: 1, to: 2 }
      assert.strictEqual((yield* json("POST", v1, { id: "P", ...good })).status, 201)
      const refused = [
        [{ level: "abc" }, "level"],
        [{ level: "6" }, "level"],
        [{ code: "none" }, "code"],
        [{ name: "forbidden" }, "name"],
        [{ name: "0123456789" }, "name"],
        [{ from: 9, to: 1 }, "to"],
        [{ to: 0 }, "to"]
      ] as const
      const answers: Array<unknown> = []
      for (const [change, field] of refused) {
        const value = { ...good, ...change }
        const operations = Object.entries(change).map(([name, value]) => ({ op: "replace", path: `/${name}`, value }))
        const sent = [
          yield* json("POST", v1, value),
          yield* json("POST", v1, { id: "P", ...value }),
          yield* json("POST", v1, [good, value]),
          yield* json("PUT", `${v1}/P`, value),
          yield* json("PATCH", `${v1}/P`, change),
          yield* json("PATCH", `${v1}/P`, operations, { "content-type": "application/json-patch+json" })
        ]
        answers.push(...sent.map(({ body, status }, i) => [
          status,
          Object.keys(change).join(", "),
          (body.errors ?? []).map(({ field }: { readonly field: string }) => i === 2 ? field.slice(2) : field)
        ]))
        assert.deepStrictEqual(answers.splice(0), sent.map(() => [400, Object.keys(change).join(", "), [field]]))
      }
      const stored = yield* json("GET", v2)
      assert.strictEqual(stored.status, 200, stored.text)
      assert.deepStrictEqual(
        stored.body._items.map(({ _links, _type, ...post }: { readonly [key: string]: unknown }) => post),
        [
          { id: "P", title: "one", level: 1, code: "a", from: 1, to: 2 }
        ]
      )
      const patched = yield* json("PATCH", `${v1}/P`, { level: "3", code: "Bc" })
      assert.deepInclude(patched.body, { name: "one", level: "3", code: "bc" })
    }).pipe(Effect.scoped))

  it.live("refuse to serve what has no way down", () =>
    Effect.sync(() => {
      class OneWay extends Model.Class<OneWay>()("OneWay", { id: Model.id(), n: Schema.Int }, {
        versions: [Model.was.retyped("n", Schema.String, { up: Number })]
      }) {}
      assert.throws(
        () => KernelEngine.make("x").register(OneWay, { form: 1 }),
        "OneWay can't be served in form 1: there is no way down from form 2"
      )
      assert.throws(() => KernelEngine.make("x").register(OneWay, { form: 4 }), "OneWay has no earlier form 4")
    }))

  it("are the same model each time, and no other form", () => {
    class Renamed extends Model.Class<Renamed>()("Person", { id: Model.id(), called: Schema.String }, {
      versions: [Model.was.renamed("name", "called")]
    }) {}
    class Named extends Model.Class<Named>()("Person", { id: Model.id(), name: Schema.String }) {}
    class Again extends Model.Class<Again>()("Person", { id: Model.id(), called: Schema.String }, {
      versions: [Model.was.renamed("name", "called")]
    }) {}
    assert.strictEqual(Model.form(Renamed, 1, Named), Model.form(Renamed, 1, Named))
    assert.throws(() => Model.form(Again, 1, Named), "Person is form 1 of Person already")
  })

  it.effect("have types of their own", () =>
    Effect.gen(function*() {
      const PersonV1 = Model.form(Person, 1, Old)
      const people = yield* Repository.make(Person)
      const peopleV1 = yield* Repository.make(PersonV1)
      yield* peopleV1.insert(new Old({ id: "P3", name: "Cy Dee", hash: "h", city: "Rome", version: 1 }))
      assert.strictEqual((yield* people.findById("P3")).last, "Dee")
      yield* peopleV1.updateOne(($) => $.name.equals("Cy Dee"), ($) => [$.name.set("Cy Fox")])
      assert.strictEqual((yield* people.findById("P3")).last, "Fox")
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})
