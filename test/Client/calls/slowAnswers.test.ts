/** Answers whose bodies come in the smallest parts, are larger than is accepted, or never end. */
import { assert, describe, it } from "@effect/vitest"
import { Credentials, HttpClientFactory } from "appkernel"
import { Effect, Fiber, Redacted, References, Schedule, Schema, Stream } from "effect"
import { HttpBody } from "effect/http"
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { Chunks } from "../../../src/Client/calls/bytes.ts"
import { Interim } from "../../../src/Client/calls/client.ts"
import { freshDirectory } from "../../support/folders.ts"
import { printed, programOf, runProgram } from "../../support/processes.ts"
import { certificate, privateKey } from "../support/certificate.ts"
import { listening, rawUpstream } from "../support/upstream.ts"

const quietly = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(
      HttpClientFactory.layerWith({
        maxResponseSize: 1_000_000,
        callTimeout: "10 minutes",
        downloadTimeout: "10 minutes",
        uploadTimeout: "10 minutes"
      })
    ),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** A service that sends a head at once, and a byte of its body every 20 ms for as long as somebody takes it. */
const dripping = (status: number, length?: number) =>
  listening((_, response) => {
    const headers = { "content-type": "text/plain", ...length === undefined ? {} : { "content-length": length } }
    response.writeHead(status, headers).flushHeaders()
    const timer = setInterval(() => response.write("x"), 20)
    response.on("close", () => clearInterval(timer))
  })

const nameOf = (result: "answered" | { readonly _tag: string }): string => result === "answered" ? result : result._tag

