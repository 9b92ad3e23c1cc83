/** The order and the refusals of an event loop that has too much to do, and connections that take too long. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Layer, Metric, Schema } from "effect"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as net from "node:net"
import { setTimeout } from "node:timers/promises"
import { goesOn } from "../../../src/Http/request/uploading.ts"
import { makeServer } from "../../../src/Http/server/nodeServer.ts"
import { AdmissionQueue, type Priority } from "../../../src/Http/server/shedding.ts"
import { EmbeddedStore, KernelEngine, Service } from "../../../src/index.ts"
import { atOnce, refused, send, serving, statusesOf } from "../../support/rest.ts"
import { inSteps } from "../../support/turns.ts"

/** A loop whose requests take as long as they say, and whose turns end when a test says so. */
const makeLoop = (most: number) => {
  let now = 0
  let steps: Array<() => void> = []
  const log: Array<string> = []
  let emptied = 0
  const queue = new AdmissionQueue(most, () => emptied++, {
    now: () => now,
    afterEvents: (step) => void steps.push(step)
  })
  const gone = new Set<string>()
  return {
    queue,
    log,
    gone,
    emptied: () => emptied,
    enter: (name: string, millis: number, priority: Priority = "normal") =>
      queue.enter(priority, {
        handle: () => {
          log.push(name)
          now += millis
        },
        refuse: () => void log.push(`no ${name}`),
        isGone: () => gone.has(name)
      }),
    endTurn: (): boolean => {
      const due = steps
      steps = []
      for (const step of due) step()
      return steps.length > 0
    },
    pass: (millis: number) => {
      now += millis
    }
  }
}

describe("AdmissionQueue", () => {
  it("handles requests at once while a turn is short, and the others later by priority", () => {
    const { emptied, endTurn, enter, gone, log } = makeLoop(20)
    enter("a", 1)
    enter("b", 1)
    enter("low", 1, "low")
    enter("c", 1)
    enter("d", 1)
    enter("high", 1, "high")
    gone.add("c")
    assert.deepStrictEqual(log, ["a", "b"])
    assert.isTrue(endTurn())
    assert.deepStrictEqual(log, ["a", "b", "high", "d"])
    assert.isFalse(endTurn())
    assert.deepStrictEqual([log.slice(4), emptied()], [["low"], 1])
    enter("e", 1)
    assert.strictEqual(log.at(-1), "e")
  })

  it("begins nothing in turns with new connections, for a moment at most", () => {
    const { endTurn, enter, log, pass, queue } = makeLoop(20)
    pass(1)
    queue.connected()
    enter("a", 1)
    assert.deepStrictEqual(log, [])
    endTurn()
    assert.deepStrictEqual(log, [])
    pass(1)
    queue.connected()
    endTurn()
    assert.deepStrictEqual(log, ["a"])
    queue.connected()
    enter("b", 1)
    endTurn()
    assert.deepStrictEqual(log, ["a"])
    endTurn()
    assert.deepStrictEqual(log, ["a", "b"])
  })

  it("answers a burst, and refuses the rest of a steady queue at once, the least important first", () => {
    const { endTurn, enter, log, pass } = makeLoop(20)
    for (let i = 0; i < 90; i++) enter(`${i}`, 1)
    while (endTurn());
    assert.strictEqual(log.length, 90)
    assert.isFalse(log.some((line) => line.startsWith("no")))
    // Nine arrive in the time of four.
    const sent = { low: 0, normal: 0, high: 0 }
    for (let i = 0; i < 1_000; i++) {
      for (const priority of Array.from({ length: 3 }, () => ["low", "normal", "high"] as const).flat()) {
        enter(`${priority} ${i}`, 1, priority)
        sent[priority]++
      }
      pass(0.25)
      endTurn()
      endTurn()
    }
    while (endTurn());
    const handled = (priority: string) => log.filter((line) => line.startsWith(priority)).length
    assert.isBelow(handled("no normal"), handled("no low"))
    assert.strictEqual(handled("no high"), 0)
    assert.strictEqual(handled("high"), sent.high)
    assert.isAbove(handled("no "), 500)
  })

  const events = Schema.Array(Schema.Struct({
    event: Schema.Literals(["enter", "endTurn", "connected", "pass"]),
    priority: Schema.Literals(["low", "normal", "high"]),
    millis: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))
  }))

  it.prop("answers or refuses every request once, in any order of events", [events], ([all]) => {
    const { endTurn, enter, log, pass, queue } = makeLoop(5)
    for (const [i, { event, millis, priority }] of all.entries()) {
      if (event === "enter") enter(String(i), millis, priority)
      else if (event === "endTurn") endTurn()
      else if (event === "connected") queue.connected()
      else pass(millis)
    }
    while (endTurn());
    const sent = all.flatMap(({ event }, i) => event === "enter" ? [String(i)] : [])
    assert.sameOrderedMembers(
      log.map((line) => Number(line.replace("no ", ""))).toSorted((a, b) => a - b),
      sent.map(Number)
    )
  })
})

