import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { KernelEngine, Model, Resource } from "../../../src/index.ts"
import { jsonCodec } from "../../../src/Model/codec/jsonCodec.ts"
import { kinds } from "../../support/everyKind.ts"
import { sendTo } from "../../support/rest.ts"

/** A struct whose optional parts are values of a kind, in a list as well. */
const partOf = (schema: Schema.Top) => {
  const optional = { maybe: Schema.optionalKey(schema), perhaps: Schema.optional(schema) }
  return Schema.Struct({ ...optional, label: Schema.String, list: Schema.Array(Schema.Struct(optional)) })
}

const empty = { label: "empty", list: [{}] }

describe("The JSON codec of a moment", () => {
  const schemas: ReadonlyArray<Schema.Codec<unknown, unknown>> = [
    Schema.Date,
    Schema.DateFromString,
    Schema.DateTimeUtc,
    Schema.DateTimeUtcFromString
  ]
  const isRead = (schema: Schema.Codec<unknown, unknown>, text: string) =>
    Result.isSuccess(Schema.decodeUnknownResult(jsonCodec(schema))(text))

  it.each([
    "2026-02-28T10:00:00Z",
    "2024-02-29T10:00:00.123Z",
    "2026-01-31T09:30:00+01:00",
    "2026-01-31",
    "+010000-01-01T00:00:00.000Z"
  ])("reads %s", (text) => {
    for (const schema of schemas) assert.isTrue(isRead(schema, text))
  })

  it.each(["2026-02-30T10:00:00Z", "2025-02-29T10:00:00Z", "2026-04-31", "30 February 2026", "2026-13-01T00:00:00Z"])(
    "does not make another day of %s",
    (text) => {
      for (const schema of schemas) assert.isFalse(isRead(schema, text))
    }
  )
})

describe("The JSON codec of a struct", () => {
  it.effect("reads and writes without its optional values, of whatever kind these are", () =>
    Effect.gen(function*() {
      for (const [name, { schema }] of Object.entries(kinds)) {
        // The kinds need no services.
        const codec = jsonCodec(partOf(schema)) as unknown as Schema.Codec<unknown>
        const read = yield* Schema.decodeUnknownEffect(codec)(empty)
        assert.deepStrictEqual(yield* Schema.encodeUnknownEffect(codec)(read), empty, name)
      }
    }))

  it.live("is what a service answers by, for documents and results of actions", () =>
    Effect.gen(function*() {
      class Box extends Model.Class<Box>()("Box", {
        id: Model.id(),
        part: partOf(Schema.ByteSize)
      }) {}
      const engine = KernelEngine.make("boxes").register(
        Resource.make(Box, { methods: ["GET", "POST"] }).action(
          "unpack",
          { method: "POST", success: partOf(Schema.ByteSize) },
          ({ part }) => Effect.succeed(part)
        )
      )
      const { baseUrl } = yield* engine.test()
      assert.strictEqual((yield* sendTo(baseUrl, "POST", "/boxes", { id: "B", part: empty })).status, 201)
      const sized = { ...empty, maybe: "12", list: [{ perhaps: "7" }, {}] }
      assert.strictEqual((yield* sendTo(baseUrl, "POST", "/boxes", { id: "C", part: sized })).status, 201)
      for (const [id, part] of [["B", empty], ["C", sized]] as const) {
        const { body, status } = yield* sendTo(baseUrl, "GET", `/boxes/${id}`)
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(body.part, part)
      }
      const { body } = yield* sendTo(baseUrl, "GET", "/boxes")
      assert.deepStrictEqual(body._items.map((item: { readonly part: unknown }) => item.part), [empty, sized])
      assert.deepStrictEqual((yield* sendTo(baseUrl, "POST", "/boxes/B/unpack")).body, empty)
    }).pipe(Effect.scoped))
})
