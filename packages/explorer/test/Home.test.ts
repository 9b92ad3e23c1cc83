/** The home of the explorer: what happens, what has failed, and what the service does, for those who may see it. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, DateTime, Effect } from "effect"
import { inBrowser } from "../../../test/support/browser.ts"
import { ratesOf, sampleOf } from "../src/home/samples.ts"
import { library } from "./library.ts"
import { assertAccessible, opened, signIn } from "./pages.ts"

const measured = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_METRICS_ENABLED: "true" } }))

const now = DateTime.makeUnsafe("2026-11-01T10:00:00Z")

inBrowser("The home of the explorer", (open) => {
  it.live("shows an operator the jobs and deliveries that have failed, the health and the metrics", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories: { deliveries, jobs } } = yield* library
      yield* Effect.forEach(["a", "b", "c"], (key) =>
        jobs.insert({
          id: `print ${key}`,
          queue: "print",
          key,
          element: "secret",
          state: key === "c" ? "done" : "dead",
          attempts: 3,
          created: now,
          failure: `no paper for ${key}`
        }))
      yield* deliveries.insert({
        id: "d1",
        subscription: "WS1",
        event: "e1",
        event_type: "book.created",
        subject: "B1",
        state: "failed",
        attempts: 9,
        at: now,
        failure: "no answer",
        payload: "{}"
      })
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      const sectionOf = (name: string) => page.locator("section", { has: page.getByRole("heading", { name }) })
      yield* Effect.promise(async () => {
        await signIn(explorer, "operator")
        await sectionOf("Jobs").getByText("no paper for a").waitFor()
        await sectionOf("Jobs").getByText("no paper for b").waitFor()
        await sectionOf("Deliveries").getByRole("link", { name: "book.created" }).waitFor()
        await sectionOf("Health").getByText("stove").waitFor()
        await sectionOf("Health").getByText("Does not work").first().waitFor()
        const metrics = sectionOf("What the service does")
        await metrics.getByRole("img", { name: /^Requests/u }).waitFor()
        await metrics.getByText("The numbers as a table").click()
        await metrics.getByRole("rowheader", { name: "Since the start" }).waitFor()
        await metrics.getByRole("columnheader", { name: "95 of 100 answered within" }).waitFor()
        await assertAccessible(page, "home of an operator")
        await sectionOf("Jobs").getByRole("link", { name: "2 have failed" }).click()
        await page.getByLabel("2 documents").waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }).pipe(Effect.provide(measured)))

  it.live("tells a reader what others change, and nothing of what they may not see", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      const received: Array<string> = []
      page.on("response", (response) => {
        if (response.ok() && /\/(?:health|metrics|jobs|deliveries)/u.test(response.url())) received.push(response.url())
      })
      const latest = page.locator("section", { has: page.getByRole("heading", { name: "Latest changes" }) })
      const watched = page.waitForResponse((response) => response.url().includes("/changes?"))
      yield* Effect.promise(async () => {
        await signIn(explorer, "reader")
        await latest.getByText("Nothing has changed yet").waitFor()
        await watched
      })
      const { result: id } = yield* editor.authors.create({ payload: { name: "Ann Author" } })
      yield* Effect.promise(async () => {
        await latest.getByRole("listitem").filter({ hasText: "Ann Author" }).getByText("created").waitFor()
      })
      yield* editor.authors.patch({ params: { id }, payload: { name: "Ann Writer" } })
      yield* Effect.promise(async () => {
        await latest.getByRole("listitem").filter({ hasText: "Ann Writer" }).getByText("changed").waitFor()
        assert.strictEqual(await latest.getByRole("listitem").count(), 1)
        assert.strictEqual(await page.getByRole("heading", { name: "Health" }).count(), 0)
        assert.strictEqual(await page.getByRole("heading", { name: "What the service does" }).count(), 0)
      })
      assert.deepStrictEqual([received, explorer.problems], [[], []])
    }).pipe(Effect.provide(measured)))
})

describe("Metrics of the explorer", () => {
  const text = (ok: number, failed: number, slow: number) =>
    [
      "# TYPE http_server_request_duration_seconds histogram",
      `http_server_request_duration_seconds_bucket{worker="1",http_response_status_code="200",le="0.1"} ${ok}`,
      `http_server_request_duration_seconds_bucket{worker="1",http_response_status_code="200",le="1"} ${ok + slow}`,
      `http_server_request_duration_seconds_bucket{worker="1",http_response_status_code="200",le="+Inf"} ${ok + slow}`,
      `http_server_request_duration_seconds_count{http_response_status_code="200",worker="1"} ${ok + slow}`,
      `http_server_request_duration_seconds_bucket{http_response_status_code="503",le="0.1"} ${failed}`,
      `http_server_request_duration_seconds_bucket{http_response_status_code="503",le="1"} ${failed}`,
      `http_server_request_duration_seconds_bucket{http_response_status_code="503",le="+Inf"} ${failed}`,
      `http_server_request_duration_seconds_count{http_response_status_code="503"} ${failed}`,
      `db_client_operation_duration_seconds_sum{outcome="ok"} ${(ok + slow) * 0.002}`,
      `db_client_operation_duration_seconds_count{outcome="ok"} ${ok + slow}`
    ].join("\n")

  it("are what was between two times, of all workers and statuses", () => {
    const first = sampleOf(text(100, 0, 0), 0)!
    const second = sampleOf(text(180, 10, 10), 10_000)!
    const { errors, latency, requests, store } = ratesOf(first, second)
    assert.deepStrictEqual([requests, errors, Math.round(store! * 1e6)], [10, 0.1, 2_000_000])
    // 95 of 100: 90 within 0.1 seconds, and half of the ten that took up to one.
    assert.strictEqual(Math.round(latency!), 550)
    assert.strictEqual(ratesOf(undefined, second).requests, undefined)
    assert.strictEqual(sampleOf("up 1", 0), undefined)
  })
})
