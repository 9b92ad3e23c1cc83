/**
 * The multipart body (RFC 7578) of an upload: one part named `file`, sent as it is read, with the length of the body if
 * that of the file is known.
 */
import { format } from "content-disposition"
import * as Cause from "effect/Cause"
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpBody from "effect/http/HttpBody"
import * as Option from "effect/Option"
import * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type FileHandle, isFileHandle, readingOf } from "../../internal/fileHandle.ts"
import { discard, neverShorter, ReadOnce, readOnceIn } from "../../internal/readOnce.ts"

/** What an upload may send: bytes, the path of a file, or what is read while it is sent. */
export type UploadFile<E = unknown, R = unknown> =
  | string
  | Uint8Array
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | FileHandle
  | Stream.Stream<Uint8Array, E, R>

/** How reading a file fails: none for bytes, the system's error for a path, the stream's own for a stream. */
export type UploadFailure<File> = File extends Uint8Array ? never
  : File extends string ? PlatformError.PlatformError
  : File extends Stream.Stream<infer _, infer E, infer _> ? E
  : Cause.UnknownError

/** What reading a file requires. */
export type UploadServices<File> = File extends Stream.Stream<infer _, infer _, infer R> ? R : never

export interface UploadBody<E> {
  readonly body: HttpBody.Stream
  /** Fails once the file can't be read further; the body stops without an end, so that the request is interrupted. */
  readonly readFailure: Effect.Effect<never, E>
}

/** Whether a file can be read once only. */
export const isReadOnce = (file: UploadFile): boolean =>
  Predicate.isObject(file) && Symbol.asyncIterator in file && !isFileHandle(file)

/** Opens the file, which remains open in the scope. The body can be sent more than once, unless the file can be read once only. */
export const uploadBody = <const File extends UploadFile>(
  file: File,
  part: { readonly filename: string; readonly contentType: string }
): Effect.Effect<
  UploadBody<UploadFailure<File>>,
  UploadFailure<File>,
  FileSystem.FileSystem | Scope.Scope | UploadServices<File>
> =>
  // The parameters of the result name the failures and services of each kind of file, which are together in `make`.
  // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off anyUnknownInErrorContext:off
  make(file, part) as Effect.Effect<
    UploadBody<UploadFailure<File>>,
    UploadFailure<File>,
    FileSystem.FileSystem | Scope.Scope | UploadServices<File>
  >

// internal

