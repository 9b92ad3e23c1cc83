/** A stage of the way of a request, the list of those that are on, and what stages are made with. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Endpoint } from "../../Access/AccessControl.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { Cors } from "../Cors.ts"
import type * as KernelConfig from "../KernelConfig.ts"
import type { Registration } from "../registration/registration.ts"
import type { Caching } from "../response/caching.ts"
import type { CallFailure } from "../response/callFailures.ts"
import type { BadRequestResponder, ErrorResponses } from "../response/translation.ts"
import type { AuditLog } from "../routes/auditLog.ts"
import type { RateLimiter } from "../routes/rateLimits.ts"
import type { Route } from "../routes/route.ts"
import type { AccessLog } from "../server/accessLog.ts"
import type { ClientAddressOf } from "../server/clientAddress.ts"
import type { Refusal } from "../server/overload.ts"
import type { Priority } from "../server/shedding.ts"
import type { Access } from "./access.ts"

/** What a request meets on its way to a handler, and its response on the way back. */
export interface Stage<in About, out Wrap> {
  /** A few words, by which other stages of the list name it. */
  readonly name: string
  /** What it does, in a sentence. */
  readonly does: string
  /** What turns it on, in the words of a user. */
  readonly when: string
  /** The stages that it has to stand before, each with the reason. */
  readonly before?: { readonly [name: string]: string }
  /** Wraps what follows; `undefined` if it is off for this service or route. */
  readonly wrap: (about: About) => Wrap | undefined
}

/** The stages that are on, in their order. */
export const stagesOn = <About, Wrap>(
  stages: ReadonlyArray<Stage<About, Wrap>>,
  about: About
): ReadonlyArray<{ readonly stage: Stage<About, Wrap>; readonly wrap: Wrap }> =>
  stages.flatMap((stage) => {
    const wrap = stage.wrap(about)
    return wrap === undefined ? [] : [{ stage, wrap }]
  })

/** How a request is answered from a stage inwards. */
export type Answer = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  CallFailure,
  DocumentStore | HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** A route with what its registration says of it. */
export interface ServedRoute extends Route {
  /** What grants name it by; a route without is for everybody. */
  readonly endpoint?: Endpoint | undefined
  /** The headers of every answer. */
  readonly headers?: { readonly [name: string]: string } | undefined
  readonly auditLog?: Registration["auditLog"]
  /** The time for an answer. */
  readonly timeout?: Duration.Duration | undefined
  readonly priority?: Priority
  readonly caching?: Caching | undefined
  readonly withStoreOptions?: (<A, E, R>(handler: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) | undefined
}

/** What the stages of a route are made with. */
export interface RouteSurroundings {
  /** `undefined` without access control. */
  readonly access: Access | undefined
  readonly audit?: AuditLog | undefined
  readonly errorResponses: ErrorResponses
  readonly limits: KernelConfig.Limits
  readonly limiter?: RateLimiter | undefined
  readonly overload?: KernelConfig.OverloadOptions & { readonly refuse: Refusal }
}

/** What the stages of a service are made with. */
export interface ServiceSurroundings extends Required<RouteSurroundings> {
  /** Further layers of the router: see `KernelEngine.use`. */
  readonly additions: ReadonlyArray<Layer.Layer<never, never, HttpRouter.HttpRouter>>
  readonly clientAddressOf: ClientAddressOf
  readonly cors: Cors | undefined
  readonly errorFormat: KernelConfig.ErrorOptions
  readonly isMeasured: boolean
  readonly isTraced: boolean
  readonly log: AccessLog | undefined
  /** The size from which responses are compressed; `undefined` if none is. */
  readonly minSize: number | undefined
  /** The paths of single documents. They exist whichever methods a resource has. */
  readonly paths: ReadonlyArray<`/${string}`>
  readonly priorityOf: (url: string) => Priority
  /** What is answered before everything else, by path. */
  readonly probes: ReadonlyMap<string, Effect.Effect<HttpServerResponse.HttpServerResponse>>
  readonly respondBadRequest: BadRequestResponder
  readonly responseTimeout: Duration.Duration | undefined
  readonly router: HttpRouter.HttpRouter
  /** The same router for the routes of layers, which no endpoint describes. */
  readonly openRouter: HttpRouter.HttpRouter
  readonly routes: ReadonlyArray<ServedRoute>
}
