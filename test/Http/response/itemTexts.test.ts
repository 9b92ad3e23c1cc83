import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { makeItemTexts } from "../../../src/Http/response/itemTexts.ts"
import { Model } from "../../../src/index.ts"
import { compileSerialiser, type Serialiser } from "../../../src/Model/codec/serialiser.ts"
import { normalise } from "../../../src/Repository/bson/normalise.ts"
import type { Document } from "../../../src/Repository/DocumentStore.ts"

class Plain extends Model.Class<Plain>()("Plain", {
  id: Model.id(),
  text: Schema.String,
  on: Model.DateTime,
  words: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["one"]))
}) {}

/** A document as the embedded stores hand it out. */
const stored = (document: Document): Document => {
  const result = normalise(document)
  return result._tag === "Success" ? result.success : assert.fail(result.failure)
}

const documentOf = (id: number | string, text = "text") => stored({ _id: `${id}`, text, on: new Date(0), words: ["w"] })

/** Counts what is written. */
const countedOf = (serialise: Serialiser = compileSerialiser(Plain), texts = makeItemTexts(), links = "") => {
  let written = 0
  const of = texts.keeping((document) => {
    written += 1
    return serialise(document, links)
  })
  return { of, written: () => written }
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

describe("itemTexts", () => {
  it("writes the text of a stored document once", () => {
    const { of, written } = countedOf()
    const document = documentOf("é1", "ünï\"code 🙂")
    const expected = compileSerialiser(Plain)(document, "")
    for (let i = 0; i < 3; i++) assert.strictEqual(of(document), expected)
    assert.strictEqual(written(), 1)
    // Another object with the same content may be a newer document.
    of(documentOf("é1"))
    assert.strictEqual(written(), 2)
  })

  it("keeps apart what is written for callers with other rights", () => {
    const texts = makeItemTexts()
    const document = documentOf(1)
    const all = numbers(6).map((i) => countedOf(undefined, texts, `"_links":${i},`))
    for (const _ of numbers(3)) {
      for (const [i, { of }] of all.entries()) assert.include(of(document), `"_links":${i},`)
    }
    const [last] = all.slice(-1)
    last?.of(document)
    last?.of(document)
    assert.isAtMost(last?.written() ?? 0, 3)
  })

  it("writes a document anew that somebody can change or has changed", () => {
    const { of, written } = countedOf()
    const words = ["w"]
    const open = Object.freeze({ _id: "1", text: "a", on: new Date(0), words })
    for (const unkept of [{ ...documentOf(1) }, open]) {
      const before = written()
      of(unkept)
      of(unkept)
      assert.strictEqual(written(), before + 2)
    }
    const document = documentOf(1)
    assert.include(of(document), "1970-01-01")
    const { on } = document
    if (on instanceof Date) on.setFullYear(2026)
    assert.include(of(document), "2026-01-01")
    assert.include(of(document), "2026-01-01")
  })

  it("writes anew what a default or a schema of the program writes", () => {
    let count = 0
    class Own extends Model.Class<Own>()("Own", {
      id: Model.id(),
      made: Schema.Int.pipe(Model.withDefault(() => ++count))
    }) {}
    class Record extends Model.Class<Record>()("Record", {
      id: Model.id(),
      counts: Schema.Record(Schema.String, Schema.Int)
    }) {}
    const records = countedOf(compileSerialiser(Record))
    const record = stored({ _id: "1", counts: { a: 1 } })
    assert.strictEqual(records.of(record), records.of(record))
    assert.strictEqual(records.written(), 2)
    const { of, written } = countedOf(compileSerialiser(Own))
    const missing = stored({ _id: "1" })
    assert.notStrictEqual(of(missing), of(missing))
    const present = stored({ _id: "1", made: 7 })
    const before = written()
    assert.strictEqual(of(present), of(present))
    assert.strictEqual(written(), before + 1)
  })

  it("keeps no more bytes than its maximum, and those that are asked for again", () => {
    const maxBytes = 64 * 1024
    const { of, written } = countedOf(undefined, makeItemTexts(maxBytes))
    const documents = numbers(1_000).map((i) => documentOf(i, "x".repeat(400)))
    const hot = documentOf("hot")
    for (const document of documents) {
      of(document)
      of(hot)
    }
    assert.strictEqual(written(), 1_001)
    let found = 0
    for (const document of documents.toReversed()) {
      const before = written()
      of(document)
      if (written() === before) found += 1
    }
    assert.isAtLeast(found, 20)
    assert.isAtMost(found * 500, maxBytes)
  })

  it("stops looking for texts that are never there, and begins again when some are", () => {
    const { of, written } = countedOf()
    for (const i of numbers(3_000)) of(documentOf(i))
    const some = numbers(50).map((i) => documentOf(i))
    const before = written()
    for (const document of some) of(document)
    for (const document of some) of(document)
    assert.isAbove(written() - before, 90)
    for (const _ of numbers(300)) for (const document of some) of(document)
    const after = written()
    for (const document of some) of(document)
    assert.strictEqual(written(), after)
  })

  it.effect.prop(
    "any sequence of writes and reads gives the texts that it gives without keeping any",
    {
      steps: Schema.Array(Schema.Struct({
        kind: Schema.Literals(["read", "read", "write", "move"]),
        place: Schema.Literals([0, 1]),
        caller: Schema.Literals([0, 1]),
        text: Schema.String
      })).check(Schema.isMinLength(10))
    },
    ({ steps }) =>
      Effect.sync(() => {
        const texts = makeItemTexts(3_000)
        const serialise = compileSerialiser(Plain)
        const callers = numbers(2).map((i) => countedOf(serialise, texts, `"_links":${i},`))
        const documents = numbers(2).map((i) => documentOf(i))
        for (const { caller, kind, place, text } of steps) {
          const document = documents[place]
          if (kind === "write") documents[place] = documentOf(place, text)
          else if (kind === "move") {
            const on = document?.["on"]
            if (on instanceof Date) on.setTime(text.length * 1e9)
          } else if (document !== undefined) {
            const expected = serialise(document, `"_links":${caller},`) ?? ""
            assert.strictEqual(callers[caller]?.of(document), Buffer.from(expected).toString())
          }
        }
      }),
    { arbitrary: { runs: 100 } }
  )
})