describe("an overloaded service", () => {
  /** A request of it takes so many milliseconds, and may wait for forty of them. */
  const serviceOf = (time: number) => {
    const busy = (name: string) =>
      Service.make(name).operation("work", { method: "GET", success: Schema.String }, () =>
        Effect.sync(() => {
          const end = performance.now() + time
          while (performance.now() < end);
          return "done"
        }))
    const engine = KernelEngine.make("busy")
      .register(busy("PlainService"))
      .register(busy("UrgentService"), { priority: "high" })
      .register(
        Service.make("LateService").operation("never", { method: "GET", success: Schema.String }, () => Effect.never),
        { timeout: "50 millis" }
      )
    const limits = ConfigProvider.layer(ConfigProvider.fromEnv({
      env: {
        APPKERNEL_HEALTH_ENABLED: "true",
        APPKERNEL_OVERLOAD_MAX_DELAY: `${40 * time} millis`,
        APPKERNEL_OVERLOAD_RETRY_AFTER: "3"
      }
    }))
    return serving(engine, EmbeddedStore.layerMemory).pipe(
      Layer.provideMerge(limits),
      Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map()))
    )
  }

  it.live("refuses what waited too long, answers what is urgent and probes, and ends what takes too long", () =>
    inSteps((step) =>
      Effect.gen(function*() {
        const [plain, urgent, probes] = yield* Effect.all([
          atOnce(150, () => send("GET", "/plains/work")),
          atOnce(3, () => send("GET", "/urgents/work")),
          atOnce(5, () => send("GET", "/health/live"))
        ], { concurrency: "unbounded" })
        assert.deepStrictEqual(statusesOf(urgent), { 200: 3 })
        assert.deepStrictEqual(statusesOf(probes), { 200: 5 })
        const no = plain.filter(({ status }) => status === 503)
        assert.isAbove(no.length, 20)
        assert.strictEqual(no.length + plain.filter(({ status }) => status === 200).length, 150)
        assert.strictEqual(refused(503, no[0]!).headers["retry-after"], "3")
        const counter = (yield* Metric.snapshot).find(({ attributes, id }) =>
          id === "appkernel.overload.refused" && attributes?.["scope"] === "delay"
        )
        assert.deepInclude(counter?.state, { count: no.length })
        // Nothing is left of it.
        assert.strictEqual((yield* send("GET", "/plains/work")).status, 200)
        refused(503, yield* send("GET", "/lates/never"))
      }).pipe(Effect.provide(serviceOf(step / 6), { local: true }))
    ))
})

/** A server of Node's that listens, and a way to connect to it. */
const listening = (options: { readonly requestTimeout?: number; readonly headerTimeout?: number }) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { headerTimeout = 20_000, requestTimeout = 20_000 } = options
      const server = makeServer({
        requestTimeout: Duration.millis(requestTimeout),
        headerTimeout: Duration.millis(headerTimeout),
        shutdownTimeout: Duration.seconds(1)
      })
      const sockets: Array<net.Socket> = []
      await once(server.listen(0, "127.0.0.1"), "listening")
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const open = async (text: string): Promise<net.Socket> => {
        const socket = net.connect(port, "127.0.0.1")
        socket.on("error", () => {})
        sockets.push(socket)
        await once(socket, "connect")
        socket.write(text)
        return socket
      }
      return { server, sockets, open }
    }),
    ({ server, sockets }) =>
      Effect.promise(async () => {
        for (const socket of sockets) socket.destroy()
        server.close()
        await once(server, "close")
      })
  )

