/**
 * What all calls of a client share: its pool, its deadlines, how undici connects, and interim
 * answers that undici does not take (RFC 9110, section 15.2).
 */
import type * as NodeStream from "@effect/platform-node/NodeStream"
import type * as Undici from "@effect/platform-node/Undici"
import * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as HttpBody from "effect/http/HttpBody"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { atFirstUse } from "../../internal/atFirstUse.ts"
import { streamOf } from "../../internal/readOnce.ts"
import type { Resolved } from "../HttpClientConfig.ts"
import { makeCompression } from "./compression.ts"
import { makeDeadlines } from "./deadlines.ts"
import type { Sender, Shared } from "./exchange.ts"
import { failureOf } from "./failures.ts"
import { makePool, type Opened } from "./pool.ts"
import type { Body } from "./transport.ts"

interface ClientOptions {
  /** Options of connections: TLS, a Unix socket. */
  readonly connect?: Undici.buildConnector.BuildOptions | undefined
  /** What carries all calls instead of the client's own connections. */
  readonly dispatcher?: Undici.Dispatcher | undefined
  /** Whether redirects from https to http are followed. Defaults to false. */
  readonly insecureRedirects?: boolean | undefined
}

/** A client. When its scope closes it takes no further call, and ends those that take too long. */
export const makeShared = Effect.fnUntraced(function*(
  config: Resolved,
  options: ClientOptions
): Effect.fn.Return<Shared, never, Scope.Scope> {
  const { pipeThroughDuplex, toReadable, zlib } = yield* parts
  const deadlines = yield* makeDeadlines
  return {
    sender: yield* atFirstUse(makeSender(config, options, { deadlines, toReadable })),
    compression: makeCompression(zlib, pipeThroughDuplex),
    connectTimeout: config.connectTimeout,
    writeTimeout: config.writeTimeout,
    poolTimeout: config.poolTimeout,
    maxResponseSize: config.maxResponseSize,
    redirects: options.insecureRedirects === true ? "Any" : "Secure"
  }
})

// internal

/** What sends calls, with undici: a service that makes none takes 5 MB less. */
const makeSender = Effect.fnUntraced(function*(
  config: Resolved,
  { connect, dispatcher }: ClientOptions,
  { deadlines, toReadable }: Pick<Sender, "deadlines"> & { readonly toReadable: typeof NodeStream.toReadable }
): Effect.fn.Return<Sender, Cause.UnknownError, Scope.Scope> {
  const { closeSync, openSync, undici } = yield* senderParts
  const keepsAlive = config.maxKeepaliveConnections > 0 && config.keepaliveExpiry > 0
  const idleTime = keepsAlive ? Math.min(Math.ceil(config.keepaliveExpiry), maxTimer) : 1

  /** Why no file can be opened, if a lookup failed for that: it needs some, and says that there is no such host. */
  const fileErrorOf = (error: Error): Error | undefined => {
    if (!Predicate.hasProperty(error, "syscall") || error.syscall !== "getaddrinfo") return undefined
    // What Node throws is an error.
    const opened = Result.try({ try: () => closeSync(openSync("/dev/null", "r")), catch: (cause) => cause as Error })
    return Result.isFailure(opened) && failureOf("", opened.failure).reason._tag === "TooManyFiles"
      ? opened.failure
      : undefined
  }
  // The deadlines limit the time to connect.
  const connector = undici.buildConnector({ allowH2: false, ...connect, timeout: 0 })
  const open = (origin: string, onClose: () => void): Opened => {
    if (dispatcher !== undefined) {
      return {
        dispatcher,
        shut: () => {},
        socketError: () => undefined,
        awaitHead: () => {}
      }
    }
    let connecting: Destroyable | undefined
    let socketError: Error | undefined
    let awaitsHead = false
    const client = new undici.Client(origin, {
      connect: (options, callback) => {
        // It returns the socket, which its type does not tell. undici has none before the connection is complete.
        connecting = connector(options, (...args) => {
          connecting = undefined
          const [error] = args
          if (error !== null) return callback(fileErrorOf(error) ?? error, null)
          const [, socket] = args
          // undici only tells that the other side closed.
          socket?.once("error", (error) => {
            socketError = error
          })
          if (socket !== undefined) skipContinue(socket, () => awaitsHead)
          callback(...args)
        }) as unknown as Destroyable
      },
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleTime,
      keepAliveMaxTimeout: idleTime,
      pipelining: 1
    })
    client.on("disconnect", onClose)
    return {
      dispatcher: client,
      socketError: () => socketError,
      awaitHead: (isAwaited) => {
        awaitsHead = isAwaited
      },
      shut: () => {
        connecting?.destroy()
        // Its failure would be that of the call, which has ended.
        client.destroy(() => {})
      }
    }
  }
  const pool = makePool(
    {
      maxConnections: config.maxConnections,
      maxIdle: keepsAlive ? config.maxKeepaliveConnections : 0,
      maxWaiting: config.maxQueued
    },
    open
  )
  const lastEnded = Effect.callback<void>((resume) => pool.close(() => resume(Effect.void)))
  yield* Effect.addFinalizer(() =>
    Effect.timeoutOrElse(Effect.interruptible(lastEnded), {
      duration: config.shutdownTimeout,
      orElse: () => Effect.sync(() => pool.endAll())
    })
  )

  const formOf = (form: FormData) => {
    const copy = new undici.FormData()
    for (const [key, value] of form) copy.append(key, value)
    return copy
  }
  const readableOf = (stream: Stream.Stream<Uint8Array, unknown>) => toReadable(Stream.mapArray(stream, inParts))
  const bodyOf = (body: HttpBody.HttpBody): Effect.Effect<Body> => {
    switch (body._tag) {
      case "Empty":
        return Effect.succeed(null)
      case "Uint8Array":
        return body.body.length <= maxAtOnce
          ? Effect.succeed(body.body)
          : readableOf(Stream.succeed(body.body))
      case "Raw": {
        const stream = streamOf(body)
        // What a payload that is not known is: undici takes it or rejects it.
        return stream === undefined ? Effect.succeed(body.body as Body) : readableOf(stream)
      }
      case "FormData":
        return Effect.succeed(formOf(body.formData))
      case "Stream":
        return readableOf(body.stream)
    }
  }
  return { pool, deadlines, bodyOf }
})

