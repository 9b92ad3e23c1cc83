import type { Document } from "@appkernel/document-store/DocumentStore"
import { normaliseOperand, numberOfRecord } from "@appkernel/mql/internal"
import { assert, describe, it } from "@effect/vitest"
import { Binary, Decimal128, Double, Long, ObjectId, Timestamp, UUID } from "bson"
import { Arbitrary, Effect, Exit, Result, Schema } from "effect"
import { freshDirectory } from "../../../../test/support/folders.ts"
import { Catalog } from "../../src/catalog/catalog.ts"
import { documentWithId, rememberRecord } from "../../src/operations/documentWithId.ts"
import { DocumentWriter, prepare } from "../../src/operations/documentWriter.ts"
import { makeEmbeddedReads } from "../../src/operations/reads.ts"
import * as keyValueLmdb from "../../src/storage/lmdb/store.ts"
import * as keyValueMemory from "../../src/storage/memory/store.ts"
import { everything, type KeyValue, type ReadTables } from "../../src/storage/orderedStore.ts"
import { RecordHints } from "../../src/storage/recordHints.ts"

// Some are equal, and of two long ones the keys are cut.
const ids: ReadonlyArray<unknown> = [
  "",
  "a",
  "ä\0",
  `${"long".repeat(300)} a`,
  `${"long".repeat(300)} b`,
  new ObjectId("65f0c0ffee0123456789abcd"),
  "65f0c0ffee0123456789abcd",
  new UUID("8a6e0804-2bd0-4672-b79d-d97027f9071a"),
  new Binary(Buffer.from("bytes")),
  0,
  -0,
  NaN,
  1,
  new Double(1),
  Long.fromNumber(1),
  Long.fromString("1152921504606846977"),
  2 ** 60,
  Decimal128.fromString("0.1"),
  0.1,
  new Date(1),
  true,
  null,
  new Timestamp({ t: 1, i: 2 }),
  { a: 1 },
  { a: Long.fromNumber(1) },
  { a: 1, b: [] }
]

const steps = Arbitrary.array(
  Arbitrary.schema(Schema.Struct({
    act: Schema.Literals(["insert", "insert", "remove", "replace", "mislead"]),
    id: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: ids.length - 1 })),
    other: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })),
    ends: Schema.Literals(["job", "job", "failure", "later"])
  })),
  { minLength: 1, maxLength: 60 }
)

const operand = (id: unknown): unknown => Result.getOrThrow(normaliseOperand(id))

describe("documentWithId", () => {
  const stores = [
    ["memory", Effect.map(keyValueMemory.make, (store) => ({ ...store, hints: new RecordHints(0, () => {}) }))],
    ["embedded", Effect.flatMap(freshDirectory, (folder) => keyValueLmdb.make(folder))]
  ] as const

  for (const [name, make] of stores) {
    it.effect.prop(
      `finds what the index leads to, wherever hints lead / ${name}`,
      { steps },
      ({ steps }) =>
        Effect.scoped(Effect.gen(function*() {
          const store: KeyValue = yield* make
          const catalog = new Catalog(store)
          const writer = new DocumentWriter(store, catalog, () => {})
          const plain: ReadTables = { documents: store.documents, entries: store.entries }
          let version = 0
          const compare = () => {
            const collection = catalog.pending("things")
            if (collection === undefined) return
            for (const id of ids.map(operand)) {
              const [expected, found] = [documentWithId(plain, collection, id), documentWithId(store, collection, id)]
              assert.deepStrictEqual(found, expected)
            }
          }
          const take = ({ act, id, other }: (typeof steps)[number]) => {
            const collection = catalog.ensure("things")
            const document = documentWithId(plain, collection, operand(ids[id]))
            if (act === "mislead") {
              const recordIds: Array<string> = []
              store.documents(collection.number).scanKeys(everything, (recordId) => recordIds.push(recordId) > 0)
              const recordId = recordIds[other] ?? catalog.endOfRecords(collection)
              rememberRecord(store, collection, operand(ids[id]), recordId)
            } else if (act === "insert") {
              const prepared = Result.getOrThrow(prepare(store, { _id: operand(ids[id]), version: ++version }))
              assert.strictEqual(Result.isSuccess(writer.insert(collection, prepared)), document === undefined)
            } else if (document !== undefined) {
              const recordId = store.entries(collection.number).get(
                Result.getOrThrow(prepare(store, document)).key
              ) ?? assert.fail("it has no entry")
              const stored = { recordId, document }
              if (act === "remove") writer.remove(collection, stored)
              else {
                const next: Document = { ...document, version: ++version }
                Result.getOrThrow(writer.replace(collection, Result.getOrThrow(prepare(store, next)), stored))
              }
            }
          }
          let pending: Array<(typeof steps)[number]> = []
          for (const step of steps) {
            pending.push(step)
            if (step.ends === "later") continue
            const taken = pending
            pending = []
            const exit = yield* Effect.exit(store.write("test", () => {
              for (const step of taken) {
                take(step)
                compare()
              }
              // A store in memory has nothing to roll back.
              if (step.ends === "failure" && name === "embedded") throw new Error("given up")
            }))
            assert.strictEqual(Exit.isSuccess(exit), step.ends !== "failure" || name === "memory")
            compare()
          }
        }))
    )
  }

  it.effect("asks the index once for a document that is read again", () =>
    Effect.gen(function*() {
      const store = yield* keyValueLmdb.make(yield* freshDirectory)
      let asked = 0
      const counting: KeyValue = {
        ...store,
        entries: (number) => {
          const table = store.entries(number)
          return { ...table, get: (key) => (asked += 1, table.get(key)) }
        }
      }
      const catalog = new Catalog(counting)
      const writer = new DocumentWriter(counting, catalog, () => {})
      const all = ids.slice(0, 8)
      yield* counting.write("test", () => {
        for (const _id of all) {
          Result.getOrThrow(writer.insert(catalog.ensure("things"), Result.getOrThrow(prepare(store, { _id }))))
        }
      })
      const { findById } = makeEmbeddedReads(counting, catalog)
      const read = (id: unknown) =>
        Effect.map(findById("things", id), (document) => assert.deepStrictEqual(document, { _id: id }))
      yield* Effect.forEach(all, read)
      // The writer has told the records.
      assert.strictEqual(asked, 0)
      const collection = catalog.get("things") ?? assert.fail("there is no collection")
      for (const id of all) rememberRecord(store, collection, id, catalog.endOfRecords(collection))
      yield* Effect.forEach([...all, ...all, ...all], read)
      assert.strictEqual(asked, all.length)
      assert.strictEqual(numberOfRecord(catalog.endOfRecords(collection)), all.length)
    }))
})
