import { assert, describe, it } from "@effect/vitest"
import {
  ConfigProvider,
  DateTime,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Metric,
  Queue,
  Schema,
  Scope,
  type Tracer
} from "effect"
import { TestClock } from "effect/testing"
import {
  Accounts,
  Converter,
  CurrentUser,
  DocumentStore,
  EmbeddedStore,
  Index,
  Job,
  KernelEngine,
  Model,
  Permission,
  Repository,
  Resource,
  Role,
  Validator
} from "../../src/index.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  code: Schema.String.pipe(Model.indexed(Index.unique)),
  ...Model.audited
}) {}

class MailDown extends Schema.TaggedError<MailDown>()("MailDown", {}) {}

const SendReceipt = Job.make("send-receipt", {
  payload: { order: Schema.String, at: Schema.BigInt },
  error: MailDown,
  retry: { times: 2 }
})

const Orders = Resource.make(Order, { methods: ["GET", "POST"], transactional: true })
  .beforePost((order) => SendReceipt.enqueue({ order: order.code, at: 1n }))

/** An engine that notes what its job is told. `failures` is how often it fails. */
const shopOf = (failures = 0) => {
  const done: Array<string> = []
  let left = failures
  const sending = SendReceipt.implement(({ at, order }, { attempt }) =>
    Effect.gen(function*() {
      done.push(`${order} ${at} ${attempt}`)
      if (left-- > 0) return yield* new MailDown()
    })
  )
  return { done, engine: KernelEngine.make("shop").register(Orders).register(sending) }
}

