/** Serves generated files, such as the OpenAPI document and its pages, with an ETag, and compressed. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import Negotiator from "negotiator"
import * as crypto from "node:crypto"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

/** A file that is served uncompressed, compressed, or as 304 if the client has it. */
export interface File {
  /** The hash of the content. */
  readonly hash: string
  readonly respond: (request: HttpServerRequest.HttpServerRequest) => HttpServerResponse.HttpServerResponse
}

/**
 * Prepares all responses once. `maxAge` is in seconds; without it, clients revalidate each time. `brotli` is the text compressed
 * before, which takes long.
 */
export const make = (
  text: string,
  { brotli, contentType, headers, maxAge }: {
    readonly contentType: string
    readonly brotli?: Uint8Array | undefined
    readonly maxAge?: number
    readonly headers?: { readonly [name: string]: string }
  }
): Effect.Effect<File> => {
  const plain = Buffer.from(text)
  const hash = crypto.hash("sha256", plain).slice(0, 16)
  // Weak (RFC 9110, section 8.8.1), since the compressed form has the same tag.
  const etag = `W/"${hash}"`
  const all = {
    etag,
    vary: "accept-encoding",
    "cache-control": maxAge === undefined ? "no-cache" : `public, max-age=${maxAge}, immutable`,
    "x-content-type-options": "nosniff",
    ...headers
  }
  const unchanged = HttpServerResponse.empty({ status: 304, headers: all })
  const whole = HttpServerResponse.uint8Array(plain, { contentType, headers: all })
  const compressed = (bytes: Uint8Array, encoding: string) =>
    HttpServerResponse.uint8Array(bytes, { contentType, headers: { ...all, "content-encoding": encoding } })
  return Effect.map(Effect.promise(() => compress(plain)), (bytes) => {
    const forms = new Map([["gzip", compressed(bytes, "gzip")]])
    if (brotli !== undefined) forms.set("br", compressed(brotli, "br"))
    return {
      hash,
      respond: ({ headers }) =>
        (headers["if-none-match"] ?? "").includes(`"${hash}"`)
          ? unchanged
          : forms.get(encodingFor(headers["accept-encoding"], forms.has("br"))) ?? whole
    }
  })
}

/** Responds with a file that is built at the first request. */
export const respondWith = (
  file: Effect.Effect<File>
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return Effect.map(file, ({ respond }) => respond(request))
  })

const compress = promisify(gzip)

/** Brotli where there is some and it is taken, since it is smaller; else what the client prefers. */
const encodingFor = (encodings: string | undefined, hasBrotli: boolean): string => {
  const taken = new Negotiator({ headers: { "accept-encoding": encodings } }).encodings(["br", "gzip", "identity"])
  return hasBrotli && taken.includes("br") ? "br" : taken.find((encoding) => encoding !== "br") ?? "identity"
}
