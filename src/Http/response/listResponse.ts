/**
 * List responses, assembled from JSON texts.
 *
 * A small list is sent as one text. A larger list first reserves its bytes, is kept in chunks outside of the heap, and is
 * streamed at the client's speed. The connection of a client that stops reading is closed.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { ServiceUnavailable } from "../HttpError.ts"
import * as responses from "./json.ts"
import type { Reservation, ResponseBudget } from "./responseBudget.ts"
import { bytesOf, type WireText, wireTextOf } from "./wireText.ts"

/** A list that is being written. */
export interface ListResponse {
  /** Adds an item, unless the list would exceed its maximum, or needs a reservation first (`large`). */
  readonly add: (item: WireText) => "added" | "large" | "too large"
  /** Reserves the maximum size of the list. */
  readonly reserve: Effect.Effect<void, ServiceUnavailable>
  /** The response, with `members` and a closing brace after the items. The list can't be used afterwards. */
  readonly finish: (members: string, headers?: Headers) => HttpServerResponse.HttpServerResponse
}

type Headers = { readonly [name: string]: string }

export interface ListResponses {
  /** A list with a maximum number of bytes, which the first item may exceed. Defaults to no limit. */
  readonly begin: (maxBytes?: number) => ListResponse
  /** Reserves the bytes of a page for another body, in the order of arrival. */
  readonly reserve: Effect.Effect<Reservation, ServiceUnavailable>
  /** The same without waiting; `undefined` if they are not free. */
  readonly reserveNow: Effect.Effect<Reservation | undefined>
  /**
   * A body that is made as its client takes it, of about so many bytes. It frees what it has reserved, and is interrupted when its
   * client takes nothing for too long.
   */
  readonly paced: (chunks: Iterator<Uint8Array>, bytes: number, reservation: Reservation) => Stream.Stream<Uint8Array>
  /** A body whose next part is read when its client takes it. It is interrupted as one of {@link ListResponses.paced} is. */
  readonly pulled: <E>(parts: Stream.Stream<Uint8Array, E>) => Stream.Stream<Uint8Array, E>
}

/** Makes list responses. `unconfirmed` changes when the client receives bytes; `undefined` if that is unknown. */
export const makeListResponses = (
  budget: ResponseBudget,
  maxPageBytes: number,
  unconfirmed: Effect.Effect<string | undefined>
): ListResponses => ({
  begin: (maxBytes = Infinity) => beginList(budget, maxBytes, Math.min(maxBytes, maxPageBytes), unconfirmed),
  reserve: budget.reserve(maxPageBytes),
  reserveNow: budget.reserveNow(maxPageBytes),
  paced: (chunks, bytes, reservation) => streamChunks(chunks, bytes, reservation, unconfirmed),
  pulled: (parts) => streamParts(parts, unconfirmed)
})

/** Bodies up to this length are sent as one text and need no reservation. */
export const maxSmallLength = 256 * 1024

/** Adds items, and reserves bytes of a large list. Returns `false` if they exceed the maximum. */
export const addAll = <A, E, R>(
  list: ListResponse,
  items: ReadonlyArray<A>,
  write: (item: A) => Effect.Effect<string, E, R>
): Effect.Effect<boolean, E | ServiceUnavailable, R> => addFrom(list, items, write, 0)

/** Chunks in small parts. Those that were given are not kept. */
export function* chunkParts(chunks: Array<Uint8Array>): Generator<Uint8Array> {
  const pending = chunks.toReversed()
  chunks.length = 0
  for (let chunk = pending.pop(); chunk !== undefined; chunk = pending.pop()) {
    for (let from = 0; from < chunk.length; from += chunkLength) yield chunk.subarray(from, from + chunkLength)
  }
}

// internal

const head = "{\"_type\":\"list\",\"_items\":["

const chunkLength = 64 * 1024

// The seconds in which a client has to receive something.
const maxQuiet = 10
// The operating system of a slow client confirms bytes in growing steps. So a client may take three times as long as its
// longest step, up to a limit.
const quietGrowth = 3
const maxGrownQuiet = 30
// Applies if only writes show what the client receives: a write waits until much of the system's buffer is free.
const maxUnwritten = 60