describe("A job of a service", () => {
  it.effect("is done after the write that has caused it, and never after one that was rolled back", () =>
    Effect.gen(function*() {
      const { done, engine } = shopOf()
      const { client, idle, repositories } = yield* engine.test()
      yield* client.orders.create({ payload: { code: "A" } })
      yield* idle
      // The hook has enqueued it before the write was refused.
      assert.strictEqual((yield* Effect.flip(client.orders.create({ payload: { code: "A" } })))._tag, "Conflict")
      yield* Effect.exit(client.orders.create({ payload: [{ code: "B" }, { code: "B" }] }))
      yield* idle
      assert.deepStrictEqual(done, ["A 1 1"])
      assert.strictEqual(yield* repositories.orders.count(), 1)
    }))

  it.effect("is tried again by its schedule, and then is a dead letter, which an administrator sees, retries or discards", () =>
    Effect.gen(function*() {
      const { done, engine: shop } = shopOf(4)
      const admin = Role("admin")
      const Jobs = Resource.make(Job.Queued, { methods: ["GET"] })
        .grant(admin, { methods: ["GET"] })
        .action("retry", { method: "POST", success: Schema.Boolean, require: admin }, ({ id }) => Job.retry(id))
        .action("discard", { method: "POST", success: Schema.Boolean, require: admin }, ({ id }) => Job.discard(id))
      const engine = shop.register(Jobs, { segment: "jobs", name: "jobs" }).enableSecurity()
      const { as, idle, store } = yield* engine.test()
      const enqueue = SendReceipt.enqueue({ order: "A", at: 2n }, { key: "a" })
      yield* Effect.provideService(Effect.andThen(enqueue, enqueue), DocumentStore.DocumentStore, store)
      yield* idle
      assert.deepStrictEqual(done, ["A 2 1"])
      yield* TestClock.adjust("1 second")
      yield* idle
      yield* TestClock.adjust("2 seconds")
      yield* idle
      assert.deepStrictEqual(done, ["A 2 1", "A 2 2", "A 2 3"])
      const ada = yield* as({ subject: "ada", roles: ["admin"] })
      const bob = yield* as({ subject: "bob" })
      assert.strictEqual((yield* Effect.flip(bob.jobs.list()))._tag, "Forbidden")
      const query = { state: "dead" } as const
      const { _items: [dead] } = yield* ada.jobs.list({ query })
      assert.strictEqual(dead?.queue, "send-receipt")
      assert.strictEqual(dead?.attempts, 3)
      assert.include(dead?.failure, "MailDown")
      const params = { id: "send-receipt:a" }
      assert.strictEqual((yield* Effect.flip(bob.jobs.retry({ params })))._tag, "Forbidden")
      assert.isTrue((yield* ada.jobs.retry({ params })).result)
      yield* idle
      assert.lengthOf(done, 4)
      for (const delay of ["1 second", "2 seconds"] as const) {
        yield* TestClock.adjust(delay)
        yield* idle
      }
      // It has failed four times.
      assert.deepStrictEqual(done.slice(3), ["A 2 1", "A 2 2"])
      assert.isFalse((yield* ada.jobs.discard({ params })).result)
      const [record] = yield* store.find("QueuedJob", {})
      assert.deepInclude(record, { state: "done", attempts: 2 })
    }))

  it.effect("that is a dead letter is gone when it is discarded", () =>
    Effect.gen(function*() {
      const { done, engine } = shopOf(3)
      const { idle, store } = yield* engine.test()
      const within = Effect.provideService(DocumentStore.DocumentStore, store)
      yield* within(SendReceipt.enqueue({ order: "A", at: 1n }, { key: "a" }))
      for (const delay of ["1 second", "2 seconds"] as const) {
        yield* idle
        assert.isFalse(yield* within(Job.discard("send-receipt:a")))
        yield* TestClock.adjust(delay)
      }
      yield* idle
      assert.lengthOf(done, 3)
      assert.isTrue(yield* within(Job.discard("send-receipt:a")))
      assert.isFalse(yield* within(Job.retry("send-receipt:a")))
      assert.strictEqual(yield* store.count("QueuedJob", {}), 0)
    }))

  it.effect("fails when its time is over", () =>
    Effect.gen(function*() {
      const Slow = Job.make("slow", { payload: {}, timeout: "1 minute", retry: { times: 0 } })
      const begun = yield* Deferred.make<void>()
      const engine = KernelEngine.make("slow").register(
        Slow.implement(() => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
      )
      const { idle, store } = yield* engine.test()
      yield* Effect.provideService(Slow.enqueue({}), DocumentStore.DocumentStore, store)
      yield* Deferred.await(begun)
      yield* TestClock.adjust("1 minute")
      yield* idle
      const [record] = yield* store.find("QueuedJob", {})
      assert.deepInclude(record, { state: "dead", attempts: 1 })
    }))

  it.effect("goes on in the trace of what has caused it", () =>
    Effect.gen(function*() {
      const seen = yield* Deferred.make<Tracer.AnySpan>()
      const Traced = Job.make("traced", { payload: {} })
      const engine = KernelEngine.make("traced").register(
        Traced.implement(() => Effect.flatMap(Effect.orDie(Effect.currentSpan), (span) => Deferred.succeed(seen, span)))
      )
      const { store } = yield* engine.test()
      const cause = yield* Effect.currentSpan.pipe(
        Effect.orDie,
        Effect.tap(Effect.provideService(Traced.enqueue({}), DocumentStore.DocumentStore, store)),
        Effect.withSpan("POST /orders")
      )
      const span = yield* Deferred.await(seen)
      assert.strictEqual(span.traceId, cause.traceId)
      assert.strictEqual(span._tag === "Span" && span.name, "job traced")
    }))

  it.effect("that could not be done ends the start with a sentence", () =>
    Effect.gen(function*() {
      for (
        const options of [{ concurrency: 0 }, { concurrency: Infinity }, { concurrency: 1.5 }, { retry: { times: -1 } }]
      ) {
        const job = Job.make("work", { payload: {}, ...options })
        const engine = KernelEngine.make("shop").register(job.implement(() => Effect.void))
        const exit = yield* Effect.exit(engine.test())
        assert.include(String(exit), "The job work", JSON.stringify(options))
      }
    }))

  it.effect("has no delay by a negative one, and never comes by an endless one", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      for (const [order, delay] of [["a", -60_000], ["b", "-Infinity"], ["c", 0], ["d", Infinity]] as const) {
        yield* SendReceipt.enqueue({ order, at: 1n }, { delay })
      }
      const stored = yield* store.find("QueuedJob", { sort: { element: 1 } })
      assert.deepStrictEqual(
        stored.map((
          { created, due, element }
        ) => [JSON.parse(String(element)).payload.order, Number(due) - Number(created)]),
        [["a", 0], ["b", 0], ["c", 0]]
      )
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("is counted, and so are those that wait and dead letters", () =>
    Effect.gen(function*() {
      const { engine } = shopOf(5)
      const { baseUrl, idle, store } = yield* engine.test()
      const enqueue = (key: string, delay: "1 second" | "1 hour") =>
        Effect.provideService(
          SendReceipt.enqueue({ order: key, at: 1n }, { key, delay }),
          DocumentStore.DocumentStore,
          store
        )
      yield* enqueue("a", "1 second")
      yield* enqueue("b", "1 hour")
      for (const time of ["1 second", "1 second", "2 seconds", "10 seconds"] as const) {
        yield* TestClock.adjust(time)
        yield* idle
      }
      const text = yield* Effect.repeat(
        Effect.promise(() => fetch(`${baseUrl}/metrics`).then((answer) => answer.text())),
        {
          until: (text) => text.includes("appkernel_jobs_dead{job=\"send-receipt\"} 1")
        }
      )
      assert.include(text, "appkernel_jobs_attempts_total{job=\"send-receipt\",outcome=\"failed\"} 3")
      assert.include(text, "appkernel_jobs_waiting{job=\"send-receipt\"} 0")
      assert.include(text, "appkernel_jobs_delay_seconds{job=\"send-receipt\"} 0")
    }).pipe(
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromUnknown({ appkernel: { metrics: { enabled: true } } })
      ),
      Effect.provideService(Metric.MetricRegistry, new Map())
    ))

  it.effect("has its time to end when the service stops, and otherwise is done by the next process", () =>
    Effect.gen(function*() {
      const store = yield* Layer.build(EmbeddedStore.layerMemory)
      const Long = Job.make("long", { payload: {}, concurrency: 2 })
      const attempts: Array<number> = []
      const serve = (work: Effect.Effect<void>) =>
        KernelEngine.make("long").register(
          Long.implement((_, { attempt }) => Effect.andThen(Effect.sync(() => attempts.push(attempt)), work))
        ).test({ store: Layer.succeedContext(store) })
      const stopped = (work: Effect.Effect<void>, time: "5 seconds" | "25 seconds") =>
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          const begun = yield* Deferred.make<void>()
          const served = serve(Effect.andThen(Deferred.succeed(begun, undefined), work))
          const { baseUrl } = yield* Scope.provide(served, scope)
          yield* Deferred.await(begun)
          const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
          // The server needs no time of this clock.
          yield* closed(baseUrl)
          yield* TestClock.adjust(time)
          yield* Fiber.join(closing)
          return (yield* Effect.flatMap(DocumentStore.DocumentStore, (store) => store.find("QueuedJob", {}))).map((
            { state }
          ) => state)
        }).pipe(Effect.provideContext(store))
      yield* Effect.provideContext(Long.enqueue({}), store)
      assert.deepStrictEqual(yield* stopped(Effect.never, "25 seconds"), ["waiting"])
      assert.deepStrictEqual(yield* stopped(Effect.sleep("4 seconds"), "5 seconds"), ["done"])
      // What was interrupted has used no attempt.
      assert.deepStrictEqual(attempts, [1, 1])
    }))

  it.effect("does not keep a service that stops if it can't be interrupted, which the log says", () => {
    const warnings: Array<unknown> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      if (logLevel === "Warn") warnings.push(...[message].flat())
    })
    return Effect.gen(function*() {
      const Stuck = Job.make("stuck", { payload: {} })
      const [begun, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const work = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(released))
      const scope = yield* Scope.make()
      const engine = KernelEngine.make("stuck").register(Stuck.implement(() => Effect.uninterruptible(work)))
      const { baseUrl, store } = yield* Scope.provide(engine.test(), scope)
      yield* Effect.provideService(Stuck.enqueue({}), DocumentStore.DocumentStore, store)
      yield* Deferred.await(begun)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      // The server needs no time of this clock.
      yield* closed(baseUrl)
      yield* TestClock.adjust("24 seconds")
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* Effect.ensuring(Fiber.join(closing), Deferred.succeed(released, undefined))
      assert.deepStrictEqual(warnings, ["The service stops beside the job stuck, which goes on after its interruption"])
    }).pipe(Effect.provide(Logger.layer([logger])))
  })

  it.live("goes on beside the last requests when the service stops, whose port is closed", () =>
    Effect.gen(function*() {
      const Long = Job.make("long", { payload: {} })
      const [begun, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const engine = KernelEngine.make("long").register(Note, { methods: ["GET"] }).register(
        Long.implement(() => Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(released)))
      )
      const scope = yield* Scope.make()
      const { baseUrl, store } = yield* Scope.provide(engine.test(), scope)
      yield* Effect.provideService(Long.enqueue({}), DocumentStore.DocumentStore, store)
      yield* Deferred.await(begun)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      // The job ends once the port is closed, and by nothing else.
      yield* closed(baseUrl)
      assert.isUndefined(closing.pollUnsafe())
      yield* Deferred.succeed(released, undefined)
      yield* Fiber.join(closing)
    }))

  it.effect("that waits for what is interrupted has failed, and is tried again after its delay", () =>
    Effect.gen(function*() {
      const Waiting = Job.make("waiting", { payload: {}, retry: { times: 1 } })
      let attempts = 0
      const engine = KernelEngine.make("waiting").register(
        Waiting.implement(() => Effect.andThen(Effect.sync(() => void attempts++), Effect.interrupt))
      )
      const { idle, store } = yield* engine.test()
      yield* Effect.provideService(Waiting.enqueue({}), DocumentStore.DocumentStore, store)
      yield* idle
      assert.strictEqual(attempts, 1)
      yield* TestClock.adjust("1 second")
      yield* idle
      assert.strictEqual(attempts, 2)
      const [record] = yield* store.find("QueuedJob", {})
      assert.deepInclude(record, { state: "dead", attempts: 2 })
    }))

  it.effect("is done with the rights that the user who has caused it has then", () =>
    Effect.gen(function*() {
      const Rename = Job.make("rename", { payload: { to: Schema.String }, runAs: "subject", retry: { times: 0 } })
      const renaming = Rename.implement(({ to }) =>
        Effect.gen(function*() {
          const notes = yield* Repository.for(Note)
          yield* notes.updateMany(($) => $.text.notEquals(to), ($) => [$.text.set(to)])
        })
      )
      const Notes = Resource.make(Note, { methods: ["GET", "PATCH"] })
        .grant(Role("editor"), { methods: ["GET", "PATCH"], rows: (me) => ($) => $.owner.equals(me.subject) })
      const engine = KernelEngine.make("notes").register(Notes).register(People, { name: "people" }).register(renaming)
        .enableSecurity({ roles: { chief: ["editor", "reader"] } })
      const { idle, repositories: { notes, people }, store } = yield* engine.test({
        store: Layer.provideMerge(
          Accounts.fromModel(Person, { login: "login", secret: "secret" }),
          EmbeddedStore.layerMemory
        )
      })
      const ada = yield* people.insert(
        yield* Model.finalise(Person, { login: "ada", secret: "a".repeat(8), roles: ["editor"] })
      )
      for (const owner of [ada.id, "bob"]) yield* notes.insert(new Note({ owner, text: "old" }))
      const rename = (to: string, roles = ["chief"]) =>
        Rename.enqueue({ to }).pipe(
          Effect.provideService(CurrentUser, { subject: ada.id, roles, claims: {} }),
          Effect.provideService(DocumentStore.DocumentStore, store),
          Effect.andThen(idle),
          Effect.andThen(notes.find()),
          Effect.map((all) => all.map(({ owner, text }) => `${owner === "bob" ? "bob" : "ada"}: ${text}`).toSorted())
        )
      assert.deepStrictEqual(yield* rename("new"), ["ada: new", "bob: old"])
      // By a key of fewer roles.
      for (const roles of [[], ["reader"]]) {
        assert.deepStrictEqual(yield* rename("less", roles), ["ada: new", "bob: old"])
      }
      yield* people.updateMany(($) => $.login.equals("ada"), ($) => [$.roles.set(["chief"])])
      assert.deepStrictEqual(yield* rename("by reader", ["reader"]), ["ada: new", "bob: old"])
      assert.deepStrictEqual(yield* rename("by editor", ["editor"]), ["ada: by editor", "bob: old"])
      assert.deepStrictEqual(yield* rename("new"), ["ada: new", "bob: old"])
      // The account has lost its role since.
      yield* people.updateMany(($) => $.login.equals("ada"), ($) => [$.roles.set([])])
      assert.deepStrictEqual(yield* rename("newer"), ["ada: new", "bob: old"])
      yield* people.deleteMany(($) => $.login.equals("ada"))
      assert.deepStrictEqual(yield* rename("newest"), ["ada: new", "bob: old"])
      const states = (yield* store.find("QueuedJob", { sort: { created: 1 } })).map(({ state }) => state)
      assert.include(states, "dead")
    }))

  it.effect("is done with the rights of its own subject by rules that read data, whoever had one before", () =>
    Effect.gen(function*() {
      const Mark = Job.make("mark", { payload: { by: Schema.String }, runAs: "subject", concurrency: 8 })
      const marking = Mark.implement(({ by }) =>
        Effect.gen(function*() {
          const notes = yield* Repository.for(Note)
          yield* notes.updateMany(($) => $.text.notEquals(by), ($) => [$.text.set(by)])
        })
      )
      const isEditor = Permission.make(
        "an editor",
        {},
        ({ caller }) => Effect.as(Effect.yieldNow, caller.roles.includes("editor"))
      )
      const ownerOf = (login: string) => Effect.as(Effect.yieldNow, login)
      const Notes = Resource.make(Note, { methods: ["GET", "PATCH"] }).grant(isEditor, {
        rows: (me) => Effect.map(ownerOf(me.subject), (owner) => ($) => $.owner.equals(owner))
      })
      const engine = KernelEngine.make("notes").register(Notes).register(People, { name: "people" }).register(marking)
        .enableSecurity()
      for (const logins of [["ada", "bob", "eve"], ["eve", "bob", "ada"]]) {
        const { idle, repositories: { notes, people }, store } = yield* engine.test({
          store: Layer.provideMerge(
            Accounts.fromModel(Person, { login: "login", secret: "secret" }),
            EmbeddedStore.layerMemory
          )
        })
        const ids = new Map<string, string>()
        for (const login of logins) {
          const roles = login === "eve" ? ["reader"] : ["editor"]
          const { id } = yield* people.insert(yield* Model.finalise(Person, { login, secret: "a".repeat(8), roles }))
          ids.set(login, id)
          yield* notes.insert(new Note({ owner: id, text: "" }))
        }
        const enqueue = (login: string, by: string) =>
          Mark.enqueue({ by }).pipe(
            Effect.provideService(CurrentUser, { subject: ids.get(login)!, roles: ["editor", "reader"], claims: {} }),
            Effect.provideService(DocumentStore.DocumentStore, store)
          )
        const marks = Effect.map(
          notes.find(),
          (all) =>
            Object.fromEntries(logins.map((login) => [login, all.find(({ owner }) => owner === ids.get(login))?.text]))
        )
        for (const login of logins) yield* Effect.andThen(enqueue(login, `by ${login}`), idle)
        assert.deepStrictEqual(yield* marks, { ada: "by ada", bob: "by bob", eve: "" })
        const many = Array.from({ length: 30 }, (_, i) => logins[i % 3]!)
        yield* Effect.forEach(many, (login) => enqueue(login, `also by ${login}`), { concurrency: 30 })
        yield* idle
        assert.deepStrictEqual(yield* marks, { ada: "also by ada", bob: "also by bob", eve: "" })
      }
    }))
})

