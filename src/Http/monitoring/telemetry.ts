/** Sends traces, metrics and logs to a collector. */
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as OtlpExporter from "effect/observability/OtlpExporter"
import * as OtlpLogger from "effect/observability/OtlpLogger"
import * as OtlpMetrics from "effect/observability/OtlpMetrics"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as OtlpTracer from "effect/observability/OtlpTracer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Tracer from "effect/Tracer"
import { hostname } from "node:os"
import { Application } from "../../internal/application.ts"
import { CurrentWorker } from "../../internal/worker.ts"
import type { TelemetryOptions } from "../KernelConfig.ts"
import { withoutSecrets } from "../request/requestPath.ts"
import { limitedTo, Threshold } from "../server/kernelLogger.ts"

export const layer = (
  { endpoint, headers, interval, sampleRatio, signals }: TelemetryOptions & { readonly endpoint: string }
): Layer.Layer<never> =>
  Layer.unwrap(Effect.map(Effect.all([Application, CurrentWorker, nameOf]), ([application, worker, name]) => {
    const optionsOf = (signal: TelemetryOptions["signals"][number]) => ({
      url: `${endpoint}/v1/${signal}`,
      resource: {
        serviceName: name ?? application?.id ?? "appkernel",
        // Metrics of processes with one name need it.
        ...worker === undefined ? {} : { attributes: { "service.instance.id": `${hostname()}-${worker.id}` } }
      },
      headers: headers === undefined ? undefined : Redacted.value(headers),
      exportInterval: interval
    })
    const layers = {
      traces: Layer.mergeAll(
        Layer.effect(
          Tracer.Tracer,
          Effect.map(OtlpTracer.make(optionsOf("traces")), (tracer) => discreet(tracer, sampleRatio))
        ),
        // Probes and scrapes are no work of the service.
        Layer.succeed(
          HttpMiddleware.TracerDisabledWhen,
          ({ url }) => /^\/+(?:health(?:\/+(?:live|ready))?|metrics)\/*(?:\?|$)/u.test(url)
        )
      ),
      metrics: OtlpMetrics.layer(optionsOf("metrics")),
      logs: Logger.layer([
        Effect.flatMap(
          Threshold,
          (threshold) => Effect.map(OtlpLogger.make(optionsOf("logs")), (logger) => limitedTo(threshold, logger))
        )
      ], { mergeWithExisting: true })
    }
    return Layer.mergeAll(
      Layer.empty,
      ...signals.map((signal): Layer.Layer<never, never, Needs> => layers[signal])
    )
  })).pipe(
    Layer.provide([OtlpExporter.layerFlusher, serialization, FetchHttpClient.layer])
  )

/** The name that those who operate the service give it. An empty one is none. */
const nameOf = Effect.map(
  Effect.option(Config.NonEmptyString("OTEL_SERVICE_NAME")),
  (name) => Option.getOrUndefined(name)
)

/** Effect has the unit of a metric among the attributes of its points, too, where the conventions have none. */
const serialization = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, (protobuf) => ({
    ...protobuf,
    metrics: (data: OtlpMetrics.MetricsData) => {
      for (const { scopeMetrics } of data.resourceMetrics) {
        for (const { gauge, histogram, sum } of scopeMetrics.flatMap(({ metrics }) => metrics)) {
          for (const point of [gauge, histogram, sum].flatMap((one) => one?.dataPoints ?? [])) {
            point.attributes = point.attributes?.filter(({ key }) => key !== "unit") ?? []
          }
        }
      }
      return protobuf.metrics(data)
    }
  }))
).pipe(Layer.provide(OtlpSerialization.layerProtobuf))

type Needs = OtlpExporter.Flusher | OtlpSerialization.OtlpSerialization | HttpClient.HttpClient

/** Names the span of a request by its route, and keeps the trace of one that fails. The tracer itself knows neither. */
export const traced = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse, E, R>((fiber) => {
    const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
    if (span?._tag !== "Span") return handler
    return Effect.onExitPrimitive(handler, (exit) => {
      const route = Context.getOrUndefined(fiber.context, HttpRouter.RouteContext)?.route.path
      const { method } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      if (Exit.isFailure(exit) || exit.value.status >= 500) keep(span)
      if (route !== undefined) {
        Reflect.set(span, "name", `${method} ${route}`)
        span.attribute("http.route", route)
      }
      return undefined
    })
  })

/** A tracer that samples, and whose spans tell no values: of errors the tag, of URLs no query and no signature, no header. */
const discreet = (tracer: Tracer.Tracer, ratio: number): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const span = tracer.span(options)
      // A trace of somebody else is sampled as its first service says, and one of ours by its random identifier.
      if (options.parent._tag === "None" && Number.parseInt(span.traceId.slice(-8), 16) >= ratio * 2 ** 32) {
        Reflect.set(span, "sampled", false)
      }
      const attribute = span.attribute.bind(span)
      const event = span.event.bind(span)
      const end = span.end.bind(span)
      return Object.assign(span, {
        attribute: (key: string, value: unknown): void => {
          if (key === "url.query" || key === "user_agent.original") return
          const isUrl = (key === "url.full" || key === "url.path") && typeof value === "string"
          attribute(key, isUrl ? withoutSecrets(value) : value)
        },
        // Lines of the log have texts and causes.
        event: (name: string, time: bigint, attributes?: { readonly [name: string]: unknown }): void => {
          if (attributes?.["effect.logLevel"] === undefined) event(name, time, attributes)
        },
        end: (time: bigint, exit: Exit.Exit<unknown, unknown>): void => {
          const isFailed = Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)
          if (isFailed) keep(span)
          end(time, isFailed ? Exit.die(nameOnly(Cause.squash(exit.cause))) : exit)
        }
      })
    },
    context: tracer.context
  })

/** Sends a span and those that it is part of. The property is only constant for readers. */
const keep = (span: Tracer.Span): void => {
  let one: Tracer.AnySpan | undefined = span
  while (one?._tag === "Span") {
    Reflect.set(one, "sampled", true)
    one = one.parent._tag === "Some" ? one.parent.value : undefined
  }
}

const nameOnly = (error: unknown): Error => {
  const name = Predicate.hasProperty(error, "_tag") && typeof error._tag === "string"
    ? error._tag
    : error instanceof Error
    ? error.name
    : "Error"
  return Object.assign(new Error(name), { name, stack: name })
}
