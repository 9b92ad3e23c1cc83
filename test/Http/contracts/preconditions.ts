/** `ETag`, `If-Match` and `If-None-Match` on every method, and `Prefer` on those that write. */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import { DocumentStore, Index, KernelEngine, Model, Validator } from "../../../src/index.ts"
import { type Answer, atOnce, refused, send, serving, statusesOf } from "../../support/rest.ts"

class Page extends Model.Class<Page>()("Page", {
  id: Model.id({ prefix: "P" }),
  title: Schema.String.pipe(Validator.notEmpty),
  code: Schema.String.pipe(Model.indexed(Index.unique), Model.optional),
  ...Model.versioned
}) {}

/** Without a version, and so without tags. */
class Scrap extends Model.Class<Scrap>()("Scrap", { id: Model.id(), title: Schema.String }) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const engine = KernelEngine.make("preconditions")
  .register(Page, { methods, urlBase: "/api/v1" })
  .register(Scrap, { methods })

const pages = "/api/v1/pages"
const scraps = "/scraps"

const jsonPatch = { "content-type": "application/json-patch+json" }

const okay = (answer: Answer, status = 200): Answer => {
  assert.strictEqual(answer.status, status, answer.text)
  return answer
}

const create = (path: string, more: object = {}) =>
  Effect.map(send("POST", path, { title: "first", ...more }), (answer) => `${path}/${okay(answer, 201).body.result}`)

/** The version in an entity tag, which has a digest of the document's text beside it. */
const versionIn = ({ headers }: Answer): string | undefined =>
  /^"(\d+)-[\da-f]{16}"$/u.exec(String(headers["etag"]))?.[1]

export const preconditionsContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`preconditions / ${name}`, (it) => {
    it.effect("a versioned document has a tag wherever it is returned, and in the response to each of its writes", () =>
      Effect.gen(function*() {
        const made = okay(yield* send("POST", pages, { title: "x" }), 201)
        assert.strictEqual(versionIn(made), "1")
        const path = `${pages}/${made.body.result}`
        for (const method of ["GET", "HEAD"] as const) {
          assert.strictEqual(okay(yield* send(method, path)).headers["etag"], made.headers["etag"])
        }
        // The tag is that of the document, and no claim about the bytes that were sent.
        const writes = [
          yield* send("PUT", path, { title: "y" }),
          yield* send("PATCH", path, { title: "z" }),
          yield* send("PATCH", path, [{ op: "replace", path: "/title", value: "y" }], jsonPatch),
          yield* send("POST", pages, { id: made.body.result, title: "x" })
        ]
        assert.deepStrictEqual(
          writes.map((answer) => versionIn(okay(answer))),
          ["2", "3", "4", "5"]
        )
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
          okay(yield* send(method, path, undefined, { "if-none-match": "\"2\"" }))
          okay(yield* send(method, path, undefined, { "if-match": "\"1\"" }))
        }
        refused(412, yield* send("GET", path, undefined, { "if-match": "\"2\"" }))
        refused(412, yield* send("GET", path, undefined, { "if-match": "W/\"1\"" }))
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
        const before = String((yield* send("GET", path)).headers["etag"])
        const id = decodeURIComponent(path.split("/").at(-1) ?? "")
        const store = yield* DocumentStore.DocumentStore
        yield* store.updateOne("Page", { _id: id }, { $set: { title: "written beside" } })
        const after = okay(yield* send("GET", path, undefined, { "if-none-match": `${before}, "1"` }))
        assert.deepStrictEqual([after.body.title, after.body.version], ["written beside", 1])
        assert.notStrictEqual(after.headers["etag"], before)
        okay(yield* send("GET", path, undefined, { "if-none-match": String(after.headers["etag"]) }), 304)
        // A version is what `If-Match` compares.
        okay(yield* send("PATCH", path, { title: "third" }, { "if-match": before }))
      }))

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
        (path, headers) =>
          send("POST", pages, { id: decodeURIComponent(path.split("/").at(-1) ?? ""), title: "post" }, headers)
      ],
      ["DELETE", (path, headers) => send("DELETE", path, undefined, headers)]
    ]
    for (const [method, write] of writes) {
      it.effect(`${method} succeeds while the document has the version of If-Match`, () =>
        Effect.gen(function*() {
          const path = yield* create(pages)
          okay(yield* send("PATCH", path, { title: "second" }))
          for (const tags of ["\"1\"", "W/\"2\"", "\"3\", \"1\"", "\"x\""]) {
            refused(412, yield* write(path, { "if-match": tags }))
          }
          for (const tags of ["*", "\"2\"", "W/\"2\"", "\"1\", \"2\""]) {
            refused(412, yield* write(path, { "if-none-match": tags }))
          }
          refused(400, yield* write(path, { "if-match": "2" }))
          assert.strictEqual((yield* send("GET", path)).body.title, "second")
          okay(yield* write(path, { "if-match": "\"0\", \"2\"" }))
          if (method !== "DELETE") {
            okay(yield* write(path, { "if-match": "\"3\"", "n": "3" }))
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
          const answers = yield* atOnce(8, (i) => write(path, { "if-match": "\"1\"", "n": String(i) }))
          // What is gone by then is not found, and no condition is looked at.
          const others = method === "DELETE" ? [412, 404] : [412]
          assert.strictEqual(statusesOf(answers)[200], 1)
          for (const { status } of answers) assert.include([200, ...others], status)
        }))
    }

    it.effect("a body with another version than If-Match is rejected, whatever is stored", () =>
      Effect.gen(function*() {
        const path = yield* create(pages)
        refused(412, yield* send("PUT", path, { title: "x", version: 2 }, { "if-match": "\"1\"" }))
        refused(412, yield* send("PATCH", path, { title: "x", version: 2 }, { "if-match": "\"1\"" }))
        refused(412, yield* send("PATCH", path, { title: "x", version: 2 }, { "if-match": "\"1\", \"2\"" }))
        // Where there is no document, nothing is contradicted.
        for (const method of ["PUT", "PATCH"] as const) {
          refused(404, yield* send(method, `${pages}/none`, { title: "x", version: 2 }, { "if-match": "\"1\"" }))
        }
        okay(yield* send("PATCH", path, { title: "x", version: 1 }, { "if-match": "\"1\"" }))
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
          assert.strictEqual(versionIn(answer), String(version))
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
