/**
 * The open streams of a service: how many there are, of whom, and the channels that they share.
 */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Hash from "effect/Hash"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { hash } from "node:crypto"
import { BoundedCache } from "../../internal/boundedCache.ts"
import type { DocumentStore, Position } from "../../Repository/DocumentStore.ts"
import { type PositionGone, type ReadError, StoreUnavailable } from "../../Repository/RepositoryError.ts"
import { errorOf, type ServiceUnavailable, type TooManyRequests } from "../HttpError.ts"
import type { LiveOptions } from "../KernelConfig.ts"
import { tooManyRequestsAfter } from "../messages/message.ts"
import { Channel } from "./channel.ts"
import type { ToldList } from "./messages.ts"
import { costly, costlyEvent, type Readers, tellChanges, type WorkLimits, workLimitsOf } from "./tellChanges.ts"

/** What a channel is made of. */
export interface ChannelOptions {
  /** Two channels with the same key are the same. */
  readonly key: string
  readonly lists: ReadonlyArray<ToldList>
  readonly rights: string
}

export interface LiveStreams extends LiveOptions {
  readonly store: DocumentStore["Service"]
  /**
   * The time between two decisions on a stream, which is also the age of the facts that they go by, and the time that they may
   * take: together they are the delay within which rights end.
   */
  readonly decisionInterval: Duration.Duration
  /** Counts a stream until the scope closes. Fails if there are too many. */
  readonly admit: (caller: string) => Effect.Effect<void, ServiceUnavailable | TooManyRequests, Scope.Scope>
  /** The work that a change may take. */
  readonly workLimits: WorkLimits
  /** A channel, which ends with the last of its streams. Fails for a while if it was too much work for the caller's streams. */
  readonly channel: (
    options: ChannelOptions,
    caller: string
  ) => Effect.Effect<Channel, ReadError | PositionGone | TooManyRequests, Scope.Scope>
  /** Ends all streams. */
  readonly end: Effect.Effect<void>
}

export const makeLiveStreams = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  { revocationDelay, ...options }: LiveOptions & { readonly revocationDelay: Duration.Duration }
): Effect.fn.Return<LiveStreams, never, Scope.Scope> {
  const { heartbeat, maxStreams, maxStreamsPerCaller } = options
  const workLimits = workLimitsOf(options)
  const refused = new BoundedCache<number>(1_024)
  let count = 0
  let isEnded = false
  const counts = new Map<string, number>()
  const open = new Set<Reader>()
  // All channels of the same collections share one reader of the log, however many lists there are.
  const readers: RcMap.RcMap<string, Reader, ReadError | PositionGone> = yield* RcMap.make({
    lookup: Effect.fnUntraced(function*(joined: string) {
      const reader: Reader = { channels: new Map(), end: "", isEnded: false }
      const ready = yield* Deferred.make<void, ReadError | PositionGone>()
      const collections = joined.split("\n")
      const reading = store.changes.stream(collections).pipe(
        Stream.runForEach((page) =>
          Effect.andThen(
            tellChanges(reader, page, workLimits, endCostly(reader)),
            Deferred.succeed(ready, undefined)
          )
        ),
        Effect.andThen(Effect.fail(lost("the stream of the changes has ended"))),
        Effect.raceFirst(watched(store, collections, reader, heartbeat)),
        Effect.onExit((exit) =>
          Effect.gen(function*() {
            // Said first: the last of the streams ends this fiber.
            if (Exit.isFailure(exit) && !Exit.hasInterrupts(exit)) {
              yield* Effect.logWarning(`The streams of ${collections.join(", ")} end, and begin again`, exit.cause)
            }
            endAll(reader)
            yield* Deferred.done(ready, Exit.asVoid(exit))
          })
        )
      )
      const beats = Effect.forever(Effect.andThen(
        Effect.sleep(heartbeat),
        Effect.sync(() => {
          for (const channel of reader.channels.values()) channel.beat()
        })
      ))
      yield* Effect.acquireRelease(Effect.sync(() => open.add(reader)), () => Effect.sync(() => open.delete(reader)))
      // Those who come later share others, for as long as a stream that takes nothing holds these.
      const left = Effect.andThen(
        RcMap.invalidate(readers, joined),
        Effect.suspend(() => Effect.forEach(reader.channels.keys(), (key) => RcMap.invalidate(channels, key)))
      )
      yield* Effect.forkScoped(Effect.andThen(Effect.ignoreCause(reading), left))
      yield* Effect.forkScoped(beats)
      yield* Deferred.await(ready)
      return reader
    })
  })
  const channels: RcMap.RcMap<ChannelKey, Channel, ReadError | PositionGone> = yield* RcMap.make({
    lookup: Effect.fnUntraced(function*(key: ChannelKey) {
      const { lists, rights } = key.options
      const reader = yield* RcMap.get(readers, lists.map(({ collection }) => collection).join("\n"))
      return yield* Effect.acquireRelease(
        Effect.sync(() => {
          const channel = new Channel(lists, rights, reader.end)
          reader.channels.set(key, channel)
          if (reader.isEnded) channel.endAll()
          return channel
        }),
        () => Effect.sync(() => reader.channels.delete(key))
      )
    })
  })

  /** Ends the streams of callers in a channel, and refuses them such streams for a time. */
  const endCostly =
    (reader: Reader) => (key: ChannelKey, channel: Channel, callers: ReadonlySet<string>): Effect.Effect<void> =>
      Effect.flatMap(Clock.Clock, (clock) => {
        const now = monotonicMillis(clock)
        // What was not decided yet may be little work.
        if (Number.isFinite(channel.work)) {
          for (const caller of callers) refused.set(refusalOf(caller, key.options), now + refusalMillis)
        }
        channel.endOf(callers, costlyEvent)
        if (!channel.isEnded) return Effect.void
        reader.channels.delete(key)
        return RcMap.invalidate(channels, key)
      })

  return {
    ...options,
    decisionInterval: Duration.max(Duration.times(revocationDelay, 1 / 3), minDecisionInterval),
    store,
    workLimits,
    admit: (caller) =>
      Effect.asVoid(Effect.acquireRelease(
        Effect.suspend((): Effect.Effect<void, ServiceUnavailable | TooManyRequests> => {
          const own = counts.get(caller) ?? 0
          if (own >= maxStreamsPerCaller) {
            return Effect.fail(tooManyRequestsAfter("errors.TooManyRequests", retryMillis))
          }
          if (isEnded || count >= maxStreams) return Effect.fail(full)
          count += 1
          counts.set(caller, own + 1)
          return Effect.void
        }),
        () =>
          Effect.sync(() => {
            count -= 1
            const own = (counts.get(caller) ?? 1) - 1
            if (own === 0) counts.delete(caller)
            else counts.set(caller, own)
          })
      )),
    channel: Effect.fnUntraced(function*(options, caller) {
      const now = monotonicMillis(yield* Clock.Clock)
      const until = refused.get(refusalOf(caller, options)) ?? now
      return until > now ? yield* costly(until - now) : yield* RcMap.get(channels, new ChannelKey(options))
    }),
    end: Effect.sync(() => {
      isEnded = true
      open.forEach(endAll)
    })
  }
})

