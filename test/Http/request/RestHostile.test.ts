/** What is sent to do harm: each a 4xx `ErrorMessage`, and the next request is served. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DocumentStore, KernelEngine, Model, Validator } from "../../../src/index.ts"
import { type Answer, refused, send, sendBytes, serving } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

class Spot extends Model.Class<Spot>()("Spot", {
  east: Schema.Finite,
  north: Schema.Finite.pipe(Model.omitted, Model.optional)
}) {}

class Item extends Model.Class<Item>()("Item", {
  id: Model.id(),
  name: Schema.String.pipe(Validator.notEmpty),
  count: Schema.Finite.pipe(Model.optional),
  labels: Schema.Record(Schema.String, Schema.String).pipe(Model.optional),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  spot: Spot.pipe(Model.optional),
  secret: Schema.String.pipe(Model.omitted, Model.optional)
}) {}

const engine = KernelEngine.make("hostile")
  .register(Item, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })

const items = "/items"
const mergePatch = { "content-type": "application/merge-patch+json" }
const jsonPatch = { "content-type": "application/json-patch+json" }

const okay = (answer: Answer, status = 200): Answer => {
  assert.strictEqual(answer.status, status, answer.text.slice(0, 300))
  return answer
}

const encoded = (value: unknown) => encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))

/** The server is as it was. */
const served = Effect.gen(function*() {
  okay(yield* send("GET", `${items}/there`))
  assert.deepStrictEqual(Object.getOwnPropertyNames(Object.prototype).filter((name) => name === "polluted"), [])
  assert.isUndefined(Reflect.get({}, "polluted"))
})

const clientError = (answer: Answer): Answer => {
  assert.isTrue(answer.status >= 400 && answer.status < 500, `${answer.status}: ${answer.text.slice(0, 300)}`)
  return refused(answer.status, answer)
}