describe("Bodies that come slowly", () => {
  it.live("in parts of a byte take the memory of their bytes", () =>
    Effect.gen(function*() {
      const total = 4_000_000
      const service = yield* rawUpstream((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n")
        const many = "1\r\nx\r\n".repeat(10_000)
        let sent = 0
        const send = (): void => {
          while (sent < total) {
            sent += 10_000
            if (!socket.write(many)) return void socket.once("drain", send)
          }
          socket.write("0\r\n\r\n")
        }
        send()
      })
      const program = yield* runProgram("test/support/receivingProgram.ts", {
        URL: service.url,
        NODE_OPTIONS: "--max-old-space-size=128"
      })
      yield* printed(program, `Received ${total}`)
    }))

  it.effect.prop(
    "are joined to the same bytes",
    [Schema.Array(Schema.Union([Schema.Literals([0, 1, 100, 4_095, 4_096, 70_000]), Schema.Literal("taken")]))],
    ([steps]) =>
      Effect.sync(() => {
        const chunks = new Chunks()
        const [taken, expected]: [Array<Uint8Array>, Array<Uint8Array>] = [[], []]
        const all = steps.flatMap((step) => Array.from({ length: step === 1 ? 40 : 1 }, () => step))
        for (const [i, step] of all.entries()) {
          if (step === "taken") taken.push(...chunks.take())
          else {
            const chunk = new Uint8Array(step).fill(i % 256)
            expected.push(chunk)
            chunks.add(chunk)
          }
        }
        assert.isTrue(Buffer.concat([...taken, chunks.whole()]).equals(Buffer.concat(expected)))
        assert.strictEqual(chunks.length, Buffer.concat(expected).length)
      })
  )

  it.effect("in small parts keep no larger memory of what came between them", () =>
    Effect.sync(() => {
      // A chunk of the transfer coding may have an extension that is longer than its bytes.
      const chunks = new Chunks()
      for (let i = 0; i < 1_000; i++) chunks.add(new Uint8Array(65_536).subarray(0, 4_096 + i))
      const kept = new Set(chunks.take().map(({ buffer }) => buffer))
      const bytes = [...kept].reduce((sum, { byteLength }) => sum + byteLength, 0)
      assert.isBelow(bytes, 1.5 * chunks.length)
    }))

  it.live("and say that they are too large end their call at once", () =>
    Effect.gen(function*() {
      const service = yield* dripping(200, 1_000_001)
      const proxy = yield* HttpClientFactory.get(service.url)
      const error = yield* Effect.flip(proxy.wrap("things").get())
      assert.deepInclude({ ...error }, { reason: { _tag: "InvalidAnswer" } })
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => service.open() === 0 })
    }).pipe(quietly))

  it.live(
    "do not hold the place of a probe: the head of an answer closes or opens the circuit",
    () =>
      Effect.gen(function*() {
        let status = 500
        const service = yield* listening((request, response) => {
          response.writeHead(status, { "content-type": "text/plain" }).flushHeaders()
          if (request.url === "/now") return void response.end("y")
          const timer = setInterval(() => response.write("x"), 20)
          response.on("close", () => clearInterval(timer))
        })
        const proxy = yield* HttpClientFactory.get(service.url, {
          circuitBreaker: { failureThreshold: 1, recoveryTimeout: "50 millis", halfOpenMaxCalls: 1 }
        })
        const call = (path: string) =>
          Effect.match(proxy.wrap(path).get(), { onSuccess: () => "answered" as const, onFailure: (error) => error })
        const open = Effect.repeat(call("now"), {
          until: (result) => result !== "answered" && result._tag === "CircuitOpenError"
        })
        for (const next of [200, 503]) {
          status = 500
          yield* open
          yield* Effect.sleep("60 millis")
          status = next
          const probe = yield* Effect.forkChild(call("drip"), { startImmediately: true })
          // The probe has its answer, whose body goes on.
          const expected = next === 200 ? "answered" : "CircuitOpenError"
          yield* Effect.repeat(Effect.map(call("now"), nameOf), {
            until: (result) => result === expected
          })
          yield* Fiber.interrupt(probe)
        }
      }).pipe(quietly)
  )

  it.live("of an error end after a time, with the status that their head has", () =>
    Effect.gen(function*() {
      const service = yield* dripping(503)
      const proxy = yield* HttpClientFactory.get(service.url)
      const error = yield* Effect.flip(proxy.wrap("things").get())
      assert.deepInclude({ ...error }, { reason: { _tag: "Status", statusCode: 503 } })
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => service.open() === 0 })
    }).pipe(quietly))

  it.live("of a 401 do not hold a sign-in", () =>
    Effect.gen(function*() {
      let signIns = 0
      const service = yield* listening((request, response) => {
        if (request.url === "/token") {
          const tokens = { access_token: `t${++signIns}`, token_type: "bearer", expires_in: 900, refresh_token: "r" }
          return void response.end(JSON.stringify(tokens))
        }
        if (request.headers.authorization === "Bearer t2") return void response.end("{}")
        response.writeHead(401).flushHeaders()
        const timer = setInterval(() => response.write("x"), 20)
        response.on("close", () => clearInterval(timer))
      })
      const account = { username: "shop", password: Redacted.make("secret") }
      const credentials = Credentials.tokens({ path: "/token", account })
      const proxy = yield* HttpClientFactory.get(service.url)
      assert.deepStrictEqual(yield* proxy.wrap("things").get({ credentials }), [200, {}])
    }).pipe(quietly))
})

