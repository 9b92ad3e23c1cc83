import { assert, it } from "@effect/vitest"
import { Arbitrary, Effect, Exit, Schema } from "effect"
import { EmbeddedStore, KernelEngine, Model, OpenApi } from "../../../src/index.ts"
import type { Json } from "../../support/jsonValues.ts"
import { send, serving } from "../../support/rest.ts"

class Room extends Model.Class<Room>()("Room", { id: Model.id(), name: Schema.String, beds: Schema.Int }) {}

/** It has fields of the names of parameters. */
class Survey extends Model.Class<Survey>()("Survey", {
  id: Model.id(),
  count: Schema.Int,
  fields: Schema.String,
  page: Schema.Int
}) {}

const engine = KernelEngine.make("standard queries")
  .register(Room, { methods: ["GET", "POST"] })
  .register(Survey, { methods: ["GET", "POST"] })

const document: Json = OpenApi.make(engine, { title: "Rooms", version: "1" })

/** Values that are right in themselves, for what a schema takes any text for. */
const right: { readonly [name: string]: string } = {
  fields: "id",
  sort_by: "id",
  query: "{}",
  pipe: "[]",
  cursor: "",
  name: "x",
  beds: "2",
  id: "a"
}

const names = ["page", "page_size", "sort_order", "logic", "count", "mongo", "additional_properties", "limit"]

const texts = ["1", "0", "07", "20", "1000", "1001", "-1", "1.5", "1e1", " 1", "9007199254740993", ""].concat(
  ["asc", "DESC", "down", "and", "OR", "xor", "exact", "Exact", "none", "true", "YES", "off", "maybe"]
)

interface Endpoint {
  readonly path: string
  readonly operation: string
  readonly query: Schema.Top | undefined
  readonly required: Parameters
}

type Parameters = { readonly [name: string]: string | ReadonlyArray<string> }

const { rooms, surveys } = engine.api.groups

const endpoints: ReadonlyArray<Endpoint> = [
  { path: "/rooms", operation: "/rooms", query: rooms.endpoints.list.query, required: {} },
  { path: "/rooms/a", operation: "/rooms/{id}", query: rooms.endpoints.get.query, required: {} },
  {
    path: "/rooms/aggregate",
    operation: "/rooms/aggregate",
    query: rooms.endpoints.aggregate.query,
    required: { pipe: "[]" }
  },
  { path: "/rooms/schema", operation: "/rooms/schema", query: rooms.endpoints.schema.query, required: {} },
  { path: "/rooms/meta", operation: "/rooms/meta", query: rooms.endpoints.meta.query, required: {} },
  { path: "/surveys/a", operation: "/surveys/{id}", query: surveys.endpoints.get.query, required: {} }
]

/** Whether the description takes the value: the schema of the endpoint, and the limits that the document names. */
const allows = ({ operation, query, required }: Endpoint, name: string, value: string | ReadonlyArray<string>) => {
  if (query === undefined) return false
  // Queries are plain codecs.
  const schema = query as Schema.Codec<Record<string, unknown>>
  const decoded = Schema.decodeUnknownExit(schema)({ ...required, [name]: value }, { onExcessProperty: "error" })
  const described = document.paths[operation].get.parameters?.find((parameter: Json) => parameter.name === name)
  return Exit.isSuccess(decoded) && !(Number(decoded.value[name]) > (described?.schema?.maximum ?? Infinity))
}

const values = Arbitrary.array(Arbitrary.schema(Schema.Literals(texts)), { minLength: 1, maxLength: 2 })

const queries = Arbitrary.array(
  Arbitrary.all([Arbitrary.schema(Schema.Literals([...names, ...Object.keys(right), "constructor"])), values]),
  { maxLength: 5 }
).pipe(Arbitrary.map((pairs) => {
  const given = new Map(pairs.map(([name, texts]) => [name, texts.map((text) => right[name] ?? text)]))
  // A page has a number or a cursor: that is said of both together.
  if (given.has("page")) given.delete("cursor")
  return given
}))

const plans = Arbitrary.all([Arbitrary.schema(Schema.Literals(endpoints.map((_, i) => i))), queries])

it.layer(serving(engine, EmbeddedStore.layerMemory), { excludeTestServices: true })("standard queries", (it) => {
  it.effect("are accepted by the server if their description accepts them, and rejected by name otherwise", () =>
    Effect.gen(function*() {
      yield* send("POST", "/rooms", { id: "a", name: "x", beds: 2 })
      yield* send("POST", "/surveys", { id: "a", count: 1, fields: "x", page: 2 })
      const outcomes = new Map<string, number>()
      const check = ([index, given]: readonly [number, ReadonlyMap<string, ReadonlyArray<string>>]) =>
        Effect.gen(function*() {
          const endpoint = endpoints[index]!
          const all = new Map([
            ...Object.entries(endpoint.required).map(([name, value]) => [name, [value].flat()] as const),
            ...given
          ])
          const pairs = [...all].flatMap(([name, texts]) => texts.map((text) => `${name}=${encodeURIComponent(text)}`))
          const refused = [...all].flatMap(([name, texts]) =>
            allows(endpoint, name, texts.length === 1 ? texts[0]! : texts) ? [] : [name]
          )
          const { body, status } = yield* send("GET", `${endpoint.path}?${pairs.join("&")}`)
          const fields: ReadonlyArray<string> = status === 400 ? body.errors.map(({ field }: Json) => field) : []
          outcomes.set(`${endpoint.path} ${status}`, (outcomes.get(`${endpoint.path} ${status}`) ?? 0) + 1)
          const isSame = status === (refused.length === 0 ? 200 : 400) &&
            fields.toSorted().join() === refused.toSorted().join()
          return isSame ? true : yield* Effect.fail({ path: endpoint.path, pairs, refused, status, fields })
        })
      const result = yield* Arbitrary.checkEffect(plans, check, { runs: 600, seed: 1, maxShrinks: 200, size: 6 })
      const failure = result._tag === "Falsified" && result.failure._tag === "PropertyError" ? result.failure.error : {}
      assert.deepStrictEqual([result._tag, failure], ["Passed", {}])
      // The property says nothing of what never happens.
      assert.sameMembers([...outcomes.keys()], endpoints.flatMap(({ path }) => [`${path} 200`, `${path} 400`]))
    }))

  it.effect("select fields of one document of any model", () =>
    Effect.gen(function*() {
      yield* send("POST", "/surveys", { id: "b", count: 1, fields: "x", page: 2 })
      const { body } = yield* send("GET", "/surveys/b?fields=count")
      assert.deepStrictEqual(Object.keys(body).toSorted(), ["_links", "_type", "count", "id"])
      assert.deepStrictEqual((yield* send("GET", "/surveys/b?fields=nope")).body.errors[0].field, "fields")
    }))
})