storeMatrix((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`hostile input / ${name}`, (it) => {
    it.effect("bodies that are no JSON, too deep or no text", () =>
      Effect.gen(function*() {
        const { insertOne } = yield* DocumentStore.DocumentStore
        yield* insertOne("Item", { _id: "there", name: "x", tags: [], secret: "hush" })
        const deep = "[".repeat(100_000) + "]".repeat(100_000)
        const bodies: ReadonlyArray<string | Buffer> = [
          deep,
          `{"name":${deep}}`,
          `{"name":"x","labels":${"{\"a\":".repeat(100_000)}1${"}".repeat(100_000)}}`,
          "{\"a\":".repeat(100_000),
          "[".repeat(1_000_000),
          Buffer.from([0x7b, 0x22, 0x6e, 0x61, 0x6d, 0x65, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
          Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
          Buffer.from("{\"name\":\"x\"}", "utf16le"),
          "",
          " ",
          "\0",
          "undefined",
          "NaN",
          "{\"name\":\"x\",}",
          "{'name':'x'}",
          "{\"name\":\"x\"} {}",
          "{\"name\":\"x\"",
          "\"name\"",
          "1",
          "true",
          "null"
        ]
        for (const body of bodies) {
          refused(400, yield* send("POST", items, body))
          refused(400, yield* send("PUT", `${items}/there`, body))
          refused(400, yield* send("PATCH", `${items}/there`, body, mergePatch))
          refused(400, yield* send("PATCH", `${items}/there`, body, jsonPatch))
        }
        yield* served
      }))

    it.effect("bodies beyond the limit, with or without Content-Length", () =>
      Effect.gen(function*() {
        const big = JSON.stringify({ name: "x".repeat(10 * 1_048_576) })
        for (
          const [method, path] of [["POST", items], ["PUT", `${items}/there`], ["PATCH", `${items}/there`]] as const
        ) {
          refused(413, yield* send(method, path, big))
        }
        const chunk = "x".repeat(65_536)
        const chunks = `10000\r\n${chunk}\r\n`.repeat(20)
        const text = yield* sendBytes(
          `POST ${items} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n` +
            `Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`
        )
        assert.match(text, /^HTTP\/1\.1 413 [^]*"_type":"ErrorMessage","code":413/u)
        const form = `--XX\r\nContent-Disposition: form-data; name="name"\r\n\r\n${
          "x".repeat(10 * 1_048_576)
        }\r\n--XX--`
        refused(413, yield* send("POST", items, form, { "content-type": "multipart/form-data; boundary=XX" }))
        const parts = "--XX\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\nx\r\n".repeat(5_000)
        refused(
          413,
          yield* send("POST", items, `${parts}--XX--`, { "content-type": "multipart/form-data; boundary=XX" })
        )
        yield* served
      }))

    it.effect("areas that contain what is omitted", () =>
      Effect.gen(function*() {
        const { insertOne } = yield* DocumentStore.DocumentStore
        yield* insertOne("Item", { _id: "spotted", name: "x", tags: [], spot: { east: 8, north: 47 } })
        const ring = [[7, 46], [9, 46], [9, 48], [7, 48], [7, 46]]
        for (
          const condition of [
            { $geoWithin: { $box: [[-180, 46], [180, 48]] } },
            { $geoIntersects: { $geometry: { type: "Polygon", coordinates: [ring] } } },
            { $near: { $geometry: { type: "Point", coordinates: [8, 47] } } },
            { $nearSphere: [8, 47] }
          ]
        ) {
          for (const query of [{ spot: condition }, { spot: { $not: condition } }, { $nor: [{ spot: condition }] }]) {
            const answer = refused(400, yield* send("GET", `${items}?query=${encoded(query)}`))
            assert.match(answer.text, /as a whole/u)
          }
          const pipe = [{ $match: { spot: condition } }, { $count: "n" }]
          refused(400, yield* send("GET", `${items}/aggregate?pipe=${encoded(pipe)}`))
        }
      }))

    it.effect("names of inherited properties", () =>
      Effect.gen(function*() {
        for (const key of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "_id", "_links"]) {
          const body = `{"name":"x","${key}":{"polluted":true,"prototype":{"polluted":true}}}`
          const { result } = okay(yield* send("POST", items, body), 201).body
          const { body: shown } = okay(yield* send("GET", `${items}/${result}`))
          assert.deepStrictEqual(Object.keys(shown), ["_type", "_links", "id", "name", "tags"])
          okay(yield* send("PATCH", `${items}/${result}`, `{"${key}":{"polluted":true}}`))
          okay(yield* send("PUT", `${items}/${result}`, body))
          const labels = `{"name":"x","labels":{"${key}":"v","polluted":"no"}}`
          const answer = yield* send("POST", items, labels)
          if (answer.status !== 201) clientError(answer)
          clientError(yield* send("PATCH", `${items}/there`, [{ op: "add", path: `/${key}`, value: 1 }], jsonPatch))
          clientError(yield* send("PATCH", `${items}/there`, [{ op: "test", path: `/${key}/x`, value: 1 }], jsonPatch))
          clientError(
            yield* send("PATCH", `${items}/there`, [{ op: "copy", from: `/${key}`, path: "/name" }], jsonPatch)
          )
          if (key !== "_id") refused(400, yield* send("GET", `${items}?${key}=x`))
          refused(400, yield* send("GET", `${items}?${key}.polluted=x`))
          refused(400, yield* send("GET", `${items}?sort_by=${key}.x`))
          refused(400, yield* send("GET", `${items}?fields=${key}.x`))
          if (!["_id", "_links", "prototype"].includes(key)) {
            clientError(yield* send("GET", `${items}?query=${encoded(`{"${key}":{"$eq":1}}`)}`))
            clientError(yield* send("GET", `${items}?query=${encoded(`{"$and":[{"name":{"${key}":1}}]}`)}`))
            clientError(yield* send("GET", `${items}/aggregate?pipe=${encoded(`[{"$match":{"${key}":1}}]`)}`))
            clientError(yield* send("GET", `${items}/aggregate?pipe=${encoded(`[{"${key}":{}}]`)}`))
            clientError(
              yield* send("GET", `${items}/aggregate?pipe=${encoded(`[{"$group":{"_id":1,"${key}":{"$sum":1}}}]`)}`)
            )
          }
          refused(404, yield* send("GET", `${items}/${key}`))
          refused(404, yield* send("DELETE", `${items}/${key}`))
        }
        yield* served
      }))

    it.effect("values that no field can hold", () =>
      Effect.gen(function*() {
        const bodies = [
          "{\"name\":\"x\",\"count\":1e400}",
          "{\"name\":\"x\",\"count\":\"1\"}",
          "{\"name\":{\"$ne\":null}}",
          "{\"name\":[\"x\"]}",
          "{\"name\":\"x\",\"tags\":{\"length\":3}}",
          "{\"name\":\"x\",\"tags\":\"abc\"}",
          "{\"name\":\"x\",\"labels\":{\"a\":{\"$gt\":\"\"}}}",
          "{\"id\":{\"$gt\":\"\"},\"name\":\"x\"}",
          "{\"id\":\"a\\u0000b\",\"name\":\"x\"}",
          "{\"id\":\"\\ud800\",\"name\":\"x\"}",
          "{\"id\":\"..\",\"name\":\"x\"}",
          "{\"id\":\"\",\"name\":\"x\"}"
        ]
        for (const body of bodies) {
          const answer = yield* send("POST", items, body)
          assert.strictEqual(answer.status, 400, body)
          refused(400, answer)
        }
        for (const name of ["\\ud800", "\\u0000", "\\uffff", "$where", "a.b", "\\u202e"]) {
          const answer = yield* send("POST", items, `{"name":"${name}"}`)
          if (answer.status !== 201) clientError(answer)
          else okay(yield* send("GET", `${items}/${answer.body.result}`))
        }
        for (const key of ["$where", "a.b", "", "$set", "\\u0000"]) {
          const answer = yield* send("POST", items, `{"name":"x","labels":{"${key}":"v"}}`)
          if (answer.status !== 201) clientError(answer)
          else okay(yield* send("GET", `${items}/${answer.body.result}`))
        }
        yield* served
      }))

    it.effect("thousands of parameters, and heads that are too large", () =>
      Effect.gen(function*() {
        refused(400, yield* send("GET", `${items}?${"a&".repeat(2_000)}`))
        refused(400, yield* send("GET", `${items}?${"name=x&".repeat(2_000)}`))
        refused(400, yield* send("GET", `${items}?name=[${"x,".repeat(3_000)}]`))
        refused(400, yield* send("GET", `${items}?sort_by=${"name,".repeat(2_000)}`))
        refused(400, yield* send("GET", `${items}?fields=${"name,".repeat(2_000)}`))
        refused(431, yield* send("GET", `${items}?${"name=x&".repeat(10_000)}`))
        refused(431, yield* send("GET", items, undefined, { "x-flood": "x".repeat(20_000) }))
        const flood = Array.from({ length: 3_000 }, (_, i) => `X-${i}: y\r\n`).join("")
        const text = yield* sendBytes(`GET ${items} HTTP/1.1\r\nHost: x\r\n${flood}\r\n`)
        assert.match(text, /^HTTP\/1\.1 431 [^]*"_type":"ErrorMessage","code":431/u)
        for (const bytes of ["nonsense\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "\0\r\n\r\n"]) {
          assert.match(yield* sendBytes(bytes), /^HTTP\/1\.1 400 [^]*"_type":"ErrorMessage","code":400/u)
        }
        yield* served
      }))

    it.effect("queries and pipelines that are too deep, too long, or forbidden", () =>
      Effect.gen(function*() {
        const nested = (depth: number, inner: unknown): unknown =>
          depth === 0 ? inner : { $and: [nested(depth - 1, inner)] }
        const within = (depth: number, inner: unknown): unknown =>
          depth === 0 ? inner : [{ $facet: { a: within(depth - 1, inner) } }]
        const filters = [
          nested(200, { name: "x" }),
          nested(5, { $where: "while(true);" }),
          { name: { $not: { $not: { $where: "1" } } } },
          { name: { $elemMatch: { $where: "1" } } },
          { $or: [] },
          { name: { $in: Array.from({ length: 1_001 }, () => 1) } },
          { $or: Array.from({ length: 2_000 }, () => ({ name: 1 })) },
          { name: { $regex: "x".repeat(257) } },
          { name: { $regex: "(" } },
          { name: { $regex: "a", $options: "zzz" } },
          { name: { $type: "nope" } },
          { $expr: { $let: { vars: { x: "$secret" }, in: "$$x" } } },
          { $expr: { $eq: ["$$ROOT", 1] } },
          { $comment: "x", $where: "1" },
          { secret: { $exists: true } },
          { "labels.__proto__.x": 1 }
        ]
        for (const filter of filters) clientError(yield* send("GET", `${items}?query=${encoded(filter)}`))
        const pipes = [
          within(3, [{ $out: "Item" }]),
          [{ $match: nested(200, {}) }],
          [{ $project: { a: { $function: { body: "", args: [], lang: "js" } } } }],
          [{ $replaceWith: { $objectToArray: "$$ROOT" } }, { $lookup: {} }],
          [{ $project: { a: { $range: [0, 1e9] } } }],
          [{ $sample: { size: -1 } }],
          [{ $skip: -1 }],
          [{ $limit: 0 }],
          "[".repeat(5_000)
        ]
        for (const pipe of pipes) clientError(yield* send("GET", `${items}/aggregate?pipe=${encoded(pipe)}`))
        const hidden = yield* send(
          "GET",
          `${items}/aggregate?pipe=${encoded([{ $set: { a: { $getField: "secret" } } }])}`
        )
        assert.notInclude(hidden.text, "hush")
        yield* served
      }))
  })
)
