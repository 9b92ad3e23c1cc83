/** `modify` and `patch` when several write at once. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Ref, Schema } from "effect"
import { Model, Repository, RepositoryError, Validator } from "../../src/index.ts"
import { documentOperationsOf } from "../../src/Repository/internal.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

/** Without a version. */
class Span extends Model.Class<Span>()("Span", {
  id: Model.id(),
  from: Schema.Int,
  to: Schema.Int,
  note: Schema.String.pipe(Model.optional)
}, {
  validators: [Validator.related("Order", "to", ({ from, to }) => from <= to, { message: "must not be before from" })]
}) {}

class Counter extends Model.Class<Counter>()("Counter", {
  id: Model.id(),
  count: Schema.Int,
  label: Schema.String.pipe(Model.withDefault(() => "none")),
  ...Model.versioned,
  ...Model.audited
}) {}

const times = Array.from({ length: 6 }, (_, i) => i)

storeMatrix((name, store) => {
  // So many change one document at once: as many as the store manages in a few seconds.
  const writers = name === "mongodb" ? 80 : 500
  it.layer(Layer.mergeAll(Repository.layer(Span), Repository.layer(Counter)).pipe(Layer.provideMerge(store)), {
    excludeTestServices: true
  })(`modify / ${name}`, (it) => {
    it.effect("loses no change, with or without a version", () =>
      Effect.gen(function*() {
        const spans = yield* Repository.for(Span)
        const counters = yield* Repository.for(Counter)
        yield* spans.insert(new Span({ id: "many", from: 0, to: 0, note: "kept" }))
        yield* counters.insert(yield* Model.finalise(Counter, { id: "many", count: 0 }))
        yield* Effect.forEach(times, () =>
          Effect.all([
            spans.modify("many", (span) => Effect.succeed(new Span({ ...span, to: span.to + 1 }))),
            counters.modify("many", (counter) => Effect.succeed(new Counter({ ...counter, count: counter.count + 1 })))
          ], { concurrency: 2 }), { concurrency: times.length })
        assert.deepStrictEqual(yield* spans.findById("many"), new Span({ id: "many", from: 0, to: 6, note: "kept" }))
        assert.deepInclude(yield* counters.findById("many"), { count: 6, version: 7 })
      }))

    it.effect("applies all concurrent changes of one document", () =>
      Effect.gen(function*() {
        const counters = yield* Repository.for(Counter)
        yield* counters.insert(yield* Model.finalise(Counter, { id: "crowd", count: 0 }))
        let asked = 0
        const exits = yield* Effect.forEach(Array.from({ length: writers }), () =>
          Effect.exit(
            counters.modify("crowd", (counter) => {
              asked += 1
              return Effect.succeed(new Counter({ ...counter, count: counter.count + 1 }))
            })
          ), { concurrency: writers })
        assert.deepStrictEqual(exits.filter(Exit.isFailure), [])
        assert.deepInclude(yield* counters.findById("crowd"), { count: writers, version: writers + 1 })
        // Who has lost once waits for those who have lost before: nearly nobody loses twice.
        assert.isAtMost(asked, 3 * writers)
        yield* counters.deleteById("crowd")
      }))

    it.effect("a nested change of the same document does not wait for itself", () =>
      Effect.gen(function*() {
        const counters = yield* Repository.for(Counter)
        yield* counters.insert(yield* Model.finalise(Counter, { id: "nested", count: 0 }))
        const increment = counters.modify(
          "nested",
          (counter) => Effect.succeed(new Counter({ ...counter, count: counter.count + 1 }))
        )
        const first = yield* Ref.make(2)
        yield* Effect.forEach(times, () =>
          counters.modify("nested", (counter) =>
            Effect.gen(function*() {
              if ((yield* Ref.getAndUpdate(first, (n) => n - 1)) > 0) yield* increment
              return new Counter({ ...counter, count: counter.count + 1 })
            })), { concurrency: times.length })
        assert.deepInclude(yield* counters.findById("nested"), { count: times.length + 2 })
        yield* counters.deleteById("nested")
      }))

    it.effect("writes changed fields, removes missing ones, and keeps managed fields", () =>
      Effect.gen(function*() {
        const spans = yield* Repository.for(Span)
        const counters = yield* Repository.for(Counter)
        yield* spans.insert(new Span({ id: "one", from: 0, to: 0, note: "gone" }))
        const changed = yield* spans.modify("one", ({ id, to }) => Effect.succeed(new Span({ id, from: -1, to })))
        assert.deepStrictEqual(changed, new Span({ id: "one", from: -1, to: 0 }))
        assert.deepStrictEqual(yield* spans.findById("one"), changed)
        const first = yield* counters.insert(yield* Model.finalise(Counter, { id: "one", count: 0 }))
        const second = yield* counters.modify(
          "one",
          (counter) =>
            Effect.succeed(new Counter({ ...counter, id: "two", count: 1, version: 9, inserted: counter.updated }))
        )
        assert.deepInclude(second, { id: "one", count: 1, version: 2, inserted: first.inserted })
        assert.strictEqual(yield* counters.count(), 2)
        const same = yield* counters.modify("one", (counter) => Effect.succeed(new Counter({ ...counter })))
        assert.strictEqual(same.version, 2)
      }))

    it.effect("fails as the change fails, without a retry", () =>
      Effect.gen(function*() {
        const counters = yield* Repository.for(Counter)
        let asked = 0
        const error = yield* Effect.flip(counters.modify("one", ({ id }) =>
          Effect.suspend(() => {
            asked++
            return Effect.fail(new RepositoryError.VersionConflict({ model: "Other", id, expected: 3 }))
          })))
        assert.deepStrictEqual([error._tag, asked], ["VersionConflict", 1])
        const missing = yield* Effect.flip(counters.modify("none", Effect.succeed))
        assert.strictEqual(missing._tag, "DocumentNotFound")
        const broken = yield* Effect.flip(counters.modify("one", () => Effect.fail("mine" as const)))
        assert.strictEqual(broken, "mine")
      }))

    it.effect("patches of different fields are written only together with what they were validated with", () =>
      Effect.gen(function*() {
        const spans = yield* Repository.for(Span)
        for (const round of times) {
          const { id } = yield* spans.insert(new Span({ id: `round ${round}`, from: 0, to: 10 }))
          const results = yield* Effect.forEach(
            [{ from: 8 }, { to: 4 }],
            (changes) => Effect.result(spans.patch(id, changes)),
            { concurrency: 2 }
          )
          assert.sameMembers(results.map(({ _tag }) => _tag), ["Success", "Failure"])
          const { from, to } = yield* spans.findById(id)
          assert.isAtMost(from, to)
        }
      }))

    it.effect("a document that is older than a field of its model can be changed", () =>
      Effect.gen(function*() {
        const counters = yield* Repository.for(Counter)
        yield* documentOperationsOf(counters).insert({ _id: "old", count: 1 })
        const changed = yield* counters.modify(
          "old",
          (counter) => Effect.succeed(new Counter({ ...counter, count: 2 }))
        )
        assert.deepInclude(changed, { count: 2, label: "none", version: 2 })
        assert.notProperty(yield* documentOperationsOf(counters).findById("old"), "label")
      }))
  })
})
