import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Scope, Stream } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { spawn } from "node:child_process"
import { Agent, get, type IncomingHttpHeaders } from "node:http"
import { connect, type Socket } from "node:net"
import * as KernelServer from "../../src/Http/KernelServer.ts"
import { readRaw } from "../../src/Http/request/rawBody.ts"
import { readyLast } from "../../src/Http/server/readiness.ts"
import { complaintsOf, freePort, printed, type Program, runProgram } from "../support/processes.ts"

const program = "test/support/serviceProgram.ts"

const start = Effect.fnUntraced(function*(env: { readonly [name: string]: string } = {}) {
  const port = yield* freePort
  const service = yield* runProgram(program, { ...env, APPKERNEL_SERVER_PORT: String(port) })
  yield* printed(service, "Listening on")
  return { service, port }
})

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** By `node:http`, which keeps a connection open only where it is asked to; the error's code where there is no answer. */
const request = (
  port: number,
  path: string,
  agent: Agent | false = false,
  onSent: () => void = () => {}
): Promise<Answer | string> =>
  new Promise((resolve) => {
    const sent = get({ port, host: "127.0.0.1", path, agent }, (response) => {
      let body = ""
      response.setEncoding("utf8")
      response.on("data", (text: string) => {
        body += text
      })
      response.on("error", () => resolve("CUT"))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    sent.on("finish", onSent)
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })

const answerOf = (answer: Answer | string): Answer =>
  typeof answer === "string" ? assert.fail(`no answer: ${answer}`) : answer

/** Waits until the port is closed; a service that stops responds until then. */
const refused = (port: number): Effect.Effect<void> =>
  Effect.gen(function*() {
    let answer = yield* Effect.promise(() => request(port, "/"))
    while (typeof answer !== "string") {
      assert.strictEqual(answer.status, 200)
      answer = yield* Effect.promise(() => request(port, "/"))
    }
    assert.strictEqual(answer, "ECONNREFUSED")
  })

/** Milliseconds until the program has ended, and with what. */
const ending = Effect.fnUntraced(function*({ ended, process }: Program, signal: NodeJS.Signals) {
  const before = performance.now()
  process.kill(signal)
  const code = yield* ended
  return { code, millis: performance.now() - before }
})

describe("KernelServer / a process that is stopped", () => {
  it.live("completes the running request, rejects new connections, and exits with 0", () =>
    Effect.gen(function*() {
      const { port, service } = yield* start()
      const agent = new Agent({ keepAlive: true })
      const slow = request(port, "/slow", agent)
      yield* printed(service, "began /slow")
      service.process.kill("SIGTERM")
      yield* refused(port)
      const { body, headers, status } = answerOf(yield* Effect.promise(() => slow))
      assert.deepStrictEqual([status, body], [200, "answer of /slow"])
      assert.strictEqual(headers.connection, "close")
      assert.strictEqual(yield* service.ended, 0)
      agent.destroy()
    }))

  it.live(
    "closes idle connections at once, and those that never sent anything after a moment",
    () =>
      Effect.gen(function*() {
        const { port, service } = yield* start({ APPKERNEL_SERVER_SHUTDOWN_TIMEOUT: "60" })
        const agent = new Agent({ keepAlive: true })
        assert.strictEqual(
          answerOf(yield* Effect.promise(() => request(port, "/", agent))).headers.connection,
          "keep-alive"
        )
        const silent = yield* connection(port)
        const idle = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])
        assert.lengthOf(idle, 1)
        let isSilentOpen = true
        silent.on("close", () => {
          isSilentOpen = false
        })
        const idleOutlived = Effect.callback<boolean>((resume) => {
          idle[0]?.on("close", () => resume(Effect.sync(() => isSilentOpen)))
        })
        const { ended, idleClosedFirst } = yield* Effect.all(
          { ended: ending(service, "SIGINT"), idleClosedFirst: idleOutlived },
          { concurrency: 2 }
        )
        assert.isTrue(idleClosedFirst)
        assert.strictEqual(ended.code, 0)
        assert.isBelow(ended.millis, 60_000)
        assert.notInclude(service.output(), "Cut the requests")
        silent.destroy()
        agent.destroy()
      })
  )

  it.live("exits with 0 as well when it is stopped before its start is complete", () =>
    Effect.gen(function*() {
      for (const signal of ["SIGTERM", "SIGINT"] as const) {
        const service = yield* runProgram(program, {
          START_STUCK: "1",
          APPKERNEL_SERVER_PORT: String(yield* freePort)
        })
        yield* printed(service, "the start is stuck")
        assert.strictEqual((yield* ending(service, signal)).code, 0)
      }
    }))

  it.live("cuts off requests that exceed the shutdown timeout", () =>
    Effect.gen(function*() {
      const { port, service } = yield* start({ APPKERNEL_SERVER_SHUTDOWN_TIMEOUT: "0.3" })
      const stuck = request(port, "/stuck")
      yield* printed(service, "began /stuck")
      const { code, millis } = yield* ending(service, "SIGTERM")
      assert.strictEqual(code, 0)
      assert.isAtLeast(millis, 300)
      assert.include(service.output(), "Cut the requests that were not done within 300ms")
      const { body, status } = answerOf(yield* Effect.promise(() => stuck))
      assert.deepStrictEqual([status, JSON.parse(body)], [503, {
        _type: "ErrorMessage",
        code: 503,
        message: "The service is shutting down: the request took too long"
      }])
    }))

  it.live(
    "responds to requests that arrived while it was busy, on new connections and on idle ones",
    () =>
      Effect.gen(function*() {
        const { port, service } = yield* start()
        const agent = new Agent({ keepAlive: true })
        let sent = 0
        const many = (path: string, through: Agent | false) =>
          Array.from({ length: 200 }, () => request(port, path, through, () => sent++))
        yield* Effect.promise(() => Promise.all(many("/things/1", agent)))
        const busy = request(port, "/busy")
        yield* printed(service, "began /busy")
        const arriving = [busy, ...many("/things/2", agent), ...many("/things/3", false)]
        // All of it is in the buffers of the system, behind a loop that is held.
        yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => sent === 600 })
        service.process.kill("SIGTERM")
        const answers = yield* Effect.promise(() => Promise.all(arriving))
        assert.deepStrictEqual(
          answers.map((answer) => typeof answer === "string" ? answer : answer.status),
          Array.from({ length: 401 }, () => 200)
        )
        assert.strictEqual(yield* service.ended, 0)
        agent.destroy()
      })
  )

  it.live("responds to requests that arrive later on connections that were open before", () =>
    Effect.gen(function*() {
      const { port, service } = yield* start()
      const open = yield* Effect.forEach(Array.from({ length: 100 }), () => connection(port), { concurrency: 100 })
      service.process.kill("SIGTERM")
      yield* refused(port)
      const answers = yield* Effect.forEach(
        open,
        (socket) => exchangeOn(socket, "GET /things/1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        { concurrency: 100 }
      )
      const unlike = answers.filter((text) => !/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/u.test(text))
      assert.deepStrictEqual(unlike, [])
      assert.strictEqual(yield* service.ended, 0)
    }))

  it.live("responds to every request of thousands of new connections, on a busy machine", () =>
    Effect.gen(function*() {
      yield* Effect.forEach(Array.from({ length: 2 }), () => spinner)
      for (const before of [400, 1_000]) {
        const { port, service } = yield* start()
        const counts = new Map<number | string, number>()
        let done = 0
        const client = Effect.gen(function*() {
          while (!counts.has("ECONNREFUSED")) {
            const answer = yield* Effect.promise(() => request(port, "/things/1"))
            const outcome = typeof answer === "string" ? answer : answer.status
            counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
            done++
            if (done === before) service.process.kill("SIGTERM")
          }
        })
        yield* Effect.forEach(Array.from({ length: 128 }), () => client, { concurrency: 128 })
        assert.sameMembers([...counts.keys()], [200, "ECONNREFUSED"], JSON.stringify([...counts]))
        assert.strictEqual(yield* service.ended, 0)
      }
    }))

  it.live("ends at once at the second signal, with its number", () =>
    Effect.gen(function*() {
      for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
        const { port, service } = yield* start()
        const stuck = request(port, "/stuck")
        yield* printed(service, "began /stuck")
        service.process.kill("SIGTERM")
        yield* printed(service, "Stopping")
        yield* Effect.sleep("300 millis")
        const second = yield* ending(service, signal)
        assert.strictEqual(second.code, code)
        assert.isString(yield* Effect.promise(() => stuck))
      }
    }))

  it.live(
    "logs its configuration first, and its address last, when it accepts requests",
    () =>
      Effect.gen(function*() {
        const { port, service } = yield* start()
        assert.strictEqual(answerOf(yield* Effect.promise(() => request(port, "/"))).status, 200)
        const said = service.output().trim().split("\n").map((line) => String(JSON.parse(line).message))
        const began = said.findIndex((line) => line.includes("began"))
        assert.match(said[0] ?? "", /^There is no configuration file .*\/test\/support\/cfg\.yml or .*\/cfg\.yml: /)
        assert.strictEqual(said[began === -1 ? said.length - 1 : began - 1], `Listening on http://127.0.0.1:${port}`)
      })
  )

  it.live.runIf(process.platform === "linux")(
    "fails to start when the log's folder can't be made, as in /proc",
    () =>
      Effect.gen(function*() {
        const service = yield* runProgram(program, { APPKERNEL_LOGGING_FILE_NAME: "/proc/x/y.log" })
        const ended = yield* Effect.timeoutOption(service.ended, "1 minute")
        assert.deepStrictEqual(ended, Option.some(1))
        assert.include(
          service.output(),
          "Can't write the log to /proc/x/y.log: ENOENT: no such file or directory, mkdir"
        )
      })
  )

  it.live("fails to start with one clear line when the port is in use", () =>
    Effect.gen(function*() {
      const { port } = yield* start()
      const second = yield* runProgram(program, { APPKERNEL_SERVER_PORT: String(port) })
      assert.strictEqual(yield* second.ended, 1)
      const lines = complaintsOf(second)
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0] ?? "", `Can't listen on 127.0.0.1:${port}: the port is in use`)
    }))
})