const make = Effect.fnUntraced(function*<E, R>(
  file: UploadFile<E, R>,
  part: { readonly filename: string; readonly contentType: string }
) {
  const { content, length } = yield* sourceOf(file)
  const context = yield* Effect.context<R>()
  const failure = yield* Deferred.make<never, E | PlatformError.PlatformError | Cause.UnknownError | ReadOnce>()
  const boundary = `appkernel-${(yield* WebCrypto.WebCrypto).randomUUID()}`
  const head = encoder.encode(partHead(boundary, part))
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`)
  const stream = Stream.concat(
    Stream.concat(
      Stream.succeed(head),
      content.pipe(
        Stream.provideContext(context),
        Stream.catchCause((cause) => {
          const readOnce = readOnceIn(cause)
          return readOnce === undefined
            ? Stream.fromEffect(Effect.andThen(Deferred.failCause(failure, cause), Effect.never))
            : Stream.fail(readOnce)
        })
      )
    ),
    Stream.succeed(tail)
  )
  return {
    body: HttpBody.stream(
      stream,
      `multipart/form-data; boundary=${boundary}`,
      length === undefined ? undefined : head.length + length + tail.length
    ),
    readFailure: Deferred.await(failure)
  }
})

interface Source<E, R> {
  readonly content: Stream.Stream<Uint8Array, E | PlatformError.PlatformError | Cause.UnknownError | ReadOnce, R>
  readonly length: number | undefined
}

const sourceOf = <E, R>(
  file: UploadFile<E, R>
): Effect.Effect<Source<E, R>, PlatformError.PlatformError, FileSystem.FileSystem | Scope.Scope> => {
  if (Predicate.isString(file)) return fromPath(file)
  if (file instanceof Uint8Array) return Effect.succeed({ content: Stream.succeed(file), length: file.length })
  if (file instanceof Blob) {
    return Effect.succeed({ content: fromReadable(() => file.stream()), length: file.size })
  }
  if (Stream.isStream(file)) return Effect.succeed({ content: neverShorter(file), length: undefined })
  if (isFileHandle(file)) return fromHandle(file)
  return Effect.as(
    Effect.addFinalizer(() => discard(file)),
    { content: fromReadableOnce(file), length: undefined }
  )
}

/** The bytes of a file that is open elsewhere, up to the size that it has now. */
const fromHandle = (file: FileHandle) =>
  Effect.map(
    Effect.mapError(
      Effect.tryPromise(() => file.stat()),
      () => readError("a FileHandle", "BadResource", "it is closed")
    ),
    (stat) => {
      const length = stat.isFile() && stat.size > 0 ? stat.size : undefined
      return { content: neverShorter(Stream.suspend(() => fromIterable(readingOf(file, length)))), length }
    }
  )

const readSize = 65_536

/**
 * The file's bytes up to the size that it has now, so that the length which was announced is what is sent. A file without
 * a size, as those of `/proc` are, is read to its end.
 */
const fromPath = Effect.fnUntraced(function*(path: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const file = yield* fileSystem.open(path)
  const { size, type } = yield* file.stat
  if (type === "Directory") return yield* Effect.fail(readError(path, "BadResource", "it is a directory"))
  const length = type === "File" && size > 0n ? Number(size) : undefined
  const content = Stream.unfold(0, (at) => {
    const left = length === undefined ? readSize : Math.min(readSize, length - at)
    if (left === 0) return Effect.undefined
    return Effect.flatMap(
      file.readAlloc(left, { position: BigInt(at) }),
      Option.match({
        onNone: () =>
          length === undefined
            ? Effect.undefined
            : Effect.fail(readError(path, "UnexpectedEof", `it has become shorter than its ${length} bytes`)),
        onSome: (bytes) => Effect.succeed([bytes, at + bytes.length] as const)
      })
    )
  })
  return { content, length }
})

const readError = (path: string, tag: "BadResource" | "UnexpectedEof", description: string) =>
  PlatformError.systemError({ _tag: tag, module: "FileSystem", method: "upload", pathOrDescriptor: path, description })

const fromReadable = (evaluate: () => ReadableStream<Uint8Array>) =>
  Stream.fromReadableStream({ evaluate, onError: (cause) => new Cause.UnknownError(cause) })

/** Texts, which a stream of Node with an encoding has, are sent in UTF-8. */
const fromIterable = (iterable: AsyncIterable<Uint8Array | string>) =>
  Stream.fromAsyncIterable(iterable, (cause) => new Cause.UnknownError(cause)).pipe(
    Stream.map((part) => typeof part === "string" ? encoder.encode(part) : part)
  )

/** Without the check, a stream that was read already would be sent as an empty file. */
const fromReadableOnce = (file: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>) => {
  let isRead = false
  return Stream.suspend((): Stream.Stream<Uint8Array, Cause.UnknownError | ReadOnce> => {
    const isReadable = file instanceof ReadableStream
    if (isRead || isReadable && file.locked) {
      return Stream.fail(new ReadOnce())
    }
    isRead = true
    return isReadable ? fromReadable(() => file) : fromIterable(file)
  })
}

const encoder = new TextEncoder()

const partHead = (boundary: string, part: { readonly filename: string; readonly contentType: string }): string =>
  [
    `--${boundary}`,
    // It escapes what could end the value or the line, as browsers do.
    `Content-Disposition: ${
      format({ type: "form-data", parameters: { name: "file", filename: part.filename } }, { multipart: true })
    }`,
    `Content-Type: ${isHeaderValue.test(part.contentType) ? part.contentType : "application/octet-stream"}`,
    "",
    ""
  ].join("\r\n")

/** What a content type may consist of, so that none adds a header or ends the part's head. */
const isHeaderValue = /^[\t\u{20}-\u{7E}]+$/u
