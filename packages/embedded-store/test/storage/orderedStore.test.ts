import { DataDamaged } from "@appkernel/document-store/StoreError"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Context, Effect, Exit, Fiber, Layer, Result, Schema } from "effect"
import { freshDirectory } from "../../../../test/support/folders.ts"
import { beginStep, spend } from "../../../document-store/src/internal/stepBudget.ts"
import { recordIdOf } from "../../../mql/src/bson/keyEncoding.ts"
import * as keyValueLmdb from "../../src/storage/lmdb/store.ts"
import * as keyValueMemory from "../../src/storage/memory/store.ts"
import { everything, type KeyValue, type Range, type SteppedKeyValue } from "../../src/storage/orderedStore.ts"

const byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))

// Few different bytes, so that keys meet.
const key = Arbitrary.map(
  Arbitrary.array(Arbitrary.map(Arbitrary.schema(byte), (byte) => [0, 1, 97, 254, 255][byte % 5] ?? 0), {
    minLength: 1,
    maxLength: 3
  }),
  (bytes) => String.fromCharCode(...bytes)
)

// Where the memory store begins another block, and far behind.
const recordNumber = Arbitrary.map(
  Arbitrary.schema(byte),
  (byte) => [0, 250, 506, 1_790][byte % 4]! + (byte >> 2) % 12
)

const recordBound = Arbitrary.map(
  Arbitrary.all({ number: recordNumber, kind: Arbitrary.schema(Schema.Literals(["at", "behind", "all"])) }),
  ({ kind, number }) =>
    kind === "all" ? [everything.start, everything.end][number % 2]! : recordIdOf(number) + (kind === "at" ? "" : "\0")
)

// Close to one another.
const recordId = Arbitrary.map(Arbitrary.schema(byte), (byte) => recordIdOf(0xfff0 + byte % 40))

const change = Arbitrary.all({ key, isRemoved: Arbitrary.schema(Schema.Boolean) })

// Several blocks of keys, whose places a store on disk learns.
const place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6_500 }))

const placedKey = (number: number) => `key ${String(number).padStart(5, "0")}`

const placedStep = Schema.Struct({
  at: place,
  length: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_500 })),
  isRemoved: Schema.Boolean,
  way: Schema.Literals(["job", "aborted", "long job"])
})

/** An entry has the id of a record, here of another one for each key. */
const valueOf = (key: string) =>
  recordIdOf(Array.from(key).reduce((sum, character) => (sum * 257 + character.charCodeAt(0)) % 2 ** 40, 1))

const keysOf = (store: KeyValue, table: number, range: Range, limit: number) => {
  const keys: Array<string> = []
  store.entries(table).scan(range, (key, value) => {
    assert.strictEqual(value, valueOf(key))
    return keys.push(key) < limit
  })
  const again: Array<string> = []
  store.entries(table).scanKeys(range, (key) => again.push(key) < limit)
  assert.deepStrictEqual(again, keys)
  for (const [place, key] of keys.entries()) assert.strictEqual(store.entries(table).keyAt(range, place), key)
  if (keys.length < limit) {
    assert.isUndefined(store.entries(table).keyAt(range, keys.length))
    assert.oneOf(store.entries(table).countIn?.(range), [keys.length, undefined])
  }
  return keys
}

const isPassedOver = new Set<KeyValue>()

/** Reads so many documents once that values are no longer looked for among those that are known. */
const passOverCache = (store: KeyValue) =>
  Effect.gen(function*() {
    const documents = store.documents(tables += 1)
    const keys = Array.from({ length: 20_000 }, (_, i) => recordIdOf(i))
    yield* store.write("test", () => {
      for (const key of keys) documents.put(key, Result.getOrThrow(store.encode({ key })), undefined)
    })
    for (const key of keys) documents.get(key)
  })

class Tables extends Context.Service<Tables, SteppedKeyValue>()("test/Tables") {}

let tables = 0

