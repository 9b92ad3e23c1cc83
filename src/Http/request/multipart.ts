import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as MultipartParser from "effect/http/MultipartParser"
import * as Result from "effect/Result"
import { PayloadTooLarge } from "../HttpError.ts"
import { badRequest, englishOf, sayable } from "../messages/message.ts"
import { type BodyError, mediaTypeOf, otherType, sendContinue } from "./jsonBody.ts"

/**
 * A part of a form: a text, or a file, of which nothing is kept but how large it is and whether it was chosen: a browser
 * sends a file without a name for a field that was left empty.
 *
 * @internal
 */
export type Part =
  | { readonly _tag: "Text"; readonly name: string; readonly contentType: string; readonly bytes: Uint8Array }
  | { readonly _tag: "File"; readonly name: string; readonly size: number; readonly isChosen: boolean }

/**
 * How much a form may hold.
 *
 * @internal
 */
export interface FormLimits {
  /** Bytes of the whole body. */
  readonly maxMultipartSize: number
  /** Bytes of one text. */
  readonly maxFieldSize: number
  readonly maxParts: number
}

/** @internal */
export const isMultipart = (contentType: string | undefined): boolean =>
  contentType !== undefined && mediaTypeOf(contentType) === "multipart/form-data"

/**
 * Reads a request's body as `multipart/form-data` (RFC 7578): its parts, in order. Texts are kept in memory, within the
 * limits, and nothing is ever written to disk. A part with a file name is a text if it says that it is one, or JSON.
 *
 * @internal
 */
export const readMultipart = (
  request: HttpServerRequest.HttpServerRequest,
  limits: FormLimits
): Effect.Effect<ReadonlyArray<Part>, BodyError> => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const contentType = source.headers["content-type"]
  if (contentType === undefined || !isMultipart(contentType)) {
    return Effect.fail(otherType(["multipart/form-data"]))
  }
  if (Number(source.headers["content-length"]) > limits.maxMultipartSize) return Effect.fail(tooLarge(limits))
  sendContinue(request)
  return Effect.callback<ReadonlyArray<Part>, BodyError>((resume) => {
    const reader = makeReader(contentType, limits, (result) => resume(Effect.fromResult(result)))
    // The listeners go with the request, and only the first result counts.
    source.on("data", reader.write)
    source.on("end", reader.end)
    source.on("error", () => resume(Effect.fail(malformed)))
  })
}

/**
 * Reads a form from its bytes, however they are cut: `done` is told the parts, or the first thing that is wrong. What
 * comes after that is ignored.
 *
 * @internal
 */
export const makeReader = (
  contentType: string,
  limits: FormLimits,
  done: (result: Result.Result<ReadonlyArray<Part>, BodyError>) => void
): { readonly write: (chunk: Uint8Array) => void; readonly end: () => void } => {
  let parts: Array<Part> | undefined = []
  const finish = (result: Result.Result<ReadonlyArray<Part>, BodyError>) => {
    if (parts === undefined) return
    parts = undefined
    done(result)
  }
  const keep = (info: MultipartParser.PartInfo, part: Part) => {
    if (info.contentDisposition !== "form-data") finish(Result.fail(malformed))
    else parts?.push(part)
  }
  const parser = MultipartParser.make({
    headers: { "content-type": contentType },
    isFile,
    maxParts: limits.maxParts,
    maxFieldSize: limits.maxFieldSize,
    maxTotalSize: limits.maxMultipartSize,
    onField: (info, bytes) => keep(info, { _tag: "Text", name: info.name, contentType: typeOf(info), bytes }),
    onFile: (info) => {
      let size = 0
      return (chunk) => {
        if (chunk === null) {
          keep(info, { _tag: "File", name: info.name, size, isChosen: size > 0 || info.filename !== "" })
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

/** With the character set, where one is named. */
const typeOf = ({ contentType, contentTypeParameters: { charset } }: MultipartParser.PartInfo): string =>
  charset === undefined ? contentType : `${contentType};charset=${charset.toLowerCase()}`

const malformed = badRequest("errors.FormUnreadable")

const tooLarge = ({ maxFieldSize, maxMultipartSize, maxParts }: FormLimits) => {
  const key = "errors.FormTooLarge"
  const args = { size: maxMultipartSize, parts: maxParts, textSize: maxFieldSize }
  return sayable(new PayloadTooLarge({ message: englishOf(key, args) }), key, args)
}
