/** What a repository asks of an instance before it writes it. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Converter, Model, Repository, Validator } from "../../src/index.ts"
import { documentOperationsOf } from "../../src/Repository/internal.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Address extends Model.Class<Address>()("Address", {
  city: Schema.String.pipe(Validator.notEmpty),
  zip: Schema.Int.pipe(Validator.min(1_000))
}) {}

class Guest extends Model.Class<Guest>()("Guest", {
  id: Model.id(),
  name: Schema.String.pipe(Validator.notEmpty),
  password: Schema.String.pipe(
    Validator.min(4),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.omitted,
    Model.optional
  ),
  // Nobody can tell at once what it makes.
  tag: Schema.String.pipe(
    Model.converted((text) => Effect.as(Effect.yieldNow, text.toUpperCase())),
    Model.optional
  ),
  from: Schema.Int.pipe(Model.withDefault(() => 0)),
  to: Schema.Int.pipe(Model.withDefault(() => 1)),
  address: Address.pipe(Model.optional),
  addresses: Schema.Array(Address).pipe(Model.withDefault(() => []))
}, {
  validators: [Validator.related("Order", "to", ({ from, to }) => from <= to, { message: "must not be before from" })]
}) {}

class Visit extends Model.Class<Visit>()("Visit", {
  id: Model.id(),
  name: Schema.String.pipe(Validator.notEmpty),
  note: Schema.String.pipe(Validator.max(3), Model.optional),
  ...Model.versioned,
  ...Model.audited
}) {}

const hashed = "$pbkdf2-sha256$1000$AP/7777.P4A$tJCeAKvm0rGP4z3edCH4W7xtiW17oE6azwWdzxKAy90"

const unchecked = { disableChecks: true }

const address = new Address({ city: "Bern", zip: 3_000 })

/** Changes that no validator lets in, and what is said of each. */
const invalid: ReadonlyArray<readonly [changes: object, problem: string]> = [
  [{ name: "" }, "name NotEmpty"],
  [{ name: 3 }, "name Type"],
  [{ password: "correct horse" }, "password Converted"],
  [{ tag: "lower" }, "tag Converted"],
  [{ from: 2 }, "to Order"],
  [{ address: new Address({ city: "", zip: 3_000 }, unchecked) }, "address.city NotEmpty"],
  [{ addresses: [address, new Address({ city: "Bern", zip: 3 }, unchecked)] }, "addresses.1.zip Min"]
]

/** An instance that nobody asked anything. */
const guestOf = (values: object): Guest =>
  Object.assign(Object.create(Guest.prototype), { name: "Jane", from: 0, to: 1, addresses: [], ...values })

const problemsIn = (error: { readonly _tag: string }) =>
  "problems" in error && Array.isArray(error.problems)
    ? error.problems.map(({ field, validator }) => `${field} ${validator}`)
    : error._tag

