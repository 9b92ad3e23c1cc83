/**
 * A typed client of a service, with a method for each endpoint of its engine.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Types from "effect/Types"
import { callBehind, RequestHandlingException } from "../Client/ClientError.ts"
import * as Credentials from "../Client/Credentials.ts"
import type { Transport } from "../Client/HttpClientFactory.ts"
import type * as Model from "../Model/Model.ts"
import type * as Documents from "./description/documents.ts"
import type * as Endpoint from "./description/endpoint.ts"
import type { Expanded } from "./description/expanded.ts"
import { readersOf } from "./description/plainAnswers.ts"
import type { ChangesQuery, ListQuery, TableQuery } from "./description/requests.ts"
import * as HttpError from "./HttpError.ts"
import type { Change, ListEvent, StreamOptions, WatchedChange } from "./subscription/collectionEvents.ts"
import { byEvents, byPolls } from "./subscription/subscription.ts"
import { askingByBody, exactly, withRequestParts } from "./typedClient/calls.ts"
import { type Files, filesOfGroup } from "./typedClient/files.ts"
import { sentAgain, withKeys } from "./typedClient/idempotencyKeys.ts"
import { callOf, tableRows, withMany, withStreams } from "./typedClient/streams.ts"

/**
 * The client of an engine whose registrations are `Groups`: `client.users.get({ params: { id } })`. Each call fails
 * with the errors that its endpoint declares, as instances of the same classes as in the service.
 *
 * **Details**
 *
 * The result depends on the request: with `fields`, documents may lack any other field; with `prefer:
 * "return=representation"` among the `headers`, a write returns the document; a list as the `payload` of `create`
 * returns a list of identifiers. `responseMode: "decoded-and-response"` returns the response with its headers besides
 * the value.
 *
 * `Failure` is what calls fail with if they are not answered as described.
 *
 * @category models
 * @since 0.1.0
 */
export type KernelClient<Groups extends HttpApiGroup.Constraint, Failure = HttpClientError.HttpClientError> =
  & {
    readonly [Group in Groups as Group["identifier"]]: Group["endpoints"] extends
      infer Endpoints extends Readonly<Record<string, HttpApiEndpoint.ConstraintRequest>> ?
        & {
          readonly [Name in keyof Endpoints]: KernelClient.Method<Endpoints[Name], Endpoint.HiddenIn<Group>, Failure>
        }
        & KernelClient.StreamsOf<Endpoints, Endpoint.HiddenIn<Group>, Failure>
      : {}
  }
  & KernelClient.WatchOf<Groups, Failure>

export type {
  /**
   * A change of a collection, as `changes` of its client tells it.
   *
   * @category models
   * @since 0.1.0
   */
  Change,
  /**
   * An event of a list, as `live` of its client tells it.
   *
   * @category models
   * @since 0.1.0
   */
  ListEvent,
  /**
   * Options of the streams of a client.
   *
   * @category models
   * @since 0.1.0
   */
  StreamOptions,
  /**
   * A change of one of several collections, as `changes` of a client tells it.
   *
   * @category models
   * @since 0.1.0
   */
  WatchedChange
}

