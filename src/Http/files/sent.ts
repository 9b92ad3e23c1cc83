/** Sends a file: whole, in one range or in several (RFC 9110, section 14), under the preconditions of the request. */
import { create } from "content-disposition"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { combineRanges, parse } from "range-parser"
import { type FileMissing, FileStoreFailed, type Service } from "../../Files/FileStore.ts"
import { withPiecesOf } from "../../internal/ownPieces.ts"
import type { StoredFile } from "../../Model/internal.ts"
import type { HttpError } from "../HttpError.ts"
import { parseTags, strongly } from "../request/entityTags.ts"
import * as preconditions from "../request/preconditions.ts"
import { begun } from "../response/begun.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import type { BadRequestResponder } from "../response/translatedResponses.ts"
import { sentAs } from "./contentTypes.ts"
import { unavailable } from "./received.ts"
import { releasingPieces } from "./releasing.ts"

/** The entity tag of a file: that of its bytes. */
export const fileTagOf = ({ sha256 }: Pick<StoredFile, "sha256">): string => `"${sha256}"`

/** The response to a `GET` or a `HEAD` of a file. It fails where the bytes can't be read, before it has a status. */
export const sent = (
  files: Service,
  file: StoredFile,
  headers: IncomingHttpHeaders,
  method: string,
  respondBadRequest: BadRequestResponder,
  /** The time, in milliseconds. */
  now: number
): Effect.Effect<HttpServerResponse.HttpServerResponse, HandlerFailure | FileMissing> => {
  const { at, id, name, size, type } = file
  const { disposition, type: contentType } = sentAs(type)
  const etag = fileTagOf(file)
  const modified = preconditions.lastModifiedOf(DateTime.toDateUtc(at), now)
  const own = {
    etag,
    ...modified === undefined ? {} : { "last-modified": modified },
    "accept-ranges": "bytes",
    "content-disposition": create(name, { type: disposition }),
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-site",
    // Ranges and the checksum are those of the bytes as they are.
    "content-encoding": "identity"
  }
  const conditions = preconditions.read(headers)
  if (Result.isFailure(conditions)) return respondBadRequest(conditions.failure)
  const evaluated = preconditions.evaluate(conditions.success, etag)
  if (evaluated === "failed" || preconditions.isModifiedSince(headers, DateTime.toEpochMillis(at))) {
    return Effect.fail(preconditions.failed)
  }
  if (evaluated === "not modified" || preconditions.isNotModifiedSince(headers, modified, now)) {
    return Effect.succeed(HttpServerResponse.empty({ status: 304, headers: own }))
  }
  const respond = (status: number, bytes: Bytes | Uint8Array, contentLength: number, more: object) => {
    const options = { status, headers: { ...own, "content-type": contentType, ...more } }
    if (bytes instanceof Uint8Array) return Effect.succeed(HttpServerResponse.uint8Array(bytes, options))
    return Effect.withFiber<HttpServerResponse.HttpServerResponse>(({ context }) => {
      HttpEffect.appendPreResponseHandlerUnsafe(context, releasingPieces)
      return Effect.succeed(HttpServerResponse.stream(bytes, { ...options, contentLength }))
    })
  }
  const asked = method === "GET" && isCurrent(headers["if-range"]?.toString(), etag, modified)
    ? rangesOf(headers.range, size)
    : undefined
  if (asked === "unsatisfiable") {
    return Effect.succeed(
      HttpServerResponse.empty({ status: 416, headers: { ...own, "content-range": `bytes */${size}` } })
    )
  }
  const [first, ...others] = asked ?? []
  const bytes = (range: Range) => files.read(id, { offset: range.start, length: lengthOf(range) })
  /** What is short is read as a whole, which costs less than a stream. */
  const part = (range: Range): Effect.Effect<Bytes | Uint8Array, HttpError | FileMissing> =>
    lengthOf(range) > maxAtOnce ? opened(bytes(range)) : gathered(bytes(range), lengthOf(range))
  if (first === undefined) {
    return Effect.flatMap(
      method === "HEAD" || size === 0
        ? Effect.as(existing(files, id), Stream.empty)
        : part({ start: 0, end: size - 1 }),
      (bytes) => respond(200, bytes, size, {})
    )
  }
  const contentRange = ({ end, start }: Range) => `bytes ${start}-${end}/${size}`
  if (others.length === 0) {
    return Effect.flatMap(
      part(first),
      (bytes) => respond(206, bytes, lengthOf(first), { "content-range": contentRange(first) })
    )
  }
  const boundary = randomBytes(16).toString("hex")
  const parts = [first, ...others].map((range) => ({
    range,
    head: Buffer.from(
      `\r\n--${boundary}\r\ncontent-type: ${contentType}\r\ncontent-range: ${contentRange(range)}\r\n\r\n`
    )
  }))
  const end = Buffer.from(`\r\n--${boundary}--\r\n`)
  return Effect.flatMap(opened(bytes(first)), (part) =>
    respond(
      206,
      Stream.concat(
        Stream.flatMap(
          Stream.fromArray(parts),
          ({ head, range }) => Stream.concat(Stream.succeed(head), range === first ? part : bytes(range))
        ),
        Stream.succeed(end)
      ),
      parts.reduce((sum, { head, range }) => sum + head.length + lengthOf(range), end.length),
      { "content-type": `multipart/byteranges; boundary=${boundary}` }
    ))
}

