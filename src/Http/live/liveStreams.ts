/**
 * The open streams of a service: how many there are, of whom, and the channels that they share.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Hash from "effect/Hash"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { PositionGone, ReadError } from "../../Repository/RepositoryError.ts"
import { ServiceUnavailable, type TooManyRequests } from "../HttpError.ts"
import type { LiveOptions } from "../KernelConfig.ts"
import { englishOf, tooManyRequests, translatable } from "../messages/message.ts"
import { Channel } from "./channel.ts"
import type { ToldList } from "./messages.ts"

/**
 * What a channel is made of.
 *
 * @internal
 */
export interface ChannelOptions {
  /** Two channels with the same key are the same. */
  readonly key: string
  readonly lists: ReadonlyArray<ToldList>
  readonly rights: string
}

/** @internal */
export interface LiveStreams extends LiveOptions {
  readonly store: DocumentStore["Service"]
  /**
   * The time between two decisions on a stream, which is also the age of the facts that they go by, and the time that they may
   * take: together they are the delay within which rights end.
   */
  readonly decisionInterval: Duration.Duration
  /** Counts a stream until the scope closes. Fails if there are too many. */
  readonly admit: (caller: string) => Effect.Effect<void, ServiceUnavailable | TooManyRequests, Scope.Scope>
  /** A channel, which ends with the last of its streams. */
  readonly channel: (options: ChannelOptions) => Effect.Effect<Channel, ReadError | PositionGone, Scope.Scope>
  /** Ends all streams. */
  readonly end: Effect.Effect<void>
}

/** @internal */
export const makeLiveStreams = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  { revocationDelay, ...options }: LiveOptions & { readonly revocationDelay: Duration.Duration }
): Effect.fn.Return<LiveStreams, never, Scope.Scope> {
  const { heartbeat, maxStreams, maxStreamsPerCaller } = options
  let count = 0
  let isEnded = false
  const counts = new Map<string, number>()
  const open = new Set<Channel>()
  const channels = yield* RcMap.make({
    lookup: Effect.fnUntraced(function*({ options: { lists, rights } }: ChannelKey) {
      const channel = new Channel(lists, rights)
      const collections = lists.map(({ collection }) => collection)
      yield* Effect.acquireRelease(Effect.sync(() => open.add(channel)), () => Effect.sync(() => open.delete(channel)))
      const ready = yield* Deferred.make<void, ReadError | PositionGone>()
      const pump = store.changes.stream(collections).pipe(
        Stream.runForEach((page) =>
          Effect.andThen(
            Effect.sync(() => channel.publish(page)),
            Deferred.succeed(ready, undefined)
          )
        ),
        Effect.onExit((exit) =>
          Effect.andThen(
            Effect.sync(() => channel.endAll()),
            Deferred.done(ready, Exit.asVoid(exit))
          )
        )
      )
      const beats = Effect.forever(Effect.andThen(Effect.sleep(heartbeat), Effect.sync(() => channel.beat())))
      yield* Effect.forkScoped(Effect.raceFirst(
        Effect.catch(pump, (error) => Effect.logWarning(`The streams of ${collections.join()} end: ${error.message}`)),
        beats
      ))
      yield* Deferred.await(ready)
      return channel
    })
  })

  return {
    ...options,
    decisionInterval: Duration.max(Duration.times(revocationDelay, 1 / 3), minDecisionInterval),
    store,
    admit: (caller) =>
      Effect.asVoid(Effect.acquireRelease(
        Effect.suspend((): Effect.Effect<void, ServiceUnavailable | TooManyRequests> => {
          const own = counts.get(caller) ?? 0
          if (own >= maxStreamsPerCaller) return Effect.fail(tooManyRequests("errors.TooManyRequests", retryMillis))
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
    channel: (options) => RcMap.get(channels, new ChannelKey(options)),
    end: Effect.sync(() => {
      isEnded = true
      for (const channel of open) channel.endAll()
    })
  }
})

// internal

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

const full = translatable(new ServiceUnavailable({ message: englishOf("errors.Overload") }), "errors.Overload")
