/** Values that nobody wants, in lists and forms: none is run, and none breaks the page. Large lists. */
import { assert, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Layer, Schema } from "effect"
import type { Page } from "playwright-core"
import { builtExplorer } from "../../../scripts/explorer.ts"
import { EmbeddedStore, KernelEngine, Model, Resource } from "../../../src/index.ts"
import { inBrowser } from "../../../test/support/browser.ts"
import { opened } from "./pages.ts"

class Part extends Model.Class<Part>()("Part", {
  name: Schema.String,
  note: Schema.String.pipe(Model.optional),
  count: Schema.Finite
}) {}

class Other extends Model.Class<Other>()("Other", { id: Schema.String, name: Schema.String }) {}

class Thing extends Model.Class<Thing>()("Thing", {
  id: Schema.String,
  name: Schema.String,
  text: Schema.String,
  description: Schema.String,
  link: Schema.String,
  other: Model.reference(() => Other).pipe(Model.optional),
  whole: Schema.Int,
  number: Schema.Finite,
  flag: Schema.Boolean,
  kind: Schema.Literals(["<b>bold</b>", "constructor", "__proto__", "a b"]),
  at: Model.DateTime,
  day: Model.Date,
  words: Schema.Array(Schema.String),
  kinds: Schema.Array(Schema.Literals(["<i>", "‮x"])),
  times: Schema.Array(Model.DateTime),
  part: Part,
  parts: Schema.Array(Part),
  free: Schema.Json,
  more: Schema.Record(Schema.String, Schema.String)
}) {}

const engine = KernelEngine.make("things")
  .register(Resource.make(Thing, { methods: ["GET", "POST", "PATCH"] }))
  .register(Resource.make(Other, { methods: ["GET"] }))
  .enableExplorer()

const started = Effect.gen(function*() {
  yield* Effect.promise(() => builtExplorer())
  return yield* engine.test({ store: Layer.fresh(EmbeddedStore.layerMemory) })
})

const evil = [
  "<img src=x onerror=globalThis.ran=1>",
  "<script>globalThis.ran=1</script>",
  "\"'><svg/onload=globalThis.ran=1>",
  "{{constructor.constructor('globalThis.ran=1')()}}${globalThis.ran=1}",
  "javascript:globalThis.ran=1//",
  "https://x.example/\"onmouseover=\"globalThis.ran=1",
  "data:text/html,<script>globalThis.ran=1</script>",
  "=cmd|' /C calc'!A0",
  "\u202Egnp.exe\u202E \u2066x\u2069 \u200F",
  "שלום עולם مرحبا بالعالم",
  `Z${"\u0300\u0301\u0302\u0303\u0489".repeat(60)}algo`,
  "w".repeat(5_000),
  "\u0000\u0007\u001B[31m\u007F",
  "🧑‍🚀".repeat(80),
  "a\n\r\n\t b".repeat(40),
  "%{smart_count} |||| %s %{constructor}",
  "__proto__",
  "constructor",
  " ",
  "\uFEFF\u200B\u00AD"
]

const literal = Arbitrary.schema(Schema.Literals(evil))
const anyText = Arbitrary.schema(Schema.String)
const texts = Arbitrary.all([literal, anyText, Arbitrary.schema(Schema.Literals([0, 1, 2]))]).pipe(
  Arbitrary.map(([one, other, which]) => (which === 0 ? other : which === 1 ? one : one + other).toWellFormed())
)
const numbers = Arbitrary.schema(Schema.Union([
  Schema.Finite,
  Schema.Literals([Number.MAX_VALUE, Number.MIN_VALUE, -0, 1e-320, 123_456_789_012_345_680, Number.MAX_SAFE_INTEGER])
]))
const whole = Arbitrary.schema(
  Schema.Literals([0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2_147_483_648])
)
const times = Arbitrary.schema(Schema.Literals([
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "1969-12-31T23:59:59.999Z",
  "2026-03-29T01:30:00Z"
])).pipe(Arbitrary.map((text) => DateTime.makeUnsafe(text)))
const parts = Arbitrary.all({ name: texts, note: texts, count: numbers }).pipe(
  Arbitrary.map((values) => new Part(values))
)
const some = <A>(item: Arbitrary.Arbitrary<A>) => Arbitrary.array(item, { minLength: 4, maxLength: 6 })
// The names of members that the store takes.
const keys = Arbitrary.schema(
  Schema.Literals(["<img src=x onerror=globalThis.ran=1>", "constructor", "\u202Egnp", "שלום", "w".repeat(900)])
)
const free: Arbitrary.Arbitrary<Schema.Json> = Arbitrary.all([keys, numbers, some(texts)]).pipe(
  Arbitrary.map(([key, number, list]) => ({ [key]: list, number, deep: { [key]: [[key], null] } }))
)

