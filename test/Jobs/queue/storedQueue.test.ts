import { assert, it } from "@effect/vitest"
import {
  Array as Arr,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Random,
  Ref,
  Schedule,
  Schema,
  Scope
} from "effect"
import { PersistedQueue } from "effect/persistence"
import { DocumentStore, Repository, RepositoryError } from "../../../src/index.ts"
import { putOff } from "../../../src/Jobs/queue/jobQueue.ts"
import { localQueue, wake } from "../../../src/Jobs/queue/localQueue.ts"
import { thisProcess } from "../../../src/Jobs/queue/records.ts"
import { makeQueueStore, offerRecord } from "../../../src/Jobs/queue/storedQueue.ts"
import { afterCommit } from "../../../src/Repository/internal.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

/** What Effect's queue does, whichever store keeps it: its own suite for stores, and what ours has beyond it. */
const storedQueueContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.layer(Layer.provideMerge(queues(), store), { excludeTestServices: true })(`The queue / ${name}`, (it) => {
    it.effect("gives what was offered, decoded", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("offered")
        yield* queue.offer({ n: 42n })
        assert.deepStrictEqual(yield* queue.take((item, { attempts }) => Effect.succeed([item.n, attempts])), [42n, 1])
      }))

    it.effect("has the indexes of this release, whichever an earlier one has made", () =>
      Effect.gen(function*() {
        const { createIndexes, listIndexes } = yield* DocumentStore.DocumentStore
        yield* createIndexes("QueuedJob", [
          { name: "queue_1_due_1", key: { queue: 1, due: 1 } },
          { name: "queue_1_state_1", key: { queue: 1, state: 1 } },
          { name: "state_1_ended_1", key: { state: 1, ended: 1 } }
        ])
        yield* Effect.scoped(Layer.build(queues()))
        const names = (yield* listIndexes("QueuedJob")).map(({ name }) => name)
        assert.deepStrictEqual(names.toSorted(), ["dead_1", "ended_1", "pending_1"])
      }))

    it.effect("counts no attempt that its process has not heard of", () =>
      Effect.gen(function*() {
        const inner = yield* DocumentStore.DocumentStore
        let failures = 1
        // It is shared with others, so that a claim is written, and it does not answer the first time what was claimed.
        const store: typeof inner = {
          ...inner,
          isolation: "snapshot",
          find: (collection, options) =>
            options?.filter?.["token"] !== undefined && failures-- > 0
              ? Effect.fail(
                new RepositoryError.StoreUnavailable({ operation: "find", detail: "no answer", retryable: true })
              )
              : inner.find(collection, options)
        }
        const attempts = yield* Effect.gen(function*() {
          const queue = yield* queueOf("unheard")
          yield* queue.offer({ n: 1n })
          return yield* Effect.eventually(queue.take((_, { attempts }) => Effect.succeed(attempts)))
        }).pipe(
          Effect.provide(Layer.fresh(queues())),
          Effect.provideService(DocumentStore.DocumentStore, store)
        )
        assert.deepStrictEqual([attempts, failures], [1, -1])
      }))

    it.effect("gives an element to another one when who has it is interrupted, which is no attempt", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("interrupted")
        const begun = yield* Deferred.make<void>()
        const first = yield* Effect.forkScoped(
          queue.take(() => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
        )
        yield* queue.offer({ n: 1n })
        yield* Deferred.await(begun)
        const second = yield* Effect.forkScoped(queue.take((item, { attempts }) => Effect.succeed([item.n, attempts])))
        yield* queue.offer({ n: 2n })
        // The other element proves that the one in work is not given twice.
        assert.deepStrictEqual(yield* Fiber.join(second), [2n, 1])
        yield* Fiber.interrupt(first)
        assert.deepStrictEqual(yield* queue.take((item, { attempts }) => Effect.succeed([item.n, attempts])), [1n, 1])
      }))

    it.effect("gives an element again after a failure, until its attempts are used: then it is a dead letter", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("failing")
        const id = yield* queue.offer({ n: 1n })
        for (const attempt of [1, 2, 3]) {
          const failure = queue.take((_, { attempts, id }) => Effect.fail(`${id} ${attempts}`))
          assert.strictEqual(yield* Effect.flip(failure), `${id} ${attempt}`)
        }
        const [dead] = yield* recordsOf("failing")
        assert.deepInclude(dead, { state: "dead", attempts: 3 })
        assert.include(dead?.["failure"], `${id} 3`)
        yield* queue.offer({ n: 2n })
        assert.strictEqual(yield* queue.take((item) => Effect.succeed(item.n)), 2n)
      }))

    it.effect("has an identifier once, also after its end, and within a transaction", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("identified")
        const offer = queue.offer({ n: 1n }, { id: "a:b" })
        yield* Effect.all([offer, offer, offer], { concurrency: 3 })
        assert.strictEqual(yield* queue.take((_, { id }) => Effect.succeed(id)), "a:b")
        yield* offer
        yield* Repository.transaction(Effect.andThen(offer, queue.offer({ n: 2n })))
        assert.strictEqual(yield* queue.take((item) => Effect.succeed(item.n)), 2n)
        assert.lengthOf(yield* doneOf("identified"), 2)
      }))

    it.effect("keeps queues apart whose names and identifiers join to one text", () =>
      Effect.gen(function*() {
        const [one, other] = [yield* queueOf("joined"), yield* queueOf("joined:x")]
        yield* one.offer({ n: 1n }, { id: "x:y" })
        yield* other.offer({ n: 2n }, { id: "y" })
        assert.strictEqual(yield* one.take((item) => Effect.succeed(item.n)), 1n)
        assert.strictEqual(yield* other.take((item) => Effect.succeed(item.n)), 2n)
      }))

    it.effect("gives what can't be decoded again, for a release that can, until it is a dead letter, and the next element before", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("unknown")
        const port = yield* PersistedQueue.PersistedQueueStore
        yield* port.offer({ name: "unknown", id: "1", element: { n: null }, isCustomId: false })
        // Of two at one time, the lesser identifier comes first.
        yield* queue.offer({ n: 2n }, { id: "2" })
        assert.strictEqual(yield* queue.take((item) => Effect.succeed(item.n)), 2n)
        const unknown = Effect.map(recordsOf("unknown"), (records) => records.find(({ key }) => key === "1"))
        assert.deepInclude(yield* unknown, { state: "waiting", attempts: 1 })
        const taking = yield* Effect.forkChild(queue.take(() => Effect.void))
        const dead = yield* Effect.repeat(unknown, {
          until: (record) => record?.["state"] === "dead",
          schedule: Schedule.spaced("10 millis")
        }).pipe(Effect.andThen(unknown))
        assert.deepInclude(dead, { state: "dead", attempts: 3 })
        yield* Fiber.interrupt(taking)
      }))

    it.effect("gives an element after its delay, and others before", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("delayed")
        const begin = Date.now()
        yield* queue.offer({ n: 1n }, { delay: "1 second" })
        yield* queue.offer({ n: 2n })
        const taken = [
          yield* queue.take((item) => Effect.succeed(item.n)),
          yield* queue.take((item) => Effect.succeed(item.n))
        ]
        assert.deepStrictEqual(taken, [2n, 1n])
        assert.isAtLeast(Date.now() - begin, 1_000)
      }))

    it.effect("removes what is done for some time, and dead letters if it is told to", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("removed")
        const port = yield* PersistedQueue.PersistedQueueStore
        yield* queue.offer({ n: 1n }, { id: "done" })
        yield* queue.take(() => Effect.void)
        const single = yield* PersistedQueue.make({ name: "removed", schema: Item, maxAttempts: 1 })
        yield* single.offer({ n: 1n }, { id: "dead" })
        yield* single.take(() => Effect.fail("no")).pipe(Effect.exit)
        yield* queue.offer({ n: 2n }, { id: "waiting" })
        yield* queue.take(() => Effect.interrupt).pipe(Effect.exit)
        const left = Effect.map(recordsOf("removed"), (records) => records.map(({ key }) => String(key)).toSorted())
        yield* port.cleanup({ timeToLive: Duration.hours(1), failedTimeToLive: undefined })
        assert.deepStrictEqual(yield* left, ["dead", "done", "waiting"])
        yield* port.cleanup({ timeToLive: Duration.zero, failedTimeToLive: undefined })
        assert.deepStrictEqual(yield* left, ["dead", "waiting"])
        yield* port.cleanup({ timeToLive: Duration.zero, failedTimeToLive: Duration.zero })
        assert.deepStrictEqual(yield* left, ["waiting"])
      }))

    it.effect("gives each element to one of many who take", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("many")
        const all = Array.from({ length: 40 }, (_, i) => BigInt(i))
        const taken = yield* Ref.make<ReadonlyArray<bigint>>([])
        const takers = yield* Effect.forkScoped(
          Effect.forEach(all, () => queue.take((item) => Ref.update(taken, (list) => [...list, item.n])), {
            concurrency: 8
          })
        )
        yield* Effect.forEach(all, (n) => queue.offer({ n }), { concurrency: 4 })
        yield* Fiber.join(takers)
        assert.deepStrictEqual((yield* Ref.get(taken)).toSorted((a, b) => Number(a - b)), all)
      }))

    it.effect("has what is offered in a transaction when that is committed, and never what was rolled back", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("committed")
        const taken = yield* Deferred.make<bigint>()
        yield* Effect.forkScoped(queue.take((item) => Deferred.succeed(taken, item.n)))
        const rolledBack = Effect.andThen(queue.offer({ n: 1n }), Effect.fail("no"))
        assert.strictEqual(yield* Effect.flip(Repository.transaction(rolledBack)), "no")
        yield* Repository.transaction(Effect.gen(function*() {
          yield* queue.offer({ n: 2n })
          yield* Effect.forEach(Array.from({ length: 10 }), () => Effect.yieldNow)
          assert.isFalse(yield* Deferred.isDone(taken))
        }))
        assert.strictEqual(yield* Deferred.await(taken), 2n)
        assert.lengthOf(yield* recordsOf("committed"), 1)
      }))

    it.effect("gives an element to others when its lock has ended, and what its first holder then says has no effect", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("lost")
        yield* queue.offer({ n: 1n })
        const process = yield* Scope.make()
        // A store in another process, which ends without giving back what it has taken.
        const store = yield* DocumentStore.DocumentStore
        let isHung = true
        const hanging: typeof store = {
          ...store,
          updateMany: (...args) => isHung && "token" in args[1] ? Effect.never : store.updateMany(...args)
        }
        const dying = yield* makeQueueStore(hanging, { lock: "50 millis" }).pipe(Scope.provide(process))
        const handler = yield* Scope.make()
        const take = dying.take({ name: "lost", maxAttempts: 3, retryDelay: () => Effect.succeed(Duration.zero) })
        assert.deepInclude(yield* Scope.provide(take, handler), { attempts: 1 })
        yield* Scope.close(process, Exit.void)
        const taken = yield* queue.take((_, { attempts }) => {
          isHung = false
          return Effect.as(Scope.close(handler, Exit.fail("too late")), attempts)
        })
        assert.strictEqual(taken, 2)
        const [record] = yield* doneOf("lost")
        assert.strictEqual(record?.["attempts"], 2)
        assert.notProperty(record, "failure")
      }))

    it.effect.skipIf(name === "mongodb")("asks for nothing while there is nothing to do", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        let count = 0
        const counting = { ...store, find: counted(store.find), findOneAndUpdate: counted(store.findOneAndUpdate) }
        function counted<Args extends ReadonlyArray<unknown>, A>(operation: (...args: Args) => A) {
          return (...args: Args) => {
            count++
            return operation(...args)
          }
        }
        const port = yield* makeQueueStore(counting, { lock: "1 second", poll: "1 milli" })
        const take = port.take({ name: "idle", maxAttempts: 3, retryDelay: () => Effect.succeed(Duration.zero) })
        const taken = yield* Effect.forkScoped(Effect.scoped(Effect.all([take, take, take], { concurrency: 3 })))
        yield* Effect.sleep("50 millis")
        // One looks for all, and then when the next one is due.
        assert.isAtMost(count, 2)
        for (const key of ["1", "2", "3"]) yield* port.offer({ name: "idle", id: key, element: 1, isCustomId: false })
        assert.deepStrictEqual((yield* Fiber.join(taken)).map(({ id }) => id).toSorted(), ["1", "2", "3"])
      }))

    it.effect("makes a dead letter of what has ended the process in each attempt", () =>
      Effect.gen(function*() {
        const queue = yield* queueOf("deadly")
        yield* queue.offer({ n: 1n })
        const store = yield* DocumentStore.DocumentStore
        for (const _ of [1, 2, 3]) {
          const process = yield* Scope.make()
          // Nor does it keep its lock.
          const hanging: typeof store = {
            ...store,
            updateMany: (...args) => "token" in args[1] ? Effect.never : store.updateMany(...args)
          }
          const dying = yield* makeQueueStore(hanging, { lock: "10 millis", poll: "5 millis" }).pipe(
            Scope.provide(process)
          )
          const take = dying.take({ name: "deadly", maxAttempts: 3, retryDelay: () => Effect.succeed(Duration.zero) })
          yield* Scope.provide(take, yield* Scope.make())
          yield* Scope.close(process, Exit.void)
        }
        yield* Effect.forkScoped(queue.take(() => Effect.die("It was given once more")))
        const dead = yield* Effect.repeat(recordsOf("deadly"), {
          until: ([record]) => record?.["state"] === "dead",
          schedule: Schedule.spaced("5 millis")
        }).pipe(Effect.andThen(recordsOf("deadly")))
        assert.deepInclude(dead[0], { state: "dead", attempts: 3 })
      }))

    it.effect("keeps the lock as long as the work lasts, also when the process stops", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const process = yield* Scope.make()
        const port = yield* makeQueueStore({ ...store }, { lock: "150 millis", poll: "5 millis" }).pipe(
          Scope.provide(process)
        )
        const queue = yield* Effect.provideService(
          Effect.flatMap(PersistedQueue.makeFactory, (factory) => factory.make({ name: "long", schema: Item })),
          PersistedQueue.PersistedQueueStore,
          port
        )
        yield* queue.offer({ n: 1n })
        // The lock is moved on again and again.
        const isKept = Effect.gen(function*() {
          const [begin] = yield* recordsOf("long")
          let due = begin?.["due"] as Date
          for (const _ of [1, 2, 3]) {
            const [moved] = yield* Effect.repeat(recordsOf("long"), {
              until: ([record]) => (record?.["due"] as Date) > due,
              schedule: Schedule.spaced("5 millis")
            }).pipe(Effect.andThen(recordsOf("long")))
            due = moved?.["due"] as Date
          }
        })
        const isStopping = yield* Deferred.make<void>()
        const taken = yield* Effect.forkScoped(
          queue.take(() => Effect.andThen(isKept, Effect.andThen(Deferred.await(isStopping), isKept)))
        )
        // As who works does: what is added to a scope later ends before.
        yield* Scope.addFinalizer(
          process,
          Effect.andThen(Deferred.succeed(isStopping, undefined), Effect.exit(Fiber.join(taken)))
        )
        yield* Scope.close(process, Exit.void)
        yield* Fiber.join(taken)
        assert.deepInclude((yield* recordsOf("long"))[0], { state: "done", attempts: 1 })
      }).pipe(Effect.scoped))

    it.effect("gives again what could not be stored for a defect, and keeps the locks of others", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const lost = new Set<unknown>()
        const broken: typeof store = {
          ...store,
          updateMany: (...args) => {
            const [, filter, update] = args
            const ids = (filter["_id"] as { readonly $in?: ReadonlyArray<unknown> } | undefined)?.$in ?? []
            if (!("token" in filter && stateIn(update) === "done" && lost.size < 3)) {
              return store.updateMany(...args)
            }
            for (const id of ids) lost.add(id)
            return Effect.die("The driver is broken")
          }
        }
        const port = yield* makeQueueStore(broken, { lock: "1 second", poll: "5 millis" })
        const offer = (id: string) => port.offer({ name: "defect", id, element: {}, isCustomId: false })
        yield* Effect.forEach(["1", "2", "3"], offer)
        // The store knows that it has begun.
        const begun = (id: string) =>
          Effect.repeat(recordsOf("defect"), {
            until: (records) => records.some(({ key, state }) => key === id && state === "running"),
            schedule: Schedule.spaced("5 millis")
          })
        const worked = Effect.exit(Effect.scoped(Effect.flatMap(port.take(takeOf("defect")), ({ id }) => begun(id))))
        const exits = yield* Effect.all([worked, worked, worked], { concurrency: 3 })
        assert.isTrue(exits.every(Exit.isSuccess))
        yield* Effect.repeat(Effect.sync(() => lost.size), {
          until: (size) => size === 3,
          schedule: Schedule.spaced("5 millis")
        })
        const again = Effect.scoped(Effect.map(port.take(takeOf("defect")), ({ attempts }) => attempts))
        assert.deepStrictEqual(yield* Effect.all([again, again, again], { concurrency: 3 }), [2, 2, 2])
        assert.deepStrictEqual((yield* doneOf("defect")).map(({ attempts }) => attempts), [2, 2, 2])
      }))

    it.effect("gives each element once to many who take, of whom any is stopped at any time", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const done: Array<string> = []
        const wrong: Array<string> = []
        const held = new Set<string>()
        const work = (port: PersistedQueue.PersistedQueueStore["Service"]) =>
          Effect.forever(Effect.uninterruptibleMask((restore) =>
            Effect.gen(function*() {
              const scope = yield* Scope.make()
              const taken = yield* Effect.exit(restore(Scope.provide(port.take(takeOf("stopped")), scope)))
              if (Exit.isFailure(taken)) {
                yield* Scope.close(scope, taken)
                return yield* Effect.failCause(taken.cause)
              }
              const { attempts, id } = taken.value
              // What was interrupted, or was claimed for somebody who did not come, is no attempt.
              if (attempts !== 1 || held.has(id)) wrong.push(`${id}, attempt ${attempts}`)
              held.add(id)
              const exit = yield* Effect.exit(restore(Effect.flatMap(Random.nextIntBetween(0, 4), Effect.sleep)))
              held.delete(id)
              if (Exit.isSuccess(exit)) done.push(id)
              yield* Scope.close(scope, exit)
              return yield* exit
            })
          ))
        const begin = Effect.fnUntraced(function*(own: typeof store) {
          const scope = yield* Scope.make()
          const port = yield* Scope.provide(makeQueueStore(own, { lock: "60 seconds", poll: "5 millis" }), scope)
          const start = Effect.forkScoped(work(port))
          return { own, scope, start, workers: yield* Effect.all([start, start, start, start, start, start]) }
        })
        // Two processes, where the store allows them; otherwise two who take in one.
        const teams = [yield* begin(store), yield* begin(name === "mongodb" ? { ...store } : store)]
        const port = yield* PersistedQueue.PersistedQueueStore
        const ids = Array.from({ length: 80 }, (_, i) => String(i))
        yield* Effect.forkScoped(Effect.forEach(ids, (id) =>
          Effect.andThen(
            port.offer({ name: "stopped", id, element: {}, isCustomId: false }),
            Number(id) % 10 === 0 ? Effect.sleep("5 millis") : Effect.void
          ), { discard: true }))
        while (done.length < ids.length) {
          yield* Effect.sleep(yield* Random.nextIntBetween(0, 6))
          const chosen = (yield* Random.nextBoolean) ? 1 : 0
          const team = teams[chosen]!
          if ((yield* Random.nextIntBetween(0, 8)) === 0) {
            yield* Fiber.interruptAll(team.workers)
            yield* Scope.close(team.scope, Exit.void)
            teams[chosen] = yield* begin(team.own)
          } else {
            yield* Fiber.interruptAll(team.workers.splice(0, yield* Random.nextIntBetween(1, 4)))
            while (team.workers.length < 6) team.workers.push(yield* team.start)
          }
        }
        yield* Effect.forEach(teams, ({ workers }) => Fiber.interruptAll(workers), { discard: true })
        assert.deepStrictEqual(wrong, [])
        assert.deepStrictEqual(done.toSorted(), ids.toSorted())
        assert.isTrue((yield* doneOf("stopped")).every(({ attempts }) => attempts === 1))
      }).pipe(Effect.scoped))

    it.effect("has again at once what was claimed for those who have gone meanwhile, in its order", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const [claiming, claimed] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const slow: typeof store = {
          ...store,
          updateMany: (...args) =>
            Deferred.succeed(claiming, undefined).pipe(
              Effect.andThen(Deferred.await(claimed)),
              Effect.andThen(store.updateMany(...args))
            )
        }
        const port = yield* makeQueueStore(slow, { lock: "60 seconds", poll: "5 millis" })
        const take = Effect.forkScoped(port.take(takeOf("gone")), { startImmediately: true })
        const [first, second, third] = [yield* take, yield* take, yield* take]
        const offer = (id: string) => port.offer({ name: "gone", id, element: {}, isCustomId: true })
        yield* Repository.transaction(Effect.forEach(["1", "2", "3"], offer))
        yield* Deferred.await(claiming)
        yield* Fiber.interruptAll([second, third])
        yield* Deferred.succeed(claimed, undefined)
        assert.strictEqual((yield* Fiber.join(first)).id, "1")
        const found = yield* Effect.repeat(recordsOf("gone"), {
          until: (records) => records.filter(({ state }) => state === "waiting").length === 2,
          schedule: Schedule.spaced("5 millis")
        }).pipe(Effect.andThen(recordsOf("gone")))
        const records = found.map(({ attempts, key, state }) => [key, state, attempts])
        assert.sameDeepMembers(records, [["1", "running", 1], ["2", "waiting", 0], ["3", "waiting", 0]])
        assert.deepInclude(yield* Fiber.join(yield* take), { id: "2", attempts: 1 })
      }).pipe(Effect.scoped))

    it.effect.skipIf(name === "mongodb")(
      "gives a new record to who waits for one, without asking the store again",
      () =>
        Effect.gen(function*() {
          const { hasSeenNone, looks, offer, take, takes } = yield* counted("handed")
          const waiting = yield* takes(3)
          yield* hasSeenNone
          const before = looks()
          yield* Repository.transaction(Effect.andThen(offer("1"), offer("2")))
          yield* offer("3")
          assert.deepStrictEqual(yield* Fiber.join(waiting), [["1", 1], ["2", 1], ["3", 1]])
          assert.deepStrictEqual((yield* doneOf("handed")).map(({ key }) => key), ["1", "2", "3"])
          // Nobody waits.
          yield* offer("4")
          assert.deepStrictEqual(yield* take, ["4", 1])
          assert.strictEqual(looks(), before)
        }).pipe(Effect.scoped)
    )

    it.effect("has a record as one that runs, with its attempt, while its job lasts", () =>
      Effect.gen(function*() {
        const { hasSeenNone, offer, takes } = yield* counted("lasting")
        const end = yield* Deferred.make<void>()
        const waiting = yield* takes(1, Deferred.await(end))
        yield* hasSeenNone
        yield* offer("1")
        const running = yield* Effect.repeat(recordsOf("lasting"), {
          until: ([record]) => record?.["state"] === "running",
          schedule: Schedule.spaced("5 millis")
        }).pipe(Effect.andThen(recordsOf("lasting")))
        assert.deepInclude(running[0], { attempts: 1 })
        assert.instanceOf(running[0]?.["taken"], Date)
        yield* Deferred.succeed(end, undefined)
        yield* Fiber.join(waiting)
        const [done] = yield* doneOf("lasting")
        assert.deepInclude(done, { attempts: 1 })
        assert.notProperty(done, "token")
      }).pipe(Effect.scoped))

    it.effect("has what was rolled back for nobody", () =>
      Effect.gen(function*() {
        const { hasSeenNone, offer, takes } = yield* counted("handed back")
        const waiting = yield* takes(1)
        yield* hasSeenNone
        yield* Effect.exit(Repository.transaction(Effect.andThen(offer("never"), Effect.fail("rolled back"))))
        yield* offer("1")
        assert.deepStrictEqual(yield* Fiber.join(waiting), [["1", 1]])
      }).pipe(Effect.scoped))

    it.effect("has for the next service what was committed when nobody took any more", () =>
      Effect.gen(function*() {
        const process = yield* Scope.make()
        const { hasSeenNone, offer, takes } = yield* Scope.provide(counted("late"), process)
        const waiting = yield* takes(1)
        yield* hasSeenNone
        yield* Repository.transaction(Effect.gen(function*() {
          yield* offer("1")
          yield* Fiber.interrupt(waiting)
          yield* Scope.close(process, Exit.void)
        }))
        const next = yield* counted("late")
        assert.deepStrictEqual(yield* next.take, ["1", 1])
      }).pipe(Effect.scoped))

    it.effect("has for another service what was ready for one that stops", () =>
      Effect.gen(function*() {
        const process = yield* Scope.make()
        const first = yield* Scope.provide(counted("left"), process)
        const begun = yield* Deferred.make<void>()
        const stuck = yield* first.takes(1, Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
        yield* Effect.forEach(Arr.range(1, 200), (n) => first.offer(String(n)))
        yield* Deferred.await(begun)
        const second = yield* counted("left", { shared: first.store })
        const waiting = yield* second.takes(200)
        yield* Fiber.interrupt(stuck)
        yield* Scope.close(process, Exit.void)
        const taken = yield* Fiber.join(waiting)
        assert.deepStrictEqual(taken.map(([id]) => Number(id)).toSorted((a, b) => a - b), Arr.range(1, 200))
        assert.isTrue(taken.every(([, attempt]) => attempt === 1))
      }).pipe(Effect.scoped))

    for (
      const [title, maxAttempts, fields] of [
        ["of which there is one attempt only", 1, {}],
        ["of which this is the last attempt", 3, { attempts: 2 }],
        ["which an earlier process may have begun", 3, { created: new Date(0) }],
        ["of which the lock has ended", 3, { state: "running", token: "earlier", process: thisProcess }]
      ] as const
    ) {
      it.effect(`counts the attempt of a job before it begins, ${title}`, () =>
        Effect.gen(function*() {
          const queue = `strict, ${title}`
          const { events, store } = yield* slowStore
          const { takes } = yield* counted(queue, { maxAttempts, shared: store })
          const waiting = yield* takes(1, Effect.sync(() => events.push("begun")))
          const now = new Date(Date.now() + 1)
          const base = { _id: `${queue}:1`, queue, key: "1", element: "1", created: now, due: now }
          const record = { ...base, state: "waiting", attempts: 0, ...fields }
          yield* store.insertOne("QueuedJob", record)
          yield* Effect.repeat(wake(store, queue), {
            until: () => events.includes("begun"),
            schedule: Schedule.spaced("5 millis")
          })
          yield* Fiber.join(waiting)
          assert.deepInclude((yield* doneOf(queue))[0], { attempts: record.attempts + 1 })
          assert.deepStrictEqual(events.slice(events.indexOf("running")), ["running", "begun", "done"])
        }).pipe(Effect.scoped))
    }

    for (const isLeft of [false, true]) {
      it.effect.skipIf(name === "mongodb")(
        `counts it before where another service ${isLeft ? "had" : "has"} more attempts for what is ready`,
        () =>
          Effect.gen(function*() {
            const { store } = yield* slowStore
            const queue = `fewer, ${isLeft}`
            const scope = yield* Scope.make()
            const more = yield* Scope.provide(counted(queue, { shared: store }), scope)
            const begun = yield* Deferred.make<void>()
            const stuck = yield* more.takes(1, Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
            yield* untilAllSeen(store, queue)
            yield* Effect.forEach(["1", "2", "3"], more.offer)
            yield* Deferred.await(begun)
            assert.lengthOf(localQueue(store, queue).ready, 2)
            if (isLeft) {
              yield* Fiber.interrupt(stuck)
              yield* Scope.close(scope, Exit.void)
            }
            const fewer = yield* counted(queue, { maxAttempts: 1, shared: store })
            const running = Effect.map(
              recordsOf(queue),
              (records) => records.filter(({ state }) => state === "running")
            )
            // The job that begins is one, beside the one that has not ended.
            const expected = isLeft ? 1 : 2
            const counts: Array<number> = []
            const note = Effect.map(running, ({ length }) => counts.push(length))
            for (let i = isLeft ? 0 : 1; i < 4; i++) {
              const waiting = yield* fewer.takes(1, note)
              if (i === 3) {
                yield* untilAllSeen(store, queue)
                yield* fewer.offer("4")
              }
              yield* Fiber.join(waiting)
              yield* Effect.repeat(running, {
                until: ({ length }) => length === expected - 1,
                schedule: Schedule.spaced("5 millis")
              })
            }
            assert.isTrue(counts.every((count) => count === expected), String(counts))
          }).pipe(Effect.scoped)
      )
    }

    it.effect("lets none pass that is in its last attempt", () =>
      Effect.gen(function*() {
        const { store, take } = yield* counted("beside")
        const now = Date.now()
        const records = Array.from({ length: 9 }, (_, i) => ({
          _id: `beside:${i}`,
          queue: "beside",
          key: String(i),
          element: "1",
          state: "waiting",
          attempts: i % 3 === 1 ? 2 : 0,
          // Later than this service has begun.
          created: new Date(now + 3_600_000),
          due: new Date(now - 1_000 + i)
        }))
        yield* store.insertMany("QueuedJob", records, { ordered: true })
        const taken = yield* Effect.all(records.map(() => take))
        assert.deepStrictEqual(taken, records.map(({ attempts, key }) => [key, attempts + 1]))
      }).pipe(Effect.scoped))

    it.effect.skipIf(name === "mongodb")(
      "does once what has ended while the store was asked for what is due",
      () =>
        Effect.gen(function*() {
          const original = yield* DocumentStore.DocumentStore
          const isFound = yield* Deferred.make<void>()
          let isAsked = false
          const slow: typeof original = {
            ...original,
            // The end of the first one is stored after it was found, and before that is said.
            find: (...args) =>
              Effect.tap(original.find(...args), (found) =>
                isAsked && found.length > 0
                  ? Effect.andThen(
                    Deferred.succeed(isFound, undefined),
                    Effect.provideService(doneOf("asked"), DocumentStore.DocumentStore, original)
                  )
                  : Effect.void),
            updateMany: (...args) =>
              Effect.andThen(
                stateIn(args[2]) === "waiting" ? Effect.void : Deferred.await(isFound),
                original.updateMany(...args)
              )
          }
          const { offer, takes } = yield* counted("asked", { shared: slow })
          const first = yield* takes(1)
          // Until then, others are asked for at each offer.
          yield* untilAllSeen(slow, "asked")
          yield* offer("1")
          assert.deepStrictEqual(yield* Fiber.join(first), [["1", 1]])
          isAsked = true
          const second = yield* takes(1)
          yield* wake(slow, "asked")
          yield* Deferred.await(isFound)
          yield* doneOf("asked")
          isAsked = false
          yield* offer("2")
          assert.deepStrictEqual(yield* Fiber.join(second), [["2", 1]])
        }).pipe(Effect.scoped)
    )

    it.effect.skipIf(name === "mongodb")(
      "stores each end where the store answers late and locks are kept",
      () =>
        Effect.gen(function*() {
          const original = yield* DocumentStore.DocumentStore
          const late: typeof original = {
            ...original,
            updateMany: (...args) => Effect.tap(original.updateMany(...args), () => Effect.sleep("3 millis"))
          }
          const port = yield* makeQueueStore(late, { lock: "60 millis" })
          const runs: Array<string> = []
          // It ends before its begin is stored, or while it is, or after that.
          const take = Effect.scoped(Effect.flatMap(port.take(takeOf("late answers")), ({ attempts, id }) => {
            runs.push(`${id} ${attempts}`)
            return Effect.flatMap(Random.nextIntBetween(0, 6), Effect.sleep)
          }))
          yield* Effect.forkScoped(Effect.all(Arr.makeBy(16, () => Effect.forever(take)), { concurrency: 16 }))
          const ids = Arr.makeBy(600, String)
          yield* Effect.forEach(
            ids,
            (id) => port.offer({ name: "late answers", id, element: id, isCustomId: false }),
            { concurrency: 8, discard: true }
          )
          assert.isTrue((yield* doneOf("late answers")).every(({ attempts }) => attempts === 1))
          assert.deepStrictEqual(runs.toSorted(), ids.map((id) => `${id} 1`).toSorted())
        }).pipe(Effect.scoped)
    )

    it.effect.skipIf(name === "mongodb")("stores a begin later that could not be stored", () =>
      Effect.gen(function*() {
        const original = yield* DocumentStore.DocumentStore
        let isBroken = true
        const broken: typeof original = {
          ...original,
          updateMany: (...args) =>
            isBroken && stateIn(args[2]) === "running"
              ? Effect.sync(() => {
                isBroken = false
              }).pipe(Effect.andThen(Effect.die("The store is broken")))
              : original.updateMany(...args)
        }
        const port = yield* makeQueueStore(broken, { lock: "30 millis" })
        yield* Effect.forkScoped(Effect.scoped(Effect.andThen(port.take(takeOf("begins")), Effect.never)))
        yield* untilAllSeen(broken, "begins")
        yield* port.offer({ name: "begins", id: "1", element: 1, isCustomId: false })
        const running = yield* Effect.repeat(recordsOf("begins"), {
          until: ([record]) => record?.["state"] === "running",
          schedule: Schedule.spaced("5 millis")
        }).pipe(Effect.andThen(recordsOf("begins")))
        assert.isFalse(isBroken)
        assert.deepInclude(running[0], { attempts: 1 })
      }).pipe(Effect.scoped))

    it.effect.skipIf(name === "mongodb")(
      "does each job once where many offer and many take",
      () =>
        Effect.gen(function*() {
          const { offer, takes } = yield* counted("crowd")
          const ids = Arr.makeBy(2_000, String)
          const taken = yield* takes(ids.length)
          yield* Effect.forEach(ids, offer, { concurrency: 300, discard: true })
          const runs = yield* Fiber.join(taken)
          assert.deepStrictEqual(runs.map(([id]) => id).toSorted(), ids.toSorted())
          assert.isTrue(runs.every(([, attempt]) => attempt === 1))
          assert.isTrue((yield* doneOf("crowd")).every(({ attempts }) => attempts === 1))
        }).pipe(Effect.scoped)
    )

    it.effect.skipIf(name !== "mongodb")(
      "puts off what its process has taken again, whatever becomes of the attempt before",
      () =>
        Effect.gen(function*() {
          const original = yield* DocumentStore.DocumentStore
          // It keeps no lock.
          const forgetful: typeof original = {
            ...original,
            updateMany: (...args) =>
              "token" in args[1] && stateIn(args[2]) === undefined
                ? Effect.succeed({ matchedCount: 0, modifiedCount: 0 })
                : original.updateMany(...args)
          }
          const port = yield* makeQueueStore(forgetful, { lock: "50 millis", poll: "5 millis" })
          const [first, second] = [yield* Scope.make(), yield* Scope.make()]
          const take = port.take(takeOf("retaken"))
          yield* port.offer({ name: "retaken", id: "1", element: {}, isCustomId: false })
          assert.deepInclude(yield* Scope.provide(take, first), { attempts: 1 })
          assert.deepInclude(yield* Scope.provide(take, second), { attempts: 2 })
          yield* Scope.close(first, Exit.void)
          yield* Effect.repeat(Effect.sync(() => localQueue(forgetful, "retaken").settled), {
            until: (settled) => settled.isOpen(),
            schedule: Schedule.spaced("5 millis")
          })
          const { known } = localQueue(forgetful, "retaken")
          assert.strictEqual(known.get("retaken:1")?.attempts, 2)
          const due = Date.now() + 3_600_000
          const putOffTo = (attempt: number, time: number) =>
            Effect.provideService(
              putOff({ name: "retaken" }, { id: "1", attempt }, time),
              DocumentStore.DocumentStore,
              forgetful
            )
          // The attempt that has lost its lock has no say.
          yield* putOffTo(1, 0)
          assert.deepInclude((yield* recordsOf("retaken"))[0], { state: "running", attempts: 2 })
          yield* putOffTo(2, due)
          yield* Scope.close(second, Exit.void)
          const [record] = yield* Effect.repeat(recordsOf("retaken"), {
            until: () => known.size === 0,
            schedule: Schedule.spaced("5 millis")
          }).pipe(Effect.andThen(recordsOf("retaken")))
          assert.deepInclude(record, { state: "waiting", due: new Date(due) })
        }).pipe(Effect.scoped)
    )

    it.effect.skipIf(name === "mongodb")(
      "gives one after the other in their order, also where more are due than are kept ready",
      () =>
        Effect.gen(function*() {
          const { hasSeenNone, offer, take } = yield* counted("ordered")
          const taken: Array<number> = []
          const work = Effect.map(take, ([id]) => taken.push(Number(id)))
          yield* Effect.forkScoped(Effect.forever(work))
          yield* hasSeenNone
          // By steps that are more and less than what is kept ready.
          let next = 0
          for (const count of [3, 300, 1, 140, 20]) {
            for (let i = 0; i < count; i++) yield* offer(String(next++))
          }
          yield* Effect.repeat(Effect.sync(() => taken.length), {
            until: (length) => length === next,
            schedule: Schedule.spaced("5 millis")
          })
          // In a millisecond, identifiers decide.
          const records = new Map(
            (yield* recordsOf("ordered")).map(({ created, key }) => [Number(key), created as Date])
          )
          const times = taken.map((n) => records.get(n)!.getTime())
          assert.deepStrictEqual(times, times.toSorted((a, b) => a - b))
        }).pipe(Effect.scoped)
    )

    it.effect("gives a delayed record its turn while there are new ones all the time", () =>
      Effect.gen(function*() {
        const { offer, store, take } = yield* counted("busy")
        yield* offerRecord(store, {
          name: "busy",
          id: "delayed",
          element: 1,
          isCustomId: false,
          delay: Duration.millis(100)
        })
        let count = 0
        const offerNext = Effect.suspend(() => offer(String(count++)))
        yield* Effect.all([offerNext, offerNext, offerNext])
        const [first] = yield* take
        for (let taken = first; taken !== "delayed"; taken = (yield* take)[0]) yield* offerNext
        assert.strictEqual(first, "0")
      }).pipe(Effect.scoped))

    it.effect("does once what was found in the store before its offer could say so", () =>
      Effect.gen(function*() {
        const { hasSeenNone, offer, store, take, takes } = yield* counted("found")
        const waiting = yield* takes(1)
        yield* hasSeenNone
        const hasCommitted = yield* Deferred.make<void>()
        const [isDone, isOver] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        yield* Effect.forkScoped(
          Repository.transaction(Effect.gen(function*() {
            yield* afterCommit(Effect.andThen(Deferred.succeed(hasCommitted, undefined), Deferred.await(isDone)))
            yield* offer("1")
            yield* afterCommit(Effect.asVoid(Deferred.succeed(isOver, undefined)))
          }))
        )
        yield* Deferred.await(hasCommitted)
        yield* wake(store, "found")
        assert.deepStrictEqual(yield* Fiber.join(waiting), [["1", 1]])
        yield* doneOf("found")
        yield* Deferred.succeed(isDone, undefined)
        yield* Deferred.await(isOver)
        yield* offer("2")
        assert.deepStrictEqual(yield* take, ["2", 1])
      }).pipe(Effect.scoped))

    for (const isStored of [false, true]) {
      const queue = `put off, ${isStored ? "stored as one that runs" : "at once"}`
      it.effect(`gives another time to a job that is ${queue}, if that is not rolled back`, () =>
        Effect.gen(function*() {
          const { hasSeenNone, offer, store, take, takes } = yield* counted(queue)
          const putOffTo = (time: number) =>
            Effect.provideService(
              putOff({ name: queue }, { id: "1", attempt: 1 }, time),
              DocumentStore.DocumentStore,
              store
            )
          const wait = Effect.repeat(recordsOf(queue), {
            until: ([record]) => !isStored || record?.["state"] === "running",
            schedule: Schedule.spaced("5 millis")
          })
          const due = Date.now() + 3_600_000
          const first = yield* takes(1, Effect.andThen(wait, putOffTo(due)))
          yield* hasSeenNone
          yield* offer("1")
          yield* Fiber.join(first)
          // The end of the work has been stored, or left out.
          const [record] = yield* Effect.repeat(recordsOf(queue), {
            until: () => !localQueue(store, queue).known.has(`${queue}:1`),
            schedule: Schedule.spaced("5 millis")
          }).pipe(Effect.andThen(recordsOf(queue)))
          assert.deepInclude(record, { state: "waiting", attempts: 0, due: new Date(due) })
          assert.notProperty(record, "token")
          yield* store.updateOne("QueuedJob", { _id: `${queue}:1` }, { $set: { due: new Date() } })
          yield* wake(store, queue)
          const rolledBack = Effect.exit(
            Repository.transaction(Effect.andThen(putOffTo(due), Effect.fail("rolled back")))
          )
          assert.deepStrictEqual(yield* Fiber.join(yield* takes(1, Effect.andThen(wait, rolledBack))), [["1", 1]])
          assert.deepInclude((yield* doneOf(queue))[0], { attempts: 1 })
          yield* offer("2")
          assert.deepStrictEqual(yield* take, ["2", 1])
        }).pipe(Effect.scoped))
    }

    it.effect("goes on after a defect of the store in a claim", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        let isBroken = true
        const broken: typeof store = {
          ...store,
          find: (...args) => isBroken ? Effect.die("The driver is broken") : store.find(...args)
        }
        const port = yield* makeQueueStore(broken, { lock: "60 seconds", poll: "5 millis" })
        const take = Effect.scoped(Effect.map(port.take(takeOf("unclaimed")), ({ id }) => id))
        const exits = yield* Effect.all([Effect.exit(take), Effect.exit(take)], { concurrency: 2 })
        assert.isTrue(exits.every(Exit.hasDies))
        isBroken = false
        yield* port.offer({ name: "unclaimed", id: "1", element: {}, isCustomId: false })
        assert.strictEqual(yield* take, "1")
      }).pipe(Effect.scoped))

    it.effect("makes a dead letter of a record that is none, and gives those beside it", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const port = yield* makeQueueStore(store, { lock: "60 seconds", poll: "5 millis" })
        const base = { queue: "broken", state: "waiting", attempts: 0, created: new Date(0), due: new Date(1) }
        yield* store.insertOne("QueuedJob", { _id: "broken:0", key: "0", element: 5, ...base })
        for (const id of ["1", "2"]) yield* port.offer({ name: "broken", id, element: {}, isCustomId: false })
        const take = port.take(takeOf("broken"))
        const taken = yield* Effect.all([take, take], { concurrency: 2 })
        assert.deepStrictEqual(taken.map(({ attempts }) => attempts), [1, 1])
        const [broken] = yield* recordsOf("broken")
        assert.deepInclude(broken, { key: "0", state: "dead" })
        assert.include(broken?.["failure"], "no record")
      }).pipe(Effect.scoped))

    it.effect.skipIf(name !== "mongodb")(
      "looks for more at once when another one was faster with what it has found",
      () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const other = yield* makeQueueStore({ ...store }, { lock: "60 seconds", poll: "1 hour" })
          const begin = yield* Effect.scope
          let faster: Effect.Effect<unknown, unknown> = Scope.provide(other.take(takeOf("faster")), begin)
          const late: typeof store = {
            ...store,
            updateMany: (...args) =>
              Effect.suspend(() => {
                const before = faster
                faster = Effect.void
                return Effect.andThen(Effect.orDie(before), store.updateMany(...args))
              })
          }
          const port = yield* makeQueueStore(late, { lock: "60 seconds", poll: "1 hour" })
          for (const id of ["1", "2"]) yield* other.offer({ name: "faster", id, element: {}, isCustomId: false })
          assert.deepInclude(yield* port.take(takeOf("faster")), { id: "2", attempts: 1 })
        }).pipe(Effect.scoped)
    )
  })

