import { assert, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer, Metric, Schema, Stream, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { Model, Repository } from "../../src/index.ts"
import { CountsOperations } from "../../src/Repository/internal.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Meter extends Model.Class<Meter>()("Meter", { id: Model.id(), value: Schema.Int, ...Model.versioned }) {}

/** What repositories measure, whichever store is under them. */
storeMatrix((name, store) =>
  it.layer(Repository.layer(Meter).pipe(Layer.provideMerge(store)))(`Metrics / ${name}`, (it) => {
    /** The series of a metric that some operations make, by operation and outcome. */
    const measured = <A, E, R>(metric: string, operations: Effect.Effect<A, E, R>) =>
      Effect.gen(function*() {
        yield* operations
        const snapshots = yield* Metric.snapshot
        return new Map(
          snapshots.filter(({ id }) => id === metric).map((snapshot) => {
            const isTransaction = snapshot.attributes?.["db.operation.name"] === "transaction"
            assert.strictEqual(snapshot.attributes?.["db.collection.name"], isTransaction ? undefined : "Meter")
            return [`${snapshot.attributes?.["db.operation.name"]} ${snapshot.attributes?.["outcome"]}`, snapshot]
          })
        )
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))

    it.effect("counts operations by outcome", () =>
      Effect.gen(function*() {
        const meters = yield* Repository.for(Meter)
        const snapshots = yield* measured(
          "db.client.operations",
          Effect.gen(function*() {
            const meter = yield* meters.insert(new Meter({ value: 1 }))
            yield* meters.findById(meter.id)
            yield* meters.findById(meter.id)
            yield* Effect.flip(meters.findById("none"))
            yield* meters.patch(meter.id, { value: 2 })
            yield* Effect.flip(meters.save(meter))
            yield* Stream.runDrain(meters.stream())
            yield* Stream.runDrain(Stream.take(meters.aggregate([]), 1))
            yield* Effect.exit(meters.find(($) => Object($)["none"].equals(1)))
          })
        )
        const counts = Array.from(snapshots, ([series, { state }]) => [series, "count" in state ? state.count : 0])
        assert.sameDeepMembers(counts, [
          ["insert ok", 1],
          ["findById ok", 2],
          ["findById DocumentNotFound", 1],
          ["patch ok", 1],
          ["save VersionConflict", 1],
          ["stream ok", 1],
          ["aggregate ok", 1],
          ["find defect", 1]
        ])
      }))

    it.effect("counts nothing in a service that nobody measures", () =>
      Effect.gen(function*() {
        const meters = yield* Repository.for(Meter)
        const operations = Effect.andThen(meters.count(), Stream.runDrain(meters.stream()))
        assert.strictEqual((yield* measured("db.client.operations", operations)).size, 2)
        const uncounted = Effect.provideService(operations, CountsOperations, false)
        assert.strictEqual((yield* measured("db.client.operations", uncounted)).size, 0)
      }))

    it.effect("measures the duration of operations in seconds, by the clock", () =>
      Effect.gen(function*() {
        const meters = yield* Repository.for(Meter)
        yield* meters.insert(new Meter({ id: "slow", value: 1 }))
        const pulled = Stream.tap(meters.stream(($) => $.id.equals("slow")), () => TestClock.adjust("3 seconds"))
        const snapshots = yield* measured("db.client.operation.duration", Stream.runDrain(pulled))
        const state = snapshots.get("stream ok")?.state
        assert.isTrue(state !== undefined && "buckets" in state)
        if (state === undefined || !("buckets" in state)) return
        assert.deepStrictEqual([state.count, state.sum, state.min, state.max], [1, 3, 3, 3])
        assert.deepStrictEqual(state.buckets, [
          [0.001, 0],
          [0.005, 0],
          [0.01, 0],
          [0.05, 0],
          [0.1, 0],
          [0.5, 0],
          [1, 0],
          [5, 1],
          [10, 1]
        ])
      }))

    it.effect("times operations other than streams, too", () =>
      Effect.gen(function*() {
        const meters = yield* Repository.for(Meter)
        // Each look at this clock is half a second later.
        let nanos = 0n
        const clock: Clock.Clock = {
          ...yield* Clock.Clock,
          monotonicTimeNanosUnsafe: () => nanos += 500_000_000n
        }
        const snapshots = yield* measured(
          "db.client.operation.duration",
          Effect.provideService(meters.count(), Clock.Clock, clock)
        )
        const state = snapshots.get("count ok")?.state
        assert.deepStrictEqual(state !== undefined && "sum" in state ? state.sum : undefined, 0.5)
      }))

    it.effect("counts interrupted operations", () =>
      Effect.gen(function*() {
        const meters = yield* Repository.for(Meter)
        yield* meters.insert(new Meter({ value: 1 }))
        const snapshots = yield* measured(
          "db.client.operations",
          Effect.gen(function*() {
            const pulled = yield* Deferred.make<void>()
            const wait = Effect.andThen(Deferred.succeed(pulled, undefined), Effect.never)
            const fiber = yield* Effect.forkChild(Stream.runForEach(meters.stream(), () => wait))
            yield* Deferred.await(pulled)
            yield* Fiber.interrupt(fiber)
          })
        )
        assert.deepStrictEqual(Array.from(snapshots.keys()), ["stream interrupted"])
      }))

    it.effect("counts and times transactions by outcome, nested ones as part of the outer one", () =>
      Effect.gen(function*() {
        const meters = yield* Repository.for(Meter)
        const write = Effect.suspend(() => meters.insert(new Meter({ value: 1 })))
        const operations = Effect.gen(function*() {
          yield* Repository.transaction(write)
          yield* Repository.transaction(Effect.andThen(write, Repository.transaction(write)))
          yield* Effect.flip(Repository.transaction(meters.findById("none")))
          yield* Effect.exit(Repository.transaction(Effect.die("a bug")))
          const begun = yield* Deferred.make<void>()
          const fiber = yield* Effect.forkChild(
            Repository.transaction(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
          )
          yield* Deferred.await(begun)
          yield* Fiber.interrupt(fiber)
        })
        for (const metric of ["db.client.operations", "db.client.operation.duration"]) {
          const counts = Array.from(
            yield* measured(metric, operations),
            ([series, { state }]) => [series, "count" in state ? state.count : 0]
          )
          assert.sameDeepMembers(counts, [
            ["insert ok", 3],
            ["findById DocumentNotFound", 1],
            ["transaction ok", 2],
            ["transaction DocumentNotFound", 1],
            ["transaction defect", 1],
            ["transaction interrupted", 1]
          ])
        }
      }))

    it.effect("has the operations of a transaction in its span", () =>
      Effect.gen(function*() {
        const meters = yield* Repository.for(Meter)
        const spans: Array<Tracer.Span> = []
        const tracer = Tracer.make({
          span: (options) => {
            const span = new Tracer.NativeSpan(options)
            spans.push(span)
            return span
          }
        })
        yield* Effect.withTracer(Repository.transaction(meters.insert(new Meter({ value: 1 }))), tracer)
        const [outer, inner] = spans
        assert.strictEqual(outer?.name, "Repository.transaction")
        assert.deepStrictEqual(Array.from(outer?.attributes ?? []), [["db.operation.name", "transaction"]])
        assert.strictEqual(outer?.status._tag, "Ended")
        assert.strictEqual(inner?.name, "Repository.insert")
        assert.strictEqual(inner?.parent._tag === "Some" ? inner.parent.value.spanId : undefined, outer?.spanId)
      }))

    it.effect("never quotes a value", () =>
      Effect.gen(function*() {
        const meters = yield* Repository.for(Meter)
        const id = "a value that nobody may see"
        const snapshots = yield* measured(
          "db.client.operations",
          Effect.all([
            meters.insert(new Meter({ id, value: 424_242 })),
            Effect.flip(meters.insert(new Meter({ id, value: 424_242 }))),
            meters.find(($) => $.value.equals(424_242))
          ])
        )
        assert.isTrue(snapshots.has("insert DuplicateKey"))
        const told = JSON.stringify(Array.from(snapshots.values(), ({ attributes, description }) => [
          attributes,
          description
        ]))
        assert.notInclude(told, id)
        assert.notInclude(told, "424242")
      }))
  })
)
