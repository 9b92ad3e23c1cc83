/** Pages and other lists that are larger than they may be, or than is sent in one piece. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Ref, Schema, Scope, Stream } from "effect"
import { HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { get } from "node:http"
import { connect } from "node:net"
import { makeListResponses } from "../../../src/Http/response/listResponse.ts"
import { makeResponseBudget } from "../../../src/Http/response/responseBudget.ts"
import { wireTextOf } from "../../../src/Http/response/wireText.ts"
import {
  DocumentStore,
  EmbeddedStore,
  KernelConfig,
  KernelEngine,
  Model,
  Resource,
  Service
} from "../../../src/index.ts"
import { freshDirectory, freshFolder } from "../../support/folders.ts"
import { printed, runProgram } from "../../support/processes.ts"
import { type Answer, atOnce, problemsIn, refused, send, serving } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { inSteps } from "../../support/turns.ts"

class Text extends Model.Class<Text>()("Text", { id: Schema.String, n: Schema.Int, text: Schema.String }) {}

class Seen extends Model.Class<Seen>()("Seen", { id: Schema.String, text: Schema.String }) {}

const seen = Ref.makeUnsafe(0)

const total = 20
const length = 100_000

// Above what is answered as one text, and room for five documents.
const maxPageBytes = 600_000

const textOf = (n: number) => "äö\"€xyz012"[n % 10]!.repeat(length)

const lists = Service.make("ListService").operation(
  "many",
  { method: "GET", path: "./many", success: Schema.Array(Schema.String) },
  () => Effect.succeed(Array.from({ length: total }, (_, n) => textOf(n)))
)

const engine = KernelEngine.make("large")
  .register(Text, { methods: ["GET"] })
  .register(Resource.make(Seen).afterGet(() => Ref.update(seen, (count) => count + 1)))
  .register(lists)

const filled = Layer.effectDiscard(Effect.gen(function*() {
  const store = yield* DocumentStore.DocumentStore
  for (let n = 0; n < total; n++) {
    yield* store.replaceOne("Text", { _id: `T${n + 10}` }, { n, text: textOf(n) }, { upsert: true })
    yield* store.replaceOne("Seen", { _id: `S${n + 10}` }, { text: textOf(n) }, { upsert: true })
  }
}))

/** The length is that of what came, so that the connection can be used again. */
const isWhole = (answer: Answer): void => {
  assert.strictEqual(answer.status, 200, answer.text.slice(0, 500))
  assert.strictEqual(Number(answer.headers["content-length"]), Buffer.byteLength(answer.text))
}

/** Requests a page, reads its beginning, and goes away. */
const leave = Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
  Effect.callback<void>((resume) => {
    const socket = connect("port" in address ? address.port : 0, "127.0.0.1", () => {
      socket.write("GET /texts?cursor= HTTP/1.1\r\nHost: here\r\n\r\n")
    })
    socket.once("data", () => socket.destroy())
    socket.on("error", () => {}).on("close", () => resume(Effect.void))
  }))

