/**
 * A typed client of a service: what its engine has registered are its methods.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpClient from "effect/http/HttpClient"

/**
 * The client of an engine whose registrations are `Groups`: `client.users.get({ params: { id } })`. Each call fails with
 * the errors that its endpoint declares, as the classes that the service fails with.
 *
 * @category models
 * @since 0.1.0
 */
export type KernelClient<Groups extends HttpApiGroup.Constraint> = HttpApiClient.Client<Groups>

/**
 * A client of the service at `baseUrl` that an engine describes. Nothing of the engine is run: who only calls the service
 * needs no store. `transformClient` changes every request: it adds a header, a retry.
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
  engine: { readonly api: HttpApi.HttpApi<Id, Groups> },
  options?: {
    readonly baseUrl?: URL | string | undefined
    readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
  }
): Effect.Effect<KernelClient<Groups>, never, HttpClient.HttpClient | HttpApiGroup.MiddlewareClient<Groups>> =>
  HttpApiClient.make(engine.api, options)
