import { assert, describe, it } from "@effect/vitest"
import { type ClientError, HttpClientFactory } from "appkernel"
import { Duration, Effect, Fiber } from "effect"
import type * as net from "node:net"
import * as zlib from "node:zlib"
import { nobody, rawUpstream, upstream } from "../support/upstream.ts"

const factory = (options: HttpClientFactory.Options = {}) => Effect.provide(HttpClientFactory.layerWith(options))

/** The failure of a GET of `/things`. */
const failureAt = (url: string, timeout: Duration.Input = "1 minute") =>
  Effect.gen(function*() {
    const proxy = yield* HttpClientFactory.get(url)
    const failure = yield* Effect.flip(proxy.wrap("things").get({ timeout }))
    return answered(failure)
  })

const answered = (failure: ClientError.RequestHandlingException | ClientError.CircuitOpenError) =>
  failure._tag === "RequestHandlingException" ? failure : assert.fail(failure.message)

const answering = (...parts: ReadonlyArray<string>) =>
  rawUpstream((socket) => {
    for (const part of parts) socket.write(part, "latin1")
  })

const answeringAndClosing = (answer: string) => rawUpstream((socket) => void socket.end(answer))

/** What services do instead of answering properly, and what their callers get. */
const misbehaviours = {
  "refuses connections": [nobody, "Refused", "things accepts no connections"],
  "has a name without an address": [
    Effect.succeed("http://nowhere.invalid"),
    "Dns",
    "things has a host name without an address"
  ],
  "takes the request and says nothing": [answering(), "Timeout", "things did not answer in time"],
  "sends a part of the head and no more": [
    answering("HTTP/1.1 200 OK\r\nContent-Le"),
    "Timeout",
    "things did not answer in time"
  ],
  "resets the connection": [
    rawUpstream((socket) => void socket.resetAndDestroy()),
    "Reset",
    "things closed the connection before its answer was complete"
  ],
  "closes the connection without an answer": [
    rawUpstream((socket) => void socket.end()),
    "Reset",
    "things closed the connection before its answer was complete"
  ],
  "sends half a body and closes": [
    answeringAndClosing("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"half\":"),
    "Reset",
    "things closed the connection before its answer was complete"
  ],
  "sends half a chunked body and closes": [
    answeringAndClosing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"hal"),
    "Reset",
    "things closed the connection before its answer was complete"
  ],
  "sends half a body and no more": [
    answering("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"half\":"),
    "Timeout",
    "things did not complete its answer in time"
  ],
  "sends two lengths": [
    answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
    "InvalidAnswer",
    "things sent no valid answer"
  ],
  "sends a length that is no number": [
    answering("HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n{}"),
    "InvalidAnswer",
    "things sent no valid answer"
  ],
  "sends a chunk of a size that is no number": [
    answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"),
    "InvalidAnswer",
    "things sent no valid answer"
  ],
  "speaks another protocol": [answering("220 mail.example ESMTP\r\n"), "InvalidAnswer", "things sent no valid answer"],
  "sends a header without end": [
    rawUpstream((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n")
      const more = () => socket.writable && socket.write(`X-${"a".repeat(1_000)}: ${"b".repeat(1_000)}\r\n`, more)
      more()
    }),
    "InvalidAnswer",
    "things sent no valid answer"
  ],
  "claims a compression that it did not do": [
    answering("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"),
    "InvalidAnswer",
    "things sent an answer whose compression is broken"
  ],
  "uses a compression that nobody asked for": [
    answering("HTTP/1.1 200 OK\r\nContent-Encoding: compress\r\nContent-Length: 2\r\n\r\n{}"),
    "InvalidAnswer",
    "things compressed its answer in a way that is not supported"
  ],
  "redirects in a circle": [
    upstream(({ url }, response) => void response.writeHead(302, { location: `${url}x` }).end()),
    "TooManyRedirects",
    "things redirected too often"
  ],
  "speaks no TLS": [
    Effect.map(upstream(() => ({})), ({ url }) => ({ url: url.replace("http:", "https:") })),
    "Tls",
    "things has no secure connection that is trusted"
  ]
} as const

