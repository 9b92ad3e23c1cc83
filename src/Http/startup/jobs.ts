/** Does the jobs of a service, and those of its schedules. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Tracer from "effect/Tracer"
import type { BoundedCache } from "../../internal/boundedCache.ts"
import { configOf } from "../../internal/configurationKeys.ts"
import { DeclarationError } from "../../internal/declarationError.ts"
import { runJobs, scheduledOf } from "../../Jobs/internal.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { AccessDecision } from "../../Repository/internal.ts"
import type { RepositoryOf } from "../../Repository/Repository.ts"
import { Accounts } from "../../Security/Accounts.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import { CredentialsInvalid } from "../../Security/SecurityError.ts"
import type { Doors } from "../expansion/embeddable.ts"
import type { ServiceParts } from "./engineParts.ts"
import type { ServiceSurroundings } from "./surroundings.ts"

/** Does them in the background until the scope closes. */
export const doingJobs = Effect.fnUntraced(function*(
  { api, jobs, registrations, schedules, webhooks, workflows }: ServiceParts,
  { access, causes, doors, isMeasured, repositories }: Omit<ServiceSurroundings, "causes"> & {
    readonly causes: BoundedCache<Tracer.AnySpan> | undefined
    readonly doors: Doors
    readonly repositories: Context.Context<RepositoryOf<string>>
  }
) {
  const accounts = yield* Effect.serviceOption(Accounts)
  const store = yield* DocumentStore
  const asSubject = access === undefined || Option.isNone(accounts)
    ? undefined
    : <A, E>(subject: string, work: Effect.Effect<A, E>, among?: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const account = yield* Effect.provideService(accounts.value.findBySubject(subject), DocumentStore, store)
        if (Option.isNone(account)) return yield* new CredentialsInvalid({ reason: "revoked" })
        const { roles } = account.value
        const { withIncluded } = access
        // Credentials may have a role that one of the account includes, and the account one that one of theirs includes.
        const most = among && new Set(withIncluded(among))
        const user = {
          subject,
          roles: most === undefined ? roles : withIncluded(roles).filter((role) => most.has(role)),
          claims: {}
        }
        return yield* requestedBy(user, access, Effect.provideService(work, CurrentUser, user))
      })
  if (webhooks !== undefined && access !== undefined && asSubject === undefined) {
    return yield* Effect.die(
      new DeclarationError("Webhooks show what their subscribers may read: provide Accounts, by which it is known")
    )
  }
  const told = webhooks === undefined ? undefined : yield* Effect.flatMap(
    Effect.promise(() => import("./webhooks.ts")),
    ({ webhooksOf }) =>
      webhooksOf(webhooks, registrations, {
        causes,
        doors,
        repositories,
        service: api.id,
        asSubject: (subject, work, among) =>
          subject !== undefined && asSubject !== undefined
            ? asSubject(subject, work, among)
            : requestedBy(undefined, access, work)
      })
  )
  // Jobs may begin them.
  yield* Layer.build(Layer.mergeAll(Layer.empty, ...workflows))
  const keep = yield* configOf("jobs.keep_done")
  const scheduled = yield* Effect.forEach(schedules, (schedule) => scheduledOf(schedule, keep))
  const own = told === undefined ? [] : [told.implementation]
  yield* runJobs([...jobs, ...own, ...scheduled.map(({ implementation }) => implementation)], {
    grace: yield* configOf("server.shutdown_timeout"),
    keep,
    lock: yield* configOf("jobs.lock"),
    isMeasured,
    asSubject
  })
  if (told !== undefined) yield* told.begin
  const begun = Effect.forEach(scheduled, ({ begin }) => begin, { discard: true })
  yield* begun
  // A run enqueues the next one. Where that has failed, another one follows nevertheless: its key is that of its time.
  if (scheduled.length > 0) {
    yield* Effect.forkScoped(
      Effect.repeat(
        Effect.catch(begun, (error) => Effect.logWarning("Can't enqueue the next run of a schedule", error)),
        Schedule.spaced("10 minutes")
      )
    )
  }
})

// internal

/**
 * Runs work as a request would. There is none: permissions that look at it find an empty one. It is another one each time, since what
 * rules have decided on a request is known by its object.
 */
const requestedBy = <A, E>(
  user: CurrentUser["Service"] | undefined,
  access: ServiceSurroundings["access"],
  work: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    // Node loads undici for one of the web.
    const request = HttpServerRequest.fromClientRequest(HttpClientRequest.get("http://localhost/"))
    const requested = Effect.provideService(work, HttpServerRequest.HttpServerRequest, request)
    return access === undefined
      ? requested
      : Effect.provideService(requested, AccessDecision, access.openTo(user, request))
  })