const request = "GET / HTTP/1.1\r\nHost: here\r\n\r\n"

const firstChunk = async (socket: net.Socket): Promise<string> => String((await once(socket, "data"))[0])

describe("a server", () => {
  it.live("keeps hundreds of idle connections, and closes those whose heads take too long", () =>
    Effect.gen(function*() {
      const { open, server } = yield* listening({ headerTimeout: 500 })
      server.on("request", (_, response) => response.end("here"))
      const [idle, slow] = yield* Effect.promise(async () => {
        const idle = await Promise.all(Array.from({ length: 300 }, () => open(request)))
        const answers = await Promise.all(idle.map((socket) => firstChunk(socket)))
        assert.isTrue(answers.every((text) => text.startsWith("HTTP/1.1 200 ")))
        const slow = await Promise.all(Array.from({ length: 50 }, () => open("GET / HTTP/1.1\r\nHost: he")))
        return [idle, await Promise.all(slow.map((socket) => firstChunk(socket)))] as const
      })
      assert.isTrue(slow.every((text) => text.startsWith("HTTP/1.1 408 ")))
      const again = yield* Effect.promise(() => {
        const answer = firstChunk(idle[299]!)
        idle[299]!.write(request)
        return answer
      })
      assert.match(again, /^HTTP\/1.1 200 /u)
    }))

  it.live("reads an upload for as long as it goes on, and cuts one that does not", () =>
    Effect.gen(function*() {
      const { open, server } = yield* listening({ requestTimeout: 1_000 })
      server.on("request", (request: IncomingMessage, response: ServerResponse) => {
        let size = 0
        if (request.url === "/file") goesOn(request)
        request.on("data", (chunk: Buffer) => {
          size += chunk.length
        }).on("end", () => response.end(`all ${size}`)).on("error", () => {})
      })
      /** Sends so many pieces, one each 50 ms, and reads the answer. */
      const send = async (path: string, pieces: number) => {
        const socket = await open(`PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\n\r\n`)
        const answer = firstChunk(socket)
        for (let i = 0; i < pieces && !socket.destroyed; i++) {
          socket.write(Buffer.alloc(10_000))
          await setTimeout(50)
        }
        return answer
      }
      const [whole, stalled, other] = yield* Effect.promise(() =>
        Promise.all([send("/file", 40), send("/file", 25), send("/json", 39)])
      )
      assert.include(whole, "all 400000")
      assert.match(stalled, /^HTTP\/1.1 408 /u)
      assert.match(other, /^HTTP\/1.1 408 /u)
    }))

  it.live("judges each upload of a connection by itself, and by whole periods", () =>
    Effect.gen(function*() {
      const { open, server } = yield* listening({ requestTimeout: 3_000 })
      server.on("request", (request: IncomingMessage, response: ServerResponse) => {
        goesOn(request)
        request.on("end", () => response.end("all")).resume()
      })
      const head = (length: number) => `PUT /file HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`
      const answers = yield* Effect.promise(async () => {
        const socket = await open(head(1_100_000))
        const first = firstChunk(socket)
        // It ends within a period after the one in which it was to end.
        for (let i = 0; i < 110; i++) {
          socket.write(Buffer.alloc(10_000))
          await setTimeout(50)
        }
        const answers = [await first]
        const second = firstChunk(socket)
        socket.write(head(10))
        await setTimeout(1_500)
        socket.write(Buffer.alloc(10))
        return [...answers, await second]
      })
      for (const answer of answers) assert.match(answer, /^HTTP\/1.1 200 /u)
    }))

  it.live("closes a connection whose client takes nothing of its response", () =>
    Effect.gen(function*() {
      const { open, server } = yield* listening({ requestTimeout: 200 })
      const closed = Promise.withResolvers<boolean>()
      server.on("request", (_, response) => {
        response.on("close", () => closed.resolve(response.writableFinished))
        response.end(Buffer.alloc(64 * 1024 * 1024))
      })
      const client = yield* Effect.promise(() => open(request))
      client.pause()
      assert.isFalse(yield* Effect.promise(() => closed.promise))
    }))
})
