/** Resumable uploads of files by tus 1.0.0 (<https://tus.io/protocols/resumable-upload>), with creation, expiration and termination. */
import { currentUserIdOf, monotonicMillis } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { withPiecesOf } from "../../internal/ownPieces.ts"
import type { Part, Room, Unfinished, UnfinishedUploads } from "../../Repository/internal.ts"
import { headSize } from "../files/contentTypes.ts"
import { unavailable } from "../files/received.ts"
import type { Received, Uploads } from "../files/uploads.ts"
import { errorOf, type HttpError } from "../HttpError.ts"
import { mediaTypeOf, refusedType } from "../request/body.ts"
import { readRaw } from "../request/rawBody.ts"
import { pathOfRequest } from "../request/requestPath.ts"
import type { HandlerFailure, ResponseEffect } from "../response/handlerFailures.ts"
import type { BadRequestResponder } from "../response/translatedResponses.ts"
import { headersOf, type RequestFiber } from "../routes/route.ts"

/** The headers of every answer. */
export const tusHeaders = { "tus-resumable": "1.0.0", "tus-version": "1.0.0" }

/** What `OPTIONS` tells of the uploads of a field. */
export const tusOptions = (maxSize: number): { readonly [name: string]: string } => ({
  ...tusHeaders,
  "tus-extension": "creation,expiration,termination",
  "tus-max-size": String(maxSize)
})

/** The type of the body of a `PATCH`. */
export const tusType = "application/offset+octet-stream"

type Request = HttpServerRequest.HttpServerRequest

