/** A caller sees and writes the fields that their grants give, and learns nothing of others by any way. */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { Converter, DocumentStore, Generator, Index, Model, Resource } from "../../../src/index.ts"
import { type Method, refused, send } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { type Granted, type Grants, servingViewed } from "../../support/viewed.ts"

class Address extends Model.Class<Address>()("Address", {
  city: Schema.String,
  phone: Schema.String.pipe(Model.optional)
}) {}

class Line extends Model.Class<Line>()("Line", {
  product: Schema.String,
  cost: Schema.Int.pipe(Model.withDefault(() => 0))
}) {}

class Part extends Model.Class<Part>()("Part", {
  id: Model.id(),
  name: Schema.String,
  cost: Schema.Int.pipe(Model.withDefault(() => 0))
}) {}

class Deal extends Model.Class<Deal>()("Deal", {
  id: Model.id(),
  ...Model.versioned,
  owner: Schema.String,
  state: Schema.String.pipe(Model.withDefault(() => "new")),
  cost: Schema.Int,
  serial: Schema.String.pipe(Model.generated(Generator.uuid()), Model.indexed(Index.unique)),
  pin: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.optional),
  address: Address.pipe(Model.optional),
  lines: Schema.Array(Line).pipe(Model.withDefault(() => [])),
  parts: Schema.Array(Part).pipe(Model.withDefault(() => []))
}) {}

const resource = Resource.make(Deal, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })

const hidden = ["cost", "serial", "pin", "address.phone", "lines.cost", "parts.cost"]

const whole: Granted = { fields: undefined, rows: undefined }

/** A clerk does not see what things cost, and can't write the state. */
const clerk: Granted = { fields: { hide: hidden, readOnly: ["state"] }, rows: undefined }

/** Everybody sees the deals, and the owner the cost of their own. */
const anybody: Granted = { fields: { hide: ["cost", "lines.cost"], readOnly: [] }, rows: undefined }

const ownerOf = (subject: string): Granted => ({ fields: undefined, rows: { owner: { $eq: subject } } })

const grants: Grants = (caller) => {
  if (caller === "admin") return { read: [whole], write: [whole] }
  if (caller === "clerk") return { read: [clerk], write: [clerk] }
  if (caller === "writer") return { read: [], write: [whole] }
  if (caller === "scribe") {
    const scribe = { hide: [], readOnly: ["state", "address.phone", "lines.cost"] }
    return { read: [ownerOf("me")], write: [{ id: 7, fields: scribe, rows: undefined }] }
  }
  if (caller === "blind") return { read: [clerk], write: [whole] }
  if (caller === "resident") {
    const resident: Granted = { fields: { hide: [], readOnly: ["address"] }, rows: undefined }
    return { read: [resident], write: [resident] }
  }
  if (caller === "foreman") {
    const ofAll: Granted = { fields: { hide: ["parts"], readOnly: [] }, rows: undefined }
    const ofOwn: Granted = { fields: { hide: ["parts.cost"], readOnly: [] }, rows: { owner: "ann" } }
    return { read: [ofAll, ofOwn], write: [ofAll, ofOwn] }
  }
  const held = [anybody, ownerOf(caller)]
  return { read: held, write: held }
}

const as =
  (caller: string) =>
  (method: Method, path: string, body?: unknown, headers: { readonly [name: string]: string } = {}) =>
    send(method, `/deals${path}`, body, { ...headers, "x-caller": caller })

const [admin, asClerk, ann] = [as("admin"), as("clerk"), as("ann")]

const query = (path: string, parameters: { readonly [name: string]: string }) =>
  `${path}?${new URLSearchParams(parameters)}`

const deal = {
  owner: "ann",
  cost: 5,
  serial: "CANARY-1",
  pin: "CANARY-2",
  address: { city: "Bern", phone: "CANARY-3" },
  lines: [{ product: "tea", cost: 1_001 }, { product: "milk", cost: 1_002 }],
  parts: [{ id: "a", name: "one", cost: 1_003 }, { id: "b", name: "two", cost: 1_004 }]
}

let count = 0

const createdBy = (owner: string) =>
  Effect.map(
    Effect.suspend(() => admin("POST", "", { ...deal, owner, serial: `CANARY-${++count}` })),
    ({ body }): string => `/${body.result}`
  )

const created = createdBy("ann")

const jsonPatch = { "content-type": "application/json-patch+json" }