/**
 * Types of {@link KernelClient}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace KernelClient {
  /** Whether a call returns the value, the response, or both. */
  export type Mode = HttpApiClient.Client.ResponseMode

  /** The method of a client that calls an endpoint. */
  export type Method<
    E extends HttpApiEndpoint.ConstraintRequest,
    Hidden extends string = never,
    Failure = HttpClientError.HttpClientError
  > = E extends { readonly "~Standard"?: Endpoint.Standard<infer Name, infer M> }
    ? Standard<E, M, Hidden, Failure>[Name & keyof Standard<E, M, Hidden, Failure>]
    : Call<E, Failure>

  /** A document that callers read. Fields that rules may hide may be missing, and with them what they are part of. */
  export type Shown<M extends Model.Any, Hidden extends string> = [Hidden] extends [never]
    ? Documents.Representation<M>["Type"]
    : Lacking<Documents.Representation<M>["Type"], Hidden extends `${infer Field}.${string}` ? Field : Hidden>

  /** A value that may lack fields. */
  export type Lacking<T, Fields> =
    & { readonly [K in keyof T as K extends Fields ? never : K]: T[K] }
    & { readonly [K in keyof T & Fields]?: Documents.Partially<T[K]> }

  /** The streams of a group with a collection, unless an action has their name. */
  export type StreamsOf<Endpoints, Hidden extends string, Failure> = Endpoints extends {
    readonly list: infer E extends HttpApiEndpoint.ConstraintRequest
  } ?
    E extends { readonly "~Standard"?: Endpoint.Standard<"list", infer M> }
      ? Omit<Streams<M, E, Hidden, Failure>, keyof Endpoints>
    : {}
    : {}

  /** The streams of a collection whose model is `logged`. Those of another one die. */
  export interface Streams<
    M extends Model.Any,
    E extends HttpApiEndpoint.ConstraintRequest,
    Hidden extends string,
    Failure
  > {
    /**
     * The changes after a place, by default from now on. The stream has no end. It connects again when the connection ends, and
     * goes on at its place.
     */
    readonly changes: Changes<M, Hidden, StreamFailure<E, Failure> | HttpError.Gone>
    /** The documents of a list, and then what enters it, changes in it and leaves it, across connections. */
    readonly live: Live<M, Hidden, StreamFailure<E, Failure>>
  }

  /** The method that streams changes. */
  export interface Changes<M extends Model.Any, Hidden extends string, Failures> {
    (request: StreamRequest<ChangesQuery<M> & Selecting> & { readonly after?: string }): Stream.Stream<
      Change<Documents.Selection<M>["Type"], Documents.Id<M>["Type"]>,
      Failures
    >
    (request?: StreamRequest<ChangesQuery<M>> & { readonly after?: string }): Stream.Stream<
      Change<Shown<M, Hidden>, Documents.Id<M>["Type"]>,
      Failures
    >
  }

  /** The method that streams a list. */
  export interface Live<M extends Model.Any, Hidden extends string, Failures> {
    (request: StreamRequest<ChangesQuery<M> & Selecting>): Stream.Stream<
      ListEvent<Documents.Selection<M>["Type"], Documents.Id<M>["Type"]>,
      Failures
    >
    (request?: StreamRequest<ChangesQuery<M>>): Stream.Stream<
      ListEvent<Shown<M, Hidden>, Documents.Id<M>["Type"]>,
      Failures
    >
  }

  /** The stream of several collections, unless a group has its name. */
  export type WatchOf<Groups extends HttpApiGroup.Constraint, Failure> = "changes" extends Groups["identifier"] ? {}
    : { readonly changes: Watch<Groups, Failure> }

  /** The method that streams the changes of several collections, whose models are `logged`. The stream of others dies. */
  // Declared variance makes the compiler compare clients by their groups, and not by the messages of each group.
  export interface Watch<in out Groups extends HttpApiGroup.Constraint, in out Failure> {
    <const Name extends Groups["identifier"]>(
      request: WatchRequest<
        Name,
        { readonly [N in NoInfer<Name>]?: ChangesQuery<CollectionOf<Groups, N>["model"]> & Unselecting }
      >
    ): Stream.Stream<
      WatchedChange<
        {
          readonly [N in Name]: {
            readonly document: Shown<CollectionOf<Groups, N>["model"], CollectionOf<Groups, N>["hidden"]>
            readonly id: Documents.Id<CollectionOf<Groups, N>["model"]>["Type"]
          }
        }
      >,
      StreamFailure<CollectionOf<Groups, Name>["list"], Failure> | HttpError.Gone
    >
    <const Name extends Groups["identifier"]>(
      request: WatchRequest<Name, { readonly [N in NoInfer<Name>]?: ChangesQuery<CollectionOf<Groups, N>["model"]> }>
    ): Stream.Stream<
      WatchedChange<
        {
          readonly [N in Name]: {
            readonly document: Documents.Selection<CollectionOf<Groups, N>["model"]>["Type"]
            readonly id: Documents.Id<CollectionOf<Groups, N>["model"]>["Type"]
          }
        }
      >,
      StreamFailure<CollectionOf<Groups, Name>["list"], Failure> | HttpError.Gone
    >
  }

  /** The request of the changes of several collections, with the filters of each. */
  export interface WatchRequest<Name extends string, Queries> extends StreamOptions {
    readonly watch: ReadonlyArray<Name>
    readonly query?: Queries
    readonly after?: string
  }

  /** The collection of the group of this name; `never` if it has none. */
  export type CollectionOf<Groups extends HttpApiGroup.Constraint, Name> = Groups extends { readonly identifier: Name }
    ? Groups["endpoints"] extends { readonly list: infer E extends HttpApiEndpoint.ConstraintRequest } ?
      E extends { readonly "~Standard"?: Endpoint.Standard<"list", infer M> }
        ? { readonly model: M; readonly hidden: Endpoint.HiddenIn<Groups>; readonly list: E }
      : never
    : never
    : never

  /** The documents of a table. */
  export type Rows<Groups extends HttpApiGroup.Constraint, Name, Document> = Stream.Stream<
    Document,
    StreamFailure<CollectionOf<Groups, Name>["list"], HttpClientError.HttpClientError>,
    HttpClient.HttpClient | HttpApiGroup.MiddlewareClient<Extract<Groups, { readonly identifier: Name }>>
  >

  /** A request that selects no fields. */
  export interface Unselecting {
    readonly fields?: never
  }

  /** A request that selects fields. */
  export interface Selecting {
    readonly fields: string
  }

  /** A request that expands references. The type of its result follows from the literal. */
  export interface Expanding<Paths extends string> {
    readonly expand?: Paths
  }

  /** A write whose answer expands references. */
  export interface Embedding<Paths extends string> {
    readonly query?: Expanding<Paths>
  }

  /** A page. */
  export type ListOf<Document> = Documents.Collection<Schema.Schema<Document>>["Type"]

  /** The request of a stream. */
  export type StreamRequest<Query> =
    & StreamOptions
    & ({} extends Query ? { readonly query?: Query } : { readonly query: Query })

  /** What ends a stream. */
  export type StreamFailure<E extends HttpApiEndpoint.ConstraintRequest, Failure> =
    | Failure
    | HttpApiEndpoint.Errors<E>
    | HttpError.TooManyRequests
    | FormFailure<Failure>

  /** The methods for standard endpoints, by name, where the type of the result depends on the request. */
  export interface Standard<
    E extends HttpApiEndpoint.ConstraintRequest,
    M extends Model.Any,
    Hidden extends string,
    Failure
  > {
    readonly list: List<M, E, Hidden, Failure>
    readonly get: Get<M, E, Hidden, Failure>
    readonly create: Create<M, E, Hidden, Failure>
    readonly replace: Write<M, E, M["create"]["Type"], Hidden, Failure>
    readonly patch: Write<M, E, M["patch"]["Type"], Hidden, Failure>
  }

  /** The method for any other endpoint. A part of the request with only optional members may be left out. */
  export interface Call<E extends HttpApiEndpoint.ConstraintRequest, Failure> {
    <M extends Mode = "decoded-only">(
      ...request: {} extends Parts<E> ? [request?: Types.Simplify<Parts<E> & ResponseOptions<M>>]
        : [request: Types.Simplify<Parts<E> & ResponseOptions<M>>]
    ): CallResult<E, HttpApiClient.SuccessType<E["~Success"]>, M, Failure>
  }

  /** The method that reads a page. */
  export interface List<
    M extends Model.Any,
    E extends HttpApiEndpoint.ConstraintRequest,
    Hidden extends string,
    Failure
  > {
    <R extends Mode = "decoded-only", const Paths extends string = never>(
      request: { readonly query: ListQuery<M>["Type"] & Selecting & Expanding<Paths> } & ResponseOptions<R>
    ): CallResult<E, ListOf<Expanded<Documents.Selection<M>["Type"], M, Paths>>, R, Failure>
    <R extends Mode = "decoded-only", const Paths extends string = never>(
      request?: { readonly query?: ListQuery<M>["Type"] & Expanding<Paths> } & ResponseOptions<R>
    ): CallResult<E, ListOf<Expanded<Shown<M, Hidden>, M, Paths>>, R, Failure>
  }

  /** The method that reads a document. */
  export interface Get<
    M extends Model.Any,
    E extends HttpApiEndpoint.ConstraintRequest,
    Hidden extends string,
    Failure
  > {
    <R extends Mode = "decoded-only", const Paths extends string = never>(
      request:
        & ById<M>
        & { readonly query: Selecting & Expanding<Paths>; readonly headers?: Conditions }
        & ResponseOptions<R>
    ): CallResult<E, Expanded<Documents.Selection<M>["Type"], M, Paths>, R, Failure>
    <R extends Mode = "decoded-only", const Paths extends string = never>(
      request:
        & ById<M>
        & { readonly query?: Unselecting & Expanding<Paths>; readonly headers?: Conditions }
        & ResponseOptions<R>
    ): CallResult<E, Expanded<Shown<M, Hidden>, M, Paths>, R, Failure>
  }

  /** The method that inserts one document or a list of documents. */
  export interface Create<
    M extends Model.Any,
    E extends HttpApiEndpoint.ConstraintRequest,
    Hidden extends string,
    Failure
  > {
    <R extends Mode = "decoded-only">(
      request: { readonly payload: ReadonlyArray<M["create"]["Type"]> } & ResponseOptions<R>
    ): CallResult<E, Documents.Results<M>["Type"], R, Failure>
    <R extends Mode = "decoded-only", const Paths extends string = never>(
      request:
        & { readonly payload: M["create"]["Type"]; readonly headers: ReturningRepresentation }
        & Embedding<Paths>
        & ResponseOptions<R>
    ): CallResult<E, Expanded<Shown<M, Hidden>, M, Paths>, R, Failure>
    <R extends Mode = "decoded-only">(
      request: { readonly payload: M["create"]["Type"]; readonly headers?: ReturningResult } & ResponseOptions<R>
    ): CallResult<E, Documents.Result<M>["Type"], R, Failure>
  }

  /** The methods that replace and patch a document. */
  export interface Write<
    M extends Model.Any,
    E extends HttpApiEndpoint.ConstraintRequest,
    Payload,
    Hidden extends string,
    Failure
  > {
    <R extends Mode = "decoded-only", const Paths extends string = never>(
      request:
        & ById<M>
        & { readonly payload: Payload; readonly headers: ReturningRepresentation }
        & Embedding<Paths>
        & ResponseOptions<R>
    ): CallResult<E, Expanded<Shown<M, Hidden>, M, Paths>, R, Failure>
    <R extends Mode = "decoded-only">(
      request: ById<M> & { readonly payload: Payload; readonly headers?: ReturningResult } & ResponseOptions<R>
    ): CallResult<E, Documents.Result<M>["Type"], R, Failure>
  }

  /** The preconditions of a request (RFC 9110, section 13). */
  export interface Conditions {
    readonly "if-match"?: string
    readonly "if-none-match"?: string
  }

  /** The headers of a write that returns the document (RFC 7240). */
  export interface ReturningRepresentation extends Conditions {
    readonly prefer: "return=representation"
  }

  /** The headers of a write that returns its result. */
  export interface ReturningResult extends Conditions {
    readonly prefer?: "return=minimal"
  }

  /** The options of every call. */
  export interface ResponseOptions<M extends Mode> {
    readonly responseMode?: M
  }

  /** The part of a request that addresses a document. */
  export interface ById<M extends Model.Any> {
    readonly params: { readonly id: Documents.Id<M>["Type"] }
  }

  /** The result and the failures of a call. */
  export type CallResult<E extends HttpApiEndpoint.ConstraintRequest, Success, M extends Mode, Failure> = Effect.Effect<
    HttpApiClient.Client.Response<Success, M>,
    | Failure
    | ([M] extends ["response-only"] ? never : HttpApiEndpoint.Errors<E> | FormFailure<Failure>)
  >

  /** A part of a request or a response that is not as described. `Failure` may include it already. */
  export type FormFailure<Failure> = HttpClientError.HttpClientError extends Failure ? Schema.SchemaError : never

  /** The parts of a request. */
  export type Parts<E extends HttpApiEndpoint.ConstraintRequest> =
    & Part<"params", E["~Params"]["Type"]>
    & Part<"query", E["~Query"]["Type"]>
    & Part<"headers", E["~Headers"]["Type"]>
    & Part<"payload", E["~Payload"]["Type"]>

  /** A part of a request. It is optional if all its members are. */
  export type Part<Name extends string, T> = [T] extends [never] ? {}
    : {} extends T ? { readonly [K in Name]?: T }
    : { readonly [K in Name]: T }
}