/** Waits until nobody listens at the address. */
const closed = (baseUrl: string) =>
  Effect.repeat(Effect.promise(() => fetch(`${baseUrl}/health/live`).then(() => true, () => false)), {
    until: (isOpen) => !isOpen
  })

describe("A schedule", () => {
  /** Processes of one service, on one store, each of which notes the due times that it has worked for. */
  const processOf = (
    store: DocumentStore.DocumentStore["Service"],
    runs: Array<string>,
    options: Job.CronOptions = {},
    expression = "0 2 * * *"
  ) =>
    KernelEngine.make("shop").enableCron(
      "close-day",
      expression,
      (due) => Effect.sync(() => void runs.push(DateTime.formatIso(due))),
      options
    )
      .test({ store: Layer.succeed(DocumentStore.DocumentStore, store) })

  const at = (time: string) => TestClock.setTime(DateTime.toEpochMillis(DateTime.makeUnsafe(time)))

  it.effect("runs once for each due time, of several processes in one", () =>
    Effect.gen(function*() {
      yield* at("2030-03-01T00:00:00Z")
      const runs: Array<string> = []
      const store = yield* DocumentStore.DocumentStore
      const { idle } = yield* processOf(store, runs)
      yield* processOf({ ...store }, runs)
      yield* processOf({ ...store }, runs)
      for (const _ of [1, 2, 3]) {
        yield* TestClock.adjust("1 day")
        yield* idle
      }
      assert.deepStrictEqual(runs, ["2030-03-01T02:00:00.000Z", "2030-03-02T02:00:00.000Z", "2030-03-03T02:00:00.000Z"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("that skips what was missed does again what was interrupted, however late", () =>
    Effect.gen(function*() {
      yield* at("2030-03-01T00:00:00Z")
      const store = yield* DocumentStore.DocumentStore
      const ends: Array<string> = []
      const served = (work: Effect.Effect<void>) =>
        KernelEngine.make("shop").enableCron("close-day", "0 2 * * *", work, { missed: "skip" })
          .test({ store: Layer.succeed(DocumentStore.DocumentStore, { ...store }) })
      const scope = yield* Scope.make()
      const begun = yield* Deferred.make<void>()
      const stuck = served(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
      const { baseUrl } = yield* Scope.provide(stuck, scope)
      yield* TestClock.adjust("2 hours")
      yield* Deferred.await(begun)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* closed(baseUrl)
      yield* TestClock.adjust("5 minutes")
      yield* Fiber.join(closing)
      const { idle } = yield* served(Effect.sync(() => void ends.push("done")))
      yield* idle
      assert.deepStrictEqual(ends, ["done"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("whose expression has changed does not run at the times of the old one", () =>
    Effect.gen(function*() {
      yield* at("2030-03-01T00:00:00Z")
      const runs: Array<string> = []
      const store = yield* DocumentStore.DocumentStore
      yield* Effect.scoped(processOf(store, runs, {}, "0 2 * * *"))
      const { idle } = yield* processOf({ ...store }, runs, {}, "0 4 * * *")
      yield* TestClock.adjust("1 day")
      yield* idle
      assert.deepStrictEqual(runs, ["2030-03-01T04:00:00.000Z"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("whose expression has changed runs at the next time of both", () =>
    Effect.gen(function*() {
      yield* at("2030-03-01T12:30:00Z")
      const runs: Array<string> = []
      const store = yield* DocumentStore.DocumentStore
      yield* Effect.scoped(processOf(store, runs, {}, "0 * * * *"))
      yield* at("2030-03-01T12:40:00Z")
      const { idle } = yield* processOf({ ...store }, runs, {}, "*/30 * * * *")
      for (const _ of [1, 2]) {
        yield* TestClock.adjust("30 minutes")
        yield* idle
      }
      assert.deepStrictEqual(runs, ["2030-03-01T13:00:00.000Z", "2030-03-01T13:30:00.000Z"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("whose expression changes runs at the times of both while processes of both run", () =>
    Effect.gen(function*() {
      yield* at("2030-03-01T00:00:00Z")
      const [old, now]: [Array<string>, Array<string>] = [[], []]
      const store = yield* DocumentStore.DocumentStore
      yield* processOf(store, now, {}, "0 4 * * *")
      const { idle } = yield* processOf(store, old, {}, "0 2 * * *")
      for (let i = 0; i < 48; i++) {
        yield* TestClock.adjust("1 hour")
        yield* idle
      }
      assert.deepStrictEqual(old, ["2030-03-01T02:00:00.000Z", "2030-03-02T02:00:00.000Z"])
      assert.deepStrictEqual(now, ["2030-03-01T04:00:00.000Z", "2030-03-02T04:00:00.000Z"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("makes up for the earliest time first, also when a regular one passes meanwhile", () =>
    Effect.gen(function*() {
      yield* at("2030-03-01T00:30:00Z")
      const store = yield* DocumentStore.DocumentStore
      const options = { missed: "each" } as const
      yield* Effect.scoped(processOf(store, [], options, "0 * * * *"))
      yield* at("2030-03-01T03:30:00Z")
      const begun = yield* Queue.unbounded<string>()
      const ended = yield* Queue.unbounded<void>()
      yield* KernelEngine.make("shop").enableCron(
        "close-day",
        "0 * * * *",
        (due) => Effect.andThen(Queue.offer(begun, DateTime.formatIso(due)), Queue.take(ended)),
        options
      )
        .test({ store: Layer.succeed(DocumentStore.DocumentStore, { ...store }) })
      const runs: Array<string> = []
      for (let i = 0; i < 4; i++) {
        runs.push((yield* Queue.take(begun)).slice(11, 13))
        yield* TestClock.adjust("40 minutes")
        yield* Queue.offer(ended, undefined)
      }
      // Nothing waits when the service ends.
      yield* Queue.offerAll(ended, Array.from({ length: 20 }, () => undefined))
      assert.deepStrictEqual(runs, ["01", "02", "03", "04"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("does no run again that is done when an old one is retried", () =>
    Effect.gen(function*() {
      yield* at("2030-03-01T00:00:00Z")
      const store = yield* DocumentStore.DocumentStore
      const runs: Array<string> = []
      let isDown = true
      const { idle } = yield* KernelEngine.make("shop").enableCron("close-day", "0 2 * * *", (due) =>
        Effect.suspend(() => {
          runs.push(DateTime.formatIso(due).slice(8, 10))
          return isDown ? Effect.die("down") : Effect.void
        }), { missed: "each", retry: { times: 0 } })
        .test({ store: Layer.succeed(DocumentStore.DocumentStore, store) })
      for (let i = 0; i < 20; i++) {
        yield* TestClock.adjust("1 day")
        yield* idle
        isDown = false
      }
      assert.lengthOf(runs.splice(0), 20)
      assert.isTrue(
        yield* Effect.provideService(
          Job.retry("cron close-day:2030-03-01T02:00:00.000Z"),
          DocumentStore.DocumentStore,
          store
        )
      )
      yield* idle
      yield* TestClock.adjust("1 hour")
      yield* idle
      assert.deepStrictEqual(runs, ["01"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect.each(
    [
      ["once", ["2030-03-01T02:00:00.000Z"]],
      ["each", ["2030-03-01T02:00:00.000Z", "2030-03-02T02:00:00.000Z", "2030-03-03T02:00:00.000Z"]],
      ["skip", []]
    ] satisfies ReadonlyArray<[Job.CronOptions["missed"], ReadonlyArray<string>]>
  )("makes up for times without a process: %s", ([missed, expected]) =>
    Effect.gen(function*() {
      yield* at("2030-03-01T00:00:00Z")
      const runs: Array<string> = []
      const store = yield* DocumentStore.DocumentStore
      yield* Effect.scoped(processOf(store, runs, { missed }))
      yield* at("2030-03-03T10:00:00Z")
      const { idle } = yield* processOf({ ...store }, runs, { missed })
      yield* idle
      assert.deepStrictEqual(runs, expected)
      yield* TestClock.adjust("1 day")
      yield* idle
      assert.deepStrictEqual(runs.slice(expected.length), ["2030-03-04T02:00:00.000Z"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("runs once in the night in which clocks go forward, and once in that in which they go back", () =>
    Effect.gen(function*() {
      const runs: Array<string> = []
      const store = yield* DocumentStore.DocumentStore
      for (const night of ["2030-03-31", "2030-10-27"]) {
        yield* at(`${night}T00:00:00Z`)
        const process = yield* Scope.make()
        const { idle } = yield* Scope.provide(
          processOf({ ...store }, runs, { zone: "Europe/Zurich" }, "30 2 * * *"),
          process
        )
        yield* idle
        yield* TestClock.adjust("12 hours")
        yield* idle
        yield* Scope.close(process, Exit.void)
      }
      // In spring 2:30 does not exist: the run is an hour later by the clock. In autumn it is the first of two.
      assert.include(runs, "2030-03-31T01:30:00.000Z")
      assert.include(runs, "2030-10-27T00:30:00.000Z")
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("with a wrong expression or zone ends the start with a sentence", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      const wrong = [["0 2 * *", "UTC"], ["0 2 * * *", "Europe/Atlantis"], ["0 0 30 2 *", "UTC"]] as const
      for (const [expression, zone] of wrong) {
        const exit = yield* Effect.exit(processOf(store, [], { zone }, expression))
        assert.include(String(exit), "The schedule close-day is wrong")
      }
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})

class Note extends Model.Class<Note>()("Note", { id: Model.id(), owner: Schema.String, text: Schema.String }) {}

class Person extends Model.Class<Person>()("Person", {
  id: Model.id(),
  login: Schema.String.pipe(Model.indexed(Index.unique)),
  secret: Schema.String.pipe(
    Validator.min(8),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.omitted
  ),
  roles: Schema.Array(Schema.String)
}) {}

const People = Resource.make(Person, { methods: ["GET"] }).grant(Role("admin"), { methods: ["GET"] })
