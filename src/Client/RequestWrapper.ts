/**
 * Calls to one URL of a service, and what is under it.
 *
 * @since 0.1.0
 */
import type * as ByteSize from "effect/ByteSize"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpMethod from "effect/http/HttpMethod"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import type * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Model from "../Model/Model.ts"
import { extendedUrl, serviceOf } from "./calls/address.ts"
import type { Answer } from "./calls/answer.ts"
import { answerValue, reader, requestBodyOf, withInstances } from "./calls/bodies.ts"
import type * as Exchange from "./calls/exchange.ts"
import { failureBy } from "./calls/failures.ts"
import type { Upstream } from "./calls/upstream.ts"
import type { CircuitOpenError, RequestHandlingException } from "./ClientError.ts"
import type { Credentials } from "./Credentials.ts"
import * as FileCalls from "./files/fileCalls.ts"
import type { UploadFailure, UploadFile, UploadServices } from "./files/uploadBody.ts"
import { millisOf } from "./HttpClientConfig.ts"

/**
 * Options of every call.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallOptions {
  /** Appended to the URL, with one slash between. It may have a query. */
  readonly pathExtension?: string | number | undefined
  /**
   * The time to wait for the first byte of the answer, and for each further part of its body. Defaults to the configured
   * `callTimeout`: 3 seconds.
   */
  readonly timeout?: Duration.Input | undefined
  /** Headers of this call. They replace those of the proxy. */
  readonly headers?: { readonly [name: string]: string } | undefined
  /** The credentials of this call. They are not sent on to another origin. Defaults to those of the client for the service. */
  readonly credentials?: Credentials | undefined
  /**
   * When the call is tried again, by its failures; `null` for never. Defaults to that of the proxy.
   *
   * A try follows a failure that may pass: of the network, or an answer of 408, 425, 429, 500, 502, 503 or 504. A `POST` or a
   * `PATCH` that may have been sent is tried again with an `idempotencyKey` only. The wait is that of the schedule, or that of
   * the answer's `Retry-After` if it is longer. There is no further try if the service asks for more than a minute, if the
   * deadline would pass (see `Deadline`), if the answer is that of a further service (`upstream_service`), or if the payload
   * can be read once only. The circuit breaker counts each try.
   */
  readonly retry?: Schedule.Schedule<unknown, RequestHandlingException> | null | undefined
  /**
   * Sent as `Idempotency-Key`, the same with each try, so that the service does the same thing once; `true` for a random one.
   */
  readonly idempotencyKey?: string | true | undefined
}

/**
 * Options of a call whose answer has a body.
 *
 * @category models
 * @since 0.1.0
 */
export interface GetOptions<S extends Schema.Top = never> extends CallOptions {
  /** What the body is: a model, whose instance the call returns, or a schema of its JSON. */
  readonly as?: S | undefined
}

/**
 * Options of a call that sends a body.
 *
 * @category models
 * @since 0.1.0
 */
export interface SendOptions<S extends Schema.Top = never> extends GetOptions<S> {
  /**
   * An instance of a model is sent as its JSON text, also within a record or a list, which are sent as JSON. Anything else is sent
   * as it is.
   */
  readonly payload?: unknown
}

/**
 * Options of an upload. `timeout` is the time to wait until the service takes the next part of the file, and then for each
 * part of its answer; it does not limit the whole. It defaults to the configured `uploadTimeout`: 60 seconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface UploadOptions<S extends Schema.Top = never> extends GetOptions<S> {
  /** The name that the service is told. Defaults to `upload`, or to that of the file at a local path. */
  readonly filename?: string | undefined
  /**
   * The type that the service is told. Defaults to `application/octet-stream`, or to the type for the extension of a local
   * path. One that can't stand in a header is replaced by `application/octet-stream`.
   */
  readonly contentType?: string | undefined
}

/**
 * Options of a download in chunks. `timeout` is the time to wait for each next part of the file; it does not limit the whole.
 * It defaults to the configured `downloadTimeout`: 30 seconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface DownloadOptions extends CallOptions {
  /** The size of the chunks, except for the last one. Defaults to 64 KiB. */
  readonly chunkSize?: ByteSize.Input | undefined
}

/**
 * The body of an answer that was read as `S`.
 *
 * @category models
 * @since 0.1.0
 */
export type BodyOf<S extends Schema.Top> = [S] extends [never] ? unknown
  : S extends Model.Any ? Model.Seen<S>
  : S["Type"]

/**
 * The result of a call: the status, which is 2xx, and the body.
 *
 * @category models
 * @since 0.1.0
 */
export type Result<S extends Schema.Top> = Effect.Effect<
  readonly [status: number, body: BodyOf<S>],
  RequestHandlingException | CircuitOpenError
>

