/** The health and the metrics of a service, as far as they are enabled. */
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { Migration } from "../../Repository/Migration.ts"
import * as KernelConfig from "../KernelConfig.ts"
import { Monitoring, type Options } from "../Monitoring.ts"

/** What the configuration and the program enable. */
export const enabled = Effect.gen(function*() {
  const { checks, require } = yield* Monitoring
  const health = yield* KernelConfig.health
  const isServed = health.enabled ?? (checks !== undefined || require !== undefined)
  return {
    health: isServed ? { ...health, checks, require } : undefined,
    metrics: (yield* KernelConfig.metricsEnabled) ? { require } : undefined
  }
})

export type Enabled = Effect.Success<typeof enabled>

/** The paths that it takes. */
export const monitoredPaths = ({ health, metrics }: Enabled): ReadonlyArray<`/${string}`> => [
  ...health === undefined ? [] : ["/health/live", "/health/ready", "/health"] as const,
  ...metrics === undefined ? [] : ["/metrics"] as const
]

type Response = HttpServerResponse.HttpServerResponse

interface Page {
  readonly path: `/${string}`
  readonly handler: Effect.Effect<Response>
  readonly require: Options["require"]
}

/** Answers what is asked for before everything else; `undefined` for what is not. */
export type ProbeAt = (url: string) => Effect.Effect<Response> | undefined

/** As the router takes a path. It is matched with each request. */
const probe = /^\/+health\/+(live|ready)\/*(?:\?|$)/u

/** The pages for those who operate the service, and its probes; `undefined` without any. */
export const monitored = Effect.fnUntraced(function*(
  { health, metrics }: Enabled,
  migrations: ReadonlyArray<Migration>
) {
  let probeAt: ProbeAt | undefined
  const pages: Array<Page> = []
  if (health !== undefined) {
    const { makeHealth } = yield* Effect.promise(() => import("../monitoring/health.ts"))
    const { details, live, ready } = yield* makeHealth({ checks: health.checks, migrations, options: health })
    probeAt = (url) => {
      const name = probe.exec(url)?.[1]
      return name === undefined ? undefined : name === "live" ? live : ready
    }
    if (health.require !== undefined) pages.push({ path: "/health", handler: details, require: health.require })
  }
  if (metrics !== undefined) {
    const { makePrometheus } = yield* Effect.promise(() => import("../monitoring/prometheus.ts"))
    pages.push({ path: "/metrics", handler: yield* makePrometheus, require: metrics.require })
  }
  return { pages, probeAt }
})

/** Whether the configuration sends metrics, or serves them. */
export const isMeasured = Effect.gen(function*() {
  const { endpoint, signals } = yield* KernelConfig.telemetry
  return (yield* KernelConfig.metricsEnabled) || (endpoint !== undefined && signals.includes("metrics"))
})

/** Measures the process and its requests. */
export const withMeasuring = Effect.fnUntraced(function*<E, R>(handler: Effect.Effect<Response, E, R>) {
  const { registerProcessMetrics } = yield* Effect.promise(() => import("../monitoring/processMetrics.ts"))
  yield* registerProcessMetrics((yield* DocumentStore).folder)
  const { measured } = yield* Effect.promise(() => import("../monitoring/requestMetrics.ts"))
  return yield* measured(handler)
})
