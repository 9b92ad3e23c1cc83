import { recordIdOf } from "@appkernel/mql/internal"
import { assert, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import * as keyValueMemory from "../../src/storage/memory/store.ts"
import { makeVersions, type Snapshot } from "../../src/transaction/snapshots.ts"
import { BufferedTable } from "../../src/transaction/writeBuffer.ts"

const small = (maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))

// Few different keys, so that they meet.
const key = Arbitrary.map(small(30), (n) => n < 5 ? "" : n.toString(3))

const change = Arbitrary.all({ key, value: small(3) })

/** A table over the state of another one, which is written to. */
const make = Effect.gen(function*() {
  const versions = makeVersions(yield* keyValueMemory.make)
  const snapshots: Array<Snapshot> = []
  const write = (changes: ReadonlyArray<{ readonly key: string; readonly value: string | undefined }>) =>
    versions.store.write("test", () => {
      const entries = versions.store.entries(1)
      for (const { key, value } of changes) {
        const before = entries.get(key)
        if (value === undefined) entries.remove(key, before)
        else entries.put(key, value, before)
      }
    })
  const overlay = () => {
    const snapshot = versions.open()
    snapshots.push(snapshot)
    return new BufferedTable<string>(snapshot.entries(1), (value) => value)
  }
  return { write, overlay, base: versions.store.entries(1), close: () => snapshots.shift()?.close() }
})

/** The first numbers of the records that are written then. */
const times = { there: 10, since: 20, written: 30 }

const all = { start: "", end: "~", reverse: false }

it.effect.prop("merges buffered writes with stored entries, in order", {
  there: Arbitrary.array(change, { maxLength: 20 }),
  since: Arbitrary.array(change, { maxLength: 10 }),
  changes: Arbitrary.array(change, { maxLength: 20 }),
  start: key,
  end: key,
  reverse: Schema.Boolean,
  limit: small(8)
}, ({ changes, end, limit, reverse, since, start, there }) =>
  Effect.gen(function*() {
    const { overlay, write } = yield* make
    const valued = (time: keyof typeof times, changes: typeof there) =>
      changes.map(({ key, value }) => ({ key, value: value === 0 ? undefined : recordIdOf(times[time] + value) }))
    const expected = new Map<string, string>()
    const expect = (changes: ReturnType<typeof valued>) => {
      for (const { key, value } of changes) {
        if (value === undefined) expected.delete(key)
        else expected.set(key, value)
      }
    }
    yield* write(valued("there", there))
    expect(valued("there", there))
    const before = new Map(expected)
    const table = overlay()
    const others = overlay()
    // Others write meanwhile, in two commits.
    yield* write(valued("since", since.slice(0, 5)))
    for (const { key, value } of valued("written", changes)) {
      const now = table.get(key)
      if (value === undefined) table.remove(key, now)
      else table.put(key, value, now)
    }
    expect(valued("written", changes))
    yield* write(valued("since", since.slice(5)))
    const inOrder = Array.from(expected)
      .filter(([key]) => key >= start && key < end)
      .toSorted(([a], [b]) => a < b ? -1 : 1)
    const wanted = (reverse ? inOrder.toReversed() : inOrder).slice(0, limit + 1)
    const seen: Array<readonly [string, string]> = []
    table.scan({ start, end, reverse }, (key, value) => seen.push([key, value]) <= limit)
    assert.deepStrictEqual(seen, wanted)
    const keys: Array<string> = []
    table.scanKeys({ start, end, reverse }, (key) => keys.push(key) <= limit)
    assert.deepStrictEqual(keys, wanted.map(([key]) => key))
    for (const [place, [key]] of wanted.entries()) {
      assert.strictEqual(table.keyAt({ start, end, reverse }, place), key)
    }
    assert.isUndefined(table.keyAt({ start, end, reverse }, inOrder.length))
    for (const { key } of [...there, ...changes]) {
      assert.strictEqual(table.get(key), expected.get(key))
      assert.strictEqual(table.has(key), expected.has(key))
      assert.strictEqual(others.get(key), before.get(key))
    }
    const written = new Map(table.written)
    for (const key of new Set(changes.map(({ key }) => key))) {
      assert.deepStrictEqual(written.get(key), { value: expected.get(key), before: before.get(key) })
    }
  }))

it.effect("detects writes to keys and ranges that were read, and only to the part of a range that was read", () =>
  Effect.gen(function*() {
    const { overlay, write } = yield* make
    const put = (key: string) => write([{ key, value: "1" }])
    const restore = write(Array.from("abcdefgh", (key, i) => ({ key, value: i % 2 === 0 ? undefined : "0" })))
    yield* restore
    const reads: ReadonlyArray<
      readonly [read: (table: ReturnType<typeof overlay>) => void, keys: string, not: string]
    > = [
      [(table) => table.get("b"), "b", "ac"],
      [(table) => table.has("c"), "c", "bd"],
      [(table) => table.scanKeys({ ...all, start: "c", end: "f" }, () => true), "cde", "bf"],
      [(table) => table.scanKeys({ ...all, start: "c" }, (key) => key < "f"), "cdef", "bg"],
      [(table) => table.keyAt({ ...all, start: "c" }, 1), "cdef", "bg"],
      [(table) => table.scan({ ...all, end: "h", reverse: true }, (key) => key > "d"), "defg", "bch"],
      [
        (table) => {
          for (const start of ["a", "b\0", "d\0"]) table.scanKeys({ ...all, start, end: "e" }, () => false)
        },
        "abcd",
        "f"
      ],
      [
        (table) => {
          table.put("d", "mine", "0")
          table.get("d")
        },
        "",
        "d"
      ]
    ]
    for (const [read, keys, not] of reads) {
      for (const key of not) {
        const table = overlay()
        read(table)
        yield* put(key)
        assert.isFalse(table.hasConflict, `${keys}, not ${key}`)
        yield* restore
      }
      for (const key of keys) {
        const table = overlay()
        read(table)
        assert.isFalse(table.hasConflict)
        yield* put(key)
        assert.isTrue(table.hasConflict, `${keys}, and ${key}`)
        yield* restore
      }
    }
  }))

it.effect("drops replaced versions when no reader needs them", () =>
  Effect.gen(function*() {
    const { base, close, overlay, write } = yield* make
    const [zero, one, two] = [recordIdOf(0), recordIdOf(1), recordIdOf(2)]
    yield* write([{ key: "a", value: zero }])
    const first = overlay()
    yield* write([{ key: "a", value: one }])
    const second = overlay()
    yield* write([{ key: "a", value: two }])
    assert.deepStrictEqual([first.get("a"), second.get("a"), base.get("a")], [zero, one, two])
    close()
    yield* write([{ key: "b", value: zero }])
    assert.deepStrictEqual([second.get("a"), second.get("b")], [one, undefined])
    // A snapshot is of no use when it is closed.
    assert.strictEqual(first.get("a"), one)
    close()
    assert.strictEqual(second.get("a"), two)
  }))
