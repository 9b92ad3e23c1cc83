/**
 * Files in a bucket of S3, or of another service with its API. The object of an identifier has its name, below a prefix, and is written
 * at once, or in parts if it is long. An object below `holds/` is a hold, with the time at which its process renewed it.
 */
import { AwsClient } from "aws4fetch"
import * as ByteSize from "effect/ByteSize"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { FileMissing, FileStoreFailed } from "../port/errors.ts"
import type { S3Options } from "../port/s3Options.ts"
import type { Entry, Range, Service } from "../port/service.ts"
import { isForgotten, isIdentifier, newIdentifier, putting, staleAfter } from "./contents.ts"

export const makeS3Files = (
  {
    accessKeyId,
    bucket,
    endpoint,
    isPathStyle = true,
    partSize: givenSize = "8 MiB",
    prefix = "",
    region = "us-east-1",
    secretAccessKey,
    sessionToken
  }: S3Options
): Service => {
  const partSize = Number(ByteSize.fromInputUnsafe(givenSize))
  const client = new AwsClient({
    accessKeyId: Redacted.value(accessKeyId),
    secretAccessKey: Redacted.value(secretAccessKey),
    ...sessionToken === undefined ? {} : { sessionToken: Redacted.value(sessionToken) },
    service: "s3",
    region,
    retries: 3
  })
  const base = new URL(endpoint)
  if (isPathStyle) base.pathname = `${base.pathname.replace(/\/$/u, "")}/${bucket}`
  else base.hostname = `${bucket}.${base.hostname}`
  const root = base.href.replace(/\/$/u, "")
  // What an endpoint does not know it refuses once.
  let knowsConditions = true

  /** Sends a request. Only a status that `isExpected` takes is a success. */
  const send = (
    operation: string,
    method: string,
    path: string,
    { body, headers, isExpected = isSuccess }: {
      readonly body?: Buffer<ArrayBuffer> | string
      readonly headers?: Record<string, string>
      readonly isExpected?: (status: number) => boolean
    } = {}
  ): Effect.Effect<Response, FileStoreFailed> =>
    Effect.tryPromise({
      try: (signal) =>
        client.fetch(`${root}${path}`, {
          method,
          signal,
          headers: { ...headers, "x-amz-content-sha256": createHash("sha256").update(body ?? "").digest("hex") },
          ...body === undefined ? {} : { body }
        }),
      catch: (cause) => failed(operation, cause)
    }).pipe(
      Effect.flatMap((response) =>
        isExpected(response.status) ?
          Effect.succeed(response) :
          Effect.flatMap(textOf(operation, response), (text) => {
            const { status } = response
            const code = valueOf(text, "Code") ?? ""
            return Effect.fail(
              new FileStoreFailed({
                operation,
                detail: `${status} ${code}`.trim(),
                retryable: status >= 500 || status === 429 || passingCodes.has(code)
              })
            )
          })
      )
    )

  const pathOf = (name: string) => `/${(prefix + name).split("/").map(encodeURIComponent).join("/")}`

  /** Ends a write, which takes no name that another one has, where the endpoint knows how. */
  const conclude = (
    method: string,
    path: string,
    body: Buffer<ArrayBuffer> | string
  ): Effect.Effect<Response, FileStoreFailed> => {
    const isConditional = knowsConditions
    return Effect.flatMap(
      send("put", method, path, {
        body,
        headers: isConditional ? { "if-none-match": "*" } : {},
        isExpected: (status) => isSuccess(status) || isConditional && status === 501
      }),
      (response) => {
        if (response.status !== 501) return Effect.succeed(response)
        knowsConditions = false
        return conclude(method, path, body)
      }
    )
  }

  const begun = (path: string) =>
    Effect.map(
      Effect.flatMap(send("put", "POST", `${path}?uploads=`), (response) => textOf("put", response)),
      (text) => encodeURIComponent(valueOf(text, "UploadId") ?? "")
    )

  const completed = Effect.fnUntraced(function*(path: string, upload: string, tags: ReadonlyArray<string>) {
    const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag}</ETag></Part>`).join("")
    const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`
    const answer = yield* conclude("POST", `${path}?uploadId=${upload}`, body)
    // It begins before the parts are put together, so that its status says nothing.
    const code = valueOf(yield* textOf("put", answer), "Code")
    if (code !== undefined) return yield* new FileStoreFailed({ operation: "put", detail: code, retryable: true })
  })

  const aborted = (path: string, upload: string) =>
    send("remove", "DELETE", `${path}?uploadId=${upload}`, { isExpected: isGoneOrSuccess })

  const write = <E, R>(id: string, content: Stream.Stream<Uint8Array, E, R>) =>
    Effect.suspend(() => {
      const path = pathOf(id)
      const tags: Array<string> = []
      const hash = createHash("sha256")
      let upload: string | undefined
      /** An answer may be lost, and the request that is sent again then finds what it has written itself. */
      const unlessWritten = (written: Effect.Effect<void, FileStoreFailed>) =>
        Effect.catchTag(written, "FileStoreFailed", (failure) =>
          /^(?:412|404 NoSuchUpload)/u.test(failure.detail)
            ? Effect.flatMap(
              Effect.option(digestOf(id)),
              (found) => Option.contains(found, hash.copy().digest("hex")) ? Effect.void : Effect.fail(failure)
            )
            : Effect.fail(failure))
      const writePart = Effect.fnUntraced(function*(body: Buffer<ArrayBuffer>, isLast: boolean) {
        hash.update(body)
        if (isLast && upload === undefined) return yield* unlessWritten(Effect.asVoid(conclude("PUT", path, body)))
        upload ??= yield* begun(path)
        const { headers } = yield* send("put", "PUT", `${path}?partNumber=${tags.length + 1}&uploadId=${upload}`, {
          body
        })
        tags.push(headers.get("etag") ?? "")
        if (isLast) yield* unlessWritten(completed(path, upload, tags))
      })
      return Effect.onError(
        inParts(content, partSize, writePart),
        // What an object may have become of is in `entries`; one of another content stays.
        () => upload === undefined ? Effect.void : Effect.ignore(aborted(path, upload))
      )
    })

  /** The objects, or the uploads, whose names begin with this. */
  const listed = (what: "Contents" | "Upload", name: string): Stream.Stream<Listed, FileStoreFailed> =>
    Stream.paginate("", (after) =>
      Effect.gen(function*() {
        const start = encodeURIComponent(prefix + name)
        const path = what === "Contents" ? `/?list-type=2&prefix=${start}` : `/?uploads=&prefix=${start}`
        const text = yield* Effect.flatMap(send("entries", "GET", path + after), (response) =>
          textOf("entries", response))
        const next = what === "Contents"
          ? ["continuation-token", "NextContinuationToken"] as const
          : ["key-marker", "NextKeyMarker"] as const
        const token = valueOf(text, "IsTruncated") === "true" ? valueOf(text, next[1]) : undefined
        const found = elementsOf(text, what).map((one) => ({
          name: (valueOf(one, "Key") ?? "").slice(prefix.length),
          size: Number(valueOf(one, "Size") ?? 0),
          modified: DateTime.makeUnsafe(valueOf(one, "LastModified") ?? valueOf(one, "Initiated") ?? 0),
          upload: encodeURIComponent(valueOf(one, "UploadId") ?? "")
        }))
        return [
          found,
          Option.map(Option.fromUndefinedOr(token), (value) =>
            `&${next[0]}=${encodeURIComponent(value)}`)
        ]
      }))

  /** When the last part of an upload came, and how much has come. */
  const inProgress = (one: Listed): Effect.Effect<Listed, FileStoreFailed> => {
    const path = `${pathOf(one.name)}?uploadId=${one.upload}&part-number-marker=`
    const page = (after: string, before: Listed): Effect.Effect<Listed, FileStoreFailed> =>
      Effect.gen(function*() {
        const response = yield* send("entries", "GET", path + after, { isExpected: isGoneOrSuccess })
        const text = response.status === 404 ? "" : yield* textOf("entries", response)
        let { modified, size } = before
        for (const part of elementsOf(text, "Part")) {
          size += Number(valueOf(part, "Size") ?? 0)
          modified = DateTime.max(modified, DateTime.makeUnsafe(valueOf(part, "LastModified") ?? 0))
        }
        const next = valueOf(text, "IsTruncated") === "true" ? valueOf(text, "NextPartNumberMarker") : undefined
        const found = { ...before, modified, size }
        return next === undefined ? found : yield* page(encodeURIComponent(next), found)
      })
    return page("0", one)
  }

  const removed = (id: string) =>
    Effect.andThen(
      send("remove", "DELETE", pathOf(id), { isExpected: isGoneOrSuccess }),
      Stream.runForEach(listed("Upload", id), ({ name, upload }) => aborted(pathOf(name), upload))
    )

  const hold = Effect.fnUntraced(function*(id: string) {
    const path = pathOf(`holds/${id}`)
    const renewed = Effect.flatMap(
      DateTime.now,
      (now) => send("hold", "PUT", path, { body: String(now.epochMilliseconds) })
    )
    yield* Effect.acquireRelease(renewed, () => Effect.ignore(send("hold", "DELETE", path)))
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(renewed), Schedule.spaced(Duration.times(staleAfter, 1 / 12))))
  })

  const isFresh = Effect.fnUntraced(function*(name: string) {
    const text = yield* Effect.flatMap(
      send("hold", "GET", pathOf(name), { isExpected: isGoneOrSuccess }),
      (response) => textOf("hold", response)
    )
    const now = yield* DateTime.now
    if (isForgotten(DateTime.makeUnsafe(Number(text) || 0), now)) {
      yield* send("hold", "DELETE", pathOf(name), { isExpected: isGoneOrSuccess })
    }
    return Number(text) > now.epochMilliseconds - Duration.toMillis(staleAfter)
  })

  const found = Effect.fnUntraced(function*(method: "GET" | "HEAD", id: string, range?: Range) {
    if (!isIdentifier(id)) return yield* new FileMissing({ id })
    const headers = range === undefined ? {} : { range: `bytes=${range.offset}-${lastOf(range)}` }
    const response = yield* send(method === "GET" ? "read" : "stat", method, pathOf(id), {
      headers,
      isExpected: (status) => isGoneOrSuccess(status) || status === 416
    })
    return response.status === 404 ? yield* new FileMissing({ id }) : response
  })

  /** The checksum of the bytes that are there. */
  const digestOf = (id: string) =>
    Effect.suspend(() => {
      const hash = createHash("sha256")
      return Effect.as(
        Stream.runForEach(readAll(id), (piece) => Effect.sync(() => hash.update(piece))),
        hash
      )
    }).pipe(Effect.map((hash) => hash.digest("hex")))

  const readAll = (id: string) => Stream.unwrap(Effect.map(found("GET", id), bodyOf))

  const stat = (id: string) =>
    Effect.map(found("HEAD", id), ({ headers }) => ({
      size: Number(headers.get("content-length")),
      modified: DateTime.makeUnsafe(headers.get("last-modified") ?? 0)
    }))

  return {
    description: `files in the bucket ${bucket} of ${base.host}`,
    put: putting(write),
    read: (id, range) =>
      Stream.unwrap(
        range?.length === 0
          ? Effect.as(stat(id), Stream.empty)
          : Effect.map(found("GET", id, range), bodyOf)
      ),
    stat,
    remove: (ids) => Effect.forEach(ids.filter(isIdentifier), removed, { concurrency: 8, discard: true }),
    entries: Stream.concat(
      listed("Contents", ""),
      // One that goes on is as young as its last part.
      Stream.mapEffect(listed("Upload", ""), (one) => isIdentifier(one.name) ? inProgress(one) : Effect.succeed(one))
    ).pipe(
      Stream.filter(({ name }) => isIdentifier(name)),
      Stream.map(({ modified, name, size }): Entry => ({ id: name, modified, size }))
    ),
    hold: Effect.flatMap(newIdentifier, hold),
    isHeld: Stream.runCollect(listed("Contents", "holds/")).pipe(
      Effect.flatMap((holds) => Effect.forEach(holds, ({ name }) => isFresh(name))),
      Effect.map((fresh) => fresh.includes(true))
    )
  }
}

