/** Reads `multipart/form-data` incrementally. Of files it keeps the sizes only. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as MultipartParser from "effect/http/MultipartParser"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { withPiecesOf } from "../../internal/ownPieces.ts"
import { errorOf } from "../HttpError.ts"
import { type BodyError, mediaTypeOf, refusedType, sendContinue } from "./body.ts"
import { piecesOf } from "./rawBody.ts"
import { goesOn } from "./uploading.ts"

/** A part of a form: a text, or a file's size. A browser sends a file without a name for an empty input. */
export type ReceivedPart =
  | { readonly _tag: "Text"; readonly name: string; readonly contentType: string; readonly bytes: Uint8Array }
  | { readonly _tag: "File"; readonly name: string; readonly size: number; readonly isChosen: boolean }
  /** A file that was received while the form was read. */
  | { readonly _tag: "Received"; readonly name: string }

/** A file in a form, while the form is read. */
interface FormFile {
  readonly name: string
  readonly filename: string
  readonly contentType: string
  readonly content: Stream.Stream<Uint8Array, BodyError>
}

/** Receives some of the files of a form. */
export interface FormFiles<E> {
  readonly takes: (name: string) => boolean
  readonly receive: (file: FormFile) => Effect.Effect<void, E>
}

export interface FormLimits {
  /** The maximum number of bytes of the body. */
  readonly maxMultipartSize: number
  /** The maximum number of bytes of one text. */
  readonly maxFieldSize: number
  readonly maxParts: number
}

export const isMultipart = (contentType: string | undefined): boolean =>
  contentType !== undefined && mediaTypeOf(contentType) === "multipart/form-data"

/**
 * Reads a `multipart/form-data` body (RFC 7578) into its parts, in order. Texts are held in memory within the limits,
 * and nothing is written to disk. A part with a file name is a text if its type is text or JSON.
 */
export const readMultipart = <E = never>(
  request: HttpServerRequest.HttpServerRequest,
  limits: FormLimits,
  files?: FormFiles<E>
): Effect.Effect<ReadonlyArray<ReceivedPart>, BodyError | E> => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const contentType = source.headers["content-type"] ?? ""
  const refused = refusedType(source.headers, (type) => type === "multipart/form-data", ["multipart/form-data"])
  if (refused !== undefined) return Effect.fail(refused)
  if (files === undefined && Number(source.headers["content-length"]) > limits.maxMultipartSize) {
    return Effect.fail(tooLarge(limits))
  }
  sendContinue(request)
  if (files !== undefined) goesOn(source)
  return files === undefined
    ? Effect.callback<ReadonlyArray<ReceivedPart>, BodyError>((resume) => {
      const reader = makeReader(contentType, limits, (result) => resume(Effect.fromResult(result)))
      // The listeners are released with the request. Only the first result counts.
      source.on("data", reader.write)
      source.on("end", reader.end)
      source.on("error", () => resume(Effect.fail(malformed)))
    })
    : Effect.scoped(receiving(request, contentType, limits, files))
}

/** Reads a form no faster than its files are received. */
const receiving = Effect.fnUntraced(function*<E>(
  request: HttpServerRequest.HttpServerRequest,
  contentType: string,
  limits: FormLimits,
  { receive, takes }: FormFiles<E>
): Effect.fn.Return<ReadonlyArray<ReceivedPart>, BodyError | E, Scope.Scope> {
  /** What was read of the files that are taken: a file, its pieces, and `null` for its end. */
  const events: Array<MultipartParser.PartInfo | Uint8Array | null> = []
  let isEnded = false
  let result: Result.Result<ReadonlyArray<ReceivedPart>, BodyError> | undefined
  const reader = makeReader(
    contentType,
    limits,
    (done) => {
      result = done
    },
    {
      takes: ({ filename, name }) => filename !== undefined && filename !== "" && takes(name),
      open: (info) => {
        events.push(info)
        return (chunk) => events.push(chunk)
      }
    }
  )
  const body = piecesOf(request)
  const pull = yield* Stream.toPull(Stream.mapError(body, () => malformed))
  const readOn: Effect.Effect<void, BodyError> = Effect.andThen(
    Pull.matchEffect(pull, {
      onSuccess: (chunks) => Effect.sync(() => chunks.forEach(reader.write)),
      onFailure: (cause) => Effect.failCause(cause),
      onDone: () =>
        Effect.sync(() => {
          isEnded = true
          reader.end()
        })
    }),
    () => result !== undefined && Result.isFailure(result) ? Effect.fail(result.failure) : Effect.void
  )
  const pieces: Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, BodyError> = Effect.suspend(() => {
    const end = events.findIndex((event) => !(event instanceof Uint8Array))
    const read = events.splice(0, end < 0 ? events.length : end).filter((event) => event instanceof Uint8Array)
    if (Arr.isReadonlyArrayNonEmpty(read)) return Effect.succeed(read)
    if (events.length > 0) return Cause.done()
    return isEnded ? Effect.fail(malformed) : Effect.flatMap(readOn, () => pieces)
  })
  for (;;) {
    const event = events.shift()
    if (event === undefined) {
      if (isEnded) break
      yield* readOn
    } else if (event !== null && !(event instanceof Uint8Array)) {
      const { contentType: type, filename = "", name } = event
      const content = withPiecesOf(body, Stream.fromPull(Effect.succeed(pieces)))
      yield* receive({ name, filename: unescaped(filename), contentType: type, content })
    }
  }
  return result === undefined ? yield* Effect.fail(malformed) : yield* Effect.fromResult(result)
})