describe("A call fails with RequestHandlingException and status 500", () => {
  for (const [name, [server, reason, message]] of Object.entries(misbehaviours)) {
    it.live(`if the service ${name}`, () =>
      Effect.gen(function*() {
        const running: string | { readonly url: string } = yield* server
        const url = typeof running === "string" ? running : running.url
        // Half a body has to come in this time.
        const failure = yield* failureAt(url, reason === "Timeout" ? "1 second" : undefined)
        const { statusCode, upstreamService } = failure
        assert.deepStrictEqual(
          { statusCode, upstreamService, reason: failure.reason._tag, message: failure.message },
          { statusCode: 500, upstreamService: "things", reason, message }
        )
      }).pipe(factory()))
  }

  it.live("if the answer has more bytes than allowed, compressed or not", () =>
    Effect.gen(function*() {
      const bomb = zlib.gzipSync(Buffer.alloc(50_000_000))
      let sent = 0
      const service = yield* upstream(({ url }, response) => {
        if (url === "/things") {
          response.writeHead(200, { "content-encoding": "gzip" }).end(bomb)
        } else if (url === "/twice") {
          response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(zlib.gzipSync(bomb))
        } else if (url === "/thrice") {
          response.writeHead(200, { "content-encoding": "gzip, gzip, gzip" }).end("x")
        } else {
          const more = () => {
            sent += 65_536
            if (response.writable) response.write(Buffer.alloc(65_536), more)
          }
          more()
        }
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      const before = process.memoryUsage().rss
      for (
        const [path, message] of [
          ["things", "things answered with more than 1000000 bytes"],
          ["twice", "twice answered with more than 1000000 bytes"],
          ["thrice", "thrice compressed its answer in a way that is not supported"],
          ["endless", "endless answered with more than 1000000 bytes"]
        ] as const
      ) {
        const failure = yield* Effect.flip(proxy.wrap(path).get())
        assert.strictEqual(failure.message, message)
      }
      assert.isBelow(process.memoryUsage().rss - before, 40_000_000)
      assert.isBelow(sent, 20_000_000)
    }).pipe(factory({ maxResponseSize: 1_000_000 })))

  it.live("if a path leads elsewhere than it says, for servers that decode separators or drop parameters", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ url }) => ({ url }))
      const proxy = yield* HttpClientFactory.get(service.url)
      for (const dots of ["..", "%2e%2E", ".%2e"]) {
        for (const separator of ["/", "%2f", "%2F", "%5c", "%5C", ";/", ";a=1/", "%3b/"]) {
          for (
            const pathExtension of [
              `${dots}${separator}x`,
              `a/${dots}${separator}`,
              `a%2f${dots}${separator}${dots}${separator}x`
            ]
          ) {
            const failure = yield* Effect.flip(proxy.wrap("things").get({ pathExtension }))
            assert.deepInclude({ ...failure }, { reason: { _tag: "InvalidRequest" } }, pathExtension)
          }
        }
      }
      for (const pathExtension of ["a%2f..", ".;/x", "a/.%2f", "..;"]) {
        yield* Effect.flip(proxy.wrap("things").get({ pathExtension }))
      }
      yield* Effect.flip(proxy.at("a/../../b").get())
      assert.deepStrictEqual(service.requests, [])
      for (const pathExtension of ["a..b", ".../x", "a%2f..%2fb", "a;b=..", "a..%2fb", "a%2fb", "..a", "x?to=..%2fx"]) {
        assert.deepStrictEqual(yield* proxy.wrap("things").get({ pathExtension }), [200, {
          url: `/things/${pathExtension}`
        }])
      }
    }).pipe(factory()))

  it.live("if the request is malformed, without calling", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => ({}))
      const proxy = yield* HttpClientFactory.get(`${service.url}/api`)
      const circular: Record<string, unknown> = {}
      circular["self"] = circular
      for (
        const call of [
          proxy.wrap("things").get({ pathExtension: "../secrets" }),
          proxy.wrap("things").get({ pathExtension: "%2e%2E/secrets" }),
          proxy.wrap("things").get({ pathExtension: ".\t./secrets" }),
          proxy.wrap("things").get({ pathExtension: ".\n" }),
          proxy.wrap("things").get({ pathExtension: ".. " }),
          proxy.wrap("..").get(),
          proxy.wrap("things\\..\\..\\secrets").get(),
          proxy.at("..").get(),
          proxy.wrap("things").get({ headers: { "x-line": "a\r\nx-other: b" } }),
          proxy.wrap("things").post({ payload: circular }),
          proxy.wrap("things").post({ payload: { big: 1n } })
        ]
      ) {
        const failure = yield* Effect.flip(call)
        assert.deepInclude({ ...failure }, { statusCode: 500, reason: { _tag: "InvalidRequest" } })
      }
      assert.deepStrictEqual(service.requests, [])
    }).pipe(factory()))
})