// internal

interface Listed {
  readonly name: string
  readonly size: number
  readonly modified: DateTime.Utc
  readonly upload: string
}

/** Writes a content in parts of one size, one after the other; the last one, which there always is, may be smaller. They share their memory. */
const inParts = <E, R, E2>(
  content: Stream.Stream<Uint8Array, E, R>,
  partSize: number,
  write: (body: Buffer<ArrayBuffer>, isLast: boolean) => Effect.Effect<void, E2>
): Effect.Effect<void, E | E2, R> =>
  Effect.suspend(() => {
    let buffer = Buffer.alloc(0)
    let length = 0
    const add = Effect.fnUntraced(function*(piece: Uint8Array) {
      for (let at = 0; at < piece.length;) {
        // One that is full is the last one unless there is more.
        if (length === partSize) {
          yield* write(buffer, false)
          length = 0
        }
        const taken = Math.min(piece.length - at, partSize - length)
        if (length + taken > buffer.length) {
          const larger = Buffer.allocUnsafeSlow(Math.min(partSize, Math.max(length + taken, 2 * buffer.length)))
          buffer.copy(larger, 0, 0, length)
          buffer = larger
        }
        buffer.set(piece.subarray(at, at + taken), length)
        length += taken
        at += taken
      }
    })
    return Effect.andThen(
      Stream.runForEach(content, add),
      Effect.suspend(() => write(buffer.subarray(0, length), true))
    )
  })