const beginList = (
  budget: ResponseBudget,
  maxBytes: number,
  reservedBytes: number,
  unconfirmed: Effect.Effect<string | undefined>
): ListResponse => {
  const chunks: Array<Uint8Array> = []
  let reservation: Reservation | undefined
  let bytes = 0
  let text = head
  let isEmpty = true
  let isAscii = true
  const flush = (): void => {
    const chunk = bytesOf({ text })
    chunks.push(chunk)
    bytes += chunk.length
    text = ""
  }
  return {
    add: (item) => {
      const length = bytes + text.length + item.text.length
      if (length > maxSmallLength) {
        if (length > maxBytes && !isEmpty) return "too large"
        if (reservation === undefined) return "large"
      }
      text += isEmpty ? item.text : `,${item.text}`
      isEmpty = false
      isAscii &&= item.isAscii
      if (reservation !== undefined && text.length > chunkLength) flush()
      return "added"
    },
    reserve: Effect.map(budget.reserve(reservedBytes), (reserved) => {
      reservation = reserved
    }),
    finish: (members, headers) => {
      const end = wireTextOf(`],${members}}`)
      text += end.text
      if (reservation === undefined) return responses.wireJson({ text, isAscii: isAscii && end.isAscii }, 200, headers)
      flush()
      reservation.resize(bytes)
      const body = { contentType: "application/json", contentLength: bytes }
      return HttpServerResponse.stream(
        streamChunks(chunkParts(chunks), bytes, reservation, unconfirmed),
        headers === undefined ? body : { ...body, headers }
      )
    }
  }
}

const addFrom = <A, E, R>(
  list: ListResponse,
  items: ReadonlyArray<A>,
  write: (item: A) => Effect.Effect<string, E, R>,
  start: number
): Effect.Effect<boolean, E | ServiceUnavailable, R> =>
  Effect.gen(function*() {
    let written = 0
    for (let i = start; i < items.length; i++) {
      const item = wireTextOf(yield* write(items[i]!))
      let added = list.add(item)
      if (added === "large") {
        yield* list.reserve
        added = list.add(item)
      }
      if (added !== "added") return false
      written += item.text.length
      if (written > maxSmallLength) {
        written = 0
        yield* Effect.yieldNow
      }
    }
    return true
  })

/** Streams chunks and releases the bytes of each one that is written. */
const streamChunks = (
  chunks: Iterator<Uint8Array>,
  bytes: number,
  reservation: Reservation,
  unconfirmed: Effect.Effect<string | undefined>
): Stream.Stream<Uint8Array> =>
  Stream.suspend(() => {
    let remaining = bytes
    const next = Effect.suspend(() => {
      const { done, value } = chunks.next()
      reservation.resize(done === true ? 0 : Math.max(0, remaining))
      if (done === true) return Cause.done()
      remaining -= value.length
      return Effect.succeed<readonly [Uint8Array]>([value])
    })
    return streamParts(Stream.fromPull(Effect.succeed(next)), unconfirmed)
  })

/** Streams parts until the client has received nothing for too long, while one of them waited for it. */
const streamParts = <E>(
  parts: Stream.Stream<Uint8Array, E>,
  unconfirmed: Effect.Effect<string | undefined>
): Stream.Stream<Uint8Array, E> =>
  Stream.unwrap(Effect.gen(function*() {
    const fiber = yield* Effect.fiber
    const pull = yield* Stream.toPull(parts)
    let steps = 0
    let isRead = true
    const stopped = untilStopped(Effect.sync(() => isRead ? steps : ++steps), unconfirmed)
    // The fiber that writes the body may wait for the client forever, so another fiber interrupts it.
    yield* Effect.forkScoped(Effect.andThen(stopped, Effect.sync(() => fiber.interruptUnsafe())))
    const next = Effect.suspend(() => {
      isRead = false
      return Effect.map(pull, (read) => {
        isRead = true
        steps++
        return read
      })
    })
    return Stream.fromPull(Effect.succeed(next))
  }))

/** Ends when the client has received nothing for too long, and `steps` did not change. Looks once a second. */
const untilStopped = Effect.fnUntraced(function*(
  steps: Effect.Effect<number>,
  unconfirmed: Effect.Effect<string | undefined>
) {
  let step = yield* steps
  let buffered: string | undefined
  let quiet = 0
  let longest = 0
  let limit = maxQuiet
  while (quiet < limit) {
    yield* Effect.sleep("1 second")
    quiet++
    const stepNow = yield* steps
    const isWritten = stepNow !== step
    const bufferedNow = isWritten ? undefined : yield* unconfirmed
    if (isWritten || (buffered !== undefined && bufferedNow !== buffered)) {
      longest = Math.max(longest, quiet)
      quiet = 0
    }
    step = stepNow
    buffered = bufferedNow
    limit = buffered === undefined
      ? maxUnwritten
      : Math.min(maxGrownQuiet, Math.max(maxQuiet, longest * quietGrowth))
  }
})