const things = Arbitrary.all({
  name: texts,
  text: texts,
  description: texts,
  link: texts,
  other: Arbitrary.schema(Schema.Literals(["<img src=x onerror=globalThis.ran=1>", "constructor", "T0 none"])),
  whole,
  number: numbers,
  flag: Arbitrary.schema(Schema.Boolean),
  kind: Arbitrary.schema(Schema.Literals(["<b>bold</b>", "constructor", "__proto__", "a b"])),
  at: times,
  day: Arbitrary.schema(Schema.toType(Model.Date)),
  words: some(texts),
  kinds: some(Arbitrary.schema(Schema.Literals(["<i>", "‮x"]))),
  times: some(times),
  part: parts,
  parts: some(parts),
  free,
  more: Arbitrary.all([keys, texts]).pipe(Arbitrary.map(([key, value]) => ({ [key]: value, key })))
})

const documents = 36

/** Texts of a document in their order: over the first documents, each field has each hostile value once. */
const evilTexts = (document: number) => {
  const text = (field: number): string => evil[(document + field) % evil.length]!.toWellFormed()
  return {
    name: text(0),
    text: text(1),
    description: text(2),
    link: text(3),
    words: [text(4), text(5), text(6), text(7)],
    part: new Part({ name: text(8), note: text(9), count: document }),
    parts: [new Part({ name: text(10), note: text(11), count: document })]
  }
}

/** How many values a document has, with those of its parts. */
const valuesIn = (value: unknown): number =>
  typeof value === "object" && value !== null && !DateTime.isDateTime(value)
    ? Object.values(value).reduce((sum: number, one) => sum + valuesIn(one), 0)
    : 1

