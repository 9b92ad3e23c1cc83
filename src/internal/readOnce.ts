/** Bodies of requests that can be read once only. A second request would be sent with an empty one. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** Whether a body can be sent more than once. A `ReadableStream` and a generator can't be. */
export const isRepeatable = (body: HttpBody.HttpBody): boolean => sourceOf(body) === undefined

/** Notes that a body is sent now. Returns false for a second time, if the body can be read once only. */
export const take = (body: HttpBody.HttpBody): boolean => {
  const source = sourceOf(body)
  if (source === undefined) return true
  if (taken.has(source)) return false
  taken.add(source)
  return true
}

/** Lets go of a body when the call that should send it fails, if it holds what it is read from. */
export const discarding = <A, E, R>(body: HttpBody.HttpBody, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const source = sourceOf(body)
  return source === undefined ? call : Effect.onError(call, () => discard(source))
}

/** Lets go of what can be read once only. */
export const discard = (source: object): Effect.Effect<void> => {
  if (source instanceof ReadableStream) {
    return source.locked ? Effect.void : Effect.ignore(Effect.tryPromise(() => source.cancel()))
  }
  return Effect.sync(() => {
    if (Predicate.hasProperty(source, "destroy") && Predicate.isFunction(source.destroy)) source.destroy()
  })
}

/** Occurs when a payload can't be read to its end, which tells nothing of the service. */
export class Unreadable extends Schema.TaggedError<Unreadable>()("Unreadable", {}) {}

/** Occurs when a stream ends sooner than when it was run before: what it reads from can be read once only. */
export class ReadOnce extends Schema.TaggedError<ReadOnce>()("ReadOnce", {}) {}

export const readOnceIn = (cause: Cause.Cause<unknown>): ReadOnce | undefined =>
  cause.reasons.filter(Cause.isFailReason).map(({ error }) => error).find((error) => error instanceof ReadOnce)

/** The bytes of a body that can be read once only; `undefined` if it is none. They fail by `Unreadable`. */
export const streamOf = (body: HttpBody.HttpBody): Stream.Stream<Uint8Array, ReadOnce | Unreadable> | undefined => {
  const source = sourceOf(body)
  const pieces = source instanceof ReadableStream
    ? Stream.fromReadableStream<unknown, Unreadable>({ evaluate: () => source, onError: () => new Unreadable() })
    : isAsyncIterable(source)
    ? Stream.fromAsyncIterable(source, () => new Unreadable())
    : isIterable(source)
    ? Stream.fromIterable(source, { chunkSize: 1 })
    : undefined
  return pieces && readable(Stream.mapEffect(
    pieces,
    (piece) =>
      typeof piece === "string"
        ? Effect.succeed(encoder.encode(piece))
        : piece instanceof Uint8Array
        ? Effect.succeed(piece)
        : Effect.fail(new Unreadable())
  ))
}

/** A request to be sent again, whose stream fails by `ReadOnce` or `Unreadable` instead of being shorter. */
export const repeatable = (request: HttpClientRequest.HttpClientRequest): HttpClientRequest.HttpClientRequest => {
  const { body, hash, headers, method, url, urlParams } = request
  if (body._tag !== "Stream") return request
  const checked = HttpBody.stream(neverShorter(readable(body.stream)), body.contentType, body.contentLength)
  return HttpClientRequest.makeWith(method, url, urlParams, hash, headers, checked)
}

/**
 * A stream that does not end sooner than before. What was left before its end had something to come: it is often left at its
 * first bytes, by an answer that does not wait for them.
 */
export const neverShorter = <E, R>(
  stream: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Uint8Array, E | ReadOnce, R> => {
  let longest = 0
  return Stream.suspend(() => {
    const least = longest
    let length = 0
    longest = Math.max(longest, 1)
    const counted = Stream.mapArray(stream, (pieces) => {
      for (const piece of pieces) length += piece.length
      longest = Math.max(longest, length)
      return pieces
    })
    const ended = Stream.suspend(() => {
      if (length < least) return Stream.fail(new ReadOnce())
      longest = length
      return Stream.empty
    })
    return Stream.concat(counted, ended)
  })
}

// internal

const taken = new WeakSet()

/** What a body is read from, if it can be read once only. */
const sourceOf = (body: HttpBody.HttpBody): object | undefined => {
  if (body._tag !== "Raw") return undefined
  const { body: source } = body
  return typeof source !== "object" || source === null || ArrayBuffer.isView(source) ||
      repeatableKinds().some((kind) => source instanceof kind)
    ? undefined
    : source
}

/**
 * The kinds of bodies that can be sent again. It is a function, since Node loads its web client when `FormData` is
 * first read.
 */
const repeatableKinds = () => [ArrayBuffer, Array, Blob, FormData, URLSearchParams]

const readable = <E, R>(stream: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, ReadOnce | Unreadable, R> =>
  Stream.catchCause(stream, (cause) => Stream.fail(readOnceIn(cause) ?? new Unreadable()))

const isAsyncIterable = (source: object | undefined): source is AsyncIterable<unknown> =>
  source !== undefined && Symbol.asyncIterator in source

const isIterable = (source: object | undefined): source is Iterable<unknown> =>
  source !== undefined && Symbol.iterator in source

const encoder = new TextEncoder()
