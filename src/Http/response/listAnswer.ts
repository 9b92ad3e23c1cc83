/**
 * Answers that are lists of JSON texts.
 *
 * A small list is one text. A larger one is kept in pieces, as bytes outside of the heap, and written as fast as its
 * caller takes it; its bytes are reserved before they are there. A caller who takes none of a piece for ten seconds is
 * left.
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
  /** Adds an item, unless the list would get larger than it may be: larger than `small`, until it is reserved. */
  readonly add: (item: string) => "added" | "large" | "too large"
  /** Reserves what the list may take at most. */
  readonly reserve: Effect.Effect<void, ServiceUnavailable>
  /** The answer, `members` and a closing brace behind the items; the list is not used any more. */
  readonly finish: (members: string, headers?: Headers) => HttpServerResponse.HttpServerResponse
}

type Headers = { readonly [name: string]: string }

/** @internal */
export interface ListAnswers {
  /** A list of so many bytes at most; one item is always let in. Defaults to as many as there are. */
  readonly begin: (maxBytes?: number) => ListAnswer
}

/** @internal */
export const makeListAnswers = (budget: AnswerBudget, maxPageBytes: number): ListAnswers => ({
  begin: (maxBytes = Infinity) => beginList(budget, maxBytes, Math.min(maxBytes, maxPageBytes))
})

/**
 * Adds the items of a list, which is reserved when it turns out to be large. `false` when they are too many.
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

// What is not larger is answered as one text, and costs nothing more.
const maxSmallLength = 256 * 1024

// What a caller has to take in so much time.
const chunkLength = 64 * 1024
const chunkTimeout = "10 seconds"

const beginList = (budget: AnswerBudget, maxBytes: number, reservedBytes: number): ListAnswer => {
  const chunks: Array<Uint8Array> = []
  let reservation: Reservation | undefined
  let bytes = 0
  let text = head
  let isEmpty = true
  const flush = (): void => {
    const chunk = Buffer.from(text)
    chunks.push(chunk)
    bytes += chunk.length
    text = ""
  }
  return {
    add: (item) => {
      const length = bytes + text.length + item.length
      if (length > maxSmallLength) {
        if (length > maxBytes && !isEmpty) return "too large"
        if (reservation === undefined) return "large"
      }
      text += isEmpty ? item : `,${item}`
      isEmpty = false
      if (reservation !== undefined && text.length > chunkLength) flush()
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
      return HttpServerResponse.stream(
        streamChunks(chunks, reservation),
        headers === undefined ? body : { ...body, headers }
      )
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
      if (written > maxSmallLength) {
        written = 0
        yield* Effect.yieldNow
      }
    }
    return true
  })

/** The pieces as they are taken; what is taken is not held any more. */
const streamChunks = (chunks: Array<Uint8Array>, reservation: Reservation): Stream.Stream<Uint8Array> =>
  Stream.unwrap(Effect.withFiber((fiber) => {
    let remaining = chunks.reduce((sum, { length }) => sum + length, 0)
    const pending = chunks.toReversed()
    chunks.length = 0
    // Who writes the body waits for the caller, and is told to stop.
    const watch = Effect.suspend(() => {
      const previous = remaining
      return Effect.andThen(Effect.sleep(chunkTimeout), Effect.sync(() => previous === remaining))
    }).pipe(Effect.repeat({ until: (isStuck) => isStuck }), Effect.andThen(Effect.sync(() => fiber.interruptUnsafe())))
    const next = Effect.suspend(() => {
      const chunk = pending.pop()
      if (chunk === undefined) return Cause.done()
      const part = chunk.subarray(0, chunkLength)
      if (part.length < chunk.length) pending.push(chunk.subarray(part.length))
      reservation.resize(remaining)
      remaining -= part.length
      return Effect.succeed<readonly [Uint8Array]>([part])
    })
    return Effect.as(Effect.forkScoped(watch), Stream.fromPull(Effect.succeed(next)))
  }))