for (
  const [name, layer] of [
    ["memory", Layer.effect(Tables, keyValueMemory.make)],
    ["embedded", Layer.effect(Tables, Effect.flatMap(freshDirectory, keyValueLmdb.make))]
  ] as const
) {
  it.layer(layer)(`KeyValue / ${name}`, (it) => {
    it.effect.prop("iterates in order after puts and removals", {
      changes: Arbitrary.array(change, { maxLength: 40 }),
      start: key,
      end: key,
      reverse: Schema.Boolean,
      limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 }))
    }, ({ changes, end, limit, reverse, start }) =>
      Effect.gen(function*() {
        const store = yield* Tables
        const table = tables += 1
        const expected = new Set<string>()
        yield* store.write("test", () => {
          for (const { isRemoved, key } of changes) {
            if (isRemoved) store.entries(table).remove(key, undefined)
            else store.entries(table).put(key, valueOf(key), undefined)
            if (isRemoved) expected.delete(key)
            else expected.add(key)
            assert.strictEqual(store.entries(table).has(key), expected.has(key))
          }
          // A neighbour's keys are its own.
          store.entries(table + 10_000).put("neighbour", valueOf("neighbour"), undefined)
        })
        const ordered = Array.from(expected).toSorted().filter((key) => key >= start && key < end)
        assert.deepStrictEqual(
          keysOf(store, table, { start, end, reverse }, limit),
          (reverse ? ordered.toReversed() : ordered).slice(0, limit)
        )
      }), { arbitrary: { runs: 300 } })

    it.effect.prop("keeps documents in the order of their record ids after puts and removals", {
      changes: Arbitrary.array(Arbitrary.all({ number: recordNumber, isRemoved: Arbitrary.schema(Schema.Boolean) }), {
        minLength: 20,
        maxLength: 60
      }),
      start: recordBound,
      end: recordBound,
      reverse: Schema.Boolean,
      limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 }))
    }, ({ changes, end, limit, reverse, start }) =>
      Effect.gen(function*() {
        const store = yield* Tables
        const documents = store.documents(tables += 1)
        const expected = new Map<string, number>()
        yield* store.write("test", () => {
          for (const [n, { isRemoved, number }] of changes.entries()) {
            const key = recordIdOf(number)
            if (isRemoved) documents.remove(key, undefined)
            else documents.put(key, Result.getOrThrow(store.encode({ n })), undefined)
            if (isRemoved) expected.delete(key)
            else expected.set(key, n)
            assert.strictEqual(documents.has(key), expected.has(key))
            assert.deepStrictEqual(documents.get(key), isRemoved ? undefined : { n })
          }
        })
        const ordered = Array.from(expected.keys()).toSorted().filter((key) => key >= start && key < end)
        const seen: Array<string> = []
        documents.scan({ start, end, reverse }, (key, document) => {
          assert.deepStrictEqual(document, { n: expected.get(key) })
          return seen.push(key) < limit
        })
        const keys: Array<string> = []
        documents.scanKeys({ start, end, reverse }, (key) => keys.push(key) < limit)
        assert.deepStrictEqual(seen, (reverse ? ordered.toReversed() : ordered).slice(0, limit))
        assert.deepStrictEqual(keys, seen)
        for (const [place, key] of ordered.entries()) {
          const from = reverse ? ordered.length - 1 - place : place
          assert.strictEqual(documents.keyAt({ start, end, reverse }, from), key)
        }
        assert.isUndefined(documents.keyAt({ start, end, reverse }, ordered.length))
      }), { arbitrary: { runs: 300 } })

    it.effect.prop("a long job is invisible before its commit, and atomic", {
      kept: Arbitrary.array(change, { maxLength: 20 }),
      changes: Arbitrary.array(change, { minLength: 1, maxLength: 20 }),
      start: key,
      end: key,
      reverse: Schema.Boolean,
      fails: Schema.Boolean
    }, ({ changes, end, fails, kept, reverse, start }) =>
      Effect.gen(function*() {
        const store = yield* Tables
        const entries = store.entries(tables += 1)
        const keys = Array.from(new Set([...kept, ...changes].map(({ key }) => key)))
        const put = ({ isRemoved, key }: { readonly isRemoved: boolean; readonly key: string }, value: string) => {
          const before = entries.get(key)
          if (isRemoved) entries.remove(key, before)
          else entries.put(key, value, before)
        }
        const state = () => {
          const scanned: Array<string> = []
          const scannedKeys: Array<string> = []
          entries.scan({ start, end, reverse }, (key, value) => scanned.push(`${key}=${value}`) > 0)
          entries.scanKeys({ start, end, reverse }, (key) => scannedKeys.push(key) > 0)
          return {
            scanned,
            scannedKeys,
            places: [0, 1, 5].map((place) => entries.keyAt({ start, end, reverse }, place)),
            count: entries.countIn?.({ start, end, reverse }) ?? scannedKeys.length,
            got: keys.map((key) => entries.get(key)),
            has: keys.map((key) => entries.has(key))
          }
        }
        yield* store.write("test", () => {
          for (const change of kept) put(change, "old")
        })
        const before = state()
        let within = before
        const job = function*() {
          for (const change of changes) {
            put(change, "new")
            within = state()
            // Enough for one turn.
            spend(1_000_000)
            yield
          }
          if (fails) assert.fail("it fails")
          return "done"
        }
        const fiber = yield* Effect.forkChild(Effect.exit(store.writeInSteps("test", job)), { startImmediately: true })
        const other = yield* Effect.forkChild(store.write("test", () => "other"), { startImmediately: true })
        while (fiber.pollUnsafe() === undefined) {
          assert.deepStrictEqual(state(), before)
          assert.isUndefined(other.pollUnsafe())
          yield* Effect.yieldNow
        }
        const exit = yield* Fiber.join(fiber)
        assert.strictEqual(Exit.isSuccess(exit), !fails)
        assert.strictEqual(yield* Fiber.join(other), "other")
        assert.deepStrictEqual(state(), fails ? before : within)
      }), { arbitrary: { runs: 50 } })

    it.effect.prop("passes the values of the given keys one by one, until the consumer stops", {
      kept: Arbitrary.array(recordId, { minLength: 20, maxLength: 40 }),
      wanted: Arbitrary.array(recordId, { minLength: 8, maxLength: 30 }),
      order: Schema.Literals(["as they come", "up", "down"]),
      limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 }))
    }, ({ kept, limit, order, wanted }) =>
      Effect.gen(function*() {
        const store = yield* Tables
        if (!isPassedOver.has(store)) {
          yield* passOverCache(store)
          isPassedOver.add(store)
        }
        const documents = store.documents(tables += 1)
        yield* store.write("test", () => {
          for (const key of kept) documents.put(key, Result.getOrThrow(store.encode({ key })), undefined)
        })
        const up = Array.from(new Set(wanted)).toSorted()
        const keys = order === "up" ? up : order === "down" ? up.toReversed() : wanted
        const seen: Array<readonly [place: number, document: unknown]> = []
        documents.visit(keys, (place, document) => seen.push([place, document]) < limit)
        const expected = keys.flatMap((key, place) => kept.includes(key) ? [[place, { key }] as const] : [])
        assert.deepStrictEqual(seen, expected.slice(0, limit))
      }), { arbitrary: { runs: 300 } })

    it.effect.prop("knows places and counts in any state, by what a scan of the same state has", {
      steps: Arbitrary.array(Arbitrary.schema(placedStep), { minLength: 5, maxLength: 15 }),
      probes: Arbitrary.array(
        Arbitrary.schema(Schema.Struct({ from: place, to: place, at: place, reverse: Schema.Boolean })),
        {
          minLength: 4,
          maxLength: 4
        }
      )
    }, ({ probes, steps }) =>
      Effect.gen(function*() {
        const store = yield* Tables
        const entries = store.entries(tables += 1)
        const probe = (from: number, isLearning: boolean) => {
          const { at, reverse, ...ends } = probes[from % probes.length]!
          const range = { start: placedKey(ends.from), end: placedKey(ends.to), reverse }
          if (isLearning) {
            beginStep()
            entries.learn?.(range, from % 2 === 0, from % 3 === 0 ? at : Infinity)
          }
          const keys: Array<string> = []
          entries.scanKeys(range, (key) => keys.push(key) > 0)
          for (const count of [entries.countIn?.(range), entries.countLearned?.(range)]) {
            assert.oneOf(count, [keys.length, undefined])
          }
          for (const place of [0, at % (keys.length + 1), keys.length - 1, keys.length]) {
            if (place >= 0) assert.strictEqual(entries.keyAt(range, place), keys[place])
          }
        }
        const apply = ({ at, isRemoved, length }: typeof placedStep.Type) => {
          for (let i = at; i < at + length; i++) {
            const key = placedKey(i)
            const before = entries.get(key)
            if (isRemoved) entries.remove(key, before)
            else entries.put(key, "value", before)
          }
        }
        yield* store.write("test", () => apply({ at: 0, length: 6_000, isRemoved: false, way: "job" }))
        for (const [n, step] of steps.entries()) {
          const written = step.way === "long job"
            ? store.writeInSteps("test", function*() {
              apply(step)
              spend(1_000_000)
              yield
              probe(n, true)
            })
            : store.write("test", () => {
              apply(step)
              probe(n, step.at % 2 === 0)
              // A job in memory is not undone.
              return step.way === "aborted" && name === "embedded" ? assert.fail("it fails") : undefined
            })
          const fiber = yield* Effect.forkChild(Effect.exit(written), { startImmediately: true })
          while (fiber.pollUnsafe() === undefined) {
            probe(n + 1, true)
            yield* Effect.yieldNow
          }
          probe(n + 2, true)
          probe(n + 2, false)
        }
        const range = { ...everything, start: placedKey(1) }
        for (let i = 0; i < 100 && entries.learn?.(range, true, Infinity) === "more"; i++) beginStep()
        let count = 0
        entries.scanKeys(range, () => ++count > 0)
        if (count > 1_100) assert.strictEqual((entries.countIn ?? entries.countLearned)?.(range), count)
      }), { arbitrary: { runs: 20 } })

    it.effect("keeps many keys in order", () =>
      Effect.gen(function*() {
        const store = yield* Tables
        const table = tables += 1
        const keys = Array.from({ length: 3_000 }, (_, i) => `key ${String((i * 7_919) % 3_000).padStart(4, "0")}`)
        yield* store.write("test", () => {
          for (const key of keys) store.entries(table).put(key, valueOf(key), undefined)
          for (const key of keys.slice(0, 1_000)) store.entries(table).remove(key, undefined)
        })
        const kept = keys.slice(1_000).toSorted()
        const range = { start: "", end: "\xff", reverse: false }
        assert.deepStrictEqual(keysOf(store, table, range, Infinity), kept)
        assert.deepStrictEqual(keysOf(store, table, { ...range, reverse: true }, 3), kept.toReversed().slice(0, 3))
      }))
  })
}