const connection = (port: number): Effect.Effect<Socket> =>
  Effect.callback<Socket>((resume) => {
    const socket = connect(port, "127.0.0.1", () => resume(Effect.succeed(socket)))
    socket.on("error", () => {})
  })

/** A process that only uses processor time. */
const spinner = Effect.acquireRelease(
  Effect.sync(() => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" })),
  (spinning) => Effect.sync(() => spinning.kill("SIGKILL"))
)

/** What a connection gets for these bytes until it is closed. */
const exchange = (port: number, bytes: string | ReadonlyArray<string>, pause = 0): Effect.Effect<string> =>
  Effect.flatMap(connection(port), (socket) => exchangeOn(socket, bytes, pause))

const exchangeOn = (socket: Socket, bytes: string | ReadonlyArray<string>, pause = 0): Effect.Effect<string> =>
  Effect.callback<string>((resume) => {
    let received = ""
    socket.setEncoding("utf8").on("data", (text: string) => {
      received += text
    })
    socket.on("close", () => resume(Effect.succeed(received)))
    if (socket.destroyed) resume(Effect.succeed(received))
    const pieces = typeof bytes === "string" ? [bytes] : [...bytes]
    const send = (): void => {
      const piece = pieces.shift()
      if (piece === undefined || !socket.writable) return
      socket.write(piece)
      setTimeout(send, pause)
    }
    send()
  })

const messageOf = (answer: string) => {
  const [head = "", body = ""] = answer.split("\r\n\r\n")
  assert.include(head.toLowerCase(), "content-type: application/json")
  assert.include(head.toLowerCase(), "connection: close")
  const message: unknown = JSON.parse(body)
  return [head.split("\r\n", 1)[0]?.split(" ")[1], message]
}

const error = (code: number, message: string) => [String(code), { _type: "ErrorMessage", code, message }]

const serving = (options: { readonly requestTimeout?: string } = {}) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const server = KernelServer.layerWith({
      address: "127.0.0.1",
      port,
      ...(options.requestTimeout === undefined ? {} : { requestTimeout: "400 millis" })
    })
    const handler = Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (request.url === "/raw") {
        yield* Effect.interruptible(Effect.flatMap(readRaw(request, [], 100_000), Stream.runDrain))
      } else if (request.method === "POST") yield* Effect.interruptible(request.text)
      return HttpServerResponse.text("served")
    })
    const served = Layer.effectDiscard(HttpServer.serveEffect(Effect.orDie(handler)))
    yield* Layer.build(Layer.provide(served, server))
    return port
  })

