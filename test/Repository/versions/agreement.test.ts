/** What processes know of the forms in which documents are stored, in and around transactions, and while it is said. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Fiber, Schema, Stream } from "effect"
import { RetryClock } from "../../../packages/document-store/src/shared/retryOnConflict.ts"
import { DocumentStore, EmbeddedStore, Model, Repository, Upgrade } from "../../../src/index.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

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

    it.live("holds for transactions that commit after an upgrade which they have not seen", () =>
      withAgreementClock((pass) =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.insertOne("Person", { _id: "old", name: "Old" })
          const people = yield* Repository.make(Person)
          yield* people.count(($) => $.fullName.equals("Old"))
          const long = Effect.fnUntraced(function*(before: ReadonlyArray<string>, after: ReadonlyArray<string>) {
            const [begun, said] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
            const add = (ids: ReadonlyArray<string>) =>
              Effect.forEach(ids, (id) => people.insert(new Person({ id, fullName: "New" })))
            const fiber = yield* Effect.forkChild(store.transaction(Effect.gen(function*() {
              yield* store.find("Person", {})
              yield* add(before)
              yield* Deferred.succeed(begun, undefined)
              yield* Deferred.await(said)
              yield* add(after)
            })))
            yield* Deferred.await(begun)
            return Effect.andThen(Deferred.succeed(said, undefined), Fiber.join(fiber))
          })
          // One has stored a document in the earlier form, the other one does after it is said.
          const [commitFirst, commitOther] = [yield* long(["new"], []), yield* long([], ["newer"])]
          // On a server it waits for the first one.
          const finish = yield* Effect.forkChild(Upgrade.finish(Person))
          yield* Effect.sleep("300 millis")
          yield* commitFirst
          yield* Fiber.join(finish)
          yield* Stream.runDrain(Upgrade.upgrade(Person))
          yield* commitOther
          pass(3)
          assert.strictEqual(yield* people.count(($) => $.fullName.equals("New")), 2)
          assert.deepStrictEqual((yield* Upgrade.storedForms(Person)).stored, [{ form: 2, documents: 3 }])
        })
      ).pipe(Effect.provide(layer), Effect.scoped))

    it.live("holds for many writers, and for their transactions, while it is said", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* store.insertOne("Person", { _id: "old", name: "Old" })
        const people = yield* Repository.make(Person)
        const over = yield* Deferred.make<void>()
        const writer = (writer: number) =>
          Effect.gen(function*() {
            let written = 0
            while (!(yield* Deferred.isDone(over))) {
              const add = Effect.forEach(
                [1, 2],
                (n) =>
                  Effect.delay(
                    people.insert(new Person({ id: `${writer} ${written} ${n}`, fullName: "New" })),
                    "20 millis"
                  )
              )
              yield* writer < 5 ? add : store.transaction(Effect.tap(add, Effect.sleep(writer * 700)))
              written += 2
            }
            return written
          })
        const writers = yield* Effect.forkChild(
          Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], writer, { concurrency: "unbounded" })
        )
        yield* Effect.sleep("200 millis")
        yield* Upgrade.finish(Person)
        yield* Stream.runDrain(Upgrade.upgrade(Person))
        yield* Deferred.succeed(over, undefined)
        const documents = 1 + (yield* Fiber.join(writers)).reduce((sum, written) => sum + written, 0)
        assert.deepStrictEqual((yield* Upgrade.storedForms(Person)).stored, [{ form: 2, documents }])
        assert.isTrue((yield* Upgrade.storedForms(Person)).isComplete)
      }).pipe(Effect.provide(layer), Effect.scoped))
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