/**
 * Calls to one URL of a service, and what is under it. Each fails with `RequestHandlingException` for any other answer than
 * 2xx and for failures of the network, and with `CircuitOpenError` while the circuit breaker is open.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestWrapper {
  /** The URL, without path extension. */
  readonly url: string
  /** Reads. */
  readonly get: <S extends Schema.Top = never>(options?: GetOptions<S>) => Result<S>
  /** Creates, or does what the service does at this URL. */
  readonly post: <S extends Schema.Top = never>(options?: SendOptions<S>) => Result<S>
  /** Replaces. */
  readonly put: <S extends Schema.Top = never>(options?: SendOptions<S>) => Result<S>
  /** Changes. */
  readonly patch: <S extends Schema.Top = never>(options?: SendOptions<S>) => Result<S>
  /** Removes. */
  readonly delete: <S extends Schema.Top = never>(options?: SendOptions<S>) => Result<S>
  /**
   * Posts a file as the part `file` of multipart form data, and reads the answer as `post` does. A `string` is the path of a
   * file. Also fails as the file does that can't be opened or read.
   *
   * **Details**
   *
   * A file is sent while it is read, and never in memory as a whole. Its length is announced, except for streams. A redirect
   * that repeats the request sends the file again, which a `ReadableStream` and an async iterable, such as a `ReadStream` of Node,
   * can't be. A `FileHandle` is read from its beginning, and remains open.
   *
   * **Example** (A stream of bytes)
   *
   * ```ts check
   * import { Effect, Stream } from "effect"
   * import { HttpClientFactory } from "appkernel"
   *
   * const program = Effect.gen(function*() {
   *   const storage = yield* HttpClientFactory.get("http://storage:8080")
   *   const lines = Stream.encodeText(Stream.make("id;total\\n", "O1;12.50\\n"))
   *   const [status] = yield* storage.at("reports").upload(lines, { filename: "orders.csv", contentType: "text/csv" })
   *   return status
   * })
   * ```
   */
  readonly upload: <const File extends UploadFile, S extends Schema.Top = never>(
    file: File,
    options?: UploadOptions<S>
  ) => Effect.Effect<
    readonly [status: number, body: BodyOf<S>],
    RequestHandlingException | CircuitOpenError | UploadFailure<File>,
    UploadServices<File>
  >
  /** `upload` of the file at a path, under its own name and with the content type of its extension. */
  readonly uploadFrom: <S extends Schema.Top = never>(
    localPath: string,
    options?: UploadOptions<S>
  ) => Effect.Effect<
    readonly [status: number, body: BodyOf<S>],
    RequestHandlingException | CircuitOpenError | PlatformError.PlatformError
  >
  /**
   * Reads the body as bytes, as a whole: up to the configured `maxResponseSize`, else it fails with `InvalidAnswer`. Waits for
   * each part of it for `timeout`, by default the configured `downloadTimeout`: 30 seconds.
   */
  readonly download: (
    options?: CallOptions
  ) => Effect.Effect<readonly [status: number, body: Uint8Array], RequestHandlingException | CircuitOpenError>
  /**
   * Reads the body in chunks while it arrives, and no faster than the chunks are used. To stop early closes the connection.
   *
   * **Details**
   *
   * A call begins each time that the stream is run, and lasts until the stream ends: a failure of the network in the middle
   * fails the stream, and the circuit breaker counts it.
   *
   * **Example** (Lines of a file)
   *
   * ```ts check
   * import { Effect, Stream } from "effect"
   * import { HttpClientFactory } from "appkernel"
   *
   * const program = Effect.gen(function*() {
   *   const storage = yield* HttpClientFactory.get("http://storage:8080")
   *   const lines = storage.wrap("reports/latest").streamDownload().pipe(Stream.decodeText, Stream.splitLines)
   *   yield* Stream.runForEach(lines, (line) => Effect.log(line))
   * })
   * ```
   */
  readonly streamDownload: (
    options?: DownloadOptions
  ) => Stream.Stream<Uint8Array, RequestHandlingException | CircuitOpenError>
  /**
   * Saves the body as a file, and returns its absolute path. `dest` is a path, or a folder that exists. In a folder the file is
   * named by the answer's `Content-Disposition` header, or else by the last segment of the URL.
   *
   * **Details**
   *
   * - The file appears under its name when it is complete and on the disk, in the place of an earlier one. A download that
   *   fails or is interrupted leaves nothing behind.
   * - A name from the service can't leave the folder. What some platform does not take in a name is replaced by `_` or removed:
   *   separators, control and invisible characters, devices of Windows, dots at the beginning and the end, and what is beyond
   *   255 bytes.
   *
   * **Example** (Into a folder)
   *
   * ```ts check
   * import { Effect } from "effect"
   * import { HttpClientFactory } from "appkernel"
   *
   * const program = Effect.gen(function*() {
   *   const storage = yield* HttpClientFactory.get("http://storage:8080")
   *   // for instance /var/reports/orders.csv
   *   return yield* storage.wrap("reports/latest").downloadTo("/var/reports/")
   * })
   * ```
   */
  readonly downloadTo: (
    dest: string,
    options?: DownloadOptions
  ) => Effect.Effect<string, RequestHandlingException | CircuitOpenError | PlatformError.PlatformError>
}

