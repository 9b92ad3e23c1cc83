/**
 * Bodies of requests that can be read once only. A second request would be sent with an empty one.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"

/**
 * Whether a body can be sent more than once. A `ReadableStream` and a generator can't be.
 *
 * @internal
 */
export const isRepeatable = (body: HttpBody.HttpBody): boolean => sourceOf(body) === undefined

/**
 * Notes that a body is sent now. Whether it can be: not a second time if it can be read once only.
 *
 * @internal
 */
export const take = (body: HttpBody.HttpBody): boolean => {
  const source = sourceOf(body)
  if (source === undefined) return true
  if (taken.has(source)) return false
  taken.add(source)
  return true
}

/**
 * Lets go of a body that is not sent, if it holds what it is read from.
 *
 * @internal
 */
export const discard = (body: HttpBody.HttpBody): Effect.Effect<void> => {
  const source = sourceOf(body)
  if (source instanceof ReadableStream) {
    return source.locked ? Effect.void : Effect.ignore(Effect.tryPromise(() => source.cancel()))
  }
  return Effect.sync(() => {
    if (Predicate.hasProperty(source, "destroy") && Predicate.isFunction(source.destroy)) source.destroy()
  })
}

/**
 * A request to be sent more than once, whose stream fails by `ReadOnce` instead of being sent shorter than before.
 *
 * @internal
 */
export const repeatable = (request: HttpClientRequest.HttpClientRequest): HttpClientRequest.HttpClientRequest => {
  const { body, hash, headers, method, url, urlParams } = request
  if (body._tag !== "Stream") return request
  const checked = HttpBody.stream(neverShorter(body.stream), body.contentType, body.contentLength)
  return HttpClientRequest.makeWith(method, url, urlParams, hash, headers, checked)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const taken = new WeakSet()

/** Occurs when a stream ends sooner than when it was run before: what it reads from can be read once only. */
class ReadOnce extends Data.TaggedError("ReadOnce")<{}> {}

/** What a body is read from, if it can be read once only. */
const sourceOf = (body: HttpBody.HttpBody): object | undefined => {
  if (body._tag !== "Raw") return undefined
  const { body: source } = body
  return typeof source !== "object" || source === null || ArrayBuffer.isView(source) ||
      repeatableKinds.some((kind) => source instanceof kind)
    ? undefined
    : source
}

/** What is in memory, or is opened anew each time. */
const repeatableKinds = [ArrayBuffer, Array, Blob, FormData, URLSearchParams]

const neverShorter = <E, R>(stream: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E | ReadOnce, R> => {
  let longest = 0
  return Stream.suspend(() => {
    let length = 0
    const counted = Stream.mapArray(stream, (pieces) => {
      for (const piece of pieces) length += piece.length
      longest = Math.max(longest, length)
      return pieces
    })
    const ended = Stream.suspend(() => length < longest ? Stream.fail(new ReadOnce()) : Stream.empty)
    return Stream.concat(counted, ended)
  })
}
