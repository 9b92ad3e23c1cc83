/** `POST`, `PUT`, `PATCH` and `DELETE`: every kind of body, and what becomes of it when many write at once. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Converter, Repository } from "../../../src/index.ts"
import { engine, Person } from "../../support/people.ts"
import { type Answer, atOnce, fieldsIn, problemsIn, refused, send, serving, statusesOf } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

const people = "/people"
const persons = "/persons"
const accounts = "/accounts"

const jsonPatch = { "content-type": "application/json-patch+json" }
const mergePatch = { "content-type": "application/merge-patch+json" }

const okay = (answer: Answer, status = 200): Answer => {
  assert.strictEqual(answer.status, status, answer.text)
  return answer
}

const created = (path: string, body: unknown) =>
  Effect.map(send("POST", path, body), (answer) => String(okay(answer, 201).body.result))

const read = (path: string, id: string) => Effect.map(send("GET", `${path}/${id}`), (answer) => okay(answer).body)

const without = (body: { readonly [key: string]: unknown }, ...keys: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(body).filter(([key]) => !keys.includes(key)))

const form = (parts: ReadonlyArray<readonly [name: string, value: string, more?: string]>) => ({
  headers: { "content-type": "multipart/form-data; boundary=XX" },
  body: `${
    parts.map(([name, value, more = ""]) =>
      `--XX\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
    ).join("")
  }--XX--\r\n`
})

storeMatrix((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`writes / ${name}`, (it) => {
    it.effect("POST creates from JSON: 201, the identifier, and its Location", () =>
      Effect.gen(function*() {
        for (const path of [persons, `${persons}/`]) {
          const answer = okay(
            yield* send("POST", path, { name: "Jane", unknown: 1, born: "2000-02-29" }, {
              "content-type": "application/json; charset=utf-8"
            }),
            201
          )
          assert.deepStrictEqual(answer.body, { _type: "OperationResult", result: answer.body.result })
          assert.match(answer.body.result, /^P/u)
          assert.strictEqual(answer.headers["location"], `${persons}/${answer.body.result}`)
          assert.deepStrictEqual(without(yield* read(persons, answer.body.result), "_links"), {
            _type: "Person",
            id: answer.body.result,
            name: "Jane",
            from: 0,
            to: 10,
            tags: [],
            born: "2000-02-29"
          })
        }
        refused(404, yield* send("POST", people, {}))
      }))

    it.effect("POST creates from a form, one part for each field", () =>
      Effect.gen(function*() {
        const { body, headers } = form([
          ["name", "Zoë"],
          ["from", "3"],
          ["tags", "a"],
          ["tags", "b"],
          ["born", "1999-12-31"],
          ["address.city", "Bern"],
          ["address.zip", "3000"],
          ["password", "secret"],
          ["to", ""]
        ])
        const { result } = okay(yield* send("POST", persons, body, headers), 201).body
        assert.deepStrictEqual(without(yield* read(persons, result), "_links"), {
          _type: "Person",
          id: result,
          name: "Zoë",
          from: 3,
          to: 10,
          tags: ["a", "b"],
          born: "1999-12-31",
          address: { _type: "Address", city: "Bern", zip: 3000 }
        })
        const uploaded = `; filename="cv.txt"\r\nContent-Type: application/octet-stream`
        for (
          const [field, content] of [["cv", "text"], ["cv", ""], ["name", "text"], ["address.cv", "text"]] as const
        ) {
          const name = field === "name" ? [] : [["name", "N"] as const]
          const sent = form([...name, [field, content, uploaded]])
          assert.deepStrictEqual(fieldsIn(yield* send("POST", persons, sent.body, sent.headers)), [field])
        }
        const notChosen = form([["name", "N"], ["cv", "", uploaded.replace("cv.txt", "")]])
        okay(yield* send("POST", persons, notChosen.body, notChosen.headers), 201)
        const bad = form([["name", ""], ["from", "x"], ["born", "2001-02-29"], ["address.zip", "1"]])
        assert.sameMembers(fieldsIn(yield* send("POST", persons, bad.body, bad.headers)), [
          "name",
          "from",
          "born",
          "address.city"
        ])
        const file = form([["name", "binary", "; filename=\"a.bin\"\r\nContent-Type: application/octet-stream"]])
        assert.deepStrictEqual(fieldsIn(yield* send("POST", persons, file.body, file.headers)), ["name"])
        refused(400, yield* send("POST", persons, "no form", headers))
        refused(400, yield* send("POST", persons, body, { "content-type": "multipart/form-data" }))
        refused(
          413,
          yield* send("POST", persons, form([["name", "x".repeat(1_048_577)]]).body, headers)
        )
        refused(415, yield* send("PUT", `${persons}/${result}`, body, headers))
      }))

    it.effect("POST of an existing identifier replaces that document: 200", () =>
      Effect.gen(function*() {
        const id = yield* created(persons, { name: "Old", from: 5, address: { city: "Bern" } })
        const answer = okay(yield* send("POST", persons, { id, name: "New" }))
        assert.deepStrictEqual(answer.body, { _type: "OperationResult", result: id })
        assert.notProperty(answer.headers, "location")
        const body = yield* read(persons, id)
        assert.deepStrictEqual([body.name, body.from, body.address], ["New", 0, undefined])
        const account = yield* created(accounts, { id: "A-own", owner: "x" })
        assert.strictEqual(account, "A-own")
        okay(yield* send("POST", accounts, { id: "A-own", owner: "y" }))
        okay(yield* send("POST", accounts, { id: "A-own", owner: "z", version: 2 }))
        refused(409, yield* send("POST", accounts, { id: "A-own", owner: "late", version: 2 }))
        const now = yield* read(accounts, "A-own")
        assert.deepStrictEqual([now.owner, now.version], ["z", 3])
      }))

    it.effect("POST of a list creates all of them or none", () =>
      Effect.gen(function*() {
        const answer = okay(
          yield* send("POST", persons, [{ name: "1", code: "b1" }, { id: "P-second", name: "2" }, { name: "3" }]),
          201
        )
        const [first, second, third] = answer.body.result
        assert.strictEqual(second, "P-second")
        assert.strictEqual((yield* read(persons, first)).name, "1")
        assert.strictEqual((yield* read(persons, third)).name, "3")
        const count = Effect.map(Effect.flatMap(Repository.for(Person), (_) => _.count()), (count) => count)
        const before = yield* count
        assert.deepStrictEqual(
          problemsIn(yield* send("POST", persons, [{ name: "x" }, { name: "" }, 7, { name: "y", from: 11 }])).map((
            problem
          ) => problem.split(" ")[0]),
          ["1.name", "2"]
        )
        assert.deepStrictEqual(fieldsIn(yield* send("POST", persons, [{ name: "x" }, { name: "y", from: 11 }])), [
          "1.to"
        ])
        assert.include(
          refused(409, yield* send("POST", persons, [{ name: "x" }, { name: "y", code: "b1" }])).body.message,
          "Item 2"
        )
        refused(409, yield* send("POST", persons, [{ name: "x" }, { id: "P-second", name: "y" }]))
        refused(400, yield* send("POST", persons, []))
        refused(400, yield* send("POST", persons, Array.from({ length: 1_001 }, () => ({ name: "x" }))))
        assert.strictEqual(yield* count, before)
        okay(yield* send("POST", persons, Array.from({ length: 1_000 }, (_, i) => ({ name: `n${i}`, from: 9 }))), 201)
        assert.strictEqual(yield* count, before + 1_000)
        const repository = yield* Repository.for(Person)
        assert.strictEqual(yield* repository.deleteMany(($) => $.from.equals(9)), 1_000)
      }))

    it.effect("PUT replaces the complete document, and never creates one", () =>
      Effect.gen(function*() {
        const id = yield* created(persons, { name: "Old", tags: ["a"], address: { city: "Bern" }, password: "1234" })
        const answer = okay(yield* send("PUT", `${persons}/${id}/`, { name: "New", to: 3 }))
        assert.deepStrictEqual(answer.body, { _type: "OperationResult", result: id })
        assert.deepStrictEqual(without(yield* read(persons, id), "_links"), {
          _type: "Person",
          id,
          name: "New",
          from: 0,
          to: 3,
          tags: []
        })
        okay(yield* send("PUT", `${persons}/${id}`, { id, name: "Same id" }))
        assert.deepStrictEqual(fieldsIn(yield* send("PUT", `${persons}/${id}`, { id: "other", name: "x" })), ["id"])
        assert.include(refused(404, yield* send("PUT", `${persons}/none`, { name: "x" })).body.message, "none")
        assert.deepStrictEqual(problemsIn(yield* send("PUT", `${persons}/${id}`, { from: 4, to: "x" })), [
          "name Required",
          "to Type"
        ])
        assert.deepStrictEqual(fieldsIn(yield* send("PUT", `${persons}/${id}`, { name: "x", from: 4, to: 3 })), ["to"])
        refused(415, yield* send("PUT", `${persons}/${id}`, { name: "x" }, mergePatch))
        refused(400, yield* send("PUT", `${persons}/${id}`, [{ name: "x" }]))
        const account = yield* created(accounts, { owner: "a" })
        okay(yield* send("PUT", `${accounts}/${account}`, { owner: "b", version: 1 }))
        refused(409, yield* send("PUT", `${accounts}/${account}`, { owner: "c", version: 1 }))
        okay(yield* send("PUT", `${accounts}/${account}`, { owner: "d" }))
        assert.strictEqual((yield* read(accounts, account)).version, 3)
      }))

    it.effect("PATCH merges: a value sets, null removes, lists are replaced", () =>
      Effect.gen(function*() {
        const id = yield* created(persons, {
          name: "N",
          tags: ["a"],
          address: { city: "Bern", zip: 1 },
          born: "2000-01-01"
        })
        const path = `${persons}/${id}`
        const answer = okay(yield* send("PATCH", path, { address: { zip: null }, tags: ["b", "c"], born: null }))
        assert.deepStrictEqual(answer.body, { _type: "OperationResult", result: id })
        okay(yield* send("PATCH", `${path}/`, { from: 2 }, mergePatch))
        okay(yield* send("PATCH", path, {}))
        assert.deepStrictEqual(without(yield* read(persons, id), "_links"), {
          _type: "Person",
          id,
          name: "N",
          from: 2,
          to: 10,
          tags: ["b", "c"],
          address: { _type: "Address", city: "Bern" }
        })
        okay(yield* send("PATCH", path, { address: null }))
        assert.deepStrictEqual(fieldsIn(yield* send("PATCH", path, { address: { zip: 2 } })), ["address.city"])
        assert.sameMembers(fieldsIn(yield* send("PATCH", path, { name: null, from: "x", tags: [1] })), [
          "name",
          "from",
          "tags.0"
        ])
        assert.deepStrictEqual(fieldsIn(yield* send("PATCH", path, { from: 11 })), ["to"])
        refused(404, yield* send("PATCH", `${persons}/none`, { name: "x" }))
        assert.deepStrictEqual(problemsIn(yield* send("PATCH", path, { id: "other", name: "x" })), ["id Id"])
        assert.deepStrictEqual(fieldsIn(yield* send("PATCH", path, { id: 1, from: "x" })), ["id", "from"])
        okay(yield* send("PATCH", path, { id, name: "N" }))
        assert.strictEqual((yield* read(persons, id)).name, "N")
        refused(400, yield* send("PATCH", path, []))
        refused(400, yield* send("PATCH", path, "null"))
        for (const type of ["text/plain", "application/xml", "application/x-www-form-urlencoded"]) {
          refused(415, yield* send("PATCH", path, "{}", { "content-type": type }))
        }
      }))

    it.effect("JSON Patch applies all operations or none, and reports why it can't", () =>
      Effect.gen(function*() {
        const id = yield* created(persons, { name: "N", tags: ["a", "b"], address: { city: "Bern" }, password: "1234" })
        const path = `${persons}/${id}`
        const answer = okay(
          yield* send("PATCH", path, [
            { op: "test", path: "/name", value: "N" },
            { op: "replace", path: "/name", value: "M" },
            { op: "add", path: "/tags/-", value: "c" },
            { op: "remove", path: "/tags/0" },
            { op: "copy", from: "/name", path: "/address/city" },
            { op: "add", path: "/address/zip", value: 7 }
          ], jsonPatch)
        )
        assert.deepStrictEqual(answer.body, { _type: "OperationResult", result: id })
        const body = yield* read(persons, id)
        assert.deepStrictEqual([body.name, body.tags, body.address], ["M", ["b", "c"], {
          _type: "Address",
          city: "M",
          zip: 7
        }])
        const conflict = refused(
          409,
          yield* send("PATCH", path, [
            { op: "replace", path: "/name", value: "L" },
            { op: "test", path: "/from", value: 1 }
          ], jsonPatch)
        )
        assert.include(conflict.body.message, "Operation 1 (test /from)")
        refused(409, yield* send("PATCH", path, [{ op: "remove", path: "/born" }], jsonPatch))
        assert.deepStrictEqual(
          fieldsIn(yield* send("PATCH", path, [{ op: "replace", path: "/from", value: 11 }], jsonPatch)),
          ["to"]
        )
        assert.deepStrictEqual(
          fieldsIn(yield* send("PATCH", path, [{ op: "replace", path: "/name", value: "" }], jsonPatch)),
          ["name"]
        )
        for (
          const bad of [
            {},
            [{ op: "nope", path: "/name" }],
            [{ op: "add", path: "/id", value: "x" }],
            [{ op: "test", path: "/password", value: "1234" }],
            [{ op: "copy", from: "/password", path: "/name" }],
            [{ op: "add", path: "/nope", value: 1 }],
            [{ op: "replace", path: "", value: {} }],
            [{ op: "add", path: "/__proto__/polluted", value: true }]
          ]
        ) refused(400, yield* send("PATCH", path, bad, jsonPatch))
        refused(404, yield* send("PATCH", `${persons}/none`, [], jsonPatch))
        assert.strictEqual((yield* read(persons, id)).name, "M")
        okay(yield* send("PATCH", path, [{ op: "replace", path: "/password", value: "better" }], jsonPatch))
        const stored = yield* Effect.flatMap(Repository.for(Person), (persons) => persons.findById(id))
        assert.isTrue(yield* Converter.verifyContent("better", stored.password ?? ""))
      }))

    it.effect("DELETE deletes once, and returns the count", () =>
      Effect.gen(function*() {
        for (const path of [persons, accounts]) {
          const id = yield* created(path, { name: "x", owner: "x" })
          assert.deepStrictEqual(okay(yield* send("DELETE", `${path}/${id}/`)).body, {
            _type: "OperationResult",
            result: 1
          })
          assert.include(refused(404, yield* send("DELETE", `${path}/${id}`)).body.message, id)
          refused(404, yield* send("GET", `${path}/${id}`))
          const again = yield* created(path, { name: "y", owner: "y" })
          assert.deepStrictEqual(statusesOf(yield* atOnce(6, () => send("DELETE", `${path}/${again}`))), {
            200: 1,
            404: 5
          })
        }
      }))

    it.effect("stores concurrent changes to different fields only if they were validated together", () =>
      Effect.gen(function*() {
        for (let round = 0; round < 8; round++) {
          const id = yield* created(persons, { name: "range", from: 0, to: 10 })
          const answers = yield* atOnce(6, (i) => {
            const value = i % 2 === 0 ? { from: 8 } : { to: 4 }
            const [field, wanted] = Object.entries(value)[0]!
            return i < 4
              ? send("PATCH", `${persons}/${id}`, value)
              : send("PATCH", `${persons}/${id}`, [{ op: "replace", path: `/${field}`, value: wanted }], jsonPatch)
          })
          const { from, to } = yield* read(persons, id)
          assert.isAtMost(from, to)
          assert.deepStrictEqual(statusesOf(answers), { 200: 3, 400: 3 })
        }
      }))

    it.effect("the test of a JSON Patch holds when the patch is written", () =>
      Effect.gen(function*() {
        const id = yield* created(persons, { name: "0", code: "taken" })
        const patch = (i: number) => [
          { op: "test", path: "/code", value: "taken" },
          { op: "remove", path: "/code" },
          { op: "replace", path: "/name", value: `winner ${i}` }
        ]
        const answers = yield* atOnce(8, (i) => send("PATCH", `${persons}/${id}`, patch(i), jsonPatch))
        assert.deepStrictEqual(statusesOf(answers), { 200: 1, 409: 7 })
        const other = yield* created(persons, { name: "0", from: 0 })
        // What is tested is another field than those that are written.
        const [tested, set] = yield* Effect.all([
          atOnce(8, (i) =>
            send("PATCH", `${persons}/${other}`, [
              { op: "test", path: "/from", value: 0 },
              { op: "replace", path: "/name", value: `while 0: ${i}` }
            ], jsonPatch)),
          send("PATCH", `${persons}/${other}`, { from: 1, name: "done" })
        ], { concurrency: 2 })
        assert.strictEqual(set.status, 200)
        for (const { status } of tested) assert.include([200, 409], status)
        assert.deepInclude(yield* read(persons, other), { name: "done", from: 1 })
      }))

    it.effect("loses no element when many patches append to a list concurrently", () =>
      Effect.gen(function*() {
        const id = yield* created(persons, { name: "list" })
        const answers = yield* atOnce(10, (i) =>
          send("PATCH", `${persons}/${id}`, [{ op: "add", path: "/tags/-", value: `t${i}` }], jsonPatch))
        assert.deepStrictEqual(statusesOf(answers), { 200: 10 })
        assert.strictEqual(new Set((yield* read(persons, id)).tags).size, 10)
      }))

    it.effect("one of many concurrent creations of one identifier creates, and the others replace", () =>
      Effect.gen(function*() {
        for (const path of [persons, accounts]) {
          const answers = yield* atOnce(8, (i) => send("POST", path, { id: "X-race", name: `n${i}`, owner: `o${i}` }))
          assert.deepStrictEqual(statusesOf(answers), { 200: 7, 201: 1 })
        }
        assert.strictEqual((yield* read(accounts, "X-race")).version, 8)
        const taken = yield* atOnce(6, (i) => send("POST", persons, { name: `n${i}`, code: "only one" }))
        assert.deepStrictEqual(statusesOf(taken), { 201: 1, 409: 5 })
        const id = yield* created(persons, { name: "other" })
        refused(409, yield* send("POST", persons, { id, name: "x", code: "only one" }))
        refused(409, yield* send("PUT", `${persons}/${id}`, { name: "x", code: "only one" }))
        refused(409, yield* send("PATCH", `${persons}/${id}`, { code: "only one" }))
        refused(
          409,
          yield* send("PATCH", `${persons}/${id}`, [{ op: "add", path: "/code", value: "only one" }], jsonPatch)
        )
        refused(409, yield* send("POST", persons, { id: "P-fresh", name: "x", code: "only one" }))
        refused(404, yield* send("GET", `${persons}/P-fresh`))
      }))
  })
)
