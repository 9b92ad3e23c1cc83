/** What processes know of the forms in which documents are stored, in and around transactions, and while it is said. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Fiber, Schema, Stream } from "effect"
import { RetryClock } from "../../../packages/document-store/src/shared/retryOnConflict.ts"
import { DocumentStore, EmbeddedStore, Model, Repository, Upgrade } from "../../../src/index.ts"
import { embeddedStores, storeMatrix } from "../../support/storeMatrix.ts"

class Person extends Model.Class<Person>()("Person", { id: Model.id(), fullName: Schema.String }, {
  versions: [Model.was.renamed("name", "fullName")]
}) {}

const raise = (agreement: { readonly understood?: number; readonly complete?: number }) =>
  Effect.flatMap(
    DocumentStore.DocumentStore,
    (store) => store.updateOne("appkernel.forms", { _id: "Person" }, { $max: agreement }, { upsert: true })
  )

/** Runs an effect by a clock of the agreements that `pass` moves. */
const withAgreementClock = <A, E, R>(use: (pass: (seconds: number) => void) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Clock.Clock, (clock) => {
    let passed = 0
    return Effect.provideService(
      use((seconds) => {
        passed += seconds * 1000
      }),
      RetryClock,
      {
        ...clock,
        sleep: (duration) => clock.sleep(duration),
        monotonicTimeNanosUnsafe: () => BigInt(passed) * 1_000_000n
      }
    )
  })

storeMatrix((name, layer) => {
  describe(`the agreement about forms / ${name}`, () => {
    it.live("is not taken from the snapshot of a long transaction", () =>
      withAgreementClock((pass) =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.insertOne("Person", { _id: "old", name: "Old" })
          const people = yield* Repository.make(Person)
          const [begun, said] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const long = yield* Effect.forkChild(store.transaction(Effect.gen(function*() {
            yield* people.count()
            yield* Deferred.succeed(begun, undefined)
            yield* Deferred.await(said)
            return yield* people.count(($) => $.fullName.equals("Old"))
          })))
          yield* Deferred.await(begun)
          yield* raise({ understood: 2 })
          pass(3)
          yield* Deferred.succeed(said, undefined)
          assert.strictEqual(yield* Fiber.join(long), 1)
          yield* people.insert(new Person({ id: "new", fullName: "New" }))
          assert.strictEqual((yield* store.findById("Person", "new"))?.["_form"], 2)
        })
      ).pipe(Effect.provide(layer), Effect.scoped))

    it.live("lets a transaction find what its snapshot has in an earlier form", () =>
      withAgreementClock((pass) =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.insertOne("Person", { _id: "old", name: "Old" })
          const people = yield* Repository.make(Person)
          const found = people.count(($) => $.fullName.equals("Old"))
          const [begun, said] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const long = yield* Effect.forkChild(store.transaction(Effect.gen(function*() {
            yield* people.count()
            yield* Deferred.succeed(begun, undefined)
            yield* Deferred.await(said)
            return yield* Effect.all([found, found])
          })))
          yield* Deferred.await(begun)
          yield* raise({ understood: 2 })
          yield* Stream.runDrain(Upgrade.upgrade(Person))
          pass(3)
          assert.strictEqual(yield* found, 1)
          yield* Deferred.succeed(said, undefined)
          assert.deepStrictEqual(yield* Fiber.join(long), [1, 1])
        })
      ).pipe(Effect.provide(layer), Effect.scoped))
  })
})

embeddedStores((name, layer) => {
  describe(`the agreement about forms, where transactions are serializable / ${name}`, () => {
    it.live("holds for a transaction that commits after an upgrade which it has not seen", () =>
      withAgreementClock((pass) =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.insertOne("Person", { _id: "old", name: "Old" })
          const people = yield* Repository.make(Person)
          yield* people.count(($) => $.fullName.equals("Old"))
          const [begun, said] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const long = yield* Effect.forkChild(store.transaction(Effect.gen(function*() {
            yield* people.insert(new Person({ id: "new", fullName: "New" }))
            yield* Deferred.succeed(begun, undefined)
            yield* Deferred.await(said)
          })))
          yield* Deferred.await(begun)
          yield* raise({ understood: 2 })
          pass(3)
          yield* Stream.runDrain(Upgrade.upgrade(Person))
          yield* Deferred.succeed(said, undefined)
          yield* Fiber.join(long)
          pass(3)
          assert.strictEqual(yield* people.count(($) => $.fullName.equals("New")), 1)
          assert.deepStrictEqual((yield* Upgrade.storedForms(Person)).stored, [{ form: 2, documents: 2 }])
        })
      ).pipe(Effect.provide(layer), Effect.scoped))
  })
})

describe("Upgrade.finish", () => {
  it.effect("waits also if another one has said so and may not have waited, until the upgrade is complete", () =>
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      let slept = 0
      const finish = Effect.provideService(Upgrade.finish(Person), Clock.Clock, {
        ...clock,
        sleep: (duration) =>
          Effect.sync(() => {
            slept += Duration.toSeconds(duration)
          })
      })
      yield* finish
      yield* finish
      assert.strictEqual(slept, 8)
      yield* raise({ complete: 2 })
      yield* finish
      assert.strictEqual(slept, 8)
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})