/**
 * Options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The address of the service. Defaults to that of the page, in a browser. */
  readonly baseUrl?: URL | string | undefined
  /** Who calls. Defaults to nobody. */
  readonly credentials?: Credentials.Credentials | undefined
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
}

/**
 * Makes a client of the service at `baseUrl` from its description: a `KernelApi`, or the engine itself, of which it runs
 * no part. What would be too long for a URL, such as a list of hundreds of identifiers, it asks by the method `QUERY`. It sends `credentials` with each request; `transformClient` changes every request, for example to add a header or
 * retries.
 *
 * **Example** (Reading a document of another service)
 *
 * ```ts check
 * import { Effect, Schema } from "effect"
 * import { FetchHttpClient } from "effect/http"
 * import { KernelClient, KernelEngine, Model } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const engine = KernelEngine.make("notes").register(Note, { urlBase: "/api/v1" })
 *
 * export const program = Effect.gen(function*() {
 *   const client = yield* KernelClient.make(engine, { baseUrl: "http://notes:5000" })
 *   return yield* client.notes.get({ params: { id: "N1" } }).pipe(
 *     Effect.catchTag("NotFound", () => Effect.succeed(undefined))
 *   )
 * }).pipe(Effect.provide(FetchHttpClient.layer))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  described: { readonly api: HttpApi.HttpApi<Id, Groups> },
  options?: Options
): Effect.Effect<KernelClient<Groups>, never, HttpClient.HttpClient | HttpApiGroup.MiddlewareClient<Groups>> =>
  // The types above describe how `withParts` changes the platform's calls.
  Effect.gen(function*() {
    const httpClient = askingByBody(transformed(options)(yield* HttpClient.HttpClient))
    const { baseUrl } = options ?? {}
    const client = yield* HttpApiClient.makeWith(exactly(described.api), { httpClient, baseUrl })
    const context = yield* Effect.context<HttpApiGroup.MiddlewareClient<Groups>>()
    // An arbitrary api has no static types.
    const api: HttpApi.Constraint = described.api
    const own = withRequestParts(Object(client), { settle: withMany(api as HttpApi.Top) })
    return withStreams(own, api as HttpApi.Top, (messages, api, group) =>
      byEvents(messages, callOf(api, group, { httpClient, baseUrl, context }))) as never
  })

/**
 * All documents of a list whose registration has `tables`, read from one state of the collection as the stream is pulled, beside the
 * clients of {@link make}. The stream fails if it breaks off.
 *
 * **Example** (The documents of another service)
 *
 * ```ts check
 * import { Schema, Stream } from "effect"
 * import { KernelClient, KernelEngine, Model } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const engine = KernelEngine.make("notes").register(Note, { urlBase: "/api/v1", tables: true })
 *
 * export const lengths = KernelClient.rows(engine, "notes", { text: "~a" }, { baseUrl: "http://notes:5000" }).pipe(
 *   Stream.map(({ text }) => text.length)
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const rows: {
  <Id extends string, Groups extends HttpApiGroup.Constraint, const Name extends Groups["identifier"]>(
    described: { readonly api: HttpApi.HttpApi<Id, Groups> },
    name: Name,
    query: NoInfer<TableQuery<KernelClient.CollectionOf<Groups, Name>["model"]> & KernelClient.Selecting>,
    options?: Options
  ): KernelClient.Rows<
    Groups,
    Name,
    Documents.Selection<KernelClient.CollectionOf<Groups, Name>["model"]>["Type"]
  >
  <Id extends string, Groups extends HttpApiGroup.Constraint, const Name extends Groups["identifier"]>(
    described: { readonly api: HttpApi.HttpApi<Id, Groups> },
    name: Name,
    query?: NoInfer<TableQuery<KernelClient.CollectionOf<Groups, Name>["model"]>>,
    options?: Options
  ): KernelClient.Rows<
    Groups,
    Name,
    KernelClient.Shown<
      KernelClient.CollectionOf<Groups, Name>["model"],
      KernelClient.CollectionOf<Groups, Name>["hidden"]
    >
  >
} = (described: { readonly api: HttpApi.Constraint }, group: string, query?: object, options?: Options): never =>
  // An arbitrary api has no static types.
  Stream.unwrap(Effect.gen(function*() {
    const httpClient = askingByBody(transformed(options)(yield* HttpClient.HttpClient))
    const context = yield* Effect.context<never>()
    return tableRows(described.api as HttpApi.Top, group, query ?? {}, {
      httpClient,
      baseUrl: options?.baseUrl,
      context
    })
  })) as never

/**
 * The files of the documents of a group, beside the clients of {@link make}: `put`, `get` and `delete` for each field of files, and
 * `append` for a list. The bytes are a `Stream` or a `Blob`; `FileSystem.stream` has those of a path.
 *
 * **Example** (The picture of a photo)
 *
 * ```ts check
 * import { Effect, FileSystem } from "effect"
 * import { KernelClient, KernelEngine, Model, Resource } from "appkernel"
 *
 * class Photo extends Model.Class<Photo>()("Photo", {
 *   id: Model.id({ prefix: "P" }),
 *   picture: Model.file({ types: ["image/png"] }).pipe(Model.optional)
 * }) {}
 *
 * const engine = KernelEngine.make("photos")
 *   .register(Resource.make(Photo, { methods: ["GET", "POST", "PATCH"] }), { urlBase: "/api/v1" })
 *
 * export const upload = Effect.fn(function*(id: string, path: string) {
 *   const files = yield* KernelClient.files(engine, "photos", { baseUrl: "http://photos:5000" })
 *   const fs = yield* FileSystem.FileSystem
 *   yield* files.picture.put({ params: { id }, payload: fs.stream(path) })
 *   return yield* files.picture.get({ params: { id } })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const files = <
  Id extends string,
  Groups extends HttpApiGroup.Constraint,
  const Name extends Groups["identifier"]
>(
  described: { readonly api: HttpApi.HttpApi<Id, Groups> },
  name: Name,
  options?: Options
): Effect.Effect<
  Files<KernelClient.CollectionOf<Groups, Name>["model"]>,
  never,
  HttpClient.HttpClient | HttpApiGroup.MiddlewareClient<Extract<Groups, { readonly identifier: Name }>>
> =>
  Effect.gen(function*() {
    const httpClient = transformed(options)(yield* HttpClient.HttpClient)
    // An arbitrary api has no static types, and the type of the fields follows from the model.
    return yield* filesOfGroup(described.api as never, name, { httpClient, baseUrl: options?.baseUrl })
  }) as never

/**
 * Sends each write with an `Idempotency-Key`, and each request again while it gets no answer, a transient one, or the one that the
 * first request with its key has not ended yet: as the `transformClient` of {@link make}. The service makes a write once if its
 * registration has `idempotencyKeys`.
 *
 * Where a registration ignores keys, a write that is sent again is made again.
 *
 * `key` makes a key for each write; random by default. `times` is how often a request is sent again, 4 by default, after a tenth of
 * a second and then twice as long each time, and not before `Retry-After`. An upload (a
 * stream or a form with files) and a write of many documents get no key, and are not sent again.
 *
 * **Example** (An order that is placed once)
 *
 * ```ts check
 * import { Schema } from "effect"
 * import { KernelClient, KernelEngine, Model } from "appkernel"
 *
 * class Order extends Model.Class<Order>()("Order", { id: Model.id({ prefix: "O" }), item: Schema.String }) {}
 *
 * const engine = KernelEngine.make("orders")
 *   .register(Order, { methods: ["GET", "POST"], idempotencyKeys: "accepted" })
 *
 * export const client = KernelClient.make(engine, {
 *   baseUrl: "http://orders:5000",
 *   transformClient: KernelClient.withIdempotencyKeys()
 * })
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const withIdempotencyKeys = (
  { key, times = 4 }: {
    readonly key?: Effect.Effect<string> | undefined
    readonly times?: number | undefined
  } = {}
): (client: HttpClient.HttpClient) => HttpClient.HttpClient =>
(client) => withKeys(sentAgain(client, times), key)

/**
 * Passes on the failures of a call of a typed client, of which an operation then needs to declare only the application's own
 * errors: any other is answered like the failed call of a proxy, see `UpstreamError`.
 *
 * **Example** (A document of another service)
 *
 * ```ts check
 * import { Effect, Schema } from "effect"
 * import { HttpClientFactory, KernelApi, KernelClient, Model, Resource, Service } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const api = KernelApi.make("notes").register(Resource.describe(Note), { urlBase: "/api/v1" })
 *
 * export const Texts = Service.make("TextService")
 *   .operation("text", { path: "./{id}", success: Schema.String }, ({ params }) =>
 *     Effect.gen(function*() {
 *       const client = yield* HttpClientFactory.typed(api, "http://notes:5000")
 *       return (yield* client.notes.get({ params }).pipe(KernelClient.passOn)).text
 *     }))
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const passOn = <A, E, R>(
  call: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, HttpError.HttpError | HttpError.NotModified> | RequestHandlingException, R> =>
  Effect.mapError(call, (error) => {
    const own = error as E | HttpError.HttpError | HttpError.NotModified // any of them may be among `E`
    return isOfService(own)
      ? callBehind(own) ?? unnamedCall(own)
      : own as Exclude<E, HttpError.HttpError | HttpError.NotModified>
  })

/** The client of {@link make} whose calls are those of a client of other services. @internal */
export const over = (described: { readonly api: HttpApi.Top }, transport: Transport): Effect.Effect<never> =>
  // The types above describe how `withParts` changes the platform's calls, and the transport says what they fail with. No
  // middleware of a description needs a client's part.
  Effect.map(
    Effect.all([exactly(described.api), described.api].map((api) =>
      HttpApiClient.makeWith(api, {
        httpClient: askingByBody(transport.httpClient),
        baseUrl: transport.root,
        transformResponse: transport.transformResponse
      })
    )),
    ([client, bare]) => {
      const readers = readersOf(described.api)
      const own = withRequestParts(Object(client), {
        bare: Object(bare),
        settle: (call, group, name) => transport.settle<unknown, never, never>(call, readers.get(group)?.get(name))
      })
      return withStreams(own, described.api, (_, api, group) => {
        const call = callOf(api, group, {
          httpClient: askingByBody(transport.waiting),
          baseUrl: transport.root,
          transformResponse: transport.transformResponse
        })
        return byPolls((request) => transport.settle(call(request)))
      })
    }
  ) as never

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const transformed = ({ baseUrl, credentials, transformClient = (client) => client }: Options = {}) =>
  credentials === undefined
    ? transformClient
    : (client: HttpClient.HttpClient) => Credentials.attach(credentials, transformClient(client), baseUrl)

const isOfService = (error: unknown): error is HttpError.HttpError | HttpError.NotModified =>
  error instanceof HttpError.NotModified || isTagged(error) && HttpError.isHttpError(error)

const isTagged = (u: unknown): u is { readonly _tag: string } =>
  Predicate.hasProperty(u, "_tag") && Predicate.isString(u._tag)

/** A client that is not from a factory does not tell the name of the service. */
const unnamedCall = (error: HttpError.HttpError | HttpError.NotModified): RequestHandlingException =>
  new RequestHandlingException({
    message: error.message,
    upstreamService: error._tag === "UpstreamError" ? error.upstream_service : "unknown",
    reason: {
      _tag: "Status",
      statusCode: error._tag === "NotModified"
        ? 304
        : error._tag === "UpstreamError"
        ? error.code
        : HttpError.statusOf[error._tag],
      body: { _type: "ErrorMessage" }
    }
  })
