/** What did not change is not asked again, also where a request sends it as it is stored. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Converter, DocumentStore, KernelEngine, Model, Resource, Validator } from "../../../src/index.ts"
import { fieldsIn, refused, send, serving } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

const moment = Model.DateTime.pipe(Validator.past)

const name = Schema.String.pipe(Validator.min(3))

class Stop extends Model.Class<Stop>()("Stop", { at: moment, name }) {}

const fields = {
  id: Model.id(),
  name,
  at: moment,
  note: Schema.String.pipe(Model.optional),
  marks: Schema.Array(moment).pipe(Model.withDefault(() => [])),
  first: Stop.pipe(Model.optional),
  stops: Schema.Array(Stop).pipe(Model.withDefault(() => [])),
  secret: Schema.String.pipe(
    Validator.min(4),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.omitted,
    Model.optional
  )
}

class Trip extends Model.Class<Trip>()("Trip", { ...fields, ...Model.versioned }) {}

class Walk extends Model.Class<Walk>()("Walk", fields) {}

const toLowerCase = (text: string) => Effect.succeed(text.toLowerCase())

/** Its fields share checks, which mean something else at each place. */
class Letter extends Model.Class<Letter>()("Letter", {
  id: Model.id(),
  name,
  contact: Schema.String.pipe(Validator.email, Model.optional),
  mail: Schema.String.pipe(Validator.email, Model.converted(toLowerCase), Model.optional),
  alias: name.pipe(Model.converted(toLowerCase), Model.optional),
  either: Schema.Union([
    Schema.Struct({ a: name }),
    Schema.Struct({ a: Schema.String, b: Schema.optionalKey(Schema.String) })
  ]).pipe(Model.optional),
  amount: Schema.Union([Schema.FiniteFromString.check(Schema.isGreaterThan(100)), Schema.Trim]).pipe(Model.optional),
  labels: Schema.Record(Schema.String.check(Schema.isMinLength(3)), name).pipe(Model.optional)
}) {}

const methods = ["GET", "POST", "PUT", "PATCH"] as const

const engine = KernelEngine.make("unchanged").register(Trip, { methods })
  .register(Resource.make(Walk, { methods }).beforePut(() => Effect.void).beforePatch(() => Effect.void))
  .register(Letter, { methods, onExcessProperty: "error" })

const jsonPatch = { "content-type": "application/json-patch+json" }

/** A clock that wrote was ahead of this one, and names were allowed to be shorter. */
const ahead = new Date(Date.now() + 3_600_000)

const text = ahead.toISOString()

const stored = {
  name: "ab",
  at: ahead,
  marks: [ahead],
  first: { at: ahead, name: "c" },
  stops: [{ at: ahead, name: "d" }],
  version: 1
}

const body = {
  name: "ab",
  at: text,
  marks: [text],
  first: { at: text, name: "c" },
  stops: [{ at: text, name: "d" }]
}

const later = new Date(ahead.getTime() + 1).toISOString()

/** What is wrong where something else than what is stored is sent. */
const changes: ReadonlyArray<readonly [change: object, fields: Array<string>]> = [
  [{ at: later }, ["at"]],
  [{ name: "xy", at: later }, ["at", "name"]],
  [{ first: { at: text, name: "x" } }, ["first.name"]],
  [{ stops: [{ at: later, name: "abc" }] }, ["stops.0.at"]],
  [{ marks: [later] }, ["marks.0"]]
]

