/**
 * Metrics of the process, with the names and units of OpenTelemetry's conventions. They are read when somebody asks.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import { readdirSync, statSync } from "node:fs"
import * as path from "node:path"
import { constants, monitorEventLoopDelay, performance, PerformanceObserver } from "node:perf_hooks"
import process from "node:process"
import { getHeapStatistics } from "node:v8"

/** Registers the metrics until the scope closes. `folder` is that of the store, if it has one. */
export const registerProcessMetrics = (folder: string | undefined): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.sync(() => {
        const delay = monitorEventLoopDelay({ resolution: resolution / 1e6 })
        delay.enable()
        const registered: Array<Metric.Registration> = []
        const register = <Input, State>(metric: Metric.Metric<Input, State>, get: () => State): void => {
          registered.push(Metric.registerUnsafe(metric, context, { get, update: () => {}, modify: () => {} }))
        }
        const gauge = (name: string, unit: string, description: string, get: () => number): void =>
          register(Metric.gauge(name, { description, attributes: { unit } }), () => ({ value: get() }))
        for (const mode of ["user", "system"] as const) {
          register(
            Metric.counter("process.cpu.time", {
              description: "The time that the processors worked for the process",
              attributes: { "cpu.mode": mode, unit: "s" },
              incremental: true
            }),
            () => ({ count: process.cpuUsage()[mode] / 1e6, incremental: true })
          )
        }
        gauge("process.uptime", "s", "The time since the process started", () => process.uptime())
        gauge("process.memory.usage", "By", "The memory of the process", () => process.memoryUsage.rss())
        gauge("v8js.memory.heap.used", "By", "The used heap", () => getHeapStatistics().used_heap_size)
        gauge("v8js.memory.heap.limit", "By", "The largest heap", () => getHeapStatistics().heap_size_limit)
        const window = { p50: 0, p99: 0, max: 0, utilization: 0 }
        let begun = performance.eventLoopUtilization()
        const lateness = "How late timers were in ten seconds"
        gauge("nodejs.eventloop.delay.p50", "s", lateness, () => window.p50)
        gauge("nodejs.eventloop.delay.p99", "s", lateness, () => window.p99)
        gauge("nodejs.eventloop.delay.max", "s", lateness, () => window.max)
        const endWindow = (): void => {
          const now = performance.eventLoopUtilization()
          Object.assign(window, {
            p50: latenessOf(delay.percentile(50)),
            p99: latenessOf(delay.percentile(99)),
            max: latenessOf(delay.max),
            utilization: performance.eventLoopUtilization(now, begun).utilization
          })
          begun = now
          delay.reset()
        }
        gauge("nodejs.eventloop.utilization", "1", "The part of ten seconds that the event loop was busy", () =>
          window.utilization)
        if (folder !== undefined) {
          gauge("appkernel.store.size", "By", "The size of the files of the embedded store", () =>
            sizeOf(folder))
        }
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            const kind = garbageKinds.get(Reflect.get(Object(Reflect.get(entry, "detail")), "kind")) ?? "other"
            garbage.get(kind)?.updateUnsafe(entry.duration / 1_000, context)
          }
        })
        observer.observe({ entryTypes: ["gc"] })
        return { delay, endWindow, observer, registered }
      })
    ),
    ({ delay, observer, registered }) =>
      Effect.sync(() => {
        delay.disable()
        observer.disconnect()
        for (const one of registered) one.remove()
      })
  ).pipe(
    Effect.flatMap(({ endWindow }) =>
      Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep("10 seconds"), Effect.sync(endWindow))))
    ),
    Effect.asVoid
  )

/** How often the event loop is looked at, in nanoseconds. */
const resolution = 20e6

/** The seconds that a timer was late. Node measures from one timer to the next, which is set for the resolution. */
export const latenessOf = (nanoseconds: number): number => Math.max(0, nanoseconds - resolution) / 1e9

const garbageKinds: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weakcb"]
])

const garbage = new Map(
  [...garbageKinds.values(), "other"].map((kind) => [
    kind,
    Metric.histogram("v8js.gc.duration", {
      description: "How long collections of garbage took",
      attributes: { "v8js.gc.type": kind, unit: "s" },
      boundaries: [0.01, 0.1, 1, 10]
    })
  ])
)

/** A folder may be removed while it is read. */
const sizeOf = (folder: string): number => {
  try {
    return readdirSync(folder).reduce((sum, file) => sum + statSync(path.join(folder, file)).size, 0)
  } catch {
    return 0
  }
}
