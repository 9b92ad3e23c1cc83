/**
 * List responses, assembled from JSON texts.
 *
 * A small list is sent as one text. A larger one is stored in chunks outside of the heap and streamed at the client's
 * speed; its bytes are reserved first. The connection of a client that takes no chunk for ten seconds is dropped.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { ServiceUnavailable } from "../HttpError.ts"
import type { AnswerBudget, Reservation } from "./answerBudget.ts"
import * as answers from "./json.ts"

/**
 * A list that is being written.
 *
 * @internal
 */
export interface ListAnswer {
  /** Adds an item unless the list would exceed its maximum, or the size of a small list while it is not reserved. */
  readonly add: (item: string) => "added" | "large" | "too large"
  /** Reserves the maximum size of the list. */
  readonly reserve: Effect.Effect<void, ServiceUnavailable>
  /** The response, with `members` and a closing brace after the items. The list can't be used afterwards. */
  readonly finish: (members: string, headers?: Headers) => HttpServerResponse.HttpServerResponse
}

type Headers = { readonly [name: string]: string }

/** @internal */
export interface ListAnswers {
  /** A list with a maximum number of bytes, which the first item may exceed. Defaults to no limit. */
  readonly begin: (maxBytes?: number) => ListAnswer
}

/** @internal */
export const makeListAnswers = (budget: AnswerBudget, maxPageBytes: number): ListAnswers => ({
  begin: (maxBytes = Infinity) => begin(budget, maxBytes, Math.min(maxBytes, maxPageBytes))
})

/**
 * Adds the items of a list and reserves its bytes if it becomes large. Returns `false` if the items exceed the maximum.
 *
 * @internal
 */
export const addAll = <A, E, R>(
  list: ListAnswer,
  items: ReadonlyArray<A>,
  write: (item: A) => Effect.Effect<string, E, R>
): Effect.Effect<boolean, E | ServiceUnavailable, R> => addFrom(list, items, write, 0)

// internal

const head = "{\"_type\":\"list\",\"_items\":["

// Lists up to this size are sent as one text and need no reservation.
const smallLength = 256 * 1024

// The chunk that a client has to take within the timeout.
const pieceLength = 64 * 1024
const piecePatience = "10 seconds"

const begin = (budget: AnswerBudget, maxBytes: number, reservedBytes: number): ListAnswer => {
  const pieces: Array<Uint8Array> = []
  let reservation: Reservation | undefined
  let bytes = 0
  let text = head
  let isEmpty = true
  const flush = (): void => {
    const piece = Buffer.from(text)
    pieces.push(piece)
    bytes += piece.length
    text = ""
  }
  return {
    add: (item) => {
      const length = bytes + text.length + item.length
      if (length > smallLength) {
        if (length > maxBytes && !isEmpty) return "too large"
        if (reservation === undefined) return "large"
      }
      text += isEmpty ? item : `,${item}`
      isEmpty = false
      if (reservation !== undefined && text.length > pieceLength) flush()
      return "added"
    },
    reserve: Effect.map(budget.reserve(reservedBytes), (reserved) => {
      reservation = reserved
    }),
    finish: (members, headers) => {
      text += `],${members}}`
      if (reservation === undefined) return answers.json(text, 200, headers)
      flush()
      reservation.resize(bytes)
      const body = { contentType: "application/json", contentLength: bytes }
      return HttpServerResponse.stream(taken(pieces, reservation), headers === undefined ? body : { ...body, headers })
    }
  }
}

const addFrom = <A, E, R>(
  list: ListAnswer,
  items: ReadonlyArray<A>,
  write: (item: A) => Effect.Effect<string, E, R>,
  start: number
): Effect.Effect<boolean, E | ServiceUnavailable, R> =>
  Effect.gen(function*() {
    let written = 0
    for (let i = start; i < items.length; i++) {
      const item = yield* write(items[i]!)
      let added = list.add(item)
      if (added === "large") {
        yield* list.reserve
        added = list.add(item)
      }
      if (added !== "added") return false
      written += item.length
      if (written > smallLength) {
        written = 0
        yield* Effect.yieldNow
      }
    }
    return true
  })

/** Streams the chunks and releases the bytes of each one that the client has taken. */
const taken = (pieces: Array<Uint8Array>, reservation: Reservation): Stream.Stream<Uint8Array> =>
  Stream.unwrap(Effect.withFiber((fiber) => {
    let left = pieces.reduce((sum, { length }) => sum + length, 0)
    const waiting = pieces.toReversed()
    pieces.length = 0
    // The fiber that writes the body waits for the client, so another fiber interrupts it.
    const watch = Effect.suspend(() => {
      const before = left
      return Effect.andThen(Effect.sleep(piecePatience), Effect.sync(() => before === left))
    }).pipe(Effect.repeat({ until: (isStuck) => isStuck }), Effect.andThen(Effect.sync(() => fiber.interruptUnsafe())))
    const next = Effect.suspend(() => {
      const piece = waiting.pop()
      if (piece === undefined) return Cause.done()
      const part = piece.subarray(0, pieceLength)
      if (part.length < piece.length) waiting.push(piece.subarray(part.length))
      reservation.resize(left)
      left -= part.length
      return Effect.succeed<readonly [Uint8Array]>([part])
    })
    return Effect.as(Effect.forkScoped(watch), Stream.fromPull(Effect.succeed(next)))
  }))
