/** A table of record ids has the entries that one of texts has. */
import { recordIdOf } from "@appkernel/mql/internal"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { EntryTable } from "../../../src/storage/memory/entryTable.ts"
import { MemoryTable } from "../../../src/storage/memory/memoryTable.ts"
import type { Range, Table } from "../../../src/storage/orderedStore.ts"

const change = Schema.Struct({
  key: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 99 })),
  // The largest record number has 48 bits.
  record: Schema.UndefinedOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 48 - 1 })))
})

const keyOf = (number: number): string => String(number).padStart(2, "0")

const keys = Array.from({ length: 100 }, (_, i) => keyOf(i))

const contentOf = (table: Table<string>) => {
  const range: Range = { start: "2", end: "8", reverse: false }
  const scanned: Array<unknown> = []
  for (const reverse of [false, true]) table.scan({ ...range, reverse }, (...entry) => scanned.push(entry) < 50)
  table.scanKeys(range, (key) => scanned.push(key) < 100)
  table.visit(keys, (...entry) => scanned.push(entry) < 150)
  return [scanned, keys.map(table.get), keys.map(table.has), table.keyAt(range, 3), table.countIn?.(range)]
}

describe("EntryTable", () => {
  it.effect("has what was put", () =>
    Effect.gen(function*() {
      for (const changes of yield* Arbitrary.sampleEffect(Arbitrary.schema(Schema.Array(change)), { count: 50 })) {
        const [expected, table] = [new MemoryTable<string>(), new EntryTable()]
        for (const { key, record } of [...changes, { key: 50, record: 2 ** 48 - 1 }]) {
          for (const one of [expected, table]) {
            if (record === undefined) one.remove(keyOf(key))
            else one.put(keyOf(key), recordIdOf(record))
          }
        }
        assert.deepStrictEqual(contentOf(table), contentOf(expected))
      }
    }))
})
