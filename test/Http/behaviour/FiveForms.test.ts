/**
 * A service in six versions, of which two run at each time, over documents that go through the forms of their model.
 *
 * `DOCUMENTS=100000 npx vitest run test/Http/behaviour/FiveForms.test.ts` is the same on so many documents.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Option, Schema, Stream } from "effect"
import {
  DocumentStore,
  EmbeddedStore,
  Index,
  KernelConfig,
  KernelEngine,
  Model,
  Repository,
  Upgrade
} from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"

const size = Number(process.env["DOCUMENTS"] ?? 120)

const isLarge = size > 1000

/** A query of a changed field reads all documents that the rest of it leaves. */
const limits = { ...KernelConfig.Limits.defaultValue(), ...isLarge ? { queryTimeout: Duration.minutes(2) } : {} }

const tags = Schema.Array(Schema.String).pipe(Model.withDefault((): ReadonlyArray<string> => []))
const mail = Schema.String.pipe(Model.optional)
const common = { id: Model.id(), city: Schema.String }

class V1 extends Model.Class<V1>()("Person", { ...common, name: Schema.String, age: Schema.String, mail }) {}

const isAdded = Model.was.added<{ readonly tags: ReadonlyArray<string> }>("tags")

class V2 extends Model.Class<V2>()("Person", { ...common, name: Schema.String, age: Schema.String, mail, tags }, {
  versions: [isAdded]
}) {}

const isRenamed = Model.was.renamed<{ readonly email?: string }>("mail", "email")

class V3 extends Model.Class<V3>()("Person", {
  ...common,
  name: Schema.String,
  age: Schema.String,
  email: mail,
  tags
}, { versions: [isAdded, isRenamed] }) {}

const isSplit = Model.was.replaced(["first", "last"], { name: Schema.String }, {
  up: ({ name }) => ({ first: name.split(" ")[0] ?? "", last: name.split(" ")[1] ?? "" }),
  down: ({ first, last }: { readonly first: string; readonly last: string }) => ({ name: `${first} ${last}` })
})

class V4 extends Model.Class<V4>()("Person", {
  ...common,
  first: Schema.String,
  last: Schema.String,
  age: Schema.String,
  email: mail,
  tags
}, { versions: [isAdded, isRenamed, isSplit] }) {}

const isRetyped = Model.was.retyped<typeof Schema.String, { readonly age: number }, "age">("age", Schema.String, {
  up: Number,
  down: String
})

class V5 extends Model.Class<V5>()("Person", {
  ...common,
  first: Schema.String,
  last: Schema.String,
  age: Schema.Int,
  email: mail,
  tags
}, { versions: [isAdded, isRenamed, isSplit, isRetyped] }) {}

class V6 extends Model.Class<V6>()("Person", {
  ...common,
  first: Schema.String,
  last: Schema.String,
  age: Schema.Int,
  address: mail.pipe(Model.indexed(Index.unique)),
  tags,
  ...Model.versioned
}, { versions: [isAdded, isRenamed, isSplit, isRetyped, Model.was.renamed("email", "address")] }) {}

const methods = ["GET", "POST", "PATCH", "DELETE"] as const

const engines = [V1, V2, V3, V4, V5, V6].map((model: Model.Any) => ({
  model,
  engine: KernelEngine.make("people").register(model, { methods, name: "people" })
}))

/** A person, whatever the form. */
interface Person {
  readonly id: string
  readonly city: string
  readonly first: string
  readonly last: string
  readonly age: number
  readonly mail: string
  readonly tags: ReadonlyArray<string>
}

/** The fields of a person as the version has them. */
const fieldsIn = (version: number, { age, city, first, last, mail, tags }: Person) => ({
  city,
  ...version < 4 ? { name: `${first} ${last}` } : { first, last },
  age: version < 5 ? String(age) : age,
  [version < 3 ? "mail" : version < 6 ? "email" : "address"]: mail,
  ...version < 2 ? {} : { tags }
})

/** Queries of the unchanging half, with the number of their results. */
const queriesOf = (version: number, people: ReadonlyArray<Person>) => {
  const still = people.filter(({ city }) => city === "Still")
  const count = (keep: (person: Person) => boolean) => still.filter(keep).length
  return [
    [
      version < 4 ? "name=Ada%20Turing" : "first=Ada&last=Turing",
      count((one) => one.first === "Ada" && one.last === "Turing")
    ],
    [version < 5 ? "age=25" : "age=>24&age=<26", count(({ age }) => age === 25)],
    [
      `${version < 3 ? "mail" : version < 6 ? "email" : "address"}=p4@example.com`,
      count((one) => one.mail === "p4@example.com")
    ]
  ] as const
}

const personAt = (i: number): Person => ({
  id: `P${String(i).padStart(6, "0")}`,
  city: i % 2 === 0 ? "Still" : "Busy",
  first: ["Ada", "Alan", "Grace"][i % 3]!,
  last: ["Lovelace", "Turing", "Hopper", "Byron"][i % 4]!,
  age: 20 + i % 10,
  mail: `p${i}@example.com`,
  tags: []
})