const takeOf = (name: string) => ({ name, maxAttempts: 3, retryDelay: () => Effect.succeed(Duration.zero) })

const Item = Schema.Struct({ n: Schema.BigInt })

const queues = () =>
  Layer.provideMerge(
    PersistedQueue.layer,
    Layer.effect(
      PersistedQueue.PersistedQueueStore,
      Effect.flatMap(DocumentStore.DocumentStore, (store) =>
        makeQueueStore(store, { lock: "5 seconds", poll: "5 millis" }))
    )
  )

const queueOf = (name: string) =>
  PersistedQueue.make({ name, schema: Item, maxAttempts: 3, retrySchedule: Schedule.spaced("1 millis") as never })

/** The records of a queue, the oldest first. */
const recordsOf = (queue: string) =>
  Effect.flatMap(
    DocumentStore.DocumentStore,
    (store) => store.find("QueuedJob", { filter: { queue }, sort: { created: 1 } })
  )

/** The records of a queue, as soon as all of them are done. */
const doneOf = (queue: string) =>
  Effect.repeat(recordsOf(queue), {
    until: (records) => records.length > 0 && records.every(({ state }) => state === "done"),
    schedule: Schedule.spaced("5 millis").pipe(Schedule.upTo({ duration: "1 minute" }))
  }).pipe(Effect.andThen(recordsOf(queue)))

