import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { History, HttpError, KernelEngine, Model, OpenApi, Permission, Resource, Role } from "../../src/index.ts"
import type { Json } from "../support/jsonValues.ts"
import { resolvedDocument } from "../support/resolvedDocument.ts"

class Letter extends Model.Class<Letter>()("Letter", {
  id: Model.id({ prefix: "L" }),
  owner: Schema.String,
  text: Schema.NonEmptyString,
  note: Schema.optional(Schema.NullOr(Schema.String)),
  salary: Schema.optional(Schema.Int),
  ...Model.versioned,
  ...Model.historied
}) {}

const withHistory = Resource.make(Letter, { methods: ["GET", "POST", "PATCH", "DELETE"] })
  .action(History.revisions(Letter))
  .action(History.revision(Letter))
  .action(History.changes(Letter))
  .action(History.restore(Letter))

const plain = KernelEngine.make("letters").register(
  withHistory.beforePatch((letter) =>
    letter.text === "forbidden"
      ? Effect.succeed(Letter.make({ ...letter, text: "by the hook" }))
      : Effect.succeed(letter)
  )
)

const asking = (baseUrl: string, headers: { readonly [name: string]: string } = {}) =>
  Effect.fnUntraced(function*(method: string, path: string, more: { readonly [name: string]: string } = {}) {
    const response = yield* Effect.promise(() =>
      fetch(baseUrl + path, { method, headers: { "content-type": "application/json", ...headers, ...more } })
    )
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, type: response.headers.get("content-type"), text, json: JSON.parse(text) }
  })

