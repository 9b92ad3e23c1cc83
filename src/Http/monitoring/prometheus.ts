/**
 * All metrics in the text format of Prometheus.
 */
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"

/**
 * The response of `/metrics`. Names end with their unit, and those of counters with `_total`, as OpenTelemetry translates them.
 *
 * @internal
 */
export const prometheus: Effect.Effect<HttpServerResponse.HttpServerResponse> = Effect.contextWith((context) =>
  Effect.sync(() => {
    const suffixes = new Map<string, string>()
    for (const { attributes, id, type } of Metric.snapshotUnsafe(context)) {
      suffixes.set(id, `${units.get(attributes?.["unit"]) ?? ""}${type === "Counter" ? "_total" : ""}`)
    }
    const text = PrometheusMetrics.formatUnsafe(context, {
      metricNameMapper: (name) => `${name}${suffixes.get(name) ?? ""}`
    })
    return HttpServerResponse.text(text, {
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      headers: { "cache-control": "no-store" }
    })
  })
)

const units: ReadonlyMap<string | undefined, string> = new Map([["s", "_seconds"], ["By", "_bytes"], ["1", "_ratio"]])
