/** Whether a service works. */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as Predicate from "effect/Predicate"
import { statfs } from "node:fs/promises"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import * as Migration from "../../Repository/Migration.ts"
import type { HealthOptions } from "../KernelConfig.ts"
import type { Check } from "../Monitoring.ts"
import { Draining } from "../server/readiness.ts"

type Response = HttpServerResponse.HttpServerResponse

/** The responses about a service's health. */
export interface Health {
  readonly live: Effect.Effect<Response>
  readonly ready: Effect.Effect<Response>
  /** Every check with its reason. */
  readonly details: Effect.Effect<Response>
}

export const makeHealth = Effect.fnUntraced(function*({ checks: own = {}, migrations, options }: {
  readonly checks: { readonly [name: string]: Check } | undefined
  readonly migrations: ReadonlyArray<Migration.Migration>
  readonly options: HealthOptions
}) {
  const store = yield* DocumentStore
  const draining = yield* Draining
  const context = yield* Effect.context<never>()
  const { folder } = store
  const checks: ReadonlyArray<readonly [name: string, check: Check]> = [
    // Reads metadata, from the server of the database if there is one.
    ["store", store.estimatedCount("appkernel_health")],
    ...migrations.length === 0
      ? []
      : [["migrations", pendingMigrations(migrations, store)] as const],
    ...folder === undefined ? [] : [["disk", freeSpace(folder, options.minDiskSpace)] as const],
    ...options.openBreakers === "fail" ? [["upstreams", openBreakers(context)] as const] : [],
    ...Object.entries(own)
  ]
  const failedBefore = new Set<string>()
  const results = yield* Effect.cachedWithTTL(
    Effect.forEach(checks, ([name, check]) => run(name, check, options.timeout, failedBefore), {
      concurrency: "unbounded"
    }),
    "1 second"
  )
  return {
    live: Effect.succeed(respond(200, { status: "ok" })),
    ready: Effect.suspend(() =>
      draining.isStopping
        ? Effect.succeed(respond(503, { status: "stopping" }))
        : Effect.map(results, (all) => {
          const failing = all.flatMap(({ name, reason }) => reason === undefined ? [] : [name])
          return failing.length === 0
            ? respond(200, { status: "ok" })
            : respond(503, { status: "unavailable", failing })
        })
    ),
    details: Effect.map(results, (all) => {
      const isFailing = all.some(({ reason }) => reason !== undefined)
      return respond(draining.isStopping || isFailing ? 503 : 200, {
        status: draining.isStopping ? "stopping" : isFailing ? "unavailable" : "ok",
        open_breakers: openBreakersOf(context),
        checks: Object.fromEntries(all.map(({ duration, name, reason }) => [name, {
          status: reason === undefined ? "ok" : "failed",
          ...reason === undefined ? {} : { reason },
          duration_ms: duration
        }]))
      })
    })
  } satisfies Health
})

/** Answers some paths before the handler, whatever it would do with them. A probe is answered while others wait. */
export const answeredFirst = <E, R>(
  handler: Effect.Effect<Response, E, R>,
  probeAt: (url: string) => Effect.Effect<Response> | undefined
): Effect.Effect<Response, E, R> =>
  Effect.withFiber<Response, E, R>((fiber) => {
    const { method, url } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return (method === "GET" || method === "HEAD" ? probeAt(url) : undefined) ?? handler
  })

interface Result {
  readonly name: string
  /** Why it fails; `undefined` if it does not. */
  readonly reason: string | undefined
  /** In milliseconds. */
  readonly duration: number
}

/** Logs that a check fails when it begins to, and that it succeeds again. */
const run = Effect.fnUntraced(function*(
  name: string,
  check: Check,
  timeout: Duration.Duration,
  failedBefore: Set<string>
): Effect.fn.Return<Result> {
  const now = Effect.map(Clock.Clock, monotonicMillis)
  const start = yield* now
  const exit = yield* Effect.exit(Effect.timeout(check, timeout))
  const duration = Math.round((yield* now) - start)
  if (Exit.isSuccess(exit)) {
    if (failedBefore.delete(name)) yield* Effect.logInfo(`The health check ${name} succeeds again`)
    return { name, reason: undefined, duration }
  }
  const error = Cause.squash(exit.cause)
  const reason = Cause.isTimeoutError(error)
    ? `no answer within ${Duration.format(timeout)}`
    : Predicate.hasProperty(error, "message")
    ? String(error.message)
    : String(error)
  if (!failedBefore.has(name)) {
    failedBefore.add(name)
    yield* Effect.logWarning(`The health check ${name} fails`, exit.cause)
  }
  return { name, reason, duration }
})

const pendingMigrations = (migrations: ReadonlyArray<Migration.Migration>, store: DocumentStore["Service"]): Check =>
  Effect.flatMap(
    Effect.provideService(Migration.status(migrations), DocumentStore, store),
    ({ pending }) => pending.length === 0 ? Effect.void : failed(`${pending.join(", ")} have not run`)
  )

const freeSpace = (folder: string, minimum: number): Check =>
  Effect.flatMap(
    Effect.tryPromise({
      try: () => statfs(folder),
      catch: (cause) => ({ message: `its free space can't be read: ${String(cause)}` })
    }),
    ({ bavail, bsize }) =>
      bavail * bsize >= minimum
        ? Effect.void
        : failed(`${bavail * bsize} bytes are free where the store is, less than ${minimum}`)
  )

const openBreakers = (context: Context.Context<never>): Check =>
  Effect.suspend(() => {
    const open = openBreakersOf(context)
    return open.length === 0 ? Effect.void : failed(`calls are refused to ${open.join(", ")}`)
  })

/** The breakers are known by their gauges. */
const openBreakersOf = (context: Context.Context<never>): ReadonlyArray<string> =>
  Metric.snapshotUnsafe(context).flatMap(({ attributes, id, state }) =>
    id === "circuit_breaker.state" && "value" in state && state.value === 2
      ? [attributes?.["circuit_breaker.name"] ?? ""]
      : []
  )

const failed = (message: string) => Effect.fail({ message })

const respond = (status: number, body: unknown): Response =>
  HttpServerResponse.text(JSON.stringify(body), {
    status,
    contentType: "application/json",
    headers: { "cache-control": "no-store" }
  })
