/**
 * Answers as their readers see them. The status decides what an answer is, before its body is read.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { RequestHandlingException } from "../ClientError.ts"
import { textOf } from "./bytes.ts"
import type { Decoded } from "./compression.ts"
import { rejected } from "./rejection.ts"
import type { RawAnswer, RawHeaders } from "./transport.ts"

/**
 * An answer of 2xx. Its body is decompressed.
 *
 * @internal
 */
export interface Answer {
  readonly status: number
  /** By names in lower case. */
  readonly headers: RawHeaders
  /** The whole body. Fails with `InvalidAnswer` if it is larger than `maxResponseSize`. */
  readonly bytes: Effect.Effect<Uint8Array, RequestHandlingException>
  /** {@link bytes} as text. */
  readonly text: Effect.Effect<string, RequestHandlingException>
  /** The body in parts, once. It has no maximum. */
  readonly stream: Stream.Stream<Uint8Array, RequestHandlingException>
}

/** @internal */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/**
 * The answer, if its status is 2xx.
 *
 * @internal
 */
export const accepted = (
  raw: RawAnswer,
  body: Decoded,
  upstream: string,
  maxBytes: number
): Effect.Effect<Answer, RequestHandlingException> => {
  const answer = new Received(raw, body, maxBytes)
  return isSuccess(raw.status)
    ? Effect.succeed(answer)
    : Effect.flatMap(Effect.option(answer.text), (text) => rejected(raw, Option.getOrUndefined(text), upstream))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Nothing is made for the ways of reading that are not used. */
class Received implements Answer {
  readonly status: number
  readonly headers: RawHeaders
  readonly #body: Decoded
  readonly #maxBytes: number

  constructor(raw: RawAnswer, body: Decoded, maxBytes: number) {
    this.status = raw.status
    this.headers = raw.headers
    this.#body = body
    this.#maxBytes = maxBytes
  }

  get bytes() {
    return this.#body.bytes(this.#maxBytes)
  }

  get text() {
    return Effect.map(this.bytes, (bytes) => textOf(bytes, this.headers["content-type"]))
  }

  get stream() {
    return this.#body.stream
  }
}