// What programs load that have a client, and no others.
const parts = Effect.map(
  Effect.promise(() =>
    Promise.all([
      import("@effect/platform-node/NodeStream"),
      // oxlint-disable-next-line no-restricted-imports -- no service of the platform package decompresses; the web's has no zstd
      import("node:zlib")
    ])
  ),
  ([{ pipeThroughDuplex, toReadable }, zlib]) => ({ pipeThroughDuplex, toReadable, zlib })
)

// What programs load that make calls. In one file, a CommonJS package has no other names.
const senderParts = Effect.map(
  Effect.tryPromise(() =>
    Promise.all([
      import("@effect/platform-node/Undici"),
      // oxlint-disable-next-line no-restricted-imports -- the file system's service can't be asked while undici connects
      import("node:fs")
    ])
  ),
  ([{ default: undici }, { closeSync, openSync }]) => ({ closeSync, openSync, undici })
)

type Socket = NonNullable<Parameters<Undici.buildConnector.Callback>[1]>

interface Destroyable {
  readonly destroy: () => unknown
}

/** Reads no `100 Continue` before a head, which a server may send though nobody asked for it. */
const skipContinue = (socket: Socket, awaitsHead: () => boolean): void => {
  const read = socket.read.bind(socket)
  const interim = new Interim()
  socket.read = (size) => {
    // A socket without an encoding reads bytes.
    const chunk = read(size) as Buffer | null
    if (chunk === null || !awaitsHead()) return chunk
    const bytes = interim.without(chunk)
    return bytes.length > 0 ? bytes : socket.read(size)
  }
}

/** What timers of Node can wait, in milliseconds. */
const maxTimer = 2 ** 31 - 1

/** undici tells when a part is sent. Of larger ones that would be too late to know that the service takes them. */
const maxAtOnce = 65_536

type Pieces = Arr.NonEmptyReadonlyArray<Uint8Array>

const inParts = (pieces: Pieces): Pieces =>
  pieces.some(({ length }) => length > maxAtOnce) ? Arr.flatMap(pieces, partsOf) : pieces

const partsOf = (bytes: Uint8Array): Pieces =>
  Arr.makeBy(
    Math.max(1, Math.ceil(bytes.length / maxAtOnce)),
    (i) => bytes.subarray(i * maxAtOnce, (i + 1) * maxAtOnce)
  )

/**
 * Takes each `100 Continue` out of what a server sends before the head of an answer, however it is split. undici would end the
 * connection, since nobody asked for it. Bytes that may be a part of one are kept until they are known.
 */
export class Interim {
  #pending: Buffer = none

  /** What can be read of the bytes so far; nothing while more have to come. */
  without(chunk: Buffer): Buffer {
    let rest = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    this.#pending = none
    const passed: Array<Buffer> = []
    while (isInterim(rest)) {
      const end = rest.indexOf("\r\n\r\n") + 4
      // No head is as long as that: undici says so.
      if (end < 4 && rest.length > maxHead) break
      if (end < 4) {
        this.#pending = rest
        rest = none
        break
      }
      if (!isContinue(rest)) passed.push(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
    return passed.length === 0 ? rest : Buffer.concat([...passed, rest])
  }
}

const none: Buffer = Buffer.alloc(0)

const maxHead = 16_384

const statusEnd = 12

/** Whether the bytes begin an interim answer, or may do so with more of them. A change of protocol is none. */
const isInterim = (bytes: Buffer): boolean => {
  const start = bytes.toString("latin1", 0, statusEnd)
  const line = start + "HTTP/1.1 100".slice(start.length)
  return start !== "" && line !== "HTTP/1.1 101" && /^HTTP\/1\.[01] 1\d\d$/u.test(line)
}

const isContinue = (bytes: Buffer): boolean => bytes.toString("latin1", statusEnd - 3, statusEnd) === "100"
