/**
 * A service in six versions, of which two run at each time, over documents that go through the forms of their model: on a
 * server as processes, and as two engines in the one process that may have a folder.
 *
 * `DOCUMENTS=100000 npx vitest run test/Http/FiveForms.test.ts` is the same on so many documents.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import { DocumentStore, EmbeddedStore, KernelConfig, MongoStore, Repository, Upgrade } from "../../src/index.ts"
import { engines, V6 } from "../support/fiveForms.ts"
import { freshFolder } from "../support/folders.ts"
import { freshDatabase, onMongo } from "../support/mongo.ts"
import { freePort, printed, runProgram } from "../support/processes.ts"
import { sendTo } from "../support/rest.ts"

const size = Number(process.env["DOCUMENTS"] ?? 120)

const isLarge = size > 1000

/** A query of a changed field reads all documents that the rest of it leaves. */
const limits = { ...KernelConfig.Limits.defaultValue(), ...isLarge ? { queryTimeout: Duration.minutes(2) } : {} }

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

type Started = { readonly baseUrl: string }

/** Starts versions of the service on the same store. */
type Start = (version: number) => Effect.Effect<Started, unknown, Scope.Scope | DocumentStore.DocumentStore>

const inProcess: Start = (version) =>
  Effect.flatMap(
    DocumentStore.DocumentStore,
    (store) => engines[version - 1]!.engine.test({ store: Layer.succeed(DocumentStore.DocumentStore, store) })
  )

const asProcess = (env: { readonly [name: string]: string }): Start => (version) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const running = yield* runProgram(`${import.meta.dirname}/../support/fiveFormsProgram.ts`, {
      VERSION: String(version),
      APPKERNEL_SERVER_PORT: String(port),
      ...isLarge ? { APPKERNEL_QUERY_TIMEOUT: "2 minutes" } : {},
      ...env
    })
    yield* printed(running, "Listening on")
    return { baseUrl: `http://127.0.0.1:${port}` }
  })

/** What runs until it is ended, or the scope is. */
const begun = Effect.fnUntraced(function*<E, R>(started: Effect.Effect<Started, E, R>) {
  const scope = yield* Effect.flatMap(Effect.scope, (parent) => Scope.fork(parent))
  const { baseUrl } = yield* Scope.provide(started, scope)
  return { baseUrl, end: Scope.close(scope, Exit.void) }
})

/** The life of a service: no write is lost, and what is found is what an upgraded store would have. */
const life = (start: Start) =>
  Effect.gen(function*() {
    const store = yield* DocumentStore.DocumentStore
    const people = new Map(Array.from({ length: size }, (_, i) => [i, personAt(i)]))
    const all = [...people.values()].map((person) => ({ _id: person.id, ...fieldsIn(1, person) }))
    for (let i = 0; i < all.length; i += 1000) yield* store.insertMany("Person", all.slice(i, i + 1000))
    const failures: Array<string> = []
    let requests = 0
    const call = (baseUrl: string, method: string, path: string, body?: unknown) =>
      Effect.map(sendTo(`${baseUrl}/persons`, method, path, body), ({ body, status, text }) => {
        requests += 1
        if (status >= 300) failures.push(`${method} ${path}: ${status} ${text}`)
        return body
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
            const named = Object.entries(fieldsIn(version, after)).filter(([key]) => key === "name" || key === "last")
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
    let older = yield* begun(start(1))
    for (let version = 1; version < engines.length; version++) {
      const { model } = engines[version]!
      const newer = yield* begun(start(version + 1))
      yield* Effect.all([
        writes(version, older.baseUrl, newer.baseUrl),
        assertFound(version, older.baseUrl),
        assertFound(version + 1, newer.baseUrl)
      ], { concurrency: 3 })
      yield* older.end
      older = newer
      // Documents may be several forms behind. The last one brings the unique index.
      if (version < 5 && !(isLarge && version === 3)) continue
      yield* Upgrade.finish(model)
      const upgrade = Stream.runLast(Upgrade.upgrade(model, { batch: 50 }))
      if (version === 5) {
        yield* store.insertOne("Person", { _id: "twice", ...fieldsIn(1, { ...personAt(0), city: "Busy" }) })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(upgrade)))
        yield* store.deleteOne("Person", { _id: "twice" })
      }
      const [progress] = yield* Effect.all([
        upgrade,
        Effect.repeat(assertFound(version + 1, newer.baseUrl), { times: 2 })
      ], { concurrency: 2 })
      assert.isTrue(
        (yield* Upgrade.storedForms(model)).isComplete,
        JSON.stringify(Option.getOrNull(progress))
      )
      yield* assertFound(version + 1, newer.baseUrl)
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
  }).pipe(Effect.provideService(KernelConfig.Limits, limits))

const timeout = 3_600_000

describe("five changes of a model", () => {
  it.live(
    "two versions of a service in one process lose no write, and find what an upgraded store would",
    () => life(inProcess).pipe(Effect.provide(freshFolder(EmbeddedStore.layerWith)), Effect.scoped),
    timeout
  )
})

onMongo("five changes of a model / mongodb", (_, server) => {
  it.live(
    "two processes of neighbouring versions lose no write, and find what an upgraded store would",
    () =>
      Effect.gen(function*() {
        const db = yield* freshDatabase(server)
        const start = asProcess({ APPKERNEL_MONGO_HOST: server.url, APPKERNEL_MONGO_DB: db })
        yield* Effect.provide(life(start), MongoStore.layerWith({ host: server.url, db, connectTimeout: "60 seconds" }))
      }),
    timeout
  )
})