routeStores((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`unchanged values / ${name}`, (it) => {
    for (const [collection, path] of [["Trip", "/trips"], ["Walk", "/walks"]] as const) {
      const place = Effect.fnUntraced(function*(id: string) {
        const { insertOne } = yield* DocumentStore.DocumentStore
        const { version, ...others } = stored
        yield* insertOne(collection, { _id: id, ...others, ...(collection === "Trip" ? { version } : {}) })
        return `${path}/${id}`
      })

      it.effect(`of ${path} are not validated`, () =>
        Effect.gen(function*() {
          const one = yield* place("same")
          const whole = { ...body, note: "a" }
          for (
            const [method, where, sent, headers] of [
              ["PATCH", one, whole, {}],
              ["PATCH", one, { at: text, first: { at: text }, note: "b" }, {}],
              ["PATCH", one, [{ op: "replace", path: "/at", value: text }], jsonPatch],
              ["PATCH", one, [{ op: "replace", path: "/stops", value: body.stops }, {
                op: "add",
                path: "/note",
                value: "c"
              }], jsonPatch],
              ["PUT", one, whole, {}],
              ["POST", path, { ...whole, id: "same" }, {}]
            ] as const
          ) {
            const answer = yield* send(method, where, sent, headers)
            assert.strictEqual(answer.status, 200, `${method} ${JSON.stringify(sent)} ${answer.text}`)
          }
          const form = Object.entries({ id: "same", name: "ab", at: text, "first.at": text, "first.name": "c" })
            .map(([key, value]) => `--X\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`).join("")
          const sent = yield* send("POST", path, `${form}--X--`, { "content-type": "multipart/form-data; boundary=X" })
          assert.strictEqual(sent.status, 200, sent.text)
        }))

      it.effect(`of ${path} are validated if they change`, () =>
        Effect.gen(function*() {
          const one = yield* place("other")
          for (const [change, named] of changes) {
            const whole = { ...body, ...change }
            for (
              const [method, where, sent] of [
                ["PATCH", one, change],
                ["PATCH", one, whole],
                ["PUT", one, whole],
                ["POST", path, { ...whole, id: "other" }]
              ] as const
            ) {
              const answer = yield* send(method, where, sent)
              refused(400, answer)
              assert.sameMembers(fieldsIn(answer), named, `${method} ${answer.text}`)
            }
          }
          // Rules for what is converted are for what is sent.
          assert.sameMembers(fieldsIn(yield* send("PATCH", one, { secret: "abc" })), ["secret"])
          const { note } = (yield* send("GET", one)).body
          assert.isUndefined(note)
          const patched = yield* send("PATCH", one, [{ op: "replace", path: "/at", value: later }], jsonPatch)
          refused(400, patched)
        }))

      it.effect(`of ${path} are validated in a new document`, () =>
        Effect.gen(function*() {
          for (const sent of [body, { ...body, id: "new" }, [body]]) refused(400, yield* send("POST", path, sent))
          refused(400, yield* send("POST", path, { ...body, id: "new" }, { "if-none-match": "*" }))
          refused(404, yield* send("PUT", `${path}/new`, body))
          refused(404, yield* send("PATCH", `${path}/new`, body))
          refused(404, yield* send("GET", `${path}/new`))
        }))
    }

    /** Everything that writes over a letter whose stored name is too short. */
    const writesOfLetter = (id: string, change: object) =>
      [
        ["PUT", `/letters/${id}`, { name: "ab", ...change }, {}],
        ["PATCH", `/letters/${id}`, change, {}],
        ["PATCH", `/letters/${id}`, { name: "ab", ...change }, {}],
        ["POST", "/letters", { id, name: "ab", ...change }, {}],
        [
          "PATCH",
          `/letters/${id}`,
          Object.entries(change).map(([key, value]) => ({ op: "add", path: `/${key}`, value })),
          jsonPatch
        ]
      ] as const

    it.effect("rules before a converter check the sent value, also if another field shares them", () =>
      Effect.gen(function*() {
        const { findById, insertOne } = yield* DocumentStore.DocumentStore
        const document = { _id: "shared", name: "ab" }
        yield* insertOne("Letter", document)
        for (
          const [change, field] of [
            [{ mail: "nonsense" }, "mail"],
            [{ alias: "xy" }, "alias"],
            [{ labels: { long: "xy" } }, "labels.long"]
          ] as const
        ) {
          for (const [method, where, sent, headers] of writesOfLetter("shared", change)) {
            const answer = yield* send(method, where, sent, headers)
            refused(400, answer)
            assert.include(fieldsIn(answer), field, `${method} ${answer.text}`)
          }
        }
        assert.deepStrictEqual(yield* findById("Letter", "shared"), document)
      }))

    it.effect("a value that is no longer stored is validated again, also if another request changes it meanwhile", () =>
      Effect.gen(function*() {
        const { findById, insertOne } = yield* DocumentStore.DocumentStore
        for (let i = 0; i < 10; i++) {
          const id = `race${i}`
          yield* insertOne("Letter", { _id: id, name: "ab" })
          const [first, ...others] = yield* Effect.all([
            send("PUT", `/letters/${id}`, { name: "long enough" }),
            ...["abc@example.org", "abd@example.org"].map((contact) =>
              send("PUT", `/letters/${id}`, { name: "ab", contact })
            )
          ], { concurrency: "unbounded" })
          assert.strictEqual(first?.status, 200, first?.text)
          for (const { status } of others) assert.include([200, 400], status)
          assert.deepStrictEqual(yield* findById("Letter", id), { _id: id, name: "long enough" })
        }
      }))

    it.effect("a value is the same member of a union whether or not another value breaks a rule", () =>
      Effect.gen(function*() {
        const { findById, insertOne } = yield* DocumentStore.DocumentStore
        yield* insertOne("Letter", { _id: "union", name: "ab" })
        const change = { either: { a: "x", b: "y" }, amount: "7", labels: { long: "long" } }
        for (const [method, where, sent, headers] of writesOfLetter("union", change)) {
          const answer = yield* send(method, where, sent, headers)
          assert.strictEqual(answer.status, 200, `${method} ${answer.text}`)
          assert.deepStrictEqual(yield* findById("Letter", "union"), { _id: "union", name: "ab", ...change })
          yield* send("PUT", "/letters/union", { name: "ab" })
        }
      }))
  })
)