describe("Uploads", () => {
  it.live(
    "are answered after a 100 Continue that nobody asked for, alone or with the answer",
    () =>
      Effect.gen(function*() {
        const text = "HTTP/1.1 100 Continue\r\n\r\n"
        const service = yield* rawUpstream((socket, head) => {
          const answer = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${text.length}\r\n\r\n${text}`
          if (!head.includes("HTTP/1.1")) return
          if (head.includes("/together")) socket.write(text + answer)
          else socket.write(text, () => setTimeout(() => socket.write(answer), 20))
        })
        const proxy = yield* HttpClientFactory.get(service.url)
        for (const path of ["together", "apart", "together"]) {
          // The body has the same bytes, which stay.
          assert.deepStrictEqual(yield* proxy.wrap(path).get(), [200, { result: text }])
        }
        assert.isBelow(service.connections(), 3)
      }).pipe(quietly)
  )

  it.live(
    "are answered after a 100 Continue in any parts, more than once, and after other interim answers",
    () =>
      Effect.gen(function*() {
        const text = "HTTP/1.1 100 Continue\r\n\r\n"
        const hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
        const answer = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n\r\ny"
        const talks = [
          ...[1, 8, 10, 12, 15, 22, 24].map((at) => [text.slice(0, at), text.slice(at) + answer]),
          [...text + answer],
          [text + text + answer],
          [text, hints, text.replace("\r\n", "\r\nx-a: b\r\n") + answer],
          [hints + text + answer]
        ]
        const service = yield* rawUpstream((socket, head) => {
          const parts = talks[Number(/^GET \/(\d+)/u.exec(head)?.[1])] ?? []
          const send = (i: number): void => {
            const part = parts[i]
            if (part !== undefined) socket.write(part, () => setTimeout(() => send(i + 1), 2))
          }
          socket.setNoDelay(true)
          send(0)
        })
        const proxy = yield* HttpClientFactory.get(service.url)
        for (const i of talks.keys()) {
          assert.deepStrictEqual(yield* proxy.wrap(String(i)).get(), [200, { result: "y" }], `talk ${i}`)
        }
        // None is lost; the first may not be free yet when the second call begins.
        assert.isBelow(service.connections(), 3)
      }).pipe(quietly)
  )

  it.effect.prop(
    "lose their 100 Continue and nothing else, however the bytes are split",
    [Schema.Array(Schema.Literals([100, 102, 103])), Schema.Array(Schema.Literals([1, 2, 7, 11, 30]))],
    ([statuses, sizes]) =>
      Effect.sync(() => {
        const heads = statuses.map((status) => `HTTP/1.1 ${status} Some\r\nx: y\r\n\r\n`)
        const end = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nHTTP/1.1 "
        const interim = new Interim()
        let [rest, read] = [heads.join("") + end, ""]
        for (const size of [...sizes, rest.length]) {
          if (rest !== "") read += interim.without(Buffer.from(rest.slice(0, size))).toString()
          rest = rest.slice(size)
          // From its head on, nothing of the answer is looked at.
          if (read.includes(" 200")) break
        }
        assert.strictEqual(read + rest, heads.filter((head) => !head.includes(" 100 ")).join("") + end)
      })
  )

  it.live("that move are not cut when the head of the answer comes before their end", () =>
    Effect.gen(function*() {
      let received = 0
      const service = yield* listening((request, response) => {
        response.writeHead(200, { "content-type": "text/plain" }).flushHeaders()
        request.on("data", (chunk: Buffer) => {
          received += chunk.length
        })
        request.on("end", () => response.end("x"))
      })
      const parts = Stream.fromSchedule(Schedule.spaced("100 millis")).pipe(
        Stream.take(12),
        Stream.map(() => new Uint8Array(1_000))
      )
      const proxy = yield* HttpClientFactory.get(service.url)
      const [status] = yield* proxy.wrap("things").post({ payload: HttpBody.stream(parts), timeout: "400 millis" })
      assert.deepStrictEqual([status, received], [200, 12_000])
      // Its connection is free for the next call.
      yield* proxy.wrap("things").post({ payload: HttpBody.text("x") })
    }).pipe(quietly))

  it.live("of a stream that is not sent, or not taken, are cancelled", () =>
    Effect.gen(function*() {
      const service = yield* listening(({ url }, response) => {
        if (url === "/failing") response.writeHead(500).end()
      })
      const circuitBreaker = { failureThreshold: 1, recoveryTimeout: "1 minute" } as const
      const closed = yield* HttpClientFactory.get(service.url, { circuitBreaker: null })
      const broken = yield* HttpClientFactory.get(service.url, {
        circuitBreaker: null,
        getHeaders: Effect.die("no headers")
      })
      const open = yield* HttpClientFactory.get(service.url, { circuitBreaker })
      const openWithHeaders = yield* HttpClientFactory.get(service.url, {
        circuitBreaker,
        getHeaders: Effect.succeed({})
      })
      yield* Effect.flip(open.wrap("failing").get())
      const refusals = {
        open: [open, {}],
        openWithHeaders: [openWithHeaders, {}],
        broken: [broken, {}],
        malformed: [closed, { pathExtension: "../x" }],
        slow: [closed, { timeout: "50 millis" }]
      } as const
      for (const [name, [proxy, options]] of Object.entries(refusals)) {
        const wrapper = proxy.wrap("things")
        const ways = {
          payload: (body: ReadableStream<Uint8Array>) => wrapper.post({ payload: body, ...options }),
          raw: (body: ReadableStream<Uint8Array>) => wrapper.post({ payload: HttpBody.raw(body), ...options }),
          upload: (body: ReadableStream<Uint8Array>) => wrapper.upload(body, options)
        }
        for (const [way, call] of Object.entries(ways)) {
          let cancelled = 0
          const body = new ReadableStream<Uint8Array>({
            start: (controller) => controller.enqueue(new Uint8Array(1)),
            cancel: () => {
              cancelled++
            }
          })
          const exit = yield* Effect.exit(call(body))
          assert.strictEqual(exit._tag, "Failure")
          yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => cancelled > 0, times: 100 })
          assert.strictEqual(cancelled, 1, `${name} ${way}`)
        }
      }
    }).pipe(
      Effect.provide(HttpClientFactory.layerWith({ writeTimeout: "50 millis" })),
      Effect.provideService(References.MinimumLogLevel, "None")
    ))
})

const has = (program: string, argument: string): boolean => spawnSync(program, [argument]).status === 0

describe("A call that this process can't make", () => {
  it.live.runIf(has("prlimit", "--version"))(
    "for want of file descriptors is TooManyFiles, and no failure of the service",
    () =>
      Effect.gen(function*() {
        const service = yield* listening((_, response) => void response.end("x"))
        // A lookup fails for want of them, too, and says that there is no such host.
        for (const host of ["127.0.0.1", "localhost"]) {
          const program = yield* runProgram(
            "test/support/manyFilesProgram.ts",
            { URL: service.url.replace("127.0.0.1", host) },
            ["prlimit", "--nofile=64", "--"]
          )
          yield* printed(program, "TooManyFiles, answered, TooManyFiles, answered")
        }
      })
  )

  it.live(
    "without the certificate that the service asks for is Tls, with either version of it",
    () =>
      Effect.gen(function*() {
        for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
          const url = yield* askingForCertificate(version)
          const proxy = yield* HttpClientFactory.get(url, { circuitBreaker: null })
          const error = yield* Effect.flip(proxy.wrap("things").get())
          assert.deepInclude({ ...error }, { reason: { _tag: "Tls" } }, version)
        }
      }).pipe(
        Effect.provide(HttpClientFactory.layerWith({ connect: { ca: certificate } })),
        Effect.provideService(References.MinimumLogLevel, "None")
      )
  )
})

/** OpenSSL tells a client that it has to show a certificate; Node's server only closes the connection. */
const askingForCertificate = (version: "TLSv1.2" | "TLSv1.3") =>
  Effect.gen(function*() {
    const folder = yield* freshDirectory
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")]
    fs.writeFileSync(cert, certificate)
    fs.writeFileSync(key, privateKey)
    const args = ["-accept", "127.0.0.1:0", "-cert", cert, "-key", key, "-CAfile", cert, "-Verify", "1", "-www"]
    const program = programOf(
      spawn("openssl", ["s_server", ...args, "-verify_return_error", version === "TLSv1.2" ? "-tls1_2" : "-tls1_3"])
    )
    yield* Effect.addFinalizer(() => {
      program.process.kill("SIGKILL")
      return program.ended
    })
    yield* printed(program, "ACCEPT ")
    return `https://${/ACCEPT (\S+)/u.exec(program.output())?.[1]}`
  })
