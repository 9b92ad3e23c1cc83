/** Does the jobs of a service, and those of its schedules. */
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { configOf } from "../../internal/configurationKeys.ts"
import { runJobs, type RunOptions, scheduledOf } from "../../Jobs/internal.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { AccessDecision } from "../../Repository/internal.ts"
import { Accounts } from "../../Security/Accounts.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import { CredentialsInvalid } from "../../Security/SecurityError.ts"
import type { ServiceParts } from "./engineParts.ts"
import type { ServiceSurroundings } from "./surroundings.ts"

/** Does them in the background until the scope closes. */
export const doingJobs = Effect.fnUntraced(function*(
  { jobs, schedules }: ServiceParts,
  { access, isMeasured }: ServiceSurroundings
) {
  const accounts = yield* Effect.serviceOption(Accounts)
  const store = yield* DocumentStore
  const asSubject: RunOptions["asSubject"] = access === undefined || Option.isNone(accounts)
    ? undefined
    : (subject, work) =>
      Effect.gen(function*() {
        const account = yield* Effect.provideService(accounts.value.findBySubject(subject), DocumentStore, store)
        if (Option.isNone(account)) return yield* new CredentialsInvalid({ reason: "revoked" })
        const user = { subject, roles: account.value.roles, claims: {} }
        return yield* work.pipe(
          Effect.provideService(CurrentUser, user),
          Effect.provideService(AccessDecision, access.openTo(user, request))
        )
      })
  const scheduled = yield* Effect.forEach(schedules, scheduledOf)
  yield* runJobs([...jobs, ...scheduled.map(({ implementation }) => implementation)], {
    grace: yield* configOf("server.shutdown_timeout"),
    keep: yield* configOf("jobs.keep_done"),
    lock: yield* configOf("jobs.lock"),
    isMeasured,
    asSubject
  })
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

/** Of a job there is none, and permissions that look at the request find an empty one. */
const request = HttpServerRequest.fromWeb(new Request("http://localhost/"))
