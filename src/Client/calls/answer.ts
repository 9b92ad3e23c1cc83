/** Answers as their readers see them. The status decides what an answer is, before its body is read. */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { RequestHandlingException } from "../ClientError.ts"
import { decodedText } from "./bytes.ts"
import type { Decoded } from "./compression.ts"
import { rejected } from "./rejection.ts"
import type { RawAnswer, RawHeaders } from "./transport.ts"

/** An answer of 2xx. Its body is decompressed. */
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

export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** The answer, if its status is 2xx. */
export const accepted = (
  raw: RawAnswer,
  body: Decoded,
  upstream: string,
  maxBytes: number
): Effect.Effect<Answer, RequestHandlingException> => {
  const answer = new Received(raw, body, maxBytes)
  return isSuccess(raw.status)
    ? Effect.succeed(answer)
    : Effect.flatMap(
      errorBody(body, maxBytes),
      (bytes) => rejected(raw, bytes && decodedText(bytes, raw.headers["content-type"]), upstream)
    )
}

/** The body of an answer that is an error; `undefined` if it is late or too large, since the status says enough. */
export const errorBody = (body: Decoded, maxBytes: number): Effect.Effect<Uint8Array | undefined> =>
  Effect.timeoutOrElse(Effect.orElseSucceed(body.bytes(Math.min(maxBytes, maxErrorBytes)), () => undefined), {
    duration: maxErrorTime,
    orElse: () => Effect.undefined
  })

// internal

const maxErrorBytes = 1_048_576

const maxErrorTime = "5 seconds"

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
    return Effect.map(this.bytes, (bytes) => decodedText(bytes, this.headers["content-type"]))
  }

  get stream() {
    return this.#body.stream
  }
}