storeMatrix((name, store) =>
  // What loses to others waits by the clock before it is tried again.
  it.layer(Layer.mergeAll(Repository.layer(Guest), Repository.layer(Visit)).pipe(Layer.provideMerge(store)), {
    excludeTestServices: true
  })(
    `validity / ${name}`,
    (it) => {
      it.effect("no write stores an invalid value or a plain-text password", () =>
        Effect.gen(function*() {
          const guests = yield* Repository.for(Guest)
          const valid = yield* guests.insert(guestOf({ id: "valid", password: hashed, tag: "A", address }))
          for (const [changes, problem] of invalid) {
            const writes = {
              insert: guests.insert(guestOf({ ...valid, id: "other", ...changes })),
              "save of a new one": guests.save(guestOf({ ...valid, id: "other", ...changes })),
              save: guests.save(guestOf({ ...valid, ...changes })),
              replace: guests.replace(guestOf({ ...valid, ...changes })),
              modify: guests.modify("valid", (current) => Effect.succeed(guestOf({ ...current, ...changes })))
            }
            for (const [write, effect] of Object.entries(writes)) {
              const error = yield* Effect.flip(effect)
              assert.deepStrictEqual(problemsIn(error), [problem], write)
              assert.notInclude(error.message, "correct horse")
            }
          }
          assert.strictEqual(yield* guests.count(), 1)
          assert.deepStrictEqual(yield* guests.findById("valid"), valid)
          yield* guests.deleteAll
        }))

      it.effect("many invalid writes do not affect concurrent valid ones", () =>
        Effect.gen(function*() {
          const guests = yield* Repository.for(Guest)
          yield* guests.insert(guestOf({ id: "many", from: 0, to: 0 }))
          const results = yield* Effect.forEach(
            Array.from({ length: 60 }, (_, i) => i),
            (i) =>
              Effect.result(
                guests.modify(
                  "many",
                  (current) =>
                    Effect.succeed(guestOf({ ...current, to: current.to + 1, name: i % 2 === 0 ? "" : "Jane" }))
                )
              ),
            { concurrency: 60 }
          )
          assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 30)
          const { name, to } = yield* guests.findById("many")
          assert.deepStrictEqual([name, to], ["Jane", 30])
          yield* guests.deleteAll
        }))

      it.effect("unchanged fields are not validated again", () =>
        Effect.gen(function*() {
          const guests = yield* Repository.for(Guest)
          const visits = yield* Repository.for(Visit)
          // As it was stored when nobody asked.
          yield* documentOperationsOf(guests).insert({
            _id: "old",
            name: "",
            password: "correct horse",
            tag: "lower",
            from: 0,
            to: 1,
            address: { city: "", zip: 3_000 },
            addresses: [{ city: "Bern", zip: 1 }]
          })
          const old = yield* guests.findById("old")
          assert.strictEqual((yield* guests.save(guestOf({ ...old, to: 2 }))).to, 2)
          assert.strictEqual((yield* guests.replace(guestOf({ ...old, to: 3 }))).to, 3)
          assert.strictEqual((yield* guests.modify("old", (was) => Effect.succeed(guestOf({ ...was, to: 4 })))).to, 4)
          assert.strictEqual((yield* guests.patch("old", { to: 5, address: { zip: 4_000 } })).to, 5)
          const moved = new Address({ city: "", zip: 5_000 }, unchecked)
          assert.strictEqual(
            (yield* guests.modify("old", (was) => Effect.succeed(guestOf({ ...was, address: moved })))).address?.zip,
            5_000
          )
          for (const changes of [{ name: " ", to: -1 }, { address: { zip: 4 } }, { password: "123" }]) {
            assert.match(
              String(problemsIn(yield* Effect.flip(guests.patch("old", changes)))),
              /^(to|address.zip|password) \w+$/u
            )
          }
          const stored = yield* guests.findById("old")
          assert.deepStrictEqual([stored.password, stored.to, stored.address?.city], ["correct horse", 5, ""])
          yield* documentOperationsOf(visits).insert({ _id: "old", name: "", note: "long ago" })
          const visit = yield* visits.findById("old")
          const saved = yield* visits.save(new Visit({ ...visit, name: "Jane" }, unchecked))
          assert.deepStrictEqual([saved.name, saved.version], ["Jane", 2])
          const error = yield* Effect.flip(visits.save(new Visit({ ...saved, note: "long" }, unchecked)))
          assert.deepStrictEqual(problemsIn(error), ["note Max"])
          yield* guests.deleteAll
          yield* visits.deleteAll
        }))

      it.effect("a value that is no longer stored is validated again, also if another write removes it meanwhile", () =>
        Effect.gen(function*() {
          const guests = yield* Repository.for(Guest)
          const visits = yield* Repository.for(Visit)
          for (let i = 0; i < 12; i++) {
            const id = `old${i}`
            yield* documentOperationsOf(guests).insert({ _id: id, name: "", from: 0, to: 1, addresses: [] })
            const old = yield* guests.findById(id)
            const writes = (["save", "replace"] as const).flatMap((write) =>
              [2, 3].map((to) => guests[write](guestOf({ ...old, to })))
            )
            yield* Effect.forEach(
              i % 2 === 0
                ? [guests.deleteById(id), ...writes]
                : [guests.save(guestOf({ ...old, name: "Jane" })), ...writes],
              (write) =>
                Effect.catchIf<unknown, { readonly _tag: string }, never, void, never, never>(
                  write,
                  ({ _tag }) => _tag === "ValidationException" || _tag === "DocumentNotFound",
                  () => Effect.void
                ),
              { concurrency: "unbounded" }
            )
            const now = yield* documentOperationsOf(guests).findById(id)
            assert.strictEqual(now?.["name"], i % 2 === 0 ? undefined : "Jane")
            yield* documentOperationsOf(visits).insert({ _id: id, name: "" })
            const visit = yield* visits.findById(id)
            yield* Effect.all([visits.deleteById(id), Effect.result(visits.save(visit))], { concurrency: 2 })
            assert.isUndefined(yield* documentOperationsOf(visits).findById(id))
          }
          yield* guests.deleteAll
        }))

      it.effect("a patch keeps the fields that it does not name", () =>
        Effect.gen(function*() {
          const guests = yield* Repository.for(Guest)
          yield* guests.insert(guestOf({ id: "p", password: hashed, tag: "A", address }))
          const renamed = yield* guests.patch("p", { name: "Joan" })
          assert.deepStrictEqual(renamed, guestOf({ id: "p", name: "Joan", password: hashed, tag: "A", address }))
          const other = yield* guests.patch("p", { password: "correct horse", tag: "b", address: { city: "Basel" } })
          assert.isTrue(yield* Converter.verifyContent("correct horse", other.password ?? ""))
          assert.deepStrictEqual([other.tag, other.address], ["B", new Address({ city: "Basel", zip: 3_000 })])
          // In the process, what is hashed is known.
          assert.strictEqual((yield* guests.patch("p", { password: hashed })).password, hashed)
          yield* guests.deleteAll
        }))

      it.effect("an unordered bulk insert inserts the valid instances, and reports the positions of the invalid ones", () =>
        Effect.gen(function*() {
          const guests = yield* Repository.for(Guest)
          const all = (...names: ReadonlyArray<string>) => names.map((name) => guestOf({ id: name || "none", name }))
          const refused = (options: { readonly ordered: boolean }, ...names: ReadonlyArray<string>) =>
            Effect.map(
              Effect.flip(guests.bulkInsert(all(...names), options)),
              (error) =>
                error._tag === "BulkInsertFailed"
                  ? [error.insertedCount, ...error.failures.map(({ error, index }) => `${index} ${error._tag}`)]
                  : error._tag
            )
          assert.deepStrictEqual(yield* refused({ ordered: true }, "a", "b", "", "c", ""), [2, "2 ValidationException"])
          assert.deepStrictEqual(yield* refused({ ordered: true }, "c", "a", ""), [1, "1 DuplicateKey"])
          assert.deepStrictEqual(
            yield* refused({ ordered: false }, "", "a", "d", "", "b", "e"),
            [2, "0 ValidationException", "1 DuplicateKey", "3 ValidationException", "4 DuplicateKey"]
          )
          assert.strictEqual(yield* guests.bulkInsert(all("f", "g")), 2)
          assert.strictEqual(yield* guests.count(), 7)
          yield* guests.deleteAll
        }))
    }
  )
)