export type {
  /**
   * How reading a file for an upload fails: never for bytes, with the system's error for a path, with its own for a stream, and
   * with `UnknownError` for anything else.
   *
   * @category models
   * @since 0.1.0
   */
  UploadFailure,
  /**
   * What an upload sends: bytes, the path of a file, a `Blob`, or what is read while it is sent: an open `FileHandle` of Node, a
   * stream of Effect, of the web or of Node, or any other async iterable of bytes.
   *
   * @category models
   * @since 0.1.0
   */
  UploadFile,
  /**
   * What reading a file for an upload requires: the services of a `Stream`.
   *
   * @category models
   * @since 0.1.0
   */
  UploadServices
} from "./files/uploadBody.ts"

/**
 * The headers of a call by a token and a language: `Accept-Language`, and `Authorization` if there is one.
 *
 * **Example** (The headers for a token)
 *
 * ```ts
 * import { RequestWrapper } from "appkernel"
 *
 * RequestWrapper.getHeaders({ authHeader: "Bearer token" })
 * // => { "accept-language": "en", authorization: "Bearer token" }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const getHeaders = (
  { acceptLanguage = "en", authHeader }: {
    /** The whole value of `Authorization`: `Bearer <token>`. Defaults to none. */
    readonly authHeader?: string | undefined
    /** Defaults to `en`. */
    readonly acceptLanguage?: string | undefined
  } = {}
): { readonly [name: string]: string } => ({
  "accept-language": acceptLanguage,
  ...(authHeader === undefined ? {} : { authorization: authHeader })
})

/** @internal */
export const make = (upstream: Upstream, url: string): RequestWrapper => {
  const service = serviceOf(url)
  const { callTimeout, downloadTimeout, uploadTimeout } = upstream.timeouts
  const optionsOf = (
    { credentials, idempotencyKey, retry, timeout }: CallOptions,
    defaultTimeout: number
  ): Exchange.CallOptions => ({
    upstream: service,
    credentials,
    readTimeout: millisOf(timeout) ?? defaultTimeout,
    retries: retry === undefined ? upstream.retries : retry ?? undefined,
    idempotencyKey
  })
  /** Reads an answer as JSON or text, which becomes what `as` says. */
  const reading = <S extends Schema.Top>(as: S | undefined) => {
    const readAs = as === undefined ? undefined : reader(as)
    return <E, R>(sent: Effect.Effect<readonly [status: number, value: unknown], E, R>) =>
      Effect.flatMap(sent, ([status, value]) =>
        Effect.map(
          readAs === undefined ? withInstances(value, upstream.models, service) : readAs(value, service),
          // `as` says what the body is.
          (body) => [status, body as BodyOf<S>] as const
        ))
  }
  const call =
    (method: HttpMethod.HttpMethod) => <S extends Schema.Top = never>(options: SendOptions<S> = {}): Result<S> => {
      const { as, headers, pathExtension, payload } = options
      const send = (body: HttpBody.HttpBody) => {
        // The headers of the body are added when it is sent.
        const request = HttpClientRequest.makeWith(
          method,
          extendedUrl(url, pathExtension),
          UrlParams.empty,
          Option.none(),
          headers === undefined ? Headers.empty : Headers.fromInput(headers),
          body
        )
        return reading(as)(upstream.exchange.run(request, optionsOf(options, callTimeout), received))
      }
      if (payload === undefined) return send(HttpBody.empty)
      return Effect.flatMap(
        Effect.mapError(requestBodyOf(payload), () => failureBy(service, "InvalidRequest")),
        send
      )
    }
  const fileCall = (options: CallOptions, defaultTimeout: number): FileCalls.FileCall => ({
    exchange: upstream.exchange,
    url: extendedUrl(url, options.pathExtension),
    headers: options.headers,
    options: optionsOf(options, defaultTimeout)
  })
  return {
    url,
    get: call("GET"),
    post: call("POST"),
    put: call("PUT"),
    patch: call("PATCH"),
    delete: call("DELETE"),
    upload: (file, options = {}) =>
      reading(options.as)(FileCalls.upload(fileCall(options, uploadTimeout), file, options, received)),
    uploadFrom: (localPath, options = {}) =>
      reading(options.as)(FileCalls.uploadFrom(fileCall(options, uploadTimeout), localPath, options, received)),
    download: (options = {}) => FileCalls.download(fileCall(options, downloadTimeout)),
    streamDownload: (options = {}) => FileCalls.streamDownload(fileCall(options, downloadTimeout), options.chunkSize),
    downloadTo: (dest, options = {}) =>
      FileCalls.downloadTo(fileCall(options, downloadTimeout), dest, options.chunkSize)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const received = ({ headers, status, text }: Answer) =>
  Effect.map(text, (text) => {
    const contentType = headers["content-type"]
    return [status, answerValue(text, typeof contentType === "string" ? contentType : undefined)] as const
  })