/** The handlers of the uploads of one field. `Asked` is what a write of the file asks for. */
export const resumableHandlers = <Asked>(
  { allowed, field, respondBadRequest, unfinished, uploads, written }: {
    readonly field: string
    readonly uploads: Uploads
    readonly unfinished: UnfinishedUploads
    readonly respondBadRequest: BadRequestResponder
    /** Uses a request of a caller who may write the file. */
    readonly allowed: (
      use: (asked: Asked, request: Request, room: Room | undefined) => ResponseEffect
    ) => ResponseEffect
    /** Writes the document with the file. */
    readonly written: (asked: Asked, upload: Received) => ResponseEffect
  }
) => {
  /** The uploads of which files are being made. */
  const finishing = new Set<string>()

  /** Uses a request that speaks the protocol. */
  const speaking = (
    use: (asked: Asked, request: Request, room: Room | undefined, fiber: RequestFiber) => ResponseEffect
  ): ResponseEffect =>
    allowed((asked, request, room) =>
      headersOf(request)["tus-resumable"] === "1.0.0"
        ? Effect.withFiber((fiber) => use(asked, request, room, fiber))
        : Effect.fail(errorOf("PreconditionFailed", "errors.UploadProtocol"))
    )

  /** Uses the upload of an address. Others than the one who began it don't find it. */
  const withUpload = (
    use: (upload: Unfinished, asked: Asked, request: Request, room: Room | undefined) => ResponseEffect
  ): ResponseEffect =>
    speaking((asked, request, room, fiber) => {
      const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
      const path = pathOfRequest(request)
      return Effect.flatMap(unfinished.find(params["upload"] ?? ""), (upload) =>
        upload === undefined || upload.address !== path.slice(0, path.lastIndexOf("/")) ||
          upload.by !== currentUserIdOf(fiber)
          ? Effect.fail(errorOf("NotFound", "errors.Route", { path }))
          : use(upload, asked, request, room))
    })

  /** Another request has been faster, or has ended the upload. */
  const overtaken = (upload: Unfinished): Effect.Effect<never, HandlerFailure> =>
    Effect.flatMap(unfinished.find(upload.id), (found) =>
      found === undefined
        ? Effect.fail(errorOf("NotFound", "errors.Route", { path: `${upload.address}/${upload.id}` }))
        : elsewhere(upload))

  /** Makes the file of an upload that has all of its parts, and writes the document with it: once, however often this is asked for. */
  const finish = Effect.fnUntraced(function*(
    upload: Unfinished,
    asked: Asked,
    room: Room | undefined
  ): Effect.fn.Return<HttpServerResponse.HttpServerResponse, HandlerFailure> {
    const { id, length, name, type } = upload
    const done = (more?: { readonly [name: string]: string }) => respond({ ...upload, offset: length }, 204, more)
    const before = yield* unfinished.became(id)
    // A process that was killed, or whose client went, has written it.
    if (before?.isWritten === true) {
      yield* unfinished.finish(upload)
      return done()
    }
    // Its parts are gone once it is ended.
    if ((yield* unfinished.find(id)) === undefined) return yield* overtaken(upload)
    const content = unfinished.read(upload).pipe(
      Stream.catchTags({
        FileMissing: () => Stream.fail(errorOf("BadRequest", "errors.BodyUnreadable")),
        FileStoreFailed: (error) => Stream.fromEffect(unavailable(error))
      })
    )
    const received = yield* Effect.tapError(
      uploads.receive(field, { content, name, type, size: length, room }),
      (error) => isFinal(error) ? unfinished.remove(upload) : Effect.void
    )
    if (!(yield* unfinished.become(upload, received.file.id, before?.file))) {
      yield* uploads.discard([received])
      return yield* overtaken(upload)
    }
    // What another process has made of it since then keeps this file out of the document.
    const isMine = Effect.map(unfinished.became(id), (now) => now?.file === received.file.id)
    const response = yield* Effect.tapError(
      written(asked, received),
      () => Effect.flatMap(isMine, (mine) => mine ? Effect.void : overtaken(upload))
    )
    if (response.status >= 400) return (yield* isMine) ? response : yield* overtaken(upload)
    yield* unfinished.finish(upload)
    const { etag = "", location } = response.headers
    return done({ etag, ...location === undefined ? {} : { location } })
  })

  const finishedOnce = (upload: Unfinished, asked: Asked, room: Room | undefined): ResponseEffect =>
    Effect.suspend(() => {
      if (finishing.has(upload.id)) return elsewhere(upload)
      finishing.add(upload.id)
      return Effect.ensuring(finish(upload, asked, room), Effect.sync(() => finishing.delete(upload.id)))
    })

  const create = speaking((asked, request, room, fiber) => {
    const headers = headersOf(request)
    const length = numberIn(headers["upload-length"])
    const said = metadataIn(headers["upload-metadata"]?.toString())
    if (length === undefined) return respondBadRequest([noLength])
    if (said === undefined) return respondBadRequest([noMetadata])
    const { filename, filetype, name = filename, type = filetype } = said
    const announced = {
      address: pathOfRequest(request),
      by: currentUserIdOf(fiber),
      length,
      name,
      type: type === undefined ? undefined : mediaTypeOf(type)
    }
    const refused = uploads.refused(field, { size: length, type: announced.type, room })
    if (refused !== undefined) return Effect.fail(refused)
    return Effect.flatMap(unfinished.begin(announced), (upload) => {
      const created = { location: `${announced.address}/${upload.id}` }
      return length > 0
        ? Effect.succeed(respond(upload, 201, created))
        : Effect.map(
          finishedOnce(upload, asked, room),
          (response) => response.status >= 400 ? response : respond(upload, 201, created)
        )
    })
  })

  const head = withUpload((upload) => Effect.succeed(respond(upload, 200)))

  const remove = withUpload((upload) => Effect.as(unfinished.remove(upload), HttpServerResponse.empty({ status: 204 })))

  /** Keeps what comes, also when it ends too early, so that the client goes on from there. */
  const receive = Effect.fnUntraced(function*(
    begun: Unfinished,
    content: Stream.Stream<Uint8Array, HttpError>,
    asked: Asked,
    room: Room | undefined
  ): Effect.fn.Return<HttpServerResponse.HttpServerResponse, HandlerFailure, Scope.Scope> {
    const source = yield* sourceOf(content)
    let upload = begun
    while (yield* source.hasMore) {
      const { id, size } = yield* uploads.store.put(yield* source.segment).pipe(
        Effect.catchTags({ FileTooLarge: Effect.die, FileStoreFailed: unavailable })
      )
      const part: Part = { id, size }
      const whole = { ...upload, parts: [...upload.parts, part] }
      const isLast = upload.offset + size === upload.length
      if (upload.offset === 0 && (isLast || size >= headSize)) {
        const head = Stream.catchTags(uploads.store.read(id, { offset: 0, length: headSize }), {
          FileMissing: () => Stream.empty,
          FileStoreFailed: (error) => Stream.fromEffect(unavailable(error))
        })
        yield* Effect.tapError(
          Effect.flatMap(
            Stream.runCollect(head),
            (pieces) => uploads.checked(field, Buffer.concat(pieces), upload.type)
          ),
          (error) => isFinal(error) ? unfinished.remove(whole) : unfinished.discard([id])
        )
      }
      if (isLast) {
        const answered = finishedOnce(whole, asked, room)
        // It comes again.
        const discarded = unfinished.discard([id])
        return yield* Effect.tap(
          Effect.tapError(answered, () => discarded),
          ({ status }) => status >= 400 ? discarded : Effect.void
        )
      }
      if (upload.parts.length >= maxPartsOf(upload.length)) {
        yield* unfinished.discard([id])
        return yield* Effect.fail(tooManyParts(upload.length))
      }
      const next = yield* unfinished.append(upload, part)
      if (next === undefined) return yield* overtaken(upload)
      upload = next
    }
    const failure = source.failure()
    return failure === undefined ? respond(upload, 204) : yield* Effect.fail(failure)
  })

  const patch = withUpload((upload, asked, request, room) => {
    const headers = headersOf(request)
    const offset = numberIn(headers["upload-offset"])
    const refused = refusedType(headers, (type) => type === tusType, [tusType])
    if (refused !== undefined) return Effect.fail(refused)
    if (offset === undefined) return respondBadRequest([noOffset])
    if (offset !== upload.offset) return elsewhere(upload)
    if (offset === upload.length) return Effect.succeed(respond(upload, 204))
    return Effect.flatMap(
      readRaw(request, [], upload.length - offset, { isFile: true }),
      // A client that goes would interrupt what is to be kept.
      (content) => Effect.scoped(Effect.uninterruptible(receive(upload, content, asked, room)))
    )
  })

  /** For clients that can send no other methods. */
  const instead = speaking((_, request) => {
    const method = headersOf(request)["x-http-method-override"]
    return method === "PATCH" ? patch : method === "DELETE" ? remove : respondBadRequest([noMethod])
  })

  return { create, head, patch, remove, instead }
}

