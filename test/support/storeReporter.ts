/**
 * Says at the end how many tests ran on which store. A suite belongs to a store when its name ends with the store's:
 * `DocumentStore / embedded`.
 */
import type { SerializedError } from "vitest"
import type { Reporter, TestCase, TestModule, TestRunEndReason, Vitest } from "vitest/node"

const stores = ["memory", "embedded", "mongodb"] as const
type Store = typeof stores[number]

export default class StoreReporter implements Reporter {
  private vitest: Vitest | undefined
  private lines: ReadonlyArray<string> = []

  onInit(vitest: Vitest): void {
    this.vitest = vitest
  }

  onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    unhandled: ReadonlyArray<SerializedError>,
    reason: TestRunEndReason
  ): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const byState = { passed: 0, failed: 0, skipped: 0 }
    for (const test of tests) byState[stateOf(test)] += 1
    // A file that can't be loaded has no tests to fail; neither has a stray rejection, nor a setup that fails.
    const besides = modules.reduce((sum, module) => sum + module.errors().length, unhandled.length)
    const { passed, skipped } = byState
    const failed = Math.max(byState.failed + besides, reason === "passed" ? 0 : 1)
    this.lines = [
      `Tests by store: ${stores.map((store) => this.summary(store, tests)).join(", ")}`,
      `${passed} passed, ${failed} failed, ${skipped} skipped`
    ]
    const { coverage } = this.vitest?.config ?? {}
    const reportsCoverage = coverage?.enabled === true && (failed === 0 || coverage.reportOnFailure)
    if (!reportsCoverage) this.print()
  }

  onFinishedReportCoverage(): void {
    this.print()
  }

  private print(): void {
    for (const line of this.lines) this.vitest?.logger.log(line)
    this.lines = []
  }

  private summary(store: Store, tests: ReadonlyArray<TestCase>): string {
    const ran = tests.filter((test) => storeOf(test) === store && stateOf(test) !== "skipped").length
    if (store !== "mongodb") return `${store} ${ran}`
    const server = this.vitest?.getRootProject().getProvidedContext().mongo
    return server?.found === true ? `${store} ${ran} (${server.name})` : `${store} skipped (no server found)`
  }
}

const stateOf = (test: TestCase): "passed" | "failed" | "skipped" => {
  const { state } = test.result()
  return state === "pending" ? "skipped" : state
}

const storeOf = (test: TestCase): Store | undefined => {
  let parent = test.parent
  while (parent.type === "suite") {
    const { name } = parent
    const store = stores.find((candidate) => name.endsWith(` / ${candidate}`))
    if (store !== undefined) return store
    parent = parent.parent
  }
  return undefined
}