storeMatrix((name, store) => {
  const limits = Layer.succeed(KernelConfig.Limits, { ...KernelConfig.Limits.defaultValue(), maxPageBytes })
  const service = Layer.provideMerge(filled, Layer.provide(serving(engine, store), limits))
  it.layer(service, { excludeTestServices: true })(
    `large lists / ${name}`,
    (it) => {
      it.effect("rejects a numbered page beyond the limit, and suggests a cursor", () =>
        Effect.gen(function*() {
          for (const path of ["/texts", "/texts?count=none", "/texts?page_size=6&page=2", "/texts?sort_by=-n"]) {
            const refused = yield* send("GET", path)
            assert.deepStrictEqual(problemsIn(refused), ["page_size Limit"], path)
            assert.include(refused.body.errors[0].message, "600000 bytes")
            assert.include(refused.body.errors[0].message, "by cursor")
          }
          const page = yield* send("GET", "/texts?page_size=5&page=2")
          isWhole(page)
          assert.deepStrictEqual(page.body._items.map(({ n }: Text) => n), [5, 6, 7, 8, 9])
          assert.deepStrictEqual(page.body._items.map(({ text }: Text) => text), [5, 6, 7, 8, 9].map(textOf))
          assert.include(page.body._links.last.href, "page=4")
          const fields = yield* send("GET", "/texts?fields=n")
          assert.strictEqual(fields.body._items.length, total)
        }))

      it.effect.each(["", "&sort_by=-n", "&page_size=4"])(
        "ends a page by cursor early, and loses nothing: %s",
        (by) =>
          Effect.gen(function*() {
            const numbers: Array<number> = []
            let path: string | undefined = `/texts?cursor=${by}`
            while (path !== undefined) {
              const page: Answer = yield* send("GET", path)
              isWhole(page)
              assert.isAtMost(page.text.length, maxPageBytes + 2_000)
              assert.isAbove(page.body._items.length, 0)
              for (const { n, text } of page.body._items) {
                numbers.push(n)
                assert.isTrue(text === textOf(n))
              }
              path = page.body._links.next?.href
            }
            const all = Array.from({ length: total }, (_, n) => n)
            assert.deepStrictEqual(numbers, by === "&sort_by=-n" ? all.toReversed() : all)
          })
      )

      it.effect("returns one document of any size", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.replaceOne("Text", { _id: "A" }, { n: -1, text: "x".repeat(2 * maxPageBytes) }, { upsert: true })
          for (const path of ["/texts?page_size=1", "/texts?cursor=&page_size=1", "/texts?cursor="]) {
            const page = yield* send("GET", path)
            isWhole(page)
            assert.deepStrictEqual(page.body._items.map(({ n }: Text) => n), [-1])
            assert.isDefined(page.body._links.next)
          }
          yield* store.deleteOne("Text", { _id: "A" })
        }))

      it.effect("rejects an aggregation beyond the limit", () =>
        Effect.gen(function*() {
          assert.deepStrictEqual(problemsIn(yield* send("GET", "/texts/aggregate?pipe=[]")), ["pipe Limit"])
          const part = yield* send("GET", `/texts/aggregate?pipe=${encodeURIComponent("[{\"$limit\":2}]")}`)
          isWhole(part)
          assert.strictEqual(part.body._items.length, 2)
        }))

      it.effect("returns the complete list of an operation", () =>
        Effect.gen(function*() {
          const list = yield* send("GET", "/lists/many")
          isWhole(list)
          assert.deepStrictEqual(list.body._items, Array.from({ length: total }, (_, n) => textOf(n)))
        }))

      it.effect("passes each returned document to hooks, once", () =>
        Effect.gen(function*() {
          yield* Ref.set(seen, 0)
          const page = yield* send("GET", "/seens?cursor=")
          isWhole(page)
          assert.strictEqual(yield* Ref.get(seen), page.body._items.length)
        }))

      it.effect(
        "responds to many concurrent requests, although some disconnect or send HEAD",
        () =>
          Effect.gen(function*() {
            const answers = yield* atOnce(24, (i) =>
              i % 3 === 0
                ? Effect.as(leave, undefined)
                : send(i % 3 === 1 ? "GET" : "HEAD", "/texts?cursor="))
            for (const [i, answer] of answers.entries()) {
              if (answer === undefined) continue
              assert.strictEqual(answer.status, 200, `${i}`)
              assert.isAbove(Number(answer.headers["content-length"]), 256 * 1024)
            }
            isWhole(yield* send("GET", "/texts?cursor="))
          })
      )
    }
  )
})

class Sorted extends Model.Class<Sorted>()("Sorted", { id: Schema.String, n: Schema.Int, text: Schema.String }) {}

const sorting = KernelEngine.make("sorting").register(Sorted, { methods: ["GET"] })

const megabyte = 1_000_000