describe("A call", () => {
  it.live("takes an answer without a body, however it is said to be compressed", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ url }, response) =>
        void response.writeHead(url === "/none" ? 204 : 200, { "content-encoding": "gzip", "content-length": 0 }).end()
      )
      const proxy = yield* HttpClientFactory.get(service.url)
      assert.deepStrictEqual(yield* proxy.wrap("none").get(), [204, { result: "" }])
      assert.deepStrictEqual(yield* proxy.wrap("empty").get(), [200, { result: "" }])
    }).pipe(factory()))

  it.live("fails with the status of the answer, its message, service, body and time to wait", () =>
    Effect.gen(function*() {
      const soon = new Date(Date.now() + 60_000).toUTCString()
      const answers: { readonly [path: string]: readonly [number, Record<string, string>, string] } = {
        "/users": [404, {}, JSON.stringify({ _type: "ErrorMessage", code: 404, message: "There is no User U1" })],
        "/orders": [502, {}, JSON.stringify({ _type: "ErrorMessage", message: "down", upstream_service: "billing" })],
        "/busy": [503, { "retry-after": "7" }, ""],
        "/later": [429, { "retry-after": soon }, "wait"],
        "/page": [500, { "content-type": "text/html" }, "<h1>Error</h1>"],
        "/same": [304, {}, ""],
        "/nowhere": [302, {}, "{}"]
      }
      const service = yield* upstream(({ url }, response) => {
        const [status, headers, body] = answers[url ?? ""] ?? [200, {}, ""]
        response.writeHead(status, headers).end(body)
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      const failures = yield* Effect.forEach(
        Object.keys(answers),
        (path) =>
          Effect.map(Effect.flip(proxy.wrap(path).get()), (failure) => {
            const { _tag, message, upstreamService } = failure
            const { reason, statusCode } = answered(failure)
            if (reason._tag !== "Status") return assert.fail(message)
            const { body, retryAfter } = reason
            const seconds = retryAfter === undefined ? undefined : Math.round(Duration.toSeconds(retryAfter) / 10) * 10
            return [_tag, statusCode, reason._tag, upstreamService, message, body, seconds]
          })
      )
      const tag = "RequestHandlingException"
      assert.deepStrictEqual(failures, [
        [tag, 404, "Status", "users", "There is no User U1", JSON.parse(answers["/users"]?.[2] ?? ""), undefined],
        [tag, 502, "Status", "billing", "down", JSON.parse(answers["/orders"]?.[2] ?? ""), undefined],
        [tag, 503, "Status", "busy", "busy answered with status 503", undefined, 10],
        [tag, 429, "Status", "later", "later answered with status 429", { result: "wait" }, 60],
        [tag, 500, "Status", "page", "page answered with status 500", { result: "<h1>Error</h1>" }, undefined],
        [tag, 304, "Status", "same", "same answered with status 304", undefined, undefined],
        [tag, 302, "Status", "nowhere", "nowhere answered with status 302", {}, undefined]
      ])
    }).pipe(factory()))

  it.live("names the service by the last segment of its URL, or by its host", () =>
    Effect.gen(function*() {
      const service = yield* upstream((_, response) => void response.writeHead(500).end())
      const names = yield* Effect.forEach(
        [["", "x"], ["/api/users", ""], ["/api/users/", ""], ["", ""]],
        ([root, path]) =>
          Effect.flatMap(HttpClientFactory.get(`${service.url}${root}`), (proxy) =>
            Effect.map(
              Effect.flip(proxy.wrap(path ?? "").get({ pathExtension: "1" })),
              (error) => error.upstreamService
            ))
      )
      assert.deepStrictEqual(names, ["x", "users", "users", "127.0.0.1"])
    }).pipe(factory()))

  it.live("follows up to 20 redirects, with the method and body that each asks for", () =>
    Effect.gen(function*() {
      const service = yield* upstream((request, response): unknown => {
        const [, status, left] = /^\/(\d+)\/(\d+)/u.exec(request.url ?? "") ?? []
        if (status === undefined || left === "0") return { method: request.method, body: request.text }
        response.writeHead(Number(status), { location: `/${status}/${Number(left) - 1}` }).end("ignored")
        return undefined
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      for (
        const [status, method, body] of [
          [301, "GET", ""],
          [302, "GET", ""],
          [303, "GET", ""],
          [307, "POST", "[1]"],
          [308, "POST", "[1]"]
        ] as const
      ) {
        assert.deepStrictEqual(yield* proxy.wrap(`${status}/20`).post({ payload: [1] }), [200, { method, body }])
      }
      const put = yield* proxy.wrap("302/1").put({ payload: [1] })
      assert.deepStrictEqual(put, [200, { method: "PUT", body: "[1]" }])
      const failure = yield* Effect.flip(proxy.wrap("307/21").post({ payload: [1] }))
      assert.strictEqual(failure.message, "21 redirected too often")
      // The body of a redirect is read while the next request begins, over another connection; then both are used again.
      assert.strictEqual(service.requests.length, 128)
      assert.isAtMost(service.connections(), 3)
    }).pipe(factory()))

  it.live("sends nothing that identifies the caller to another origin", () =>
    Effect.gen(function*() {
      const other = yield* upstream(() => ({ from: "other" }))
      const service = yield* upstream(({ url }, response) =>
        void response.writeHead(307, { location: url === "/same" ? "/away" : `${other.url}/away` }).end()
      )
      const headers = {
        authorization: "Bearer secret",
        cookie: "session=secret",
        "x-api-key": "secret",
        "x-tenant": "secret",
        "accept-language": "de"
      }
      const proxy = yield* HttpClientFactory.get(service.url)
      const answer = yield* proxy.wrap("same").post({ headers, payload: { a: 1 }, idempotencyKey: "K1" })
      assert.deepStrictEqual(answer, [200, { from: "other" }])
      assert.strictEqual(service.requests[1]?.headers["authorization"], "Bearer secret")
      const [request] = other.requests
      assert.notInclude(JSON.stringify(request), "secret")
      assert.strictEqual(request?.body, "{\"a\":1}")
      assert.strictEqual(request?.headers["accept-language"], "de")
      assert.strictEqual(request?.headers["idempotency-key"], "K1")
    }).pipe(factory()))

  it.live("does not take bytes beyond the length of an answer for the next answer", () =>
    Effect.gen(function*() {
      const service = yield* rawUpstream((socket, head) => {
        const [, path] = /^GET (\S+)/u.exec(head) ?? []
        const body = JSON.stringify({ path })
        const forged = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\"forged!\""
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}${path === "/a" ? forged : ""}`)
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      assert.deepStrictEqual(yield* proxy.wrap("a").get(), [200, { path: "/a" }])
      assert.deepStrictEqual(yield* proxy.wrap("b").get(), [200, { path: "/b" }])
    }).pipe(factory()))

  it.live("ends its connection when it is interrupted", () =>
    Effect.gen(function*() {
      let closed = 0
      const service = yield* upstream(({ socket }: { readonly socket: net.Socket }) => {
        socket.on("close", () => closed++)
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      const call = yield* Effect.forkChild(proxy.wrap("things").get())
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => service.requests.length === 1 })
      yield* Fiber.interrupt(call)
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => closed === 1 })
    }).pipe(factory()))
})