/** Until who waits for a record of this process knows that no other one is due. */
const untilAllSeen = (store: DocumentStore.DocumentStore["Service"], queue: string) =>
  Effect.repeat(Effect.sync(() => localQueue(store, queue).isBehind), {
    until: (isBehind) => !isBehind,
    schedule: Schedule.spaced("5 millis")
  })

/** What becomes of records by an update. */
const stateIn = (update: Parameters<DocumentStore.DocumentStore["Service"]["updateMany"]>[2]): unknown =>
  "$set" in update ? Object(update["$set"]).state : undefined

/** A store whose changes of many take some time, and in which states they have put records so far. */
const slowStore = Effect.map(DocumentStore.DocumentStore, (original) => {
  const events: Array<string> = []
  const store: typeof original = {
    ...original,
    updateMany: (...args) =>
      Effect.sleep("20 millis").pipe(
        Effect.andThen(original.updateMany(...args)),
        Effect.tap(() => Effect.sync(() => events.push(String(stateIn(args[2])))))
      )
  }
  return { events, store }
})

/** A queue, those who take from it, and how often the store was asked for what is due. */
const counted = Effect.fnUntraced(function*(
  name: string,
  { maxAttempts = 3, shared }: {
    readonly maxAttempts?: number
    readonly shared?: DocumentStore.DocumentStore["Service"]
  } = {}
) {
  const { find, ...operations } = yield* DocumentStore.DocumentStore
  let looks = 0
  const seen = yield* Deferred.make<void>()
  const store: DocumentStore.DocumentStore["Service"] = shared ?? {
    ...operations,
    find: (...args) => {
      looks++
      // Who has found none looks for the time of the next, in a store that nobody else has.
      const isLast = operations.isolation === "snapshot" || args[1]?.limit === 1
      return Effect.tap(find(...args), () => isLast ? Deferred.succeed(seen, undefined) : Effect.void)
    }
  }
  const port = yield* makeQueueStore(store, { lock: "60 seconds", poll: "5 millis" })
  const takeTo = <E>(work: Effect.Effect<unknown, E, DocumentStore.DocumentStore>) =>
    Effect.scoped(
      Effect.flatMap(port.take({ ...takeOf(name), maxAttempts }), ({ attempts, id }) =>
        Effect.as(Effect.orDie(work), [id, attempts] satisfies [string, number]))
    )
  return {
    hasSeenNone: Deferred.await(seen),
    looks: () => looks,
    offer: (id: string) => offerRecord(store, { name, id, element: id, isCustomId: false, delay: undefined }),
    store,
    take: takeTo(Effect.void),
    /** The fiber of so many who wait from now on. */
    takes: <E = never>(count: number, work: Effect.Effect<unknown, E, DocumentStore.DocumentStore> = Effect.void) =>
      Effect.forkScoped(Effect.all(Arr.makeBy(count, () => takeTo(work)), { concurrency: count }), {
        startImmediately: true
      })
  }
})

storeMatrix(storedQueueContract)
