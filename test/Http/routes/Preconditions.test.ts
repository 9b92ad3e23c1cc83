/** `ETag`, `If-Match` and `If-None-Match` on every method, and `Prefer` on those that write. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DocumentStore, Index, KernelEngine, Model, Resource, Validator } from "../../../src/index.ts"
import { type Answer, atOnce, refused, send, serving, statusesOf } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

class Page extends Model.Class<Page>()("Page", {
  id: Model.id({ prefix: "P" }),
  title: Schema.String.pipe(Validator.notEmpty),
  code: Schema.String.pipe(Model.indexed(Index.unique), Model.optional),
  ...Model.versioned
}) {}

/** Without a version, and so without tags. */
class Scrap extends Model.Class<Scrap>()("Scrap", { id: Model.id(), title: Schema.String }) {}

/** A document with everything that a repository manages. */
class Managed extends Model.Class<Managed>()("Managed", {
  id: Model.id(),
  title: Schema.String,
  ...Model.versioned,
  ...Model.audited,
  ...Model.softDeleted
}, { logged: true, validate: () => Effect.void }) {}

class Renamed
  extends Model.Class<Renamed>()("Renamed", { id: Model.id(), heading: Schema.String, ...Model.versioned }, {
    versions: [Model.was.renamed("title", "heading")]
  })
{}

class Parent extends Model.Class<Parent>()("Parent", { id: Model.id(), title: Schema.String, ...Model.versioned }) {}

class Child extends Model.Class<Child>()("Child", {
  id: Model.id(),
  parent: Model.reference(() => Parent, { onDelete: "cascade" })
}) {}

class Hooked extends Model.Class<Hooked>()("Hooked", { id: Model.id(), title: Schema.String, ...Model.versioned }) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const hooked = Resource.make(Hooked, { methods })
  .beforePut((instance) => Effect.succeed(instance))
  .beforePatch((instance) => Effect.succeed(instance))
  .beforeDelete((instance) => Effect.succeed(instance))

const engine = KernelEngine.make("preconditions")
  .register(Page, { methods, urlBase: "/api/v1" })
  .register(Scrap, { methods })
  .register(Managed, { methods })
  .register(Renamed, { methods, urlBase: "/v1", name: "old", form: 1 })
  .register(Renamed, { methods, urlBase: "/v2" })
  .register(Parent, { methods })
  .register(Child, { methods: [] })
  .register(hooked)

/** Any other kind of model, with the name of the title there. */
const kinds: ReadonlyArray<readonly [path: string, title: string]> = [
  ["/manageds", "title"],
  ["/v1/renameds", "title"],
  ["/v2/renameds", "heading"],
  ["/parents", "title"],
  ["/hookeds", "title"]
]

const pages = "/api/v1/pages"
const scraps = "/scraps"

const jsonPatch = { "content-type": "application/json-patch+json" }

const okay = (answer: Answer, status = 200): Answer => {
  assert.strictEqual(answer.status, status, answer.text)
  return answer
}

const create = (path: string, more: object = {}) =>
  Effect.map(send("POST", path, { title: "first", ...more }), (answer) => `${path}/${okay(answer, 201).body.result}`)

const tagIn = ({ headers }: Answer): string => {
  const tag = String(headers["etag"])
  assert.match(tag, /^"[\da-f]{16}"$/u)
  return tag
}

const tagOf = (path: string) => Effect.map(send("GET", path), (answer) => tagIn(okay(answer)))

const idIn = (path: string) => decodeURIComponent(path.split("/").at(-1) ?? "")

