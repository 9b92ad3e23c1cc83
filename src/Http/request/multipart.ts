/** Reads `multipart/form-data` incrementally. Of files it keeps the sizes only. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as MultipartParser from "effect/http/MultipartParser"
import * as Result from "effect/Result"
import { errorOf } from "../HttpError.ts"
import { type BodyError, mediaTypeOf, refusedType, sendContinue } from "./jsonBody.ts"

/** A part of a form: a text, or a file's size. A browser sends a file without a name for an empty input. */
export type ReceivedPart =
  | { readonly _tag: "Text"; readonly name: string; readonly contentType: string; readonly bytes: Uint8Array }
  | { readonly _tag: "File"; readonly name: string; readonly size: number; readonly isChosen: boolean }

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
export const readMultipart = (
  request: HttpServerRequest.HttpServerRequest,
  limits: FormLimits
): Effect.Effect<ReadonlyArray<ReceivedPart>, BodyError> => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const contentType = source.headers["content-type"] ?? ""
  const refused = refusedType(source.headers, (type) => type === "multipart/form-data", ["multipart/form-data"])
  if (refused !== undefined) return Effect.fail(refused)
  if (Number(source.headers["content-length"]) > limits.maxMultipartSize) return Effect.fail(tooLarge(limits))
  sendContinue(request)
  return Effect.callback<ReadonlyArray<ReceivedPart>, BodyError>((resume) => {
    const reader = makeReader(contentType, limits, (result) => resume(Effect.fromResult(result)))
    // The listeners are released with the request. Only the first result counts.
    source.on("data", reader.write)
    source.on("end", reader.end)
    source.on("error", () => resume(Effect.fail(malformed)))
  })
}

/** Parses a form incrementally. Calls `done` once, with the parts or the first problem. */
export const makeReader = (
  contentType: string,
  limits: FormLimits,
  done: (result: Result.Result<ReadonlyArray<ReceivedPart>, BodyError>) => void
): { readonly write: (chunk: Uint8Array) => void; readonly end: () => void } => {
  let parts: Array<ReceivedPart> | undefined = []
  const finish = (result: Result.Result<ReadonlyArray<ReceivedPart>, BodyError>) => {
    if (parts === undefined) return
    parts = undefined
    done(result)
  }
  const addPart = (info: MultipartParser.PartInfo, part: ReceivedPart) => {
    if (info.contentDisposition !== "form-data") finish(Result.fail(malformed))
    else parts?.push(part)
  }
  const parser = MultipartParser.make({
    headers: { "content-type": contentType },
    isFile,
    maxParts: limits.maxParts,
    maxFieldSize: limits.maxFieldSize,
    maxTotalSize: limits.maxMultipartSize,
    onField: (info, bytes) => addPart(info, { _tag: "Text", name: info.name, contentType: typeOf(info), bytes }),
    onFile: (info) => {
      let size = 0
      return (chunk) => {
        if (chunk === null) {
          addPart(info, { _tag: "File", name: info.name, size, isChosen: size > 0 || info.filename !== "" })
        } else size += chunk.length
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