// internal

type Bytes = Stream.Stream<Uint8Array, unknown>

type StoredBytes = Stream.Stream<Uint8Array, FileMissing | FileStoreFailed>

/** The most bytes that are read before the response begins. */
const maxAtOnce = 65_536

/** All of the bytes. */
const gathered = (bytes: StoredBytes, length: number): Effect.Effect<Uint8Array, HttpError | FileMissing> =>
  Stream.runCollect(bytes).pipe(
    Effect.flatMap((pieces) => {
      const [whole = empty, ...more] = pieces
      const read = more.length === 0 ? whole : Buffer.concat(pieces)
      const detail = `it has ${read.length} bytes where ${length} were written`
      return read.length === length
        ? Effect.succeed(read)
        : Effect.fail(new FileStoreFailed({ operation: "read", detail, retryable: false }))
    }),
    Effect.catchTag("FileStoreFailed", unavailable)
  )

const empty = new Uint8Array()

/** The same bytes, once the first of them are read. The scope of the request closes what they are read from. */
const opened = (bytes: StoredBytes): Effect.Effect<Bytes, HttpError | FileMissing> =>
  Effect.withFiber(({ context }) =>
    Scope.provide(Stream.toPull(bytes), Context.getUnsafe(context, Scope.Scope)).pipe(
      Effect.flatMap((pull) => begun(pull)),
      Effect.map((pull) => withPiecesOf(bytes, Stream.fromPull(Effect.succeed(pull)))),
      Effect.catchTag("FileStoreFailed", unavailable)
    )
  )

const existing = (files: Service, id: string) => Effect.catchTag(files.stat(id), "FileStoreFailed", unavailable)

interface Range {
  readonly start: number
  readonly end: number
}

const lengthOf = ({ end, start }: Range): number => end - start + 1

const maxRanges = 32

/** The flag of a header with a range that can't be read. */
const malformed = 1

/** The ranges that a request asks for; `undefined` for the whole file, as for a header that is no list of ranges of bytes. */
const rangesOf = (
  header: string | undefined,
  size: number
): ReadonlyArray<Range> | "unsatisfiable" | undefined => {
  if (header === undefined || !/^bytes=[\d,\s-]+$/u.test(header) || header.split(",").length > maxRanges) {
    return undefined
  }
  const { code, ranges } = parse(size, header)
  if ((code & malformed) !== 0) return undefined
  if (ranges.length === 0) return "unsatisfiable"
  const combined = combineRanges(ranges)
  // Ranges that are most of the file are no less than the file.
  return combined.length > 1 && combined.reduce((sum, { end, start }) => sum + end - start + 1 + 256, 0) > size + 4096
    ? undefined
    : combined
}

/** Whether the ranges are those of this file (RFC 9110, section 13.1.5). */
const isCurrent = (ifRange: string | undefined, etag: string, modified: string | undefined): boolean => {
  if (ifRange === undefined || ifRange === modified) return true
  const tags = parseTags(ifRange)
  return tags !== "any" && tags !== "malformed" && tags.length === 1 && strongly(tags, etag)
}