/** The bytes of an answer; none where a range is behind the end. */
const bodyOf = (response: Response): Stream.Stream<Uint8Array, FileStoreFailed> => {
  const { body } = response
  return response.status === 416 || body === null
    ? Stream.empty
    : Stream.fromReadableStream({ evaluate: () => body, onError: (cause) => failed("read", cause) })
}

/** The codes below 500 after which the same request may succeed: of another write of the object, and of a body or a clock that was late. */
const passingCodes: ReadonlySet<string> = new Set([
  "ConditionalRequestConflict",
  "OperationAborted",
  "RequestTimeout",
  "RequestTimeTooSkewed"
])

const isSuccess = (status: number): boolean => status >= 200 && status < 300

const isGoneOrSuccess = (status: number): boolean => status === 404 || isSuccess(status)

/** The last byte of a range, as a header has it. */
const lastOf = ({ length, offset }: Range): string => Number.isFinite(length) ? String(offset + length - 1) : ""

/** What is in the elements of XML with this name, of those that S3 has: they have no attributes, and are not within each other. */
const elementsOf = (xml: string, element: string): ReadonlyArray<string> =>
  xml.split(`<${element}>`).slice(1).flatMap((rest) => {
    const end = rest.indexOf(`</${element}>`)
    return end === -1 ? [] : [rest.slice(0, end)]
  })

/** The text of the first element of XML with this name. */
const valueOf = (xml: string, element: string): string | undefined =>
  elementsOf(xml, element)[0]?.replace(
    /&(?:(amp|apos|gt|lt|quot)|#(\d{1,7})|#x([\da-f]{1,6}));/giu,
    (reference, named = "", decimal = "", hexadecimal = "") => {
      const code = hexadecimal === "" ? Number(decimal) : Number(`0x${hexadecimal}`)
      return named !== "" ? entities.get(named) ?? reference : code > 0x10ffff ? reference : String.fromCodePoint(code)
    }
  )

const entities: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["apos", "'"],
  ["gt", ">"],
  ["lt", "<"],
  ["quot", "\""]
])

const failed = (operation: string, cause: unknown): FileStoreFailed => {
  const reason: unknown = Predicate.hasProperty(cause, "cause") ? cause.cause : cause
  return new FileStoreFailed({ operation, detail: String(reason), retryable: true })
}

const textOf = (operation: string, response: Response): Effect.Effect<string, FileStoreFailed> =>
  Effect.tryPromise({ try: () => response.text(), catch: (cause) => failed(operation, cause) })