const fits = async (page: Page, where: string) => {
  assert.strictEqual(await page.evaluate("globalThis.ran"), undefined, where)
  assert.isAtMost(Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth")), 0, where)
}

const thingOf = (n: number, part: Part) => ({
  id: String(n).padStart(5, "0"),
  name: `Thing ${n}`,
  text: "a",
  description: "b",
  link: "c",
  whole: n % 100,
  number: (n % 100) / 7,
  flag: true,
  kind: "a b" as const,
  at: DateTime.makeUnsafe(1_800_000_000_000 + n % 100),
  day: DateTime.makeUnsafe(1_800_000_000_000),
  words: ["w"],
  kinds: [],
  times: [],
  part,
  parts: [part],
  free: null,
  more: {}
})

inBrowser("The explorer", (open) => {
  it.live("runs none of 1,500 hostile values of all kinds, and none breaks its layout", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories } = yield* started
      const { things: stored } = repositories
      const sampled = yield* Arbitrary.sampleEffect(things, { count: documents, seed: 20_261_129 })
      const drawn = sampled.map((thing, i) => i < evil.length ? { ...thing, ...evilTexts(i) } : thing)
      assert.isAtLeast(drawn.reduce((sum, thing) => sum + valuesIn(thing), 0), 1_500)
      const ids = drawn.map((_, i) => `T${i} <b>bold</b>`)
      yield* Effect.forEach(drawn, (thing, i) => stored.insert(new Thing({ ...thing, id: ids[i]! })))
      const addresses = [...ids, "large"].map((id) => `#/things/${encodeURIComponent(id)}`)
      const large = "<b>x</b> &amp; ".repeat(35_000)
      yield* stored.insert(new Thing({ ...drawn[0]!, id: "large", name: "large", text: large, description: large }))
      const explorer = yield* opened(open, baseUrl)
      const { page } = explorer
      yield* Effect.promise(async () => {
        await page.getByRole("heading", { name: "things" }).waitFor()
        // All columns are shown.
        await page.evaluate("localStorage.setItem('RaStoreappkernel-explorer.things.datatable', '[]')")
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 800 })
          await explorer.goTo(`?${width}#/things?perPage=250&page=1&sort=id&order=ASC`)
          const links = page.locator("main a[href^='#/things/']")
          await links.nth(documents).waitFor()
          await fits(page, `list ${width}`)
          for (const [i, address] of addresses.entries()) {
            // Narrow, every fourth.
            if (width < 1_000 && i % 4 > 0) continue
            await explorer.goTo(address)
            await page.getByRole("tab", { name: "JSON" }).waitFor()
            await page.getByLabel("Description", { exact: false }).first().waitFor()
            await fits(page, `${address} ${width}`)
            assert.strictEqual(await page.getByText("Unsaved changes").count(), 0, address)
          }
          await page.getByRole("tab", { name: "JSON" }).click()
          await page.getByRole("button", { name: "Copy" }).waitFor()
          await fits(page, `JSON ${width}`)
        }
      })
      assert.deepStrictEqual(explorer.problems, [])
    }))

  it.live("shows lists of 10,000 rows with no more of them on the page than there are on one", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories: { things: stored } } = yield* started
      const part = new Part({ name: "p", count: 1 })
      yield* Effect.forEach(
        Array.from({ length: 100 }, (_, i) => i),
        (hundred) =>
          stored.bulkInsert(Array.from({ length: 100 }, (_, i) => new Thing(thingOf(hundred * 100 + i, part))))
      )
      const explorer = yield* opened(open, baseUrl, "#/things?perPage=25&page=1&sort=id&order=ASC")
      const { page } = explorer
      const nodes = async () => Number(await page.evaluate("document.querySelectorAll('*').length"))
      yield* Effect.promise(async () => {
        await page.getByLabel("10000 documents").waitFor()
        await page.getByRole("link", { name: "Thing 24" }).waitFor()
        const first = await nodes()
        assert.isBelow(first, 2_500)
        for (let next = 2; next <= 8; next++) {
          await page.getByRole("button", { name: "Go to next page" }).click()
          await page.getByRole("link", { name: `Thing ${next * 25 - 1}`, exact: true }).waitFor()
        }
        await page.mouse.wheel(0, 20_000)
        await page.mouse.wheel(0, -20_000)
        assert.isBelow(await nodes(), first * 1.2)
        await explorer.goTo("#/things?perPage=250&page=40&sort=id&order=ASC")
        await page.getByRole("link", { name: "Thing 9999" }).waitFor()
        assert.isBelow(await nodes(), 25_000)
      })

      // To write into one entry of a list costs the same however many others there are.
      const called: { [entries: number]: number } = {}
      for (const entries of [5, 100]) {
        const id = `entries ${entries}`
        yield* stored.insert(new Thing({ ...thingOf(0, part), id, parts: Array.from({ length: entries }, () => part) }))
        yield* Effect.promise(async () => {
          await explorer.goTo(`#/things/${encodeURIComponent(id)}`)
          const note = page.getByRole("group", { name: `parts ${entries}` }).getByLabel("note")
          await note.fill("a")
          await page.getByText("Unsaved changes").waitFor()
          await note.press("End")
          await page.coverage.startJSCoverage({ resetOnNavigation: false })
          await note.press("b")
          await page.evaluate("new Promise((shown) => requestAnimationFrame(() => setTimeout(shown)))")
          const scripts = await page.coverage.stopJSCoverage()
          called[entries] = scripts.flatMap(({ functions }) => functions)
            .reduce((sum, { ranges: [whole] }) => sum + (whole?.count ?? 0), 0)
        })
      }
      assert.isBelow(called[100]!, called[5]! * 2)
      assert.deepStrictEqual(explorer.problems, [])
    }))
})