describe("KernelServer / invalid requests", () => {
  it.live("responds to invalid HTTP with an error message, and closes", () =>
    Effect.gen(function*() {
      const port = yield* serving()
      const expected = error(400, "The request is not valid HTTP")
      for (
        const bytes of [
          "nonsense\r\n\r\n",
          "GET / HTTP/9.9\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: a\r\n bad\u0000: x\r\n\r\n"
        ]
      ) {
        const text = yield* exchange(port, bytes)
        assert.deepStrictEqual(messageOf(text), expected)
        assert.match(text, /\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/u)
      }
      const smuggled = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
      assert.deepStrictEqual(messageOf(yield* exchange(port, smuggled)), expected)
    }))

  it.live(
    "responds with an error message to headers that are too large, while more of them arrive",
    () =>
      Effect.gen(function*() {
        const port = yield* serving()
        const one = yield* exchange(port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(1_000_000)}\r\n\r\n`)
        assert.deepStrictEqual(messageOf(one), error(431, "The head of the request is too large"))
        const many = Array.from({ length: 50_000 }, (_, i) => `X-${i}: ${i}\r\n`).join("")
        const flood = yield* exchange(port, `GET / HTTP/1.1\r\nHost: a\r\n${many}\r\n`)
        assert.deepStrictEqual(messageOf(flood), error(431, "The head of the request is too large"))
      })
  )

  it.live(
    "responds with an error message to a request without a host, and to unsupported expectations",
    () =>
      Effect.gen(function*() {
        const port = yield* serving()
        const hostless = yield* exchange(port, "GET / HTTP/1.1\r\n\r\n")
        assert.deepStrictEqual(messageOf(hostless), error(400, "The request has no Host header"))
        const expecting = yield* exchange(port, "GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n")
        assert.deepStrictEqual(messageOf(expecting), error(417, "The server can't do what the Expect header asks for"))
        const old = yield* exchange(port, "GET / HTTP/1.0\r\n\r\n")
        assert.include(old, "200 OK")
      })
  )

  it.live("cuts headers or a body that arrive byte by byte, with a 408", () =>
    Effect.gen(function*() {
      const port = yield* serving({ requestTimeout: "400 millis" })
      const trickle = Array.from({ length: 200 }, () => "X")
      const expected = error(408, "The request took too long to arrive")
      const pieces = Array.from({ length: 200 }, () => "X".repeat(200))
      const [head, body, raw, silence, served] = yield* Effect.all([
        exchange(port, ["GET / HTTP/1.1\r\nHost: a\r\nX: ", ...trickle], 20),
        exchange(port, ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n", ...trickle], 20),
        // However much comes of one that is no file.
        exchange(port, ["POST /raw HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n", ...pieces], 20),
        exchange(port, ""),
        Effect.promise(() => request(port, "/"))
      ], { concurrency: 5 })
      assert.deepStrictEqual(messageOf(head), expected)
      assert.deepStrictEqual(messageOf(body), expected)
      assert.deepStrictEqual(messageOf(raw), expected)
      assert.deepStrictEqual(messageOf(silence), expected)
      assert.strictEqual(answerOf(served).body, "served")
    }))

  it.live("closes after a response that invalid bytes follow", () =>
    Effect.gen(function*() {
      const port = yield* serving()
      const answer = yield* exchange(port, ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "nonsense\r\n\r\n"], 100)
      const [first = "", second = ""] = answer.split("served")
      assert.include(first, "200 OK")
      assert.deepStrictEqual(messageOf(second), error(400, "The request is not valid HTTP"))
    }))
})

describe("KernelServer / addresses", () => {
  it.live("has its real port before the service is ready, and answers what comes before once it is", () =>
    Effect.scoped(Effect.gen(function*() {
      let isReady = false
      const early = yield* readyLast(Effect.gen(function*() {
        const { address, serve } = yield* KernelServer.make({ address: "127.0.0.1", port: 0 })
        const url = HttpServer.formatAddress(address)
        assert.notMatch(url, /:0$/u)
        yield* serve(Effect.sync(() => HttpServerResponse.text(isReady ? "ready" : "early")))
        const answer = yield* Effect.forkChild(Effect.promise(() => fetch(url).then((response) => response.text())))
        // A server that answers at once has done so by then.
        yield* Effect.sleep("100 millis")
        isReady = true
        return answer
      }))
      assert.strictEqual(yield* Fiber.join(early), "ready")
    })))

  it.live("fails with the address and the reason if it can't listen", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const failed = yield* Effect.flip(
        Scope.provide(KernelServer.make({ address: "203.0.113.1", port: 80 }), scope)
      )
      assert.strictEqual(failed.message, "Can't listen on 203.0.113.1:80: the address is not one of this machine")
      yield* Scope.close(scope, Exit.void)
    }))
})