describe("The history of documents over HTTP", () => {
  it.effect("lists who changed what, shows former states and what changed, and restores", () =>
    Effect.gen(function*() {
      const { baseUrl, client } = yield* plain.test()
      const { result: id } = yield* client.letters.create({ payload: { owner: "ann", text: "one", note: "first" } })
      yield* client.letters.patch({ params: { id }, payload: { text: "two", note: null } })
      yield* client.letters.patch({ params: { id }, payload: { text: "three", salary: 5 } })

      const { _items } = yield* client.letters.revisions({ params: { id }, query: {} })
      assert.deepStrictEqual(_items.map(({ change, revision }) => [revision, change]), [
        [3, "patch"],
        [2, "patch"],
        [1, "insert"]
      ])
      const first = yield* client.letters.revision({ params: { id, revision: 1 } })
      assert.deepStrictEqual([first.text, first.note, first.version], ["one", "first", 1])

      const ask = asking(baseUrl)
      const changes = yield* ask("GET", `/letters/${id}/revisions/2/changes`)
      assert.strictEqual(changes.type, "application/json-patch+json")
      assert.sameDeepMembers(changes.json, [
        { op: "remove", path: "/note" },
        { op: "replace", path: "/text", value: "two" },
        { op: "replace", path: "/version", value: 2 }
      ])
      const [whole] = (yield* ask("GET", `/letters/${id}/revisions/1/changes`)).json
      assert.deepStrictEqual([whole.op, whole.path, whole.value.text], ["add", "", "one"])

      const { result } = yield* client.letters.restore_revision({ params: { id, revision: 1 } })
      assert.strictEqual(result, id)
      const restored = yield* client.letters.get({ params: { id } })
      assert.deepStrictEqual([restored.text, restored.note, restored.version, restored.salary], [
        "one",
        "first",
        4,
        undefined
      ])
      const { _items: after } = yield* client.letters.revisions({ params: { id }, query: { page_size: 1 } })
      assert.deepStrictEqual(after.map(({ change, revision }) => [revision, change]), [[4, "patch"]])
    }).pipe(Effect.scoped))

  it.effect("answers a document as it was at a time", () =>
    Effect.gen(function*() {
      const { baseUrl, client, repositories: { letters } } = yield* plain.test()
      const ask = asking(baseUrl)
      const { result: id } = yield* client.letters.create({ payload: { owner: "ann", text: "one" } })
      const [first] = yield* letters.history(id)
      yield* TestClock.adjust("1 second")
      yield* client.letters.patch({ params: { id }, payload: { text: "two" } })
      const at = (text: string) => ask("GET", `/letters/${id}?as_of=${encodeURIComponent(text)}`)
      assert.strictEqual((yield* at(DateTime.formatIso(first!.time))).json.text, "one")
      for (const later of ["+02:00", "Z", "", ".123456789", ".1+0200"]) {
        assert.strictEqual((yield* at(`2999-01-01T00:00:00${later}`)).json.text, "two", later)
      }
      // The wire form of a date-time has no zone, and is UTC.
      assert.strictEqual((yield* at(DateTime.formatIso(first!.time).replace("Z", ""))).json.text, "one")
      assert.strictEqual((yield* at("1969-01-01T00:00:00Z")).status, 404)
      for (const wrong of ["", "yesterday", "2026-11-01", "2026-99-01T00:00:00Z"]) {
        assert.strictEqual((yield* at(wrong)).status, 400, wrong)
      }
      assert.strictEqual((yield* ask("GET", `/letters/${id}?as_of=2999-01-01T00:00:00Z&fields=text`)).status, 400)
      const { paths } = resolvedDocument(OpenApi.make(plain, { title: "Letters", version: "1" }))
      assert.include(JSON.stringify(paths["/letters/{id}"].get.parameters), `"as_of"`)
      assert.hasAllKeys(paths["/letters/{id}/revisions/{revision}/restore"], ["post"])
    }).pipe(Effect.scoped))

  it.effect("pages by links, each of which can be followed", () =>
    Effect.gen(function*() {
      const { baseUrl, client } = yield* plain.test()
      const { result: id } = yield* client.letters.create({ payload: { owner: "ann", text: "0" } })
      yield* Effect.forEach([1, 2, 3, 4], (n) => client.letters.patch({ params: { id }, payload: { text: `${n}` } }))
      const ask = asking(baseUrl)
      const { _links: links } = (yield* ask("GET", `/letters/${id}`)).json
      assert.deepStrictEqual(links.revision, {
        href: `/letters/${id}/revisions/{revision}`,
        methods: "GET",
        templated: true
      })
      assert.notProperty(links.revisions, "templated")
      assert.strictEqual((yield* client.letters.get({ params: { id } }))._links?.["revision"]?.templated, true)
      const seen: Array<number> = []
      let path: string | undefined = `/letters/${id}/revisions?page_size=2`
      while (path !== undefined) {
        const page: { readonly json: Json } = yield* ask("GET", path)
        for (const { _links, revision } of page.json._items) {
          seen.push(revision)
          assert.strictEqual((yield* ask("GET", _links.self.href)).json.text, `${revision - 1}`)
        }
        path = page.json._links.next?.href
      }
      assert.deepStrictEqual(seen, [5, 4, 3, 2, 1])
      for (const wrong of ["page_size=0", "page_size=101", "page_size=x", "before=-1", "none=1"]) {
        assert.strictEqual((yield* ask("GET", `/letters/${id}/revisions?${wrong}`)).status, 400, wrong)
      }
      for (const none of ["revisions/6", "revisions/6/changes", "revisions/0"]) {
        assert.strictEqual((yield* ask("GET", `/letters/${id}/${none}`)).status, 404, none)
      }
      assert.strictEqual((yield* ask("GET", "/letters/none/revisions")).status, 404)
      yield* client.letters.delete({ params: { id } })
      assert.strictEqual((yield* ask("GET", `/letters/${id}/revisions/1`)).status, 404)
    }).pipe(Effect.scoped))

  it.effect("restores by the hooks, the preconditions and the schema of today", () =>
    Effect.gen(function*() {
      const { baseUrl, client, repositories: { letters } } = yield* plain.test()
      const ask = asking(baseUrl)
      const { result: id } = yield* client.letters.create({ payload: { owner: "ann", text: "forbidden" } })
      yield* client.letters.patch({ params: { id }, payload: { text: "free" } })
      const restore = (headers = {}) => ask("POST", `/letters/${id}/revisions/1/restore`, headers)
      assert.strictEqual((yield* restore({ "if-match": "\"other\"" })).status, 412)
      assert.strictEqual((yield* letters.findById(id)).text, "free")
      assert.strictEqual((yield* restore()).status, 200)
      assert.strictEqual((yield* letters.findById(id)).text, "by the hook")
    }).pipe(Effect.scoped))

  const secured = KernelEngine.make("letters").register(
    withHistory
      .require(Role("admin"))
      .grant(Role("clerk"), {
        methods: ["GET", "PATCH", "revisions", "revision", "revision_changes", "restore_revision"],
        rows: (me) => ($) => $.owner.equals(me.subject)
      })
      .grant(Role("public"), {
        methods: ["GET", "revision", "revision_changes"],
        rows: () => ($) => $.note.equals("open"),
        hide: ["salary"]
      })
      .require(Role("reader"), "GET")
  ).enableSecurity()

  it.effect("is there for those only who have a grant for it, within their rows and fields of today", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories: { letters }, token } = yield* secured.test()
      const as = Effect.fnUntraced(function*(subject: string, ...roles: ReadonlyArray<string>) {
        return asking(baseUrl, { authorization: `Bearer ${Redacted.value(yield* token({ subject, roles }))}` })
      })
      // The state of revision 1 is of another owner, and the one of revision 2 has another salary.
      const { id } = yield* letters.insert(Letter.make({ owner: "bob", text: "of bob", salary: 7, note: "open" }))
      yield* letters.patch(id, { owner: "ann", text: "of ann", salary: 8 })
      yield* letters.patch(id, { text: "now", salary: 9 })
      const of = (ask: ReturnType<typeof asking>, path: string, method = "GET") => ask(method, `/letters/${id}/${path}`)

      const past = (ask: ReturnType<typeof asking>) => ask("GET", `/letters/${id}?as_of=2999-01-01T00:00:00Z`)
      const reader = yield* as("rita", "reader")
      assert.strictEqual((yield* past(reader)).status, 403)
      assert.strictEqual((yield* reader("GET", `/letters/${id}`)).status, 200)
      for (const path of ["revisions", "revisions/2", "revisions/2/changes"]) {
        assert.strictEqual((yield* of(reader, path)).status, 403, path)
      }
      assert.strictEqual((yield* of(reader, "revisions/2/restore", "POST")).status, 403)

      const ann = yield* as("ann", "clerk")
      assert.deepStrictEqual((yield* of(ann, "revisions")).json._items.map((one: Json) => one.revision), [3, 2])
      assert.strictEqual((yield* of(ann, "revisions/1")).status, 404)
      // What was before the first state that she may see does not show through.
      assert.notInclude((yield* of(ann, "revisions/2/changes")).text, "bob")
      assert.strictEqual((yield* of(ann, "revisions/2")).json.salary, 8)
      const bob = yield* as("bob", "clerk")
      assert.strictEqual((yield* of(bob, "revisions/1")).status, 404)

      assert.strictEqual((yield* past(ann)).json.salary, 9)
      const visitor = yield* as("vic", "public")
      assert.notInclude((yield* past(visitor)).text, "salary")
      for (const path of ["revisions/2", "revisions/2/changes", "revisions/1/changes"]) {
        const { status, text } = yield* of(visitor, path)
        assert.strictEqual(status, 200)
        assert.notInclude(text, "salary")
      }
      assert.strictEqual((yield* of(visitor, "revisions")).status, 403)
      // Of a state that a clerk owned she sees no more than of the document now.
      const both = yield* as("bob", "clerk", "public")
      const { status, text } = yield* of(both, "revisions/1")
      assert.strictEqual(status, 200)
      assert.include(text, "of bob")
      assert.notInclude(text, "salary")

      assert.strictEqual((yield* of(ann, "revisions/2/restore", "POST")).status, 200)
      assert.strictEqual((yield* letters.findById(id)).text, "of ann")
      assert.strictEqual((yield* of(bob, "revisions/2/restore", "POST")).status, 404)
    }).pipe(Effect.scoped))

  it.effect("shows no more of a state than GET shows of the document, whatever the hooks and permissions look at", () =>
    Effect.gen(function*() {
      const ofOwner = Permission.make(
        "is the owner's",
        {},
        ({ caller, document }) =>
          Effect.map(document, (found) => Reflect.get(Object(Option.getOrUndefined(found)), "owner") === caller.subject)
      )
      const engine = KernelEngine.make("letters").register(
        withHistory
          .grant(ofOwner, { methods: ["GET", "revision", "revision_changes"], hide: ["salary"] })
          .grant(Role("editor"), { methods: "GET" })
          .grant(Role("editor"), {
            methods: ["revision", "revision_changes", "revisions"],
            rows: () => ($) => $.note.equals("open")
          })
          .require(Role("blind"), ["revision", "revision_changes", "revisions"])
          .afterGet((letter) =>
            letter.text === "secret" ? Effect.fail(new HttpError.NotFound({ message: "secret" })) : Effect.void
          )
      ).enableSecurity()
      const { baseUrl, repositories: { letters }, token } = yield* engine.test()
      const as = Effect.fnUntraced(function*(subject: string, ...roles: ReadonlyArray<string>) {
        return asking(baseUrl, { authorization: `Bearer ${Redacted.value(yield* token({ subject, roles }))}` })
      })
      const { id } = yield* letters.insert(Letter.make({ owner: "ann", text: "draft", salary: 7 }))
      yield* letters.patch(id, { text: "secret", note: "open", salary: 8 })
      yield* letters.patch(id, { text: "sent", note: "open", salary: 9 })
      const paths = ["revisions/3", "revisions/3/changes"].map((path) => `/letters/${id}/${path}`)
      const past = `/letters/${id}?as_of=2999-01-01T00:00:00Z`

      const ann = yield* as("ann")
      for (const path of [`/letters/${id}`, past, ...paths]) {
        const { status, text } = yield* ann("GET", path)
        assert.strictEqual(status, 200, path)
        assert.notInclude(text, "salary", path)
        // The state before is refused by the hook.
        assert.notInclude(text, "secret", path)
      }
      const editor = yield* as("eve", "editor")
      assert.strictEqual((yield* editor("GET", `/letters/${id}/revisions/1`)).status, 404)
      assert.strictEqual((yield* editor("GET", `/letters/${id}/revisions/2`)).status, 404)
      assert.strictEqual((yield* editor("GET", `/letters/${id}/revisions/3`)).json.salary, 9)
      const { json } = yield* editor("GET", `/letters/${id}/revisions`)
      assert.deepStrictEqual(json._items.map((one: Json) => one.revision), [3, 2])
      // Who may not GET the document sees nothing of its history.
      const blind = yield* as("bill", "blind")
      for (const path of [...paths, `/letters/${id}/revisions`]) {
        assert.strictEqual((yield* blind("GET", path)).status, 404, path)
      }
      yield* letters.patch(id, { text: "secret" })
      for (const path of [`/letters/${id}`, past, `/letters/${id}/revisions/3`, `/letters/${id}/revisions`]) {
        assert.strictEqual((yield* editor("GET", path)).status, 404, path)
      }
    }).pipe(Effect.scoped))
})
