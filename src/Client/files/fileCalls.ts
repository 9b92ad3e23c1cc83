/**
 * Uploads and downloads over the exchange that all calls use.
 *
 * **Details**
 *
 * No time limit is for a whole file: a slow transfer that moves is not cut. The time to wait is that for the upstream to
 * take the next part of a file, to begin its answer, and to send the next part of one. The time in which the consumer of a
 * stream does not read is not counted.
 */
import type * as ByteSize from "effect/ByteSize"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Mime from "effect/http/Mime"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { nodeFiles } from "../../internal/nodeFiles.ts"
import { ownValue } from "../../internal/objects.ts"
import type { Answer } from "../calls/answer.ts"
import type { CallError, CallOptions, Exchange } from "../calls/exchange.ts"
import type { RequestHandlingException } from "../ClientError.ts"
import { inChunksOf } from "./byteChunks.ts"
import { fileNameOf } from "./fileName.ts"
import { destinationOf, saveFile } from "./savedFile.ts"
import { isReadOnce, uploadBody, type UploadFailure, type UploadFile, type UploadServices } from "./uploadBody.ts"

/** One call: to which URL, with which headers, and how long to wait. */
export interface FileCall {
  readonly exchange: Exchange
  readonly url: string
  readonly headers: { readonly [name: string]: string } | undefined
  readonly options: CallOptions
}

/** How the part of a file is described. */
export interface Part {
  readonly filename?: string | undefined
  readonly contentType?: string | undefined
}

/** Sends a file as multipart form data. `read` reads the answer. */
export const upload = <const File extends UploadFile, A, E>(
  call: FileCall,
  file: File,
  { contentType = octetStream, filename = "upload" }: Part,
  read: (answer: Answer) => Effect.Effect<A, E | RequestHandlingException>
): Effect.Effect<A, E | CallError | UploadFailure<File>, UploadServices<File>> =>
  Effect.scoped(Effect.flatMap(
    withFiles(uploadBody(file, { contentType, filename })),
    ({ body, readFailure }) =>
      Effect.raceFirst(
        call.exchange.run(
          HttpClientRequest.post(call.url, { ...headersOf(call), body }),
          {
            ...call.options,
            writeTimeout: call.options.readTimeout,
            isWritePerPart: true,
            retries: isReadOnce(file) ? undefined : call.options.retries
          },
          read
        ),
        readFailure
      )
  ))

/** Sends the file at a path, by default under its own name and with the content type of its extension. */
export const uploadFrom = <A, E>(
  call: FileCall,
  localPath: string,
  { contentType, filename }: Part,
  read: (answer: Answer) => Effect.Effect<A, E | RequestHandlingException>
): Effect.Effect<A, E | CallError | PlatformError.PlatformError> =>
  Effect.flatMap(withFiles(Path.Path), (path) => {
    const name = path.basename(path.resolve(localPath))
    return Effect.flatMap(
      contentType === undefined ? typeOf(path.extname(name).slice(1)) : Effect.succeed(contentType),
      (contentType) => upload(call, localPath, { filename: filename ?? name, contentType }, read)
    )
  })

/** The status and the whole body. */
export const download = (call: FileCall): Effect.Effect<readonly [status: number, body: Uint8Array], CallError> =>
  call.exchange.run(
    get(call),
    call.options,
    ({ bytes, status }) => Effect.map(bytes, (bytes) => [status, bytes] as const)
  )

/**
 * The body in chunks, while it arrives. The call lasts as long as the stream, so that the breaker counts a failure in the
 * middle. To stop reading is not a failure, and closes the connection.
 */
export const streamDownload = (
  call: FileCall,
  chunkSize: ByteSize.Input | undefined
): Stream.Stream<Uint8Array, CallError> =>
  Stream.unwrap(Effect.gen(function*() {
    const answered = yield* Deferred.make<Answer, CallError>()
    const ended = yield* Deferred.make<void, RequestHandlingException>()
    const { retries } = call.options
    // What was passed on can't be taken back.
    const untilAnswered = retries === undefined
      ? undefined
      : Schedule.while(retries, () => !Deferred.isDoneUnsafe(answered))
    const running = yield* call.exchange.run(
      get(call),
      { ...call.options, retries: untilAnswered },
      (answer) => Effect.andThen(Deferred.succeed(answered, answer), Deferred.await(ended))
    ).pipe(
      Effect.onError((cause) => Deferred.failCause(answered, cause)),
      Effect.exit,
      Effect.forkScoped({ startImmediately: true })
    )
    const { stream } = yield* Deferred.await(answered)
    yield* Effect.addFinalizer(() => Effect.andThen(Deferred.succeed(ended, undefined), Fiber.await(running)))
    // The call may have ended before, as at its deadline, so that its failure is the one.
    const callFailure = (error: RequestHandlingException) =>
      Effect.andThen(Deferred.fail(ended, error), Effect.flatten(Fiber.join(running)))
    return inChunksOf(Stream.catch(stream, (error) => Stream.fromEffectDrain(callFailure(error))), chunkSize)
  }))

/** Saves the body as a file, and returns the absolute path. */
export const downloadTo = (
  call: FileCall,
  dest: string,
  chunkSize: ByteSize.Input | undefined
): Effect.Effect<string, CallError | PlatformError.PlatformError> =>
  withFiles(Effect.flatMap(destinationOf(dest), ({ folder, name }) =>
    call.exchange.run(
      get(call),
      call.options,
      ({ headers, stream }) =>
        saveFile(
          folder,
          name ?? fileNameOf(valueOf(headers["content-disposition"]), call.url),
          inChunksOf(stream, chunkSize)
        )
    )))

// internal

/** The type for an extension: that of Effect, or else of the registries. */
const typeOf = (extension: string): Effect.Effect<string | undefined> =>
  Option.match(Mime.getType(`file.${extension}`), {
    onSome: (type) => Effect.succeed(type),
    onNone: () =>
      Effect.map(registeredTypes, ({ default: types }) => {
        const ofExtension = Object.entries(types).filter(([, one]) => {
          const extensions = ownValue(one, "extensions")
          return Array.isArray(extensions) && extensions.includes(extension.toLowerCase())
        })
        // Those of IANA are first.
        return (ofExtension.find(([, one]) => ownValue(one, "source") === "iana") ?? ofExtension[0])?.[0]
      })
  })

/** Loaded by uploads that need it. */
const registeredTypes = Effect.promise((): Promise<{ readonly default: { readonly [type: string]: object } }> =>
  import("mime-db/db.json", { with: { type: "json" } })
)

const octetStream = "application/octet-stream"

const headersOf = ({ headers }: FileCall) => headers === undefined ? {} : { headers }

const get = (call: FileCall) => HttpClientRequest.get(call.url, headersOf(call))

const valueOf = (header: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof header === "string" ? header : header?.[0]

const withFiles = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, FileSystem.FileSystem | Path.Path>> => Effect.provide(effect, nodeFiles)
