/** All metrics in the text format of Prometheus. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { CurrentWorker } from "../../internal/worker.ts"

/**
 * The response of `/metrics`. Names end with their unit, and those of counters with `_total`, as OpenTelemetry translates them.
 */
export const makePrometheus: Effect.Effect<Effect.Effect<HttpServerResponse.HttpServerResponse>> = Effect.contextWith(
  (context) =>
    Effect.map(CurrentWorker, (worker) => {
      const own = Effect.sync(() => metricsText(context))
      if (worker === undefined) return Effect.map(own, respond)
      worker.answerMetrics(() => metricsText(context))
      const texts = Effect.catch(
        worker.ask({ kind: "metrics" }),
        () => Effect.map(own, (text): unknown => [[worker.id, text]])
      )
      return Effect.map(texts, (found) => respond(ofWorkers(Array.isArray(found) ? found : [])))
    })
)

/** The series of several workers, each with the label `worker`. Those of a metric follow one another. */
export const ofWorkers = (texts: ReadonlyArray<readonly [worker: number, text: string]>): string => {
  const families = new Map<string, { readonly head: Array<string>; readonly series: Array<string> }>()
  for (const [worker, text] of texts) {
    const known = new Set(families.keys())
    let family: { readonly head: Array<string>; readonly series: Array<string> } = { head: [], series: [] }
    for (const line of text.split("\n")) {
      const [, name] = /^# (?:HELP|TYPE) (\S+)/u.exec(line) ?? []
      if (name !== undefined) {
        family = families.get(name) ?? { head: [], series: [] }
        families.set(name, family)
        if (!known.has(name)) family.head.push(line)
      } else if (line !== "") {
        family.series.push(
          line.replace(
            /^([^\s{]+)(?:\{(?=.)|(?=\s))/u,
            (all, series: string) => `${series}{worker="${worker}"${all.endsWith("{") ? "," : "}"}`
          )
        )
      }
    }
  }
  return [...families.values()].flatMap(({ head, series }) => [...head, ...series, ""]).join("\n")
}

const respond = (text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, {
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    headers: { "cache-control": "no-store" }
  })

const metricsText = (context: Context.Context<never>): string => {
  const suffixes = new Map<string, string>()
  for (const { attributes, id, type } of Metric.snapshotUnsafe(context)) {
    suffixes.set(id, `${units.get(attributes?.["unit"]) ?? ""}${type === "Counter" ? "_total" : ""}`)
  }
  return PrometheusMetrics.formatUnsafe(context, {
    metricNameMapper: (name) => `${name}${suffixes.get(name) ?? ""}`
  })
}

const units: ReadonlyMap<string | undefined, string> = new Map([["s", "_seconds"], ["By", "_bytes"], ["1", "_ratio"]])