const shown = (id: string) => Effect.map(admin("GET", id), ({ body }) => body)

/** A generated identifier, which has the digits of a hidden number now and then. */
const identifier = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gu

/** What stands in the answer apart from the version, and from what is generated. */
const assertSilent = (text: string) =>
  assert.notMatch(text.replaceAll(identifier, "id"), /CANARY|100[1234]|"?cost|phone|serial|"pin/u)

storeMatrix((name, store) =>
  it.layer(servingViewed(resource, store, grants, { secret: Redacted.make("a key of the service") }))(
    `views / ${name}`,
    (it) => {
      it.effect("a document, a list and a selection have the fields that the caller sees", () =>
        Effect.gen(function*() {
          const id = yield* created
          for (const path of [id, "", "?fields=owner,lines,address", `${id}?fields=parts`]) {
            const answer = yield* asClerk("GET", path)
            assert.strictEqual(answer.status, 200, answer.text)
            assertSilent(answer.text)
          }
          const { body } = yield* asClerk("GET", id)
          assert.deepStrictEqual(body.lines, [{ _type: "Line", product: "tea" }, { _type: "Line", product: "milk" }])
          assert.deepStrictEqual(body.address, { _type: "Address", city: "Bern" })
          assert.strictEqual((yield* shown(id)).cost, 5)
        }))

      it.effect("a hidden field is unknown to filters, sort orders, selections, queries and pipelines", () =>
        Effect.gen(function*() {
          yield* created
          for (
            const parameters of [
              { cost: "5" },
              { "lines.cost": "1001" },
              { "address.phone": "CANARY-3" },
              { sort_by: "cost" },
              { sort_by: "-serial", cursor: "" },
              { fields: "cost" },
              { fields: "lines.cost" },
              { query: "{\"cost\":5}" },
              { query: "{\"lines\":{\"$elemMatch\":{\"cost\":1001}}}" },
              { query: "{\"$expr\":{\"$eq\":[\"$cost\",5]}}" },
              { query: "{\"address\":{\"city\":\"Bern\",\"phone\":\"CANARY-3\"}}" }
            ]
          ) {
            assert.strictEqual((yield* asClerk("GET", query("", parameters))).status, 400, JSON.stringify(parameters))
          }
          for (
            const pipe of [
              [{ $match: { cost: 5 } }],
              [{ $sort: { cost: 1 } }],
              [{ $group: { _id: null, sum: { $sum: "$cost" } } }],
              [{ $project: { x: "$lines.cost" } }]
            ]
          ) {
            const answer = yield* asClerk("GET", query("/aggregate", { pipe: JSON.stringify(pipe) }))
            assert.strictEqual(answer.status, 400, answer.text)
          }
          for (
            const pipe of [
              [],
              [{ $group: { _id: null, all: { $push: "$$ROOT" } } }],
              [{ $replaceWith: { it: "$lines" } }],
              [{ $unwind: "$parts" }],
              [{ $match: { owner: "ann" } }, { $addFields: { x: { $getField: "cost" } } }, { $unset: "x" }],
              [{ $addFields: { x: { $objectToArray: "$$ROOT" } } }]
            ]
          ) {
            const answer = yield* asClerk("GET", query("/aggregate", { pipe: JSON.stringify(pipe) }))
            // The links repeat the request.
            if (answer.status === 200) assertSilent(JSON.stringify(answer.body._items))
            else assert.oneOf(answer.status, [400, 403], answer.text)
          }
        }))

      it.effect("the schemas and the metadata have no hidden field", () =>
        Effect.gen(function*() {
          for (const path of ["/schema", "/schema?mongo=true", "/schema?additional_properties=false", "/meta"]) {
            const answer = yield* asClerk("GET", path)
            assert.strictEqual(answer.status, 200, answer.text)
            assertSilent(answer.text)
            assert.match((yield* admin("GET", path)).text, /phone/u)
          }
        }))

      it.effect("an ETag tells what was shown, and all of it is what If-Match compares", () =>
        Effect.gen(function*() {
          const id = yield* created
          const [mine, theirs] = [yield* admin("GET", id), yield* asClerk("GET", id)]
          const [full, part] = [String(mine.headers["etag"]), String(theirs.headers["etag"])]
          assert.notStrictEqual(full, part)
          assert.strictEqual((yield* asClerk("GET", id, undefined, { "if-none-match": part })).status, 304)
          assert.strictEqual((yield* asClerk("GET", id, undefined, { "if-none-match": full })).status, 200)
          assert.strictEqual((yield* admin("GET", id, undefined, { "if-none-match": part })).status, 200)
          assert.strictEqual((yield* asClerk("PATCH", id, { owner: "bob" }, { "if-match": full })).status, 412)
          const changed = yield* asClerk("PATCH", id, { owner: "eve" }, { "if-match": part })
          assert.strictEqual(changed.status, 200, changed.text)
          assert.strictEqual((yield* asClerk("PATCH", id, { owner: "x" }, { "if-match": part })).status, 412)
        }))

      it.effect("a PUT keeps what its caller can't see or write", () =>
        Effect.gen(function*() {
          const id = yield* created
          const before = yield* shown(id)
          const { body: read } = yield* asClerk("GET", id)
          const answer = yield* asClerk("PUT", id, { ...read, owner: "bob" }, { prefer: "return=representation" })
          assert.strictEqual(answer.status, 200, answer.text)
          assertSilent(answer.text)
          assert.deepStrictEqual(yield* shown(id), { ...before, owner: "bob", version: 2 })
          // Without what they can't write.
          const { state, version, ...others } = read
          yield* asClerk("PUT", id, others)
          assert.deepStrictEqual(yield* shown(id), { ...before, owner: "ann", version: 3 })
          assert.strictEqual(state, "new")
          assert.strictEqual(version, 1)
        }))

      it.effect("a body with a field that the caller may not write is refused by its name, unless it has what they see", () =>
        Effect.gen(function*() {
          const id = yield* created
          const { body: read } = yield* asClerk("GET", id)
          const before = yield* shown(id)
          for (
            const [method, body, field, headers] of [
              ["PUT", { ...read, cost: 5 }, "cost"],
              ["PUT", { ...read, state: "paid" }, "state"],
              ["PUT", { ...read, state: 7 }, "state"],
              ["PATCH", { cost: 5 }, "cost"],
              ["PATCH", { cost: null }, "cost"],
              ["PATCH", { state: "paid" }, "state"],
              ["PATCH", { address: { phone: "1" } }, "address.phone"],
              ["PATCH", { parts: [{ id: "a", name: "one", cost: 1_003 }] }, "parts.0.cost"],
              ["PATCH", [{ op: "replace", path: "/cost", value: 5 }], "cost", jsonPatch],
              ["PATCH", [{ op: "add", path: "/address/phone", value: "1" }], "address.phone", jsonPatch],
              ["PATCH", [{ op: "replace", path: "/state", value: "paid" }], "state", jsonPatch]
            ] as const
          ) {
            const answer = refused(403, yield* asClerk(method, id, body, headers ?? {}))
            assert.include(answer.body.message, field)
          }
          for (
            const [body, field] of [
              [{ owner: "ann", cost: 5 }, "cost"],
              [{ owner: "ann", state: "new" }, "state"],
              [[{ owner: "ann" }, { owner: "ann", lines: [{ product: "x", cost: 1 }] }], "1.lines.0.cost"]
            ] as const
          ) assert.include(refused(403, yield* asClerk("POST", "", body)).body.message, field)
          assert.deepStrictEqual(yield* shown(id), before)
          assert.strictEqual((yield* asClerk("PATCH", id, { state: "new", owner: "eve" })).status, 200)
          assert.deepStrictEqual(yield* shown(id), { ...before, owner: "eve", version: 2 })
        }))

      it.effect("a form is under the same rules", () =>
        Effect.gen(function*() {
          const form = (name: string) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n5\r\n--x--\r\n`
          const headers = { "content-type": "multipart/form-data; boundary=x" }
          const answer = refused(403, yield* asClerk("POST", "", form("cost"), headers))
          assert.include(answer.body.message, "cost")
        }))

      it.effect("a required field that the caller can't send fails without its name", () =>
        Effect.gen(function*() {
          for (const body of [{ owner: "ann" }, [{ owner: "ann" }]]) {
            const answer = refused(400, yield* asClerk("POST", "", body))
            assertSilent(answer.text)
            assert.include(answer.text, "can't see")
          }
        }))

      it.effect("a taken value does not tell which hidden field has it", () =>
        Effect.gen(function*() {
          yield* admin("POST", "", { owner: "x", cost: 1, serial: "taken" })
          const { body: { result } } = yield* admin("POST", "", { owner: "x", cost: 1 })
          const taken = { owner: "x", cost: 1, serial: "taken" }
          for (
            const [method, path, body] of [
              ["PATCH", `/${result}`, { serial: "taken" }],
              ["PUT", `/${result}`, taken],
              ["POST", "", taken],
              ["POST", "", [taken]]
            ] as const
          ) {
            assertSilent(refused(409, yield* as("blind")(method, path, body)).text)
            assert.match(refused(409, yield* admin(method, path, body)).text, /serial/iu)
          }
        }))

      it.effect("a hidden field that the caller may write stays until they write it", () =>
        Effect.gen(function*() {
          const id = yield* created
          const before = yield* shown(id)
          const { body: read } = yield* as("blind")("GET", id)
          const { version: _, ...others } = read
          assert.notProperty(read, "cost")
          const kept = yield* as("blind")("PUT", id, { ...others, state: "sold" })
          assert.strictEqual(kept.status, 200, kept.text)
          assert.deepStrictEqual(yield* shown(id), { ...before, state: "sold", version: 2 })
          yield* as("blind")("PUT", id, { ...others, cost: 77 })
          assert.deepStrictEqual(yield* shown(id), { ...before, state: "new", cost: 77, version: 3 })
        }))

      it.effect("items keep what the caller can't see by their identifiers, or by their content", () =>
        Effect.gen(function*() {
          const id = yield* created
          const before = yield* shown(id)
          const { body: read } = yield* asClerk("GET", id)
          const [tea, milk] = read.lines
          const [a, b] = read.parts
          const patched = yield* asClerk("PATCH", id, {
            lines: [milk, { product: "new" }, tea],
            parts: [{ ...b, name: "renamed" }, a, { id: "c", name: "three" }]
          })
          assert.strictEqual(patched.status, 200, patched.text)
          const after = yield* shown(id)
          assert.deepStrictEqual(after.lines, [
            before.lines[1],
            { _type: "Line", product: "new", cost: 0 },
            before.lines[0]
          ])
          assert.deepStrictEqual(after.parts, [
            { ...before.parts[1], name: "renamed" },
            before.parts[0],
            { _type: "Part", id: "c", name: "three", cost: 0 }
          ])
          for (
            const [changes, field] of [
              [{ lines: [milk, { product: "changed" }, tea] }, "lines"],
              [{ lines: [] }, "lines"],
              [{ lines: null }, "lines"],
              [{ parts: [{ ...a, name: "x" }] }, "parts"],
              [{ address: null }, "address"]
            ] as const
          ) assert.include(refused(403, yield* asClerk("PATCH", id, changes)).body.message, field)
          const { address: _, ...without } = (yield* asClerk("GET", id)).body
          assert.include(refused(403, yield* asClerk("PUT", id, without)).body.message, "address")
          assert.deepStrictEqual(yield* shown(id), after)
        }))

      it.effect("a JSON Patch neither tests, copies nor moves what its caller can't see", () =>
        Effect.gen(function*() {
          const id = yield* created
          for (
            const operation of [
              { op: "test", path: "/cost", value: 5 },
              { op: "test", path: "/address/phone", value: "CANARY-3" },
              { op: "test", path: "/address", value: { _type: "Address", city: "Bern", phone: "CANARY-3" } },
              { op: "copy", from: "/serial", path: "/owner" },
              { op: "move", from: "/serial", path: "/owner" },
              { op: "copy", from: "/address", path: "/owner" }
            ]
          ) {
            const answer = yield* asClerk("PATCH", id, [operation], jsonPatch)
            assert.oneOf(answer.status, [400, 403, 409], answer.text)
          }
          const fine = yield* asClerk("PATCH", id, [{ op: "replace", path: "/owner", value: "bob" }], jsonPatch)
          assert.strictEqual(fine.status, 200, fine.text)
          assert.strictEqual((yield* shown(id)).cost, 5)
        }))

      it.effect("fields depend on the document, and a request that names one finds those that show it", () =>
        Effect.gen(function*() {
          yield* Effect.flatMap(DocumentStore.DocumentStore, (documents) => documents.deleteMany("Deal", {}))
          const mine = yield* created
          const theirs = yield* createdBy("bob")
          assert.strictEqual((yield* ann("GET", mine)).body.cost, 5)
          assert.notProperty((yield* ann("GET", theirs)).body, "cost")
          assert.notStrictEqual((yield* ann("GET", mine)).headers["etag"], (yield* ann("GET", theirs)).headers["etag"])
          const owners = (path: string) =>
            Effect.map(ann("GET", path), ({ body, status, text }) => {
              assert.strictEqual(status, 200, text)
              return body._items.map(({ owner }: { readonly owner: string }) => owner).toSorted()
            })
          assert.deepStrictEqual(yield* owners(""), ["ann", "bob"])
          for (
            const parameters of [
              { cost: "5" },
              { cost: "!7" },
              { sort_by: "cost", cost: "5" },
              { sort_by: "owner,-cost", cost: "!7", cursor: "" },
              { "lines.cost": "1001" },
              { query: "{\"lines\":{\"$elemMatch\":{\"cost\":1001}}}" },
              { query: "{\"$expr\":{\"$eq\":[\"$cost\",5]}}" },
              { cost: "5", owner: "bob", logic: "OR" }
            ]
          ) assert.deepStrictEqual(yield* owners(query("", parameters)), ["ann"], JSON.stringify(parameters))
          // An order alone leaves nobody out.
          for (const parameters of [{ sort_by: "cost" }, { sort_by: "-cost", cursor: "" }, { sort_by: "owner,cost" }]) {
            const { body } = refused(400, yield* ann("GET", query("", parameters)))
            assert.include(body.message, "only some of the documents show")
          }
          assert.deepStrictEqual(yield* owners(query("", { query: "{\"lines\":{\"$size\":2}}" })), ["ann", "bob"])
          assert.strictEqual((yield* ann("GET", "?cost=5")).headers["x-total-count"], "1")
          const selected = yield* ann("GET", "?fields=cost,owner&sort_by=owner")
          assert.deepStrictEqual(
            selected.body._items.map(({ cost }: { readonly cost?: number }) => cost),
            [5, undefined]
          )
          const sums = yield* ann(
            "GET",
            query("/aggregate", { pipe: JSON.stringify([{ $group: { _id: null, sum: { $sum: "$cost" } } }]) })
          )
          assert.strictEqual(sums.body._items[0].sum, 5)
          const all = yield* ann("GET", query("/aggregate", { pipe: "[]" }))
          assert.strictEqual(all.body._items.length, 2)
          for (const item of all.body._items) {
            assert.notProperty(item, "cost")
            assert.deepStrictEqual(item.lines, [{ product: "tea" }, { product: "milk" }])
          }
        }))

      it.effect("what may be written depends on the document", () =>
        Effect.gen(function*() {
          const mine = yield* created
          const theirs = yield* createdBy("bob")
          assert.strictEqual((yield* ann("PATCH", mine, { cost: 6 })).status, 200)
          refused(403, yield* ann("PATCH", theirs, { cost: 6 }))
          refused(403, yield* ann("POST", "", { owner: "bob", cost: 6 }))
          assert.strictEqual((yield* ann("POST", "", { owner: "ann", cost: 6 })).status, 201)
          const { body } = yield* ann("GET", theirs)
          assert.strictEqual((yield* ann("PUT", theirs, { ...body, state: "sold" })).status, 200)
          assert.deepInclude(yield* shown(theirs), { cost: 5, state: "sold" })
        }))

      it.effect("a patch with a part of a read-only model, as it is stored, changes nothing of it", () =>
        Effect.gen(function*() {
          const id = yield* created
          const before = yield* shown(id)
          const same = { owner: "bob", address: { city: "Bern" } }
          assert.strictEqual((yield* as("resident")("PATCH", id, same)).status, 200)
          assert.deepStrictEqual(yield* shown(id), { ...before, owner: "bob", version: 2 })
          refused(403, yield* as("resident")("PATCH", id, { address: { city: "Basel" } }))
        }))

      it.effect("a POST that replaces a document may repeat what its caller can't write", () =>
        Effect.gen(function*() {
          const id = yield* created
          const before = yield* shown(id)
          // What is sent for the pin is hashed.
          const { pin, version: _, ...read } = (yield* as("resident")("GET", id)).body
          const answer = yield* as("resident")("POST", "", { ...read, owner: "bob" })
          assert.strictEqual(answer.status, 200, answer.text)
          assert.isString(pin)
          const { pin: _pin, ...others } = before
          assert.deepStrictEqual(yield* shown(id), { ...others, owner: "bob", version: 2 })
          for (
            const body of [
              { ...read, address: { city: "Basel" } },
              { ...read, id: `new ${id.slice(1)}` },
              { owner: "bob", cost: 5, address: read.address },
              [{ ...read, id: `other ${id.slice(1)}` }]
            ]
          ) assert.include(refused(403, yield* as("resident")("POST", "", body)).body.message, "address")
        }))

      it.effect("a document may hide a part of what another one hides as a whole", () =>
        Effect.gen(function*() {
          const id = yield* created
          const before = yield* shown(id)
          const { body: read } = yield* as("foreman")("GET", id)
          assert.deepStrictEqual(read.parts[0], { _type: "Part", id: "a", name: "one" })
          const { version: _, ...others } = read
          const answer = yield* as("foreman")("PUT", id, { ...others, state: "sold" })
          assert.strictEqual(answer.status, 200, answer.text)
          assert.deepInclude(yield* shown(id), { parts: before.parts, cost: before.cost, state: "sold" })
        }))

      it.effect("a caller who may not read gets the result of a write only", () =>
        Effect.gen(function*() {
          const answer = yield* as("writer")("POST", "", { owner: "x", cost: 1 }, { prefer: "return=representation" })
          assert.strictEqual(answer.status, 201)
          assert.hasAllKeys(answer.body, ["_type", "result"])
          assert.notProperty(answer.headers, "etag")
        }))

      it.effect("a caller who may not read tests and copies no field by a JSON Patch", () =>
        Effect.gen(function*() {
          const id = yield* created
          const { cost } = yield* shown(id)
          for (const value of [cost, cost + 1]) {
            const body = [{ op: "test", path: "/cost", value }]
            assert.strictEqual((yield* as("writer")("PATCH", id, body, jsonPatch)).status, 409)
          }
          const copy = [{ op: "copy", from: "/cost", path: "/state" }]
          assert.isAtLeast((yield* as("writer")("PATCH", id, copy, jsonPatch)).status, 400)
        }))

      it.effect("who does not see a document may not send what they can't write, whatever is stored", () =>
        Effect.gen(function*() {
          const scribe = as("scribe")
          const id = yield* created
          const before = yield* shown(id)
          const lines = [{ product: "tea" }, { product: "milk" }]
          for (
            const [body, field, headers] of [
              [{ state: "new" }, "state"],
              [{ state: "sold" }, "state"],
              [{ address: { phone: "CANARY-3" } }, "address.phone"],
              [{ address: { phone: "other" } }, "address.phone"],
              [{ address: null }, "address"],
              [{ lines }, "lines"],
              [{ lines: [] }, "lines"],
              [[{ op: "add", path: "/state", value: "new" }], "state", jsonPatch],
              [[{ op: "add", path: "/state", value: "sold" }], "state", jsonPatch]
            ] as const
          ) {
            assert.include(refused(403, yield* scribe("PATCH", id, body, headers ?? {})).body.message, field)
          }
          const { lines: _, state, version, ...others } = before
          for (const more of [{ state }, { state: "sold" }, { lines }, { lines: [] }, { address: null }]) {
            refused(403, yield* scribe("PUT", id, { ...others, ...more }))
          }
          assert.deepStrictEqual(yield* shown(id), before)
          const answer = yield* scribe("PUT", id, { owner: "bob", cost: 6, address: { city: "Basel" } })
          assert.strictEqual(answer.status, 200, answer.text)
          assert.deepInclude(yield* shown(id), {
            owner: "bob",
            state,
            lines: before.lines,
            address: { ...before.address, city: "Basel" },
            version: version + 1
          })
        }))

      it.effect("a cursor is signed", () =>
        Effect.gen(function*() {
          yield* created
          yield* admin("POST", "", { owner: "zoe", cost: 1 })
          const page = yield* admin("GET", "?page_size=1&cursor=&sort_by=owner")
          const next: string = page.body._links.next.href
          assert.strictEqual((yield* admin("GET", next.slice("/deals".length))).status, 200)
          const [, cursor = ""] = /cursor=([^&]+)/u.exec(next) ?? []
          const forged = `${cursor.slice(0, 43)}${Buffer.from("[\"a\",\"a\"]").toString("base64url")}`
          refused(400, yield* admin("GET", query("", { page_size: "1", cursor: forged, sort_by: "owner" })))
          refused(400, yield* admin("GET", query("", { page_size: "1", cursor, sort_by: "cost" })))
        }))
    }
  )
)
