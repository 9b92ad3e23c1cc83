/** What the stages of a service and of its routes are made with. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { GuardedEndpoint } from "../../Access/AccessControl.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { Cors } from "../Cors.ts"
import type { Idempotency } from "../idempotency/idempotency.ts"
import type * as KernelConfig from "../KernelConfig.ts"
import type { Registration } from "../registration/registration.ts"
import type { Caching } from "../response/caching.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import type { BadRequestResponder, ErrorResponses } from "../response/translatedResponses.ts"
import type { AuditLog } from "../routes/auditLog.ts"
import type { ImplementedResource, ImplementedService } from "../routes/implemented.ts"
import type { RateLimiter } from "../routes/rateLimits.ts"
import type { Causes, Route } from "../routes/route.ts"
import type { AccessLog } from "../server/accessLog.ts"
import type { ClientAddressOf } from "../server/forwardedAddress.ts"
import type { Refusal } from "../server/overload.ts"
import type { Priority } from "../server/shedding.ts"
import type { Translations } from "../Translations.ts"
import type { Access } from "./access.ts"
import type { ServiceParts } from "./engineParts.ts"
import type { ProbeAt } from "./monitored.ts"

/** How a request is answered from a stage inwards. */
export type Answer = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  HandlerFailure,
  DocumentStore | HttpServerRequest.HttpServerRequest | Scope.Scope
>

interface Headers {
  readonly [name: string]: string
}

/** A route with what its registration says of it. */
export interface ServedRoute extends Route {
  /** What grants name it by; a route without is for everybody. */
  readonly endpoint?: GuardedEndpoint | undefined
  /** The headers of every answer, or those that an answer gets. */
  readonly headers?:
    | Headers
    | ((
      request: HttpServerRequest.HttpServerRequest,
      response: HttpServerResponse.HttpServerResponse
    ) => Headers)
    | undefined
  readonly auditLog?: Registration["auditLog"]
  /** Whether other routes do its work, which have their own bounds. */
  readonly delegates?: boolean
  /** Whether its answers are kept for repeated requests, or a key is a 400; keys are ignored if `undefined`. */
  readonly idempotencyKeys?: "accepted" | "required" | "refused" | undefined
  /** Whether it reads multipart/form-data or tables, which take no key. */
  readonly takesForms?: boolean | undefined
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
  /** What is told of transactions; `undefined` where nobody asks. */
  readonly causes?: Causes | undefined
  readonly errorResponses: ErrorResponses
  /** What keeps answers; `undefined` if no route has kept ones. */
  readonly idempotency?: Idempotency | undefined
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
  /** What is answered before everything else; `undefined` if nothing is. */
  readonly probeAt: ProbeAt | undefined
  readonly respondBadRequest: BadRequestResponder
  readonly responseTimeout: Duration.Duration | undefined
  readonly router: HttpRouter.HttpRouter
  /** The same router for the routes of layers, which no endpoint describes. */
  readonly openRouter: HttpRouter.HttpRouter
  readonly routes: ReadonlyArray<ServedRoute>
}

/** What the routes of a service are made with. */
export interface Composing extends ServiceParts, RouteSurroundings {
  readonly all: ReadonlyArray<ImplementedResource | ImplementedService>
  readonly respondBadRequest: BadRequestResponder
  readonly translations: Translations
}
