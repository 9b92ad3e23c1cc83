/** The home of the explorer: what happens, what has failed, and what the service does, for those who may see it. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, DateTime, Effect } from "effect"
import type { Request } from "playwright-core"
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
          // The last one that died was made first.
          ended: DateTime.add(now, { minutes: key === "a" ? 2 : 1 }),
          failure: `no paper for ${key}`
        }))
      yield* Effect.forEach(["failed", "retrying"] as const, (state) =>
        deliveries.insert({
          id: state,
          subscription: "WS1",
          event: "e1",
          event_type: state === "failed" ? "book.created" : "book.updated",
          subject: "B1",
          state,
          attempts: 9,
          at: now,
          failure: "no answer",
          payload: "{}"
        }))
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      const sectionOf = (name: string) => page.locator("section", { has: page.getByRole("heading", { name }) })
      yield* Effect.promise(async () => {
        await signIn(explorer, "operator")
        await sectionOf("Jobs").getByText("no paper for a").waitFor()
        assert.match(await sectionOf("Jobs").getByRole("list").innerText(), /for a[^]*for b/u)
        await sectionOf("Deliveries").getByRole("link", { name: "1 has failed" }).waitFor()
        await sectionOf("Deliveries").getByRole("link", { name: "book.created" }).waitFor()
        await sectionOf("Health").getByText("stove").waitFor()
        await sectionOf("Health").getByText("it is cold").waitFor()
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

  it.live("says no more than what it could read", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories: { jobs } } = yield* library
      yield* Effect.forEach(["a", "b", "c", "d", "e", "f"], (key) =>
        jobs.insert({
          id: key,
          queue: "print",
          key,
          element: "",
          state: "dead",
          attempts: 3,
          created: now,
          ended: now
        }))
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      const sectionOf = (name: string) => page.locator("section", { has: page.getByRole("heading", { name }) })
      yield* Effect.promise(async () => {
        page.setDefaultTimeout(20_000)
        await page.clock.install()
        await page.route("**/deliveries?*", (route) => route.fulfill({ status: 403, json: { message: "Not for you" } }))
        await page.route("**/jobs?*", async (route) => {
          const response = await route.fetch()
          const [body, type] = [await response.body(), response.headers()["content-type"] ?? ""]
          await route.fulfill({ body, contentType: type })
        })
        await signIn(explorer, "operator")
        await sectionOf("Deliveries").getByText("Not for you").waitFor()
        assert.strictEqual(await sectionOf("Deliveries").getByText("None has failed").count(), 0)
        await sectionOf("Jobs").getByRole("link", { name: "More than 5 have failed" }).waitFor()

        // What was true at the last visit says nothing of now.
        await sectionOf("Health").getByText("stove").waitFor()
        const rows = sectionOf("What the service does").getByRole("row")
        await sectionOf("What the service does").getByText("The numbers as a table").click()
        await rows.nth(1).waitFor()
        await page.route("**/health", (route) => route.abort())
        await page.route("**/metrics", (route) => route.fulfill({ status: 502 }))
        const before = await rows.count()
        await page.clock.fastForward(31_000)
        await sectionOf("Health").getByText("stove").waitFor({ state: "detached" })
        await sectionOf("Health").getByText("Does not work").waitFor()
        await rows.nth(before).waitFor()
        assert.deepStrictEqual(await rows.nth(1).getByRole("cell").allInnerTexts(), ["–", "–", "–", "–"])

        // Whoever may no longer know is told nothing.
        await page.unroute("**/health")
        await page.route("**/{health,metrics}", (route) => route.fulfill({ status: 403, json: { message: "No" } }))
        await page.clock.fastForward(31_000)
        await sectionOf("Health").waitFor({ state: "detached" })
        await sectionOf("What the service does").waitFor({ state: "detached" })
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
      // The times are those of the service, whatever the clock of the browser says.
      yield* Effect.promise(() => page.clock.install({ time: "2020-01-01T00:00:00Z" }))
      yield* Effect.promise(async () => {
        await signIn(explorer, "reader")
        await latest.getByText("Nothing has changed yet").waitFor()
        await watched
      })
      const { result: id } = yield* editor.authors.create({ payload: { name: "Ann Author" } })
      yield* Effect.promise(async () => {
        await latest.getByRole("listitem").filter({ hasText: "Ann Author" }).getByText("new", { exact: true }).waitFor()
        assert.notMatch(await latest.locator("time").getAttribute("datetime") ?? "", /^2020/u)
      })
      yield* editor.authors.patch({ params: { id }, payload: { name: "Ann Writer" } })
      yield* Effect.promise(async () => {
        await latest.getByRole("listitem").filter({ hasText: "Ann Writer" }).getByText("changed").waitFor()
        assert.strictEqual(await latest.getByRole("listitem").count(), 1)
        assert.strictEqual(await page.getByRole("heading", { name: "Health" }).count(), 0)
        assert.strictEqual(await page.getByRole("heading", { name: "What the service does" }).count(), 0)
      })
      yield* editor.authors.delete({ params: { id } })
      yield* Effect.promise(() => latest.getByText("gone", { exact: true }).waitFor())
      assert.deepStrictEqual([received, explorer.problems], [[], []])
    }).pipe(Effect.provide(measured)))

  it.live("tells what has happened before the page was opened, and goes on from there", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const { result: ann } = yield* editor.authors.create({ payload: { name: "Ann Author" } })
      const { result: bob } = yield* editor.authors.create({ payload: { name: "Bob Author" } })
      yield* editor.authors.patch({ params: { id: ann }, payload: { name: "Ann Writer" } })
      yield* editor.authors.delete({ params: { id: bob } })
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      const items = page.locator("section", { has: page.getByRole("heading", { name: "Latest changes" }) })
        .getByRole("listitem")
      const told = async () => (await items.allInnerTexts()).map((text) => text.replaceAll(/\s+/gu, " "))
      yield* Effect.promise(async () => {
        await signIn(explorer, "reader")
        await items.filter({ hasText: "Ann Writer" }).getByText("changed").waitFor()
        const [first = "", second = "", ...others] = await told()
        assert.match(first, /gone/u)
        assert.include(first, bob)
        assert.include(second, "Ann Writer")
        assert.deepStrictEqual(others, [])
      })
      yield* editor.authors.create({ payload: { name: "Cy Author" } })
      yield* Effect.promise(async () => {
        await items.filter({ hasText: "Cy Author" }).getByText("new", { exact: true }).waitFor()
        assert.lengthOf(await told(), 3)
        await page.reload()
        await items.filter({ hasText: bob }).getByText("gone").waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("offers what the service does beside its models to those who may", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* library
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await signIn(explorer, "editor")
        await page.getByRole("group", { name: "Stock" }).getByRole("button", { name: "Order paper" }).click()
        await page.getByLabel("Sheets *").fill("0")
        await page.getByRole("button", { name: "Run" }).click()
        await page.getByText("One field needs another look").waitFor()
        await page.getByLabel("Sheets *").fill("500")
        await page.getByRole("button", { name: "Run" }).click()
        await page.getByText("500 sheets are on their way").waitFor()
        await page.getByRole("button", { name: "Close" }).click()
        await page.getByRole("button", { name: "Translate" }).or(page.getByRole("button", { name: "English" })).first()
          .click()
        await page.getByRole("menuitem", { name: "Deutsch" }).click()
        await page.getByRole("group", { name: "Lager" }).getByRole("button", { name: "Papier bestellen" }).click()
        await page.getByLabel("Bogen *").waitFor()
      })
      const other = yield* opened(open, baseUrl)
      yield* Effect.promise(async () => {
        await signIn(other, "reader")
        await other.page.getByRole("heading", { name: "Latest changes" }).waitFor()
        assert.strictEqual(await other.page.getByRole("heading", { name: "Operations" }).count(), 0)
      })
      assert.deepStrictEqual([...explorer.problems, ...other.problems], [])
    }))

  it.live("counts the states of documents that are too many to be counted", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      yield* editor.books.create({ payload: { title: "Tea", state: "printed", price: 12 } })
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await page.route("**/books?*", async (route) => {
          const response = await route.fetch()
          const [body, type] = [await response.body(), response.headers()["content-type"] ?? ""]
          await route.fulfill({ body, contentType: type })
        })
        page.setDefaultTimeout(20_000)
        await signIn(explorer, "editor")
        await page.getByText("Many", { exact: true }).waitFor()
        await page.getByRole("link", { name: "Printed: 1" }).waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("reads the newest documents again where it may have missed some, and does without a part that is gone", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories: { jobs } } = yield* library
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      const latest = page.locator("section", { has: page.getByRole("heading", { name: "Latest changes" }) })
      const missed = Promise.withResolvers<void>()
      yield* Effect.promise(async () => {
        page.setDefaultTimeout(20_000)
        await page.route("**/changes?*", async (route) => {
          if (!route.request().url().includes("live=sse")) return route.fulfill({ status: 410, json: {} })
          await missed.promise
          await route.continue()
        })
        await page.route("**/assets/Metrics-*", (route) => route.fulfill({ status: 404 }))
        const gone = page.waitForResponse(/Metrics-.*js/u)
        await signIn(explorer, "operator")
        await gone
        await latest.getByText("Nothing has changed yet").waitFor()
      })
      const job = { id: "missed", queue: "print", key: "missed", element: "", attempts: 1, created: now }
      yield* jobs.insert({ ...job, state: "done" })
      yield* Effect.promise(async () => {
        missed.resolve()
        await latest.getByRole("listitem").filter({ hasText: "missed" }).waitFor()
        await page.getByRole("heading", { name: "Health" }).waitFor()
      })
      assert.deepStrictEqual(explorer.problems, [])
    }).pipe(Effect.provide(measured)))

  it.live("asks only for what is theirs, of three people on every page", () =>
    Effect.gen(function*() {
      const { baseUrl, editor } = yield* library
      const { result: author } = yield* editor.authors.create({ payload: { name: "Ann Author" } })
      yield* editor.books.create({ payload: { title: "Tea", state: "printed", price: 12, author } })
      yield* editor.racks.create({ payload: { name: "Rack", depth: 1, spot: { row: 1, label: "a" } } })
      yield* editor.posters.create({ payload: { name: "Poster" } })
      const people = {
        editor: ["Books", "Authors", "Genres", "Posters", "Racks"],
        reader: ["Books", "Authors", "Posters"],
        operator: ["Authors", "Jobs", "Deliveries"]
      }
      yield* Effect.forEach(Object.entries(people), ([role, models]) =>
        Effect.gen(function*() {
          const explorer = yield* opened(open, baseUrl)
          const { page } = explorer
          const asked: Array<string> = []
          const refused: Array<string> = []
          const visited: Array<string> = []
          const pending = new Set<Request>()
          // The stream of changes has no end.
          page.on("request", (request) => request.url().includes("/changes") || pending.add(request))
          page.on("requestfinished", (request) => pending.delete(request))
          page.on("requestfailed", (request) => pending.delete(request))
          const settled = async () => {
            await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            while (pending.size > 0) await page.waitForTimeout(20)
          }
          page.on("response", (response) => {
            const what = `${role}: ${response.status()} ${new URL(response.url()).pathname}`
            asked.push(what)
            // A stove that is cold is a 503 of the health.
            if (response.status() >= 400 && response.status() < 500) refused.push(what)
          })
          yield* Effect.promise(async () => {
            page.setDefaultTimeout(30_000)
            await signIn(explorer, role)
            // The home asks in steps, each of which waits until there is nothing else to do.
            await page.getByRole("heading", { name: "Latest changes" }).waitFor()
            await page.evaluate("new Promise((done) => requestIdleCallback(() => requestIdleCallback(done)))")
            await settled()
            if (role === "operator") await page.getByRole("img", { name: /^Requests/u }).waitFor()
            for (const name of ["Books", "Authors", "Genres", "Posters", "Racks", "Jobs", "Deliveries"]) {
              const model = page.getByRole("menuitem", { name })
              if (await model.count() === 0) continue
              visited.push(name)
              await model.click()
              await page.getByRole("heading", { name, level: 1 }).waitFor()
              const documents = page.locator("tbody tr a")
              await documents.first().or(page.getByRole("heading", { name: /yet|No/u, level: 2 })).first().waitFor()
              if (await documents.count() === 0) continue
              await documents.first().click()
              await page.getByRole("tab").first().waitFor()
              for (const tab of await page.getByRole("tab").all()) {
                await tab.click()
                await settled()
              }
            }
            await settled()
          })
          assert.deepStrictEqual(visited, models)
          assert.deepStrictEqual(refused, [])
          assert.isAbove(asked.length, 15)
        }), { discard: true })
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

  it("are none where another process answers, or one has begun anew", () => {
    const answered = (seconds: number, uptimes: ReadonlyArray<number>) =>
      sampleOf(
        [
          text(seconds, 0, 0),
          ...uptimes.map((uptime, i) => `process_uptime_seconds{worker="${i}",unit="s"} ${uptime}`)
        ].join("\n"),
        seconds * 1_000
      )!
    const requests = (...[first, second]: readonly [ReadonlyArray<number>, ReadonlyArray<number>]) =>
      ratesOf(answered(100, first), answered(110, second))
    assert.strictEqual(requests([50.2, 48], [60.4, 58.1]).requests, 1)
    const none = { at: 110_000, requests: undefined, errors: undefined, latency: undefined, store: undefined }
    assert.deepStrictEqual(requests([50], [500]), none)
    assert.deepStrictEqual(requests([50, 48], [60, 3]), none)
    assert.deepStrictEqual(requests([50], [60, 60]), none)
    assert.deepStrictEqual(requests([50], []), none)
  })
})