const contract = <E>(name: string, layer: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  describe(`five changes of a model / ${name}`, () => {
    it.live(
      "two versions of a service lose no write, and find what an upgraded store would",
      () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const shared = Layer.succeed(DocumentStore.DocumentStore, store)
          const people = new Map(Array.from({ length: size }, (_, i) => [i, personAt(i)]))
          const all = [...people.values()].map((person) => ({ _id: person.id, ...fieldsIn(1, person) }))
          for (let i = 0; i < all.length; i += 1000) yield* store.insertMany("Person", all.slice(i, i + 1000))
          const failures: Array<string> = []
          let requests = 0
          const call = (baseUrl: string, method: string, path: string, body?: unknown) =>
            Effect.promise(async () => {
              requests += 1
              const response = await fetch(`${baseUrl}/persons${path}`, {
                method,
                ...body === undefined
                  ? {}
                  : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }
              })
              const text = await response.text()
              if (response.status >= 300) failures.push(`${method} ${path}: ${response.status} ${text}`)
              return JSON.parse(text)
            })
          const assertFound = (version: number, baseUrl: string) =>
            Effect.forEach(queriesOf(version, [...people.values()]), ([query, expected]) =>
              Effect.map(call(baseUrl, "GET", `?city=Still&page_size=1&${query}`), () =>
                expected).pipe(
                  Effect.andThen(call(baseUrl, "GET", `?city=Still&page_size=1000&fields=id&${query}`)),
                  Effect.map(({ _items }) => assert.lengthOf(_items, Math.min(expected, 1000), `${version}: ${query}`))
                ))
          let next = size
          /** Each version writes other fields of the same documents at once, and inserts and removes some. */
          const writes = (version: number, older: string, newer: string) =>
            Effect.forEach(
              Array.from({ length: 12 }, (_, n) =>
                n),
              (n) =>
                Effect.gen(function*() {
                  const i = 1 + 2 * ((version * 37 + n * 11) % Math.floor(size / 2))
                  const before = people.get(i)!
                  const after = {
                    ...before,
                    last: `Last${version}`,
                    age: before.age + 1,
                    mail: `${version}.${i}@example.com`
                  }
                  const named = Object.entries(fieldsIn(version, after)).filter(([key]) =>
                    key === "name" || key === "last"
                  )
                  const others = Object.entries(fieldsIn(version + 1, after)).filter(([key]) =>
                    /^(?:age|.*mail|address)$/u.test(key)
                  )
                  yield* Effect.all([
                    call(older, "PATCH", `/${before.id}`, Object.fromEntries(named)),
                    call(newer, "PATCH", `/${before.id}`, Object.fromEntries(others))
                  ], { concurrency: 2 })
                  people.set(i, after)
                  const [first, second] = n % 2 === 0 ? [older, newer] : [newer, older]
                  const added = { ...personAt(next), city: "Busy" }
                  next += 1
                  yield* call(first, "POST", "", { id: added.id, ...fieldsIn(version + n % 2, added) })
                  if (n % 3 === 0) yield* call(second, "DELETE", `/${added.id}`)
                  else people.set(Number(added.id.slice(1)), added)
                }),
              { concurrency: 4 }
            )
          for (let version = 1; version < engines.length; version++) {
            const [before, after] = [engines[version - 1]!, engines[version]!]
            yield* Effect.scoped(Effect.gen(function*() {
              const newer = yield* after.engine.test({ store: shared })
              yield* Effect.scoped(Effect.gen(function*() {
                const older = yield* before.engine.test({ store: shared })
                yield* Effect.all([
                  writes(version, older.baseUrl, newer.baseUrl),
                  assertFound(version, older.baseUrl),
                  assertFound(version + 1, newer.baseUrl)
                ], { concurrency: 3 })
              }))
              // Documents may be several forms behind. The last one brings the unique index.
              if (version < 5 && !(isLarge && version === 3)) return
              yield* Upgrade.finish(after.model)
              const upgrade = Stream.runLast(Upgrade.upgrade(after.model, { batch: 50 }))
              if (version === 5) {
                yield* store.insertOne("Person", { _id: "twice", ...fieldsIn(1, { ...personAt(0), city: "Busy" }) })
                assert.isTrue(Exit.isFailure(yield* Effect.exit(upgrade)))
                yield* store.deleteOne("Person", { _id: "twice" })
              }
              const [progress] = yield* Effect.all([
                upgrade,
                Effect.repeat(assertFound(version + 1, newer.baseUrl), { times: 2 })
              ], {
                concurrency: 2
              })
              assert.isTrue(
                (yield* Upgrade.storedForms(after.model)).isComplete,
                JSON.stringify(Option.getOrNull(progress))
              )
              yield* assertFound(version + 1, newer.baseUrl)
            }))
          }
          assert.deepStrictEqual(failures, [])
          const repository = yield* Repository.make(V6)
          const found = yield* Stream.runCollect(repository.stream(undefined, { sort: "id" }))
          const expected = [...people.values()].toSorted((one, other) => one.id < other.id ? -1 : 1)
          assert.lengthOf(found, expected.length)
          for (const [i, person] of expected.entries()) {
            const { version, ...others } = { ...found[i]! }
            assert.deepStrictEqual<unknown>(others, { id: person.id, ...fieldsIn(6, person) })
            assert.isAtLeast(version, 0)
          }
          assert.deepStrictEqual((yield* store.listIndexes("Person")).map(({ name }) => name), ["address_1"])
          if (isLarge) yield* Effect.logInfo(`${requests} requests on ${found.length} documents`)
        }).pipe(Effect.provideService(KernelConfig.Limits, limits), Effect.provide(layer), Effect.scoped),
      3_600_000
    )
  })

contract("embedded", freshFolder(EmbeddedStore.layerWith))
if (isLarge) onMongo("on a server", (layer) => contract("mongodb", layer))
