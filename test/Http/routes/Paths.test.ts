import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { KernelEngine, Model, OpenApi, Resource, Service } from "../../../src/index.ts"
import { either, oneOf, type Some } from "../../support/choices.ts"

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 40)

class Thing extends Model.Class<Thing>()("Thing", { id: Model.id(), name: Schema.String }) {}

const plainName = oneOf("a", "other_id", "Ab9", "_", "7", "constructor")
const oddName = oneOf("thing-id", "a.b", "größe", "a b", "a?", "a*", "a(x)", "a:b", "", "__proto__", "id")
const plainText = oneOf("wait", ".csv", "a-", "-", "_x", "A", "~b", "2", "schema", "it's", "x@y=z,w+v", "$!&")
const oddText = oneOf(
  "größe",
  "…",
  ":",
  "::",
  "*",
  "(x)",
  ";",
  "?q=1",
  "#",
  "%20",
  "%2F",
  " ",
  "{",
  "}",
  "\\",
  "..",
  "\"",
  "["
)
const parameterOf = (names: Some<string>): Some<string> =>
  either(Arbitrary.map(names, (name) => `{${name}}`), Arbitrary.map(names, (name) => `:${name}`))
const listOf = (item: Some<string>): Some<ReadonlyArray<string>> =>
  Arbitrary.array(item, { minLength: 1, maxLength: 4 })
const belowSegment = (segments: ReadonlyArray<string>): string => `./${segments.join("/")}`

const plainSegment = either(plainText, parameterOf(plainName))
const plainPath = Arbitrary.map(listOf(plainSegment), belowSegment)
const oddPath = Arbitrary.map(
  listOf(either(
    plainSegment,
    Arbitrary.map(listOf(either(plainSegment, plainSegment, oddText, parameterOf(oddName))), (parts) => parts.join(""))
  )),
  belowSegment
)
const value = Arbitrary.map(
  listOf(oneOf("ä", "/", "?", "#", "%", "%41", ";", " ", ".", "x", ":", "…", "+")),
  (parts) => `v${parts.join("")}`
)
const values = Arbitrary.array(value, { minLength: 4, maxLength: 4 })

const namesIn = (path: string): ReadonlyArray<string> =>
  Array.from(path.matchAll(/:(\w+)|\{(\w+)\}/gu), ([, one, other]) => one ?? other ?? "")

/** The described `GET` of a path. */
const operationIn = Schema.decodeUnknownSync(
  Schema.Struct({
    operationId: Schema.String,
    parameters: Schema.Array(Schema.Struct({ in: Schema.String, name: Schema.String }))
      .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
  }).pipe((operation) => Schema.Struct({ get: operation }))
)

/** A service and a resource whose calls have the path. */
const engineAt = (path: string) => {
  const answer = ({ params }: { readonly params: unknown }) => Effect.succeed(JSON.stringify(params))
  return KernelEngine.make("paths")
    .register(Service.make("CallService").operation("call", { path, success: Schema.String }, answer))
    .register(
      Resource.make(Thing, { methods: ["GET"] })
        .action("act", { path, success: Schema.String }, (_, request) => answer(request))
    )
    .enableOpenApi({ title: "Paths", version: "1" })
}

