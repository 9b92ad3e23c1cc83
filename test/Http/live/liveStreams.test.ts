import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Scope } from "effect"
import type { Subscriber } from "../../../src/Http/live/channel.ts"
import { makeLiveStreams } from "../../../src/Http/live/liveStreams.ts"
import * as EmbeddedStore from "../../../src/Repository/EmbeddedStore.ts"

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
      const streams = yield* makeLiveStreams({ ...store, changes }, {
        heartbeat: Duration.minutes(1),
        pollTimeout: Duration.minutes(1),
        maxStreams: 5_000,
        maxStreamsPerCaller: 5_000,
        revocationDelay: Duration.seconds(30)
      })
      const decisions = new Map<string, number>()
      const texts = new Map<string, number>()
      const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
      const join = (key: string) => {
        const seen = {
          type: "things",
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
        const lists = [{ collection: "things", lifted: <A>(change: A) => change, seen }]
        return Effect.map(streams.channel({ key, lists, rights: "" }), (channel) => {
          const subscriber: Subscriber = {
            next: 0,
            after: "",
            seen: 0,
            resume: undefined,
            ended: undefined,
            interrupt: () => {}
          }
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
})