// internal

/** The bytes of a part, which a killed process loses at most, and which fit into one request to a bucket. */
const segmentSize = 8 * 1024 * 1024 - 256 * 1024

/** The parts of an upload of so many bytes. What is known of each is in one record, which every further one reads and writes. */
const maxPartsOf = (length: number): number => Math.max(10_000, 2 * Math.ceil(length / segmentSize))

const tooManyParts = (length: number): HttpError =>
  errorOf("PayloadTooLarge", "errors.UploadParts", { parts: maxPartsOf(length) })

/** The milliseconds after which a part ends that comes slowly. */
const segmentMillis = 10_000

/** Takes a content apart into segments. A failure ends it, and is told afterwards. */
const sourceOf = Effect.fnUntraced(function*(content: Stream.Stream<Uint8Array, HttpError>) {
  const pull = yield* Stream.toPull(content)
  const clock = yield* Clock.Clock
  let [waiting, isEnded]: [ReadonlyArray<Uint8Array>, boolean] = [[], false]
  let failure: HttpError | undefined
  const fetched: Effect.Effect<void> = Pull.matchEffect(pull, {
    onSuccess: (pieces) =>
      Effect.sync(() => {
        waiting = pieces
      }),
    onFailure: (cause) => {
      const reason = cause.reasons.find((one) => one._tag === "Fail")
      isEnded = true
      failure = reason === undefined ? errorOf("BadRequest", "errors.BodyUnreadable") : reason.error
      return Effect.void
    },
    onDone: () =>
      Effect.sync(() => {
        isEnded = true
      })
  })
  const hasMore: Effect.Effect<boolean> = Effect.suspend(() =>
    waiting.some(({ length }) => length > 0)
      ? Effect.succeed(true)
      : isEnded
      ? Effect.succeed(false)
      : Effect.flatMap(fetched, () => hasMore)
  )
  const segment = Effect.sync(() => {
    const until = monotonicMillis(clock) + segmentMillis
    return withPiecesOf(
      content,
      Stream.unfold(0, (size) =>
        size >= segmentSize || size > 0 && monotonicMillis(clock) > until
          ? Effect.undefined
          : Effect.map(hasMore, (isMore) => {
            if (!isMore) return undefined
            const pieces = waiting
            waiting = []
            const all = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
            return [all, size + all.length] as const
          }))
    )
  })
  return { hasMore, segment, failure: () => failure }
})

/** How far an upload is. */
const respond = (
  { expires, length, offset }: Unfinished,
  status: number,
  more: { readonly [name: string]: string } = {}
) =>
  HttpServerResponse.empty({
    status,
    headers: {
      "upload-offset": String(offset),
      "upload-length": String(length),
      "upload-expires": expires.toUTCString(),
      "cache-control": "no-store",
      ...more
    }
  })

/** Another request has brought bytes, or makes the file at the moment. */
const elsewhere = ({ offset }: Unfinished): Effect.Effect<never, HttpError> =>
  Effect.fail(errorOf("Conflict", "errors.UploadOffset", { offset }))

/** Whether no repetition makes it a file that the field takes. */
const isFinal = ({ _tag }: { readonly _tag: string }): boolean =>
  _tag === "UnsupportedMediaType" || _tag === "UnprocessableContent"

const numberIn = (header: string | ReadonlyArray<string> | undefined): number | undefined =>
  typeof header === "string" && /^\d{1,15}$/u.test(header) ? Number(header) : undefined

/** The metadata of an upload: names, each with a text in Base64. `undefined` for what is malformed. */
const metadataIn = (header: string | undefined): { readonly [name: string]: string | undefined } | undefined => {
  const entries: Array<readonly [string, string]> = []
  for (const pair of header === undefined || header.trim() === "" ? [] : header.split(",")) {
    const [, name, value = ""] = /^\s*([^\s,]+)(?: ([\w+/=-]*))?\s*$/u.exec(pair) ?? []
    if (name === undefined || entries.some(([other]) => other === name)) return undefined
    entries.push([name, Buffer.from(value, "base64").toString("utf8")])
  }
  return Object.fromEntries(entries)
}

const problemWith = (field: string, message: string) => ({ field, validator: "Header", message })

const noLength = problemWith("Upload-Length", "must be the number of bytes of the file")
const noOffset = problemWith("Upload-Offset", "must be the number of bytes that have come")
const noMetadata = problemWith("Upload-Metadata", "must be names with values in Base64")
const noMethod = problemWith("X-HTTP-Method-Override", "must be PATCH or DELETE")