/** Asserts that the calls are served, called and described if the engine starts, and tells whether it does. */
const starts = Effect.fnUntraced(function*(path: string, values: ReadonlyArray<string>) {
  const engine = engineAt(path)
  const started = yield* Effect.result(engine.test())
  if (started._tag === "Failure") {
    assert.strictEqual(started.failure._tag, "RegistrationInvalid", path)
    assert.match(
      started.failure.message,
      /^The registration "(?:calls|things)" can't be served: the path .+ of (?:call|act) /u
    )
    return false
  }
  const { baseUrl, client, repositories } = started.success
  yield* repositories.things.save(Thing.make({ id: "x/y", name: "one" }))
  const params = Object.fromEntries(namesIn(path).map((name, i) => [name, values[i] ?? "v"]))
  const { paths } = OpenApi.make(engine, { title: "Paths", version: "1" })
  for (const [name, own] of [["call", params], ["act", { ...params, id: "x/y" }]] as const) {
    // The types do not know generated paths.
    const call = (name === "call" ? client.calls.call : client.things.act) as unknown as (
      request: object
    ) => Effect.Effect<{ readonly result: string }>
    assert.deepStrictEqual(JSON.parse((yield* call({ params: own })).result), params, `${path} by the client`)
    const [template = "", item] = Object.entries(paths).find(([, item]) =>
      operationIn(item).get.operationId.endsWith(`.${name}`)
    ) ??
      []
    const described = operationIn(item).get.parameters.flatMap((one) => one.in === "path" ? [one.name] : [])
    assert.deepStrictEqual(described.toSorted(), Object.keys(own).toSorted(), `${path} in the document`)
    const url = template.replaceAll(/\{([^{}]*)\}/gu, (_, name: string) => encodeURIComponent(Object(own)[name]))
    const response = yield* Effect.promise(() => fetch(`${baseUrl}${url}`).then((one) => one.json()))
    assert.deepStrictEqual(JSON.parse(response.result), params, `${path} by the document`)
  }
  return true
}, Effect.scoped)

describe("the path of an operation or an action", () => {
  const options = {
    arbitrary: { runs, ...process.env["DIFFERENTIAL_RUNS"] === undefined ? { seed: 1 } : {} },
    timeout: 600_000
  }

  it.effect.prop(
    "is served, called and described if the service starts",
    { path: oddPath, values },
    ({ path, values }) => Effect.asVoid(starts(path, values)),
    options
  )

  it.effect.prop(
    "lets the service start if each segment is a text or a parameter",
    { path: plainPath, values },
    ({ path, values }) =>
      Effect.gen(function*() {
        const names = namesIn(path)
        if (new Set(names).size === names.length) assert.isTrue(yield* starts(path, values), path)
      }),
    { ...options, arbitrary: { ...options.arbitrary, runs: Math.ceil(runs / 2) } }
  )

  const letters = KernelEngine.make("letters")
    .register(
      Resource.make(Thing, { methods: ["GET", "POST"] }).action(
        "öffne",
        { success: Schema.String },
        ({ name }) => Effect.succeed(name)
      ),
      { segment: "größen/本" }
    )
    .register(
      Service.make("Jobs").operation(
        "start",
        { method: "POST", location: "/größen/本/{id}", status: 201, success: Schema.Struct({ id: Schema.String }) },
        () => Effect.succeed({ id: "a b" })
      )
    )

  it.effect("is percent-encoded where a response has it", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* letters.test()
      const asked = (path: string, init: RequestInit = {}) =>
        Effect.promise(async () => {
          const response = await fetch(`${baseUrl}${path}`, init)
          const body: { readonly [name: string]: never } = await response.json()
          return { body, location: response.headers.get("location"), status: response.status }
        })
      const headers = { "content-type": "application/json" }
      const created = yield* asked("/größen/本", { method: "POST", headers, body: "{\"id\":\"T1\",\"name\":\"one\"}" })
      const segment = "/gr%C3%B6%C3%9Fen/%E6%9C%AC"
      assert.deepStrictEqual([created.status, created.location], [201, `${segment}/T1`])
      const { body } = yield* asked(segment)
      assert.deepNestedInclude(body, {
        "_links.self.href": segment,
        "_items[0]._links.self.href": `${segment}/T1`,
        "_items[0]._links.collection.href": segment,
        "_items[0]._links.öffne.href": `${segment}/T1/%C3%B6ffne`
      })
      assert.strictEqual((yield* asked(`${segment}/T1/%C3%B6ffne`)).body["result"], "one")
      assert.strictEqual((yield* asked("/jobs/start", { method: "POST" })).location, `${segment}/a%20b`)
    }))
})
