/**
 * The part of a request in the channel that it shares with others who see the same.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { documentOperationsOf } from "../../Repository/introspection.ts"
import type { CallFailure } from "../response/callFailures.ts"
import { type Begun, unlessGone } from "./changesStart.ts"
import type { Channel, Subscriber } from "./channel.ts"

/**
 * The number of changes that are read at once.
 *
 * @internal
 */
export const pageSize = 256

/**
 * The number of bytes that are taken from a channel at once.
 *
 * @internal
 */
export const maxChunk = 65_536

/** @internal */
export const noStore = "private, no-store"

/**
 * Joins the channel for as long as the request lasts.
 *
 * @internal
 */
export const subscribed = (
  { fiber, key, live, model, repository, rights, scope, seen }: Begun
): Effect.Effect<{ readonly channel: Channel; readonly subscriber: Subscriber }, CallFailure> =>
  Effect.gen(function*() {
    const { lifted } = documentOperationsOf(repository)
    const shared = { key, collection: model.modelName, view: seen, rights, lifted }
    const channel = yield* unlessGone(Scope.provide(live.channel(shared), scope))
    const subscriber: Subscriber = {
      next: 0,
      after: "",
      seen: 0,
      resume: undefined,
      ended: undefined,
      interrupt: () => fiber.interruptUnsafe()
    }
    channel.subscribe(subscriber)
    yield* Scope.addFinalizer(scope, Effect.sync(() => channel.unsubscribe(subscriber)))
    return { channel, subscriber }
  })