describe("The bytes of large responses", () => {
  it.effect("are reserved in order of arrival, released with the request, and rejected after a timeout", () =>
    Effect.gen(function*() {
      const { reserve } = makeResponseBudget(100, Duration.seconds(5))
      const began: Array<string> = []
      const request = Effect.fnUntraced(function*(name: string, bytes: number) {
        const scope = yield* Scope.make()
        const fiber = yield* Effect.forkChild(
          Scope.provide(Effect.tap(reserve(bytes), () => Effect.sync(() => began.push(name))), scope)
        )
        yield* Effect.yieldNow
        return { fiber, end: Scope.close(scope, Exit.void) }
      })
      const first = yield* request("first", 60)
      const second = yield* request("second", 60)
      const small = yield* request("small", 10)
      assert.deepStrictEqual(began, ["first"], "who came later waits, however little that is")
      yield* Fiber.interrupt(second.fiber)
      yield* Fiber.join(small.fiber)
      assert.deepStrictEqual(began, ["first", "small"])
      const huge = yield* request("huge", 1_000)
      yield* first.end
      assert.notInclude(began, "huge")
      yield* small.end
      yield* Fiber.join(huge.fiber)
      const late = yield* request("late", 1)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Effect.flip(Fiber.join(late.fiber)))._tag, "ServiceUnavailable")
      yield* huge.end
      const last = yield* request("last", 100)
      yield* Fiber.join(last.fiber)
      assert.deepStrictEqual(began, ["first", "small", "huge", "last"])
    }))

  it.effect("are released while they are sent, and by interruption if the client stops", () =>
    Effect.gen(function*() {
      const lists = makeListResponses(
        makeResponseBudget(megabyte, Duration.minutes(1)),
        megabyte,
        Effect.succeed("the same")
      )
      const answered = Effect.gen(function*() {
        const list = lists.begin()
        yield* list.reserve
        for (let i = 0; i < 9; i++) list.add(wireTextOf(`"${"x".repeat(100_000)}"`))
        const { body } = list.finish("\"_links\":{}")
        return body._tag === "Stream" ? body.stream : assert.fail(body._tag)
      })
      // Takes a piece, and then nothing.
      const slow = yield* Effect.forkChild(Effect.scoped(Effect.flatMap(
        answered,
        Stream.runForEach(() => Effect.never)
      )))
      yield* Effect.yieldNow
      const waiting = yield* Effect.forkChild(Effect.scoped(Effect.flatMap(answered, Stream.runCollect)))
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(slow)))
      const pieces = yield* Fiber.join(waiting)
      assert.isAbove(pieces.length, 10)
      const text = Buffer.concat(pieces).toString()
      assert.strictEqual(JSON.parse(text)._items.length, 9)
    }))
})

class Long extends Model.Class<Long>()("Long", { id: Schema.String, text: Schema.String }) {}

const long = KernelEngine.make("long").register(Long, { methods: ["GET"] })

/** A client that takes only what it asks for, in whole pieces of 64 KiB. */
const reader = Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
  Effect.sync(() => {
    const socket = connect("port" in address ? address.port : 0, "127.0.0.1")
    let bytes = 0
    let isOpen = true
    let pauses = true
    socket.write("GET /longs?page_size=100 HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
    socket.on("data", (data: Buffer) => {
      bytes += data.length
      if (pauses) socket.pause()
    })
    socket.on("error", () => {}).on("close", () => {
      isOpen = false
    })
    return {
      take: Effect.sync(() => socket.resume()),
      takeRest: Effect.sync(() => {
        pauses = false
        socket.resume()
      }),
      bytes: () => bytes,
      isOpen: () => isOpen,
      close: Effect.sync(() => socket.destroy())
    }
  }))

const longServed = serving(long, EmbeddedStore.layerMemory).pipe(
  Layer.provide(
    Layer.succeed(KernelConfig.Limits, { ...KernelConfig.Limits.defaultValue(), maxPageBytes: 100 * megabyte })
  )
)

const filledLong = Effect.fnUntraced(function*(length: number) {
  const store = yield* DocumentStore.DocumentStore
  for (let n = 0; n < length; n++) yield* store.insertOne("Long", { _id: `L${n + 10}`, text: "x".repeat(megabyte) })
})

/** Real time in milliseconds, in which the system carries bytes and the server looks at them. */
const moment = (time: number) =>
  Effect.callback<void>((resume) => {
    setTimeout(() => resume(Effect.void), time)
  })

