/**
 * The open streams of a service: how many there are, of whom, and the channels that they share.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { DocumentStore, StoredChange } from "../../Repository/DocumentStore.ts"
import type { PositionGone, ReadError } from "../../Repository/RepositoryError.ts"
import { ServiceUnavailable, type TooManyRequests } from "../HttpError.ts"
import type { LiveOptions } from "../KernelConfig.ts"
import { englishOf, tooManyRequests, translatable } from "../messages/message.ts"
import { Channel } from "./channel.ts"
import type { MessageView } from "./messages.ts"

/**
 * What a channel is made of. Two with the same key are the same.
 *
 * @internal
 */
export interface ChannelOptions {
  readonly key: string
  readonly collection: string
  readonly view: MessageView
  readonly rights: string
  readonly lifted: (change: StoredChange) => StoredChange
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
export const makeLiveStreams = (
  store: DocumentStore["Service"],
  { revocationDelay, ...options }: LiveOptions & { readonly revocationDelay: Duration.Duration }
): LiveStreams => {
  const { heartbeat, maxStreams, maxStreamsPerCaller } = options
  let count = 0
  let isEnded = false
  const counts = new Map<string, number>()
  const channels = new Map<string, Shared>()

  const open = ({ collection, lifted, rights, view }: ChannelOptions): Effect.Effect<Shared> =>
    Effect.gen(function*() {
      const channel = new Channel(view, rights, lifted)
      const ready = yield* Deferred.make<void, ReadError | PositionGone>()
      const pump = store.changes.stream([collection]).pipe(
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
      const fiber = yield* Effect.forkDetach(Effect.raceFirst(
        Effect.catch(pump, (error) => Effect.logWarning(`The streams of ${collection} end: ${error.message}`)),
        beats
      ))
      return { channel, fiber, ready, users: 0 }
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
    channel: (own) =>
      Effect.flatMap(
        Effect.acquireRelease(
          Effect.gen(function*() {
            const shared = channels.get(own.key) ?? (yield* open(own))
            // No other fiber runs between, since nothing above waits.
            channels.set(own.key, shared)
            shared.users += 1
            return shared
          }),
          (shared) =>
            Effect.suspend(() => {
              shared.users -= 1
              if (shared.users > 0) return Effect.void
              if (channels.get(own.key) === shared) channels.delete(own.key)
              return Fiber.interrupt(shared.fiber)
            })
        ),
        ({ channel, ready }) => Effect.as(Deferred.await(ready), channel)
      ),
    end: Effect.sync(() => {
      isEnded = true
      for (const { channel } of channels.values()) channel.endAll()
    })
  }
}

// internal

interface Shared {
  readonly channel: Channel
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly ready: Deferred.Deferred<void, ReadError | PositionGone>
  users: number
}

const minDecisionInterval = Duration.millis(50)

const retryMillis = 5_000

const full = translatable(new ServiceUnavailable({ message: englishOf("errors.Overload") }), "errors.Overload")