describe("KeyValue on disk / embedded", () => {
  it.effect("rolls back a job that throws, and commits the others of its group", () =>
    Effect.gen(function*() {
      const store = yield* Effect.flatMap(freshDirectory, keyValueLmdb.make)
      let aborted = 0
      store.listen({
        describe: () => new DataDamaged({ collection: "" }),
        committed: () => {},
        aborted: () => aborted += 1
      })
      const put = (key: string) => store.write("test", () => store.entries(1).put(key, "value", undefined))
      const broken = store.write("test", () => {
        store.entries(1).put("broken", "value", undefined)
        return assert.fail("broken")
      })
      const exits = yield* Effect.all([put("a"), broken, put("b")].map(Effect.exit), { concurrency: 3 })
      assert.deepStrictEqual(exits.map(({ _tag }) => _tag), ["Success", "Failure", "Success"])
      assert.deepStrictEqual(["a", "b", "broken"].map((key) => store.entries(1).has(key)), [true, true, false])
      // Once together, once alone.
      assert.strictEqual(aborted, 2)
    }))

  it.effect("commits waiting writes in one group", () =>
    Effect.gen(function*() {
      const store = yield* Effect.flatMap(freshDirectory, keyValueLmdb.make)
      let commits = 0
      store.listen({
        describe: () => new DataDamaged({ collection: "" }),
        committed: () => commits += 1,
        aborted: () => {}
      })
      yield* Effect.all(
        Array.from({ length: 200 }, (_, i) =>
          store.write("test", () => store.entries(1).put(`key ${i}`, "value", undefined))),
        { concurrency: "unbounded" }
      )
      assert.isBelow(commits, 10)
    }))
})
