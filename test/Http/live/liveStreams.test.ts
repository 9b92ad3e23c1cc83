import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Duration, Effect, Exit, Logger, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { spend } from "../../../packages/document-store/src/internal/stepBudget.ts"
import { Channel, type Subscriber } from "../../../src/Http/live/channel.ts"
import { makeLiveStreams } from "../../../src/Http/live/liveStreams.ts"
import { ToldChange } from "../../../src/Http/live/messages.ts"
import * as EmbeddedStore from "../../../src/Repository/EmbeddedStore.ts"
import { StoreUnavailable } from "../../../src/Repository/RepositoryError.ts"

describe("live / liveStreams", () => {
  it.live("reads a change once for all streams of a collection, and decides on it once for each view", () =>
    Effect.gen(function*() {
      const store = yield* EmbeddedStore.makeMemory
      yield* store.changes.record("things", {})
      let readers = 0
      const changes = {
        ...store.changes,
        stream: (...args: Parameters<typeof store.changes.stream>) => {
          readers += 1
          return store.changes.stream(...args)
        }
      }
      const streams = yield* makeLiveStreams({ ...store, changes }, options)
      const decisions = new Map<string, number>()
      const texts = new Map<string, number>()
      const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
      const join = (key: string) => {
        const seen = {
          type: "things",
          key,
          sees: () => {
            count(decisions, key)
            return true
          },
          textOf: () => {
            count(texts, key)
            return "{}"
          },
          keyOf: String
        }
        const lists = [{ collection: "things", upgraded: <A>(change: A) => change, seen }]
        return Effect.map(streams.channel({ key, lists, rights: "" }, ""), (channel) => {
          const subscriber = subscriberOf()
          channel.subscribe(subscriber)
          return { channel, subscriber }
        })
      }
      const scope = yield* Scope.Scope
      const joined = yield* Effect.forEach(
        Array.from({ length: 1_000 }, (_, i) => i % 2 === 0 ? "one" : "other"),
        (key) => Scope.provide(join(key), scope)
      )
      for (let i = 0; i < 10; i++) yield* store.insertOne("things", { _id: i })
      const told = ({ channel, subscriber }: typeof joined[number]) =>
        Effect.gen(function*() {
          let messages = 0
          while (messages < 10) {
            yield* channel.wait(subscriber)
            messages += (channel.take(subscriber, 1_000_000) ?? []).flatMap((entry) => entry.messages).length
          }
          return messages
        })
      const all = yield* Effect.forEach(joined, told, { concurrency: 1_000 })
      assert.deepStrictEqual(new Set(all), new Set([10]))
      assert.strictEqual(readers, 1)
      assert.deepStrictEqual([decisions, texts], [
        new Map([["one", 10], ["other", 10]]),
        new Map([["one", 10], ["other", 10]])
      ])
    }).pipe(Effect.scoped))

  it.effect("ends, says so and begins again when a change of the log does not arrive, but not while there is none", () =>
    Effect.gen(function*() {
      const store = yield* EmbeddedStore.makeMemory
      yield* store.changes.record("things", {})
      let readers = 0
      const changes = {
        ...store.changes,
        // The first one says where it begins, and then nothing.
        stream: (...args: Parameters<typeof store.changes.stream>) => {
          readers += 1
          const pages = store.changes.stream(...args)
          return readers === 1 ? Stream.concat(Stream.take(pages, 1), Stream.never) : pages
        }
      }
      const messages: Array<unknown> = []
      yield* Effect.gen(function*() {
        const heartbeat = Duration.seconds(15)
        const streams = yield* makeLiveStreams({ ...store, changes }, { ...options, heartbeat })
        const asked = { key: "one", lists: [listOf("{}")], rights: "" }
        const scope = yield* Scope.make()
        const subscriber = subscriberOf()
        const first = yield* Scope.provide(streams.channel(asked, ""), scope)
        first.subscribe(subscriber)
        yield* TestClock.adjust("1 hour")
        assert.isUndefined(subscriber.ended)
        yield* store.insertOne("things", { _id: 1 })
        // The last stream of a reader ends it as soon as it knows.
        subscriber.next = Infinity
        const told = Effect.repeat(first.wait(subscriber), { until: () => subscriber.ended !== undefined })
        yield* Effect.forkChild(Effect.andThen(told, Scope.close(scope, Exit.void)), { startImmediately: true })
        yield* TestClock.adjust(heartbeat)
        assert.isDefined(subscriber.ended)
        assert.deepStrictEqual(messages, ["The streams of things end, and begin again"])
        const second = yield* streams.channel(asked, "")
        const other = subscriberOf()
        second.subscribe(other)
        yield* store.insertOne("things", { _id: 2 })
        yield* second.wait(other)
        yield* TestClock.adjust("1 hour")
        assert.isUndefined(other.ended)
        assert.strictEqual(readers, 2)
      }).pipe(
        Effect.provide(Logger.layer([Logger.make(({ message }) => messages.push([message].flat()[0]))]))
      )
    }).pipe(Effect.scoped))

  it.live("lets others run between the streams, and ends those whose callers or all of which take too much work", () =>
    Effect.gen(function*() {
      const store = yield* EmbeddedStore.makeMemory
      yield* store.changes.record("things", {})
      const streams = yield* makeLiveStreams(store, { ...options, maxStreamsPerCaller: 10 })
      const scope = yield* Scope.Scope
      let [texts, turns, first, last] = [0, 0, 0, 0]
      /** Streams of a caller, for each of which a change is so much work. */
      const opened = (caller: string, count: number, work: number) =>
        Effect.forEach(Array.from({ length: count }, (_, i) => i), (i) =>
          Effect.gen(function*() {
            const list = listOf("{}")
            const seen = {
              ...list.seen,
              sees: () => {
                first ||= turns
                last = turns
                spend(work)
                return true
              },
              textOf: () => {
                texts += 1
                return "{}"
              }
            }
            const asked = { key: `${caller} ${work} ${i}`, lists: [{ ...list, seen }], rights: "" }
            const channel = yield* Scope.provide(streams.channel(asked, caller), scope)
            const subscriber = { ...subscriberOf(), caller }
            channel.subscribe(subscriber)
            return {
              told: () => channel.take(subscriber, 1_000_000)?.flatMap(({ messages }) => messages).length,
              isEnded: () => subscriber.ended !== undefined
            }
          }))
      const write = (id: number) => Effect.andThen(store.insertOne("things", { _id: id }), Effect.sleep("100 millis"))
      yield* Effect.forkChild(Effect.forever(Effect.andThen(Effect.sync(() => void (turns += 1)), Effect.yieldNow)))
      const simple = yield* opened("greedy", 10, 100)
      yield* write(0)
      const told = (all: typeof simple) => all.map((one) => one.isEnded() ? "ended" : one.told())
      assert.deepStrictEqual(told(simple), simple.map(() => 1))
      texts = first = 0
      const greedy = yield* opened("greedy", 10, 400_000)
      const modest = yield* Effect.forEach(Array.from({ length: 20 }, (_, i) => `${i}`), (i) => opened(i, 1, 300_000))
      yield* write(1)
      const rest = Array.from({ length: 7 }, () => "ended")
      assert.deepStrictEqual<ReadonlyArray<unknown>>(told(greedy), [1, 1, "ended", ...rest])
      assert.deepStrictEqual(told(simple), simple.map(() => 1))
      assert.deepStrictEqual(told(modest.flat()), modest.map(() => 1))
      // All of them see the same fields.
      assert.strictEqual(texts, 1)
      // Seven steps.
      assert.isAtLeast(last - first, 2)
      // Each is within its own budget, but all of them are not.
      const others = yield* Effect.forEach(Array.from({ length: 40 }, (_, i) => `o${i}`), (i) => opened(i, 1, 300_000))
      yield* write(2)
      const ends = [greedy.slice(0, 2), modest.flat(), others.flat()].flat().filter((one) => one.isEnded())
      assert.strictEqual(ends.length, 30)
      assert.deepStrictEqual(told(simple), simple.map(() => 1))
    }).pipe(Effect.scoped))

  it("holds what all have taken until the next heartbeat, and no longer", () => {
    const channel = new Channel([listOf("{}")], "", "0000")
    const [one, slow] = [subscriberOf(), subscriberOf()]
    for (const subscriber of [one, slow]) {
      channel.subscribe(subscriber)
      channel.join(subscriber, "0000")
    }
    const places: Array<string> = []
    for (let i = 1; i < 5_000; i++) {
      const place = String(i).padStart(4, "0")
      const change = { position: place, transaction: place, collection: "things", id: i, time: new Date(i) }
      channel.publish(new ToldChange({ ...change, operation: "insert", after: { _id: i } }), place)
      channel.moveTo(place, true)
      places.push(...channel.take(one, 1_000_000)!.map(({ next }) => next))
      if (i < 1_000) assert.isTrue(channel.isHeldAfter("0001"), place)
      if (i % 10 === 0) channel.beat()
      // Those that come now find what was told since the heartbeat before.
      if (i > 1_020 && i % 10 === 9) {
        assert.isTrue(channel.isHeldAfter(String(i - 10).padStart(4, "0")), place)
        assert.isFalse(channel.isHeldAfter(String(i - 25).padStart(4, "0")), place)
      }
      if (i === 1_000) {
        const late = channel.take(slow, 10_000_000)
        assert.strictEqual(late?.filter(({ messages }) => messages.length > 0).length, 1_000)
        channel.unsubscribe(slow)
      }
    }
    assert.strictEqual(new Set(places).size, 4_999)
  })

  it("holds what is sent until the last of its streams has taken it, and nothing for one alone", () => {
    const channel = new Channel([listOf("{}")], "", "0000")
    const streams = [subscriberOf(), subscriberOf(), subscriberOf()]
    const publish = (i: number) => {
      const place = String(i).padStart(4, "0")
      const change = { position: place, transaction: place, collection: "things", id: i, time: new Date(i) }
      channel.publish(new ToldChange({ ...change, operation: "insert", after: { _id: i } }), place)
    }
    const taken = (subscriber: Subscriber) => {
      const [entry] = channel.take(subscriber, 1_000_000)!
      return { entry: entry!, chunk: channel.chunkOf(entry!, 0) }
    }
    for (const subscriber of streams) {
      channel.subscribe(subscriber)
      channel.join(subscriber, "0000")
    }
    publish(1)
    const [first, second] = [taken(streams[0]!), taken(streams[1]!)]
    assert.strictEqual(first.entry.chunk, first.chunk)
    assert.strictEqual(second.chunk, first.chunk)
    assert.strictEqual(taken(streams[2]!).chunk, first.chunk)
    assert.isUndefined(first.entry.chunk)
    for (const gone of streams.splice(1)) channel.unsubscribe(gone)
    publish(2)
    const alone = taken(streams[0]!)
    assert.isAbove(alone.chunk.length, 0)
    assert.isUndefined(alone.entry.chunk)
  })

  const ends: ReadonlyArray<readonly [name: string, end: Cause.Cause<StoreUnavailable>]> = [
    [
      "it could not be read",
      Cause.fail(new StoreUnavailable({ operation: "read", detail: "for now", retryable: true }))
    ],
    ["its reader has died", Cause.die(new Error("a defect"))],
    ["its reader was interrupted", Cause.interrupt()]
  ]
  it.live.each(ends)(
    "begins anew for those who come to a log after %s, whoever is still there",
    ([, end]) =>
      Effect.gen(function*() {
        const store = yield* EmbeddedStore.makeMemory
        yield* store.changes.record("things", {})
        const failing = yield* Deferred.make<void, StoreUnavailable>()
        let readers = 0
        const changes = {
          ...store.changes,
          stream: (...args: Parameters<typeof store.changes.stream>) => {
            readers += 1
            const pages = store.changes.stream(...args)
            return readers === 1 ? Stream.interruptWhen(pages, Deferred.await(failing)) : pages
          }
        }
        const streams = yield* makeLiveStreams({ ...store, changes }, { ...options, heartbeat: Duration.millis(5) })
        const asked = { key: "one", lists: [listOf("{}")], rights: "" }
        // A stream whose client takes nothing, and so holds the channel until it is interrupted.
        const stuck = yield* Scope.make()
        const interrupted = yield* Deferred.make<void>()
        const first = yield* Scope.provide(streams.channel(asked, ""), stuck)
        const subscriber = { ...subscriberOf(), interrupt: () => Deferred.doneUnsafe(interrupted, Effect.void) }
        first.subscribe(subscriber)
        yield* Deferred.failCause(failing, end)
        yield* Effect.repeat(Effect.sleep("1 millis"), { until: () => subscriber.ended !== undefined })
        const second = yield* streams.channel(asked, "")
        assert.notStrictEqual(second, first)
        const other = subscriberOf()
        second.subscribe(other)
        yield* store.insertOne("things", { _id: 1 })
        yield* second.wait(other)
        assert.isUndefined(other.ended)
        yield* Deferred.await(interrupted)
        assert.strictEqual(readers, 2)
      }).pipe(Effect.scoped)
  )
})

const options = {
  heartbeat: Duration.minutes(1),
  pollTimeout: Duration.minutes(1),
  maxStreams: 5_000,
  maxStreamsPerCaller: 5_000,
  revocationDelay: Duration.seconds(30)
}

const listOf = (text: string) => ({
  collection: "things",
  upgraded: <A>(change: A) => change,
  seen: { type: "things", key: "", sees: () => true, textOf: () => text, keyOf: String }
})

const subscriberOf = (): Subscriber => ({
  caller: "",
  next: 0,
  after: "",
  seen: 0,
  resume: undefined,
  ended: undefined,
  interrupt: () => {}
})
