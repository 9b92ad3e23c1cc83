/** What the process tells of its event loop. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import { monitorEventLoopDelay, performance } from "node:perf_hooks"
import { latenessOf, registerProcessMetrics } from "../../../src/Http/monitoring/processMetrics.ts"

/** A registry of its own, in which no other test counts. */
const registry = Layer.sync(Metric.MetricRegistry, () => new Map())

const valueOf = (name: string) =>
  Effect.map(Metric.snapshot, (all) => {
    const found = all.find(({ id }) => id === name)
    return found?.type === "Gauge" ? Number(found.state.value) : Number.NaN
  })

describe("processMetrics", () => {
  it("knows a timer that comes in time as not late", () => {
    // What Node measures of a loop that does nothing.
    assert.deepStrictEqual([0, 20e6, 21e6, 520e6].map(latenessOf), [0, 0, 0.001, 0.5])
    const delay = monitorEventLoopDelay({ resolution: 20 })
    delay.enable()
    return new Promise<void>((resolve) => {
      const look = (): void => {
        if (delay.count < 3) return void setTimeout(look, 1)
        delay.disable()
        assert.isAtLeast(delay.max, 20e6)
        resolve()
      }
      look()
    })
  })

  it.effect("has how busy the event loop was in ten seconds, not since the start", () =>
    Effect.gen(function*() {
      yield* registerProcessMetrics(undefined)
      const mean = (): number => performance.eventLoopUtilization().utilization
      while (mean() > 0.9) yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
      yield* TestClock.adjust("10 seconds")
      const begun = performance.eventLoopUtilization()
      while (performance.eventLoopUtilization(begun).active < 5) { /* busy */ }
      yield* TestClock.adjust("10 seconds")
      const busy = yield* valueOf("nodejs.eventloop.utilization")
      assert.isAbove(busy, mean())
      assert.isAtMost(busy, 1)
    }).pipe(Effect.scoped, Effect.provide(registry)))
})