// internal

interface Reader extends Readers<ChannelKey> {
  isEnded: boolean
}

/**
 * Fails if a change that the log has does not arrive. It could not be told otherwise from a log without changes.
 */
const watched = Effect.fnUntraced(function*(
  { changes }: DocumentStore["Service"],
  collections: ReadonlyArray<string>,
  reader: Reader,
  heartbeat: Duration.Duration
): Effect.fn.Return<never, ReadError | PositionGone> {
  const interval = Duration.max(Duration.times(heartbeat, 1 / 2), minWatchInterval)
  let due: Position = ""
  // Up to here there was nothing. A place of long before may be kept no longer.
  let empty: Position = ""
  while (true) {
    yield* Effect.sleep(interval)
    if (due > reader.end) return yield* Effect.fail(lost("a change is not followed"))
    const after = reader.end > empty ? reader.end : empty
    const next = yield* changes.read(collections, { after, limit: 1 })
    due = next.changes[0]?.position ?? ""
    if (due === "") empty = next.position
  }
})

const lost = (detail: string) => new StoreUnavailable({ operation: "changes", detail, retryable: true })

// A busy server takes some time to tell a change.
const minWatchInterval = Duration.seconds(5)

const endAll = (reader: Reader): void => {
  reader.isEnded = true
  for (const channel of reader.channels.values()) channel.endAll()
}

class ChannelKey implements Equal.Equal {
  readonly options: ChannelOptions
  constructor(options: ChannelOptions) {
    this.options = options
  }
  [Equal.symbol](that: Equal.Equal): boolean {
    return that instanceof ChannelKey && that.options.key === this.options.key
  }
  [Hash.symbol](): number {
    return Hash.string(this.options.key)
  }
}

const minDecisionInterval = Duration.millis(50)

const retryMillis = 5_000

const refusalMillis = 60_000

const refusalOf = (caller: string, { key }: ChannelOptions): string => hash("sha256", `${caller}\n${key}`)

const full = errorOf("ServiceUnavailable", "errors.Overload")
