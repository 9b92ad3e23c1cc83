import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Metric, Scope } from "effect"
import { freshStore, onMongo } from "../../../test/support/mongo.ts"
import { DocumentStore } from "../../document-store/src/DocumentStore.ts"

onMongo("The pool of MongoStore / mongodb", (_, server) => {
  /** What the gauges say, by state and for those who wait. */
  const gauges = Effect.map(Metric.snapshot, (snapshots) =>
    Object.fromEntries(
      snapshots.filter(({ id }) => id.startsWith("db.client.connection")).map(({ attributes, id, state }) => [
        attributes?.["db.client.connection.state"] ?? id.slice("db.client.connection.".length),
        "value" in state ? state.value : undefined
      ])
    ))

  it.effect("reports the numbers of idle and used connections, and of waiting requests", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(freshStore(server, "maxPoolSize=1"), scope)
      const store = Context.get(services, DocumentStore)
      assert.deepStrictEqual(yield* gauges, { idle: 1, used: 0, pending_requests: 0 })
      const seen = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, _id) => ({ _id })),
        (document) => Effect.andThen(store.insertOne("pool", document), gauges),
        { concurrency: 30 }
      )
      assert.isTrue(seen.some(({ pending_requests }) => Number(pending_requests) > 20))
      for (const { idle, used } of seen) assert.strictEqual(Number(idle) + Number(used), 1)
      assert.deepStrictEqual(yield* gauges, { idle: 1, used: 0, pending_requests: 0 })
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* gauges, { idle: 0, used: 0, pending_requests: 0 })
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))

  it.effect("names a pool by host and database only", () =>
    Effect.gen(function*() {
      const names = yield* Effect.provide(
        Effect.map(Metric.snapshot, (snapshots) =>
          new Set(snapshots.map(({ attributes }) => attributes?.["db.client.connection.pool.name"]))),
        freshStore(server, "appName=secret")
      )
      assert.strictEqual(names.size, 1)
      for (const name of names) {
        assert.match(String(name), /^[^/?@]+\/appkernel_test_[^/?]+$/u)
      }
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))
})