/** Parses a form incrementally. Calls `done` once, with the parts or the first problem. */
export const makeReader = (
  contentType: string,
  limits: FormLimits,
  done: (result: Result.Result<ReadonlyArray<ReceivedPart>, BodyError>) => void,
  files?: {
    readonly takes: (info: MultipartParser.PartInfo) => boolean
    /** Gets the chunks of a file that is taken, and `null` at its end. */
    readonly open: (info: MultipartParser.PartInfo) => (chunk: Uint8Array | null) => void
  }
): { readonly write: (chunk: Uint8Array) => void; readonly end: () => void } => {
  let parts: Array<ReceivedPart> | undefined = []
  const finish = (result: Result.Result<ReadonlyArray<ReceivedPart>, BodyError>) => {
    if (parts === undefined) return
    parts = undefined
    done(result)
  }
  // Each file that is taken has a limit of its own.
  let rest = limits.maxMultipartSize
  const count = (bytes: number): void => {
    rest -= bytes
    if (rest < 0) finish(Result.fail(tooLarge(limits)))
  }
  const addPart = (info: MultipartParser.PartInfo, part: ReceivedPart) => {
    if (info.contentDisposition !== "form-data") finish(Result.fail(malformed))
    else parts?.push(part)
  }
  const parser = MultipartParser.make({
    headers: { "content-type": contentType },
    isFile: (info) => files?.takes(info) === true || isFile(info),
    maxParts: limits.maxParts,
    maxFieldSize: limits.maxFieldSize,
    maxTotalSize: files === undefined ? limits.maxMultipartSize : Number.MAX_SAFE_INTEGER,
    onField: (info, bytes) => {
      count(bytes.length)
      addPart(info, { _tag: "Text", name: info.name, contentType: typeOf(info), bytes })
    },
    onFile: (info) => {
      let size = 0
      if (files?.takes(info) === true) {
        const receive = files.open(info)
        return (chunk) => {
          if (chunk === null) addPart(info, { _tag: "Received", name: info.name })
          receive(chunk)
        }
      }
      return (chunk) => {
        if (chunk === null) {
          addPart(info, { _tag: "File", name: info.name, size, isChosen: size > 0 || info.filename !== "" })
        } else {
          size += chunk.length
          count(chunk.length)
        }
      }
    },
    onError: (error) => finish(Result.fail(error._tag === "ReachedLimit" ? tooLarge(limits) : malformed)),
    onDone: () => finish(Result.succeed(parts ?? []))
  })
  return {
    write: (chunk) => {
      if (parts !== undefined) parser.write(chunk)
    },
    end: () => {
      if (parts !== undefined) parser.end()
    }
  }
}

/** What browsers escape in the names of files (the HTML standard, multipart form data). */
const unescaped = (name: string): string => name.replaceAll("%22", "\"").replaceAll("%0D", "\r").replaceAll("%0A", "\n")

const isFile = (info: MultipartParser.PartInfo): boolean =>
  MultipartParser.defaultIsFile(info) && info.contentType !== "application/json" &&
  !info.contentType.startsWith("text/")

/** The content type with its charset, if it has one. */
const typeOf = ({ contentType, contentTypeParameters: { charset } }: MultipartParser.PartInfo): string =>
  charset === undefined ? contentType : `${contentType};charset=${charset.toLowerCase()}`

const malformed = errorOf("BadRequest", "errors.FormUnreadable")

const tooLarge = ({ maxFieldSize, maxMultipartSize, maxParts }: FormLimits) =>
  errorOf("PayloadTooLarge", "errors.FormTooLarge", {
    size: maxMultipartSize,
    parts: maxParts,
    textSize: maxFieldSize
  })
