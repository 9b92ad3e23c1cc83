/** The client of receivers, with undici, which no service needs before it has a message. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import { connectorTo } from "./addresses.ts"

/** A client that connects to allowed addresses only, until the scope closes. */
export const makeReceivers = (
  isAllowed: (address: string) => boolean
): Effect.Effect<HttpClient.HttpClient, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new undici.Agent({ connect: connectorTo(undici, isAllowed) })),
    (agent) => Effect.promise(() => agent.destroy())
  ).pipe(
    Effect.flatMap((agent) => Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, agent))
  )