storeMatrix((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`preconditions / ${name}`, (it) => {
    const writes: ReadonlyArray<
      readonly [
        name: string,
        write: (path: string, headers: { readonly [name: string]: string }) => ReturnType<typeof send>
      ]
    > = [
      ["PUT", (path, headers) => send("PUT", path, { title: "put" }, headers)],
      ["PATCH", (path, headers) => send("PATCH", path, { title: `patch ${headers["n"]}` }, headers)],
      [
        "a JSON Patch",
        (path, headers) =>
          send("PATCH", path, [{ op: "replace", path: "/title", value: `json ${headers["n"]}` }], {
            ...headers,
            ...jsonPatch
          })
      ],
      [
        "POST",
        (path, headers) => send("POST", pages, { id: idIn(path), title: "post" }, headers)
      ],
      ["DELETE", (path, headers) => send("DELETE", path, undefined, headers)]
    ]

    it.effect("a versioned document has a tag wherever it is returned, and in the response to each of its writes", () =>
      Effect.gen(function*() {
        const made = okay(yield* send("POST", pages, { title: "x" }), 201)
        const path = `${pages}/${made.body.result}`
        for (const method of ["GET", "HEAD"] as const) {
          assert.strictEqual(okay(yield* send(method, path)).headers["etag"], tagIn(made))
        }
        // The tag is that of the document, and no claim about the bytes that were sent.
        const writes = [
          yield* send("PUT", path, { title: "y" }),
          yield* send("PATCH", path, { title: "z" }),
          yield* send("PATCH", path, [{ op: "replace", path: "/title", value: "y" }], jsonPatch),
          yield* send("POST", pages, { id: made.body.result, title: "x" })
        ]
        assert.strictEqual(new Set([made, ...writes].map((answer) => tagIn(answer))).size, 5)
        assert.strictEqual((yield* send("GET", path)).headers["etag"], writes[3]?.headers["etag"])
        assert.notProperty((yield* send("GET", pages)).headers, "etag")
        const scrap = yield* create(scraps)
        assert.notProperty((yield* send("GET", scrap)).headers, "etag")
      }))

    it.effect("GET and HEAD respond with 304 without a body while the tag is the same, and with 412 if it has to match", () =>
      Effect.gen(function*() {
        const path = yield* create(pages)
        const tag = String((yield* send("GET", path)).headers["etag"])
        for (const method of ["GET", "HEAD"] as const) {
          for (const tags of [tag, `W/${tag}`, `"0", ${tag}`, "*"]) {
            const answer = okay(yield* send(method, path, undefined, { "if-none-match": tags }), 304)
            assert.deepStrictEqual([answer.text, answer.headers["etag"]], ["", tag])
          }
          okay(yield* send(method, path, undefined, { "if-none-match": "\"1\"" }))
          okay(yield* send(method, path, undefined, { "if-match": `"1", ${tag}` }))
        }
        refused(412, yield* send("GET", path, undefined, { "if-match": "\"1\"" }))
        refused(412, yield* send("GET", path, undefined, { "if-match": `W/${tag}` }))
        // A selection has the tag of the whole document, which a write can have as its condition.
        assert.strictEqual(tagIn(okay(yield* send("GET", `${path}?fields=title`))), tag)
        okay(yield* send("GET", `${path}?fields=title`, undefined, { "if-none-match": tag }), 304)
        refused(404, yield* send("GET", `${pages}/none`, undefined, { "if-none-match": "*" }))
        for (const header of ["if-match", "if-none-match"]) {
          for (const tags of ["1", "\"1", "W/1", "*, \"1\"", ""]) {
            const { body } = refused(400, yield* send("GET", path, undefined, { [header]: tags }))
            assert.strictEqual(body.errors[0].field.toLowerCase(), header)
          }
        }
        const scrap = yield* create(scraps)
        okay(yield* send("GET", scrap, undefined, { "if-none-match": "\"1\"" }))
        okay(yield* send("GET", scrap, undefined, { "if-match": "*" }))
        okay(yield* send("GET", scrap, undefined, { "if-none-match": "*" }), 304)
        refused(412, yield* send("GET", scrap, undefined, { "if-match": "\"1\"" }))
      }))

    it.effect("a tag changes with a document that is written beside its repository, whose version stays", () =>
      Effect.gen(function*() {
        const path = yield* create(pages)
        const before = yield* tagOf(path)
        const id = idIn(path)
        const store = yield* DocumentStore.DocumentStore
        yield* store.updateOne("Page", { _id: id }, { $set: { title: "written beside" } })
        const after = okay(yield* send("GET", path, undefined, { "if-none-match": `${before}, "1"` }))
        assert.deepStrictEqual([after.body.title, after.body.version], ["written beside", 1])
        assert.notStrictEqual(after.headers["etag"], before)
        okay(yield* send("GET", path, undefined, { "if-none-match": String(after.headers["etag"]) }), 304)
        for (const [, write] of writes) refused(412, yield* write(path, { "if-match": before }))
        okay(yield* send("PATCH", path, { title: "third" }, { "if-match": String(after.headers["etag"]) }))
      }))

    it.effect("a tag is not that of another document, which has its identifier and its version", () =>
      Effect.gen(function*() {
        const path = yield* create(pages)
        const before = yield* tagOf(path)
        okay(yield* send("DELETE", path))
        okay(yield* send("POST", pages, { id: idIn(path), title: "of somebody else" }), 201)
        for (const [, write] of writes) refused(412, yield* write(path, { "if-match": before }))
        assert.deepInclude((yield* send("GET", path)).body, { title: "of somebody else", version: 1 })
      }))

    for (const [method, write] of writes) {
      it.effect(`${method} succeeds while the document has a tag of If-Match`, () =>
        Effect.gen(function*() {
          const path = yield* create(pages)
          const first = yield* tagOf(path)
          okay(yield* send("PATCH", path, { title: "second" }))
          const tag = yield* tagOf(path)
          for (const tags of [first, `W/${tag}`, `"2", ${first}`, tag.replace("\"", "\"2-")]) {
            refused(412, yield* write(path, { "if-match": tags }))
          }
          for (const tags of ["*", tag, `W/${tag}`, `"1", ${tag}`]) {
            refused(412, yield* write(path, { "if-none-match": tags }))
          }
          refused(400, yield* write(path, { "if-match": "2" }))
          assert.strictEqual((yield* send("GET", path)).body.title, "second")
          okay(yield* write(path, { "if-match": `"0", ${tag}` }))
          if (method !== "DELETE") {
            okay(yield* write(path, { "if-match": yield* tagOf(path), "n": "3" }))
            okay(yield* write(path, { "if-match": "*", "n": "4" }))
            okay(yield* write(path, { "if-none-match": "\"1\"", "n": "5" }))
            assert.strictEqual((yield* send("GET", path)).body.version, 6)
          }
          const missing = yield* write(`${pages}/none`, { "if-match": "*" })
          // An identifier in a body is no address: there the condition is what fails.
          refused(method === "POST" ? 412 : 404, missing)
        }))

      it.effect(`one of many concurrent ${method} requests with one tag succeeds`, () =>
        Effect.gen(function*() {
          const path = yield* create(pages)
          const tag = yield* tagOf(path)
          const answers = yield* atOnce(8, (i) => write(path, { "if-match": tag, "n": String(i) }))
          // What is gone by then is not found, and no condition is looked at.
          const others = method === "DELETE" ? [412, 404] : [412]
          assert.strictEqual(statusesOf(answers)[200], 1)
          for (const { status } of answers) assert.include([200, ...others], status)
        }))
    }

    it.effect.each(kinds)(
      "of a document at %s hold for each write, of which one at a time has them",
      ([path, title]) =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const id = `one${path.replaceAll("/", "-")}`
          const one = `${path}/${id}`
          okay(yield* send("POST", path, { id, [title]: "first" }), 201)
          if (path === "/parents") yield* store.insertMany("Child", [{ _id: "C", parent: id }])
          const before = yield* tagOf(one)
          const writes = (
            headers: { readonly [name: string]: string },
            i = 0
          ): ReadonlyArray<ReturnType<typeof send>> => [
            send("PUT", one, { [title]: `put ${i}` }, headers),
            send("PATCH", one, { [title]: `patch ${i}` }, headers),
            send("PATCH", one, [{ op: "replace", path: `/${title}`, value: `json ${i}` }], {
              ...jsonPatch,
              ...headers
            }),
            send("POST", path, { id, [title]: `post ${i}` }, headers),
            send("DELETE", one, undefined, headers)
          ]
          for (const write of writes({ "if-match": `"1", W/${before}` })) refused(412, yield* write)
          for (const write of writes({ "if-none-match": before })) refused(412, yield* write)
          let tag = before
          for (const at of [0, 1, 2, 3]) {
            const written = okay(yield* writes({ "if-match": tag })[at]!)
            refused(412, yield* writes({ "if-match": tag })[at]!)
            tag = yield* tagOf(one)
            assert.strictEqual(tagIn(written), tag)
          }
          const racing = yield* Effect.all([0, 1, 2].flatMap((i) => writes({ "if-match": tag }, i).slice(0, 4)), {
            concurrency: 12
          })
          assert.deepStrictEqual(statusesOf(racing), { 200: 1, 412: 11 })
          // What another program writes is another document, whatever its version is.
          tag = yield* tagOf(one)
          const name = String((yield* send("GET", one)).body._type)
          const [stored] = yield* store.find(name, { filter: { _id: id } })
          const field = Object.hasOwn(stored!, "title") ? "title" : "heading"
          yield* store.updateOne(name, { _id: id }, { $set: { [field]: "written beside" } })
          for (const write of writes({ "if-match": tag })) refused(412, yield* write)
          okay(yield* writes({ "if-match": yield* tagOf(one) })[4]!)
          refused(404, yield* send("GET", one))
          if (path === "/parents") assert.lengthOf(yield* store.find("Child", {}), 0)
          if (path === "/manageds") return
          okay(yield* send("POST", path, { id, [title]: "anew" }), 201)
          for (const write of writes({ "if-match": before })) refused(412, yield* write)
          // It is one document again, with the same text as the first.
          okay(yield* send("DELETE", one))
          okay(yield* send("POST", path, { id, [title]: "first" }), 201)
          okay(yield* writes({ "if-match": before })[4]!)
        })
    )

    it.effect("a body with another version than If-Match is rejected, whatever is stored", () =>
      Effect.gen(function*() {
        const path = yield* create(pages)
        const tag = yield* tagOf(path)
        refused(412, yield* send("PUT", path, { title: "x", version: 2 }, { "if-match": tag }))
        refused(412, yield* send("PATCH", path, { title: "x", version: 2 }, { "if-match": tag }))
        refused(412, yield* send("PATCH", path, { title: "x", version: 2 }, { "if-match": `${tag}, "2"` }))
        // Where there is no document, nothing is contradicted.
        for (const method of ["PUT", "PATCH"] as const) {
          refused(404, yield* send(method, `${pages}/none`, { title: "x", version: 2 }, { "if-match": tag }))
        }
        okay(yield* send("PATCH", path, { title: "x", version: 1 }, { "if-match": tag }))
      }))

    it.effect("If-None-Match: * creates and never replaces, with any number of concurrent requests", () =>
      Effect.gen(function*() {
        const only = { "if-none-match": "*" }
        okay(yield* send("POST", pages, { title: "without an identifier" }, only), 201)
        for (const path of [pages, scraps]) {
          for (let round = 0; round < 5; round++) {
            const answers = yield* atOnce(6, (i) => send("POST", path, { id: `only-${round}`, title: `${i}` }, only))
            assert.deepStrictEqual(statusesOf(answers), { 201: 1, 412: 5 })
          }
        }
        okay(yield* send("POST", pages, { id: "coded", title: "x", code: "taken" }, only), 201)
        refused(409, yield* send("POST", pages, { id: "other", title: "x", code: "taken" }, only))
        refused(412, yield* send("POST", pages, { id: "coded", title: "x", code: "taken" }, only))
        refused(412, yield* send("POST", pages, { title: "x" }, { "if-match": "*" }))
        refused(404, yield* send("GET", `${pages}/other`))
      }))

    it.effect("on a model without a version only * can hold", () =>
      Effect.gen(function*() {
        const path = yield* create(scraps)
        refused(412, yield* send("PUT", path, { title: "x" }, { "if-match": "\"1\"" }))
        refused(412, yield* send("PATCH", path, { title: "x" }, { "if-none-match": "*" }))
        refused(412, yield* send("DELETE", path, undefined, { "if-match": "\"1\"" }))
        okay(yield* send("PUT", path, { title: "x" }, { "if-match": "*" }))
        okay(
          yield* send("PATCH", path, [{ op: "replace", path: "/title", value: "y" }], { ...jsonPatch, "if-match": "*" })
        )
        okay(yield* send("DELETE", path, undefined, { "if-match": "*" }))
      }))

    it.effect("Prefer selects the response to POST, PUT and PATCH, which confirms it", () =>
      Effect.gen(function*() {
        const prefer = (value: string) => ({ prefer: value })
        const shown = (answer: Answer, status: number, title: string, version: number) => {
          okay(answer, status)
          const { _links, id, ...rest } = answer.body
          assert.deepStrictEqual(rest, { _type: "Page", title, version })
          assert.strictEqual(_links.self.href, `${pages}/${id}`)
          assert.strictEqual(answer.headers["preference-applied"], "return=representation")
          tagIn(answer)
          assert.strictEqual(answer.headers["content-location"], `${pages}/${id}`)
        }
        const made = yield* send("POST", pages, { title: "a" }, prefer("return=representation"))
        shown(made, 201, "a", 1)
        assert.strictEqual(made.headers["location"], `${pages}/${made.body.id}`)
        const path = `${pages}/${made.body.id}`
        shown(yield* send("PUT", path, { title: "b" }, prefer("respond-async, Return=\"representation\"")), 200, "b", 2)
        shown(yield* send("PATCH", path, { title: "c" }, prefer("return=representation; x=1")), 200, "c", 3)
        shown(
          yield* send("PATCH", path, [{ op: "replace", path: "/title", value: "d" }], {
            ...jsonPatch,
            ...prefer("return=representation")
          }),
          200,
          "d",
          4
        )
        const posted = yield* send("POST", pages, { id: made.body.id, title: "e" }, prefer("return=representation"))
        shown(posted, 200, "e", 5)
        const minimal = okay(yield* send("PUT", path, { title: "f" }, prefer("return=minimal")))
        assert.deepStrictEqual(minimal.body, { _type: "OperationResult", result: made.body.id })
        assert.strictEqual(minimal.headers["preference-applied"], "return=minimal")
        for (const ignored of ["return=nothing", "wait=10", "", "return", "return=minimal-ish", ",,;="]) {
          const answer = okay(yield* send("PATCH", path, { title: "g" }, prefer(ignored)))
          assert.strictEqual(answer.body._type, "OperationResult")
          assert.notProperty(answer.headers, "preference-applied")
        }
        assert.strictEqual(
          okay(yield* send("PUT", path, { title: "h" }, prefer("return=minimal, return=representation"))).body._type,
          "OperationResult"
        )
        refused(400, yield* send("PUT", path, { title: "" }, prefer("return=representation")))
        const gone = okay(yield* send("DELETE", path, undefined, prefer("return=representation")))
        assert.deepStrictEqual(gone.body, { _type: "OperationResult", result: 1 })
        assert.notProperty(gone.headers, "preference-applied")
      }))
  })
)