describe.runIf(process.platform === "linux")("A client that reads a large list", () => {
  it.effect("slowly gets all of it, however long that takes", () =>
    Effect.gen(function*() {
      yield* filledLong(12)
      const { bytes, close, isOpen, take } = yield* reader
      // 64 KiB in two seconds.
      for (let seconds = 0; isOpen(); seconds += 2) {
        assert.isBelow(seconds, 3_000)
        yield* take
        yield* moment(20)
        yield* TestClock.adjust("1 second")
        yield* moment(20)
        yield* TestClock.adjust("1 second")
      }
      assert.isAbove(bytes(), 12 * megabyte)
      yield* close
    }).pipe(Effect.provide(longServed)))

  it.effect("is cut if it stops, and not by a pause", () =>
    inSteps((step) =>
      Effect.gen(function*() {
        // Systems keep up to 36 MB for a connection between two programs of a machine.
        yield* filledLong(98)
        const { bytes, close, isOpen, take, takeRest } = yield* reader
        const pause = Effect.fnUntraced(function*(seconds: number) {
          for (let second = 0; second < seconds; second++) {
            yield* TestClock.adjust("1 second")
            yield* moment(step)
          }
        })
        for (let n = 0; n < 40; n++) {
          yield* take
          yield* moment(step)
          if (n % 20 === 10) yield* pause(8)
        }
        assert.isTrue(isOpen())
        yield* pause(60)
        // What the system has already received comes first.
        yield* takeRest
        while (isOpen()) yield* moment(step)
        assert.isBelow(bytes(), 98 * megabyte)
        yield* close
      }).pipe(Effect.provide(longServed, { local: true }))
    ))
})

describe("A process with little memory", () => {
  it.live("sends many large pages at once, and other responses meanwhile", () =>
    Effect.gen(function*() {
      const FOLDER = yield* freshDirectory
      const program = (env: { readonly [name: string]: string }) =>
        runProgram("test/support/largeProgram.ts", {
          FOLDER,
          NODE_OPTIONS: "--max-old-space-size=96",
          APPKERNEL_QUERY_MAX_PAGE_BYTES: "6 MB",
          ...env
        })
      yield* (yield* program({ TASK: "fill", COUNT: "20", SIZE: `${megabyte}` })).ended
      const service = yield* program({ SIZE: `${megabyte}` })
      yield* printed(service, "listening")
      const port = Number(/listening (\d+)/u.exec(service.output())?.[1])
      yield* ask(port, "/stats")
      const pages = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, i) => i % 4 === 0 ? "/larges?page_size=20" : "/larges?page_size=20&cursor="),
        (path) => ask(port, path),
        { concurrency: 12 }
      )
      for (const [i, { bytes, status }] of pages.entries()) {
        assert.strictEqual(status, i % 4 === 0 ? 400 : 200)
        if (status === 200) assert.isAbove(bytes, 5 * megabyte)
      }
      const { held, own } = JSON.parse((yield* ask(port, "/stats")).text)
      // They ask for 240 MB. Both limits leave a lot of room.
      assert.isBelow(own, 300)
      assert.isBelow(held, 500)
    }))
})

describe("A sort without an index", () => {
  it.live("has a memory limit, and a deep page fails with the advice to use a cursor", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      for (let n = 0; n < 60; n++) {
        yield* store.insertOne("Sorted", { _id: `S${n + 10}`, n, text: "x".repeat(megabyte) })
      }
      const sort = { n: -1 } as const
      const best = yield* store.find("Sorted", { sort, limit: 3, projection: { _id: 1 } })
      assert.deepStrictEqual(best, [{ _id: "S69" }, { _id: "S68" }, { _id: "S67" }])
      for (const read of [store.find("Sorted", { sort }), Stream.runDrain(store.stream("Sorted", { sort }))]) {
        const error = yield* Effect.flip(read)
        assert.include(error.message, "100 MiB")
        assert.propertyVal(error, "_tag", "QueryRejected")
      }
      const deep = refused(400, yield* send("GET", "/sorteds?sort_by=-n&page_size=1000&page=10"))
      assert.include(deep.body.message, "page by cursor")
      const page = yield* send("GET", "/sorteds?sort_by=-n&cursor=&page_size=5")
      assert.deepStrictEqual(page.body._items.map(({ n }: Sorted) => n), [59, 58, 57, 56, 55])
    }).pipe(Effect.provide(serving(sorting, freshFolder(EmbeddedStore.layerWith)))))
})

interface Taken {
  readonly status: number | undefined
  readonly bytes: number
  /** The beginning. */
  readonly text: string
}

const ask = (port: number, path: string): Effect.Effect<Taken> =>
  Effect.callback<Taken>((resume) => {
    get({ port, path, host: "127.0.0.1" }, (response) => {
      let bytes = 0
      let text = ""
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        if (text.length < 1_000) text += chunk.toString("latin1", 0, 1_000)
      })
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode, bytes, text })))
      response.on("error", (error) => resume(Effect.die(error)))
    }).on("error", (error) => resume(Effect.die(error)))
  })
