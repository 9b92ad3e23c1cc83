/**
 * The description of a service, apart from its implementation: a client or a browser can load it, since it imports no
 * handler, no store and no server.
 *
 * @since 0.1.0
 */
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type { CircuitOpenError, RequestHandlingException } from "../Client/ClientError.ts"
import type { Described, Transport } from "../Client/HttpClientFactory.ts"
import type * as Model from "../Model/Model.ts"
import type * as Guard from "./Guard.ts"
import * as KernelClient from "./KernelClient.ts"
import { apiOf } from "./registration/group.ts"
import * as Registration from "./registration/registration.ts"
import type { SegmentOf } from "./registration/segment.ts"
import * as Resource from "./Resource.ts"
import { isDescription } from "./resource/description.ts"
import * as Service from "./Service.ts"

const typeId = "~appkernel/KernelApi"

/**
 * The description of a service under construction: every registration returns a new one whose type includes it. `Groups`
 * describes the endpoints, `Registered` what was registered under which name, and `Guards` what guards the endpoints.
 *
 * @category models
 * @since 0.1.0
 */
export interface KernelApi<
  Id extends string,
  Groups extends HttpApiGroup.Constraint,
  out Registered extends AnyEntry = never,
  Guards extends Guard.Guard = never
> {
  readonly [typeId]: { readonly registered: () => Registered }
  /** How `HttpClientFactory.typed` makes a client. */
  readonly "~appkernel/Described": Described<ClientOf<Guard.Guarded<Groups, Guards>>>["~appkernel/Described"]
  /** The description of all endpoints, for any consumer of an `HttpApi`. */
  readonly api: HttpApi.HttpApi<Id, Guard.Guarded<Groups, Guards>>
  /** The registrations, in order. */
  readonly registrations: ReadonlyArray<Registration.Registration>
  /** Describes a model, a resource or a service. A model is read-only unless `methods` adds more. */
  readonly register: <
    T extends Registration.Described,
    const Methods extends ReadonlyArray<Resource.Method> = readonly ["GET"],
    const Name extends string = SegmentOf<T>,
    const Form extends number = never,
    const Many extends Resource.Endpoint.ManyMethod = never
  >(
    target: T,
    options?: Registration.OptionsFor<T, Methods, Name, Form, Many>
  ) => KernelApi<
    Id,
    Groups | Registration.GroupOf<Registration.Formed<T, Form>, Methods[number], Name, Many>,
    Registered | Entry<Name, Registration.Formed<T, Form>>,
    Guards
  >
  /**
   * Describes that callers prove who they are and that rules say what they may do: every endpoint can answer with
   * `Unauthorized`, and with `TooManyRequests` after too many wrong credentials; those that may deny something also with
   * `Forbidden`. An engine of this description has security enabled.
   */
  readonly enableSecurity: () => KernelApi<Id, Groups, Registered, Guards | "security">
  /**
   * Describes that the service limits how often it may be called: every endpoint can answer with `TooManyRequests`. An engine
   * of this description has limits.
   */
  readonly enableRateLimits: () => KernelApi<Id, Groups, Registered, Guards | "rateLimits">
}

/**
 * The typed client of a service that calls it as proxies do.
 *
 * @category models
 * @since 0.1.0
 */
export type ClientOf<Groups extends HttpApiGroup.Constraint> = KernelClient.KernelClient<
  Groups,
  RequestHandlingException | CircuitOpenError
>

/**
 * What was registered under a name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry<out Name extends string, T> {
  readonly name: Name
  readonly target: T
}

/**
 * Anything that was registered.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyEntry extends Entry<string, unknown> {}

/**
 * Makes the description of a service without registrations. `id` names the service.
 *
 * **Example** (A description, and the client that follows from it)
 *
 * ```ts check
 * import { Effect, Schema } from "effect"
 * import { FetchHttpClient } from "effect/http"
 * import { KernelApi, KernelClient, Model, Resource } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const NotesApi = Resource.describe(Note, { methods: ["GET", "POST"] })
 *   .action("archive", { method: "POST" })
 *
 * const api = KernelApi.make("notes").register(NotesApi, { urlBase: "/api/v1" })
 *
 * export const program = Effect.gen(function*() {
 *   const client = yield* KernelClient.make(api, { baseUrl: "http://notes:5000" })
 *   yield* client.notes.archive({ params: { id: "N1" } })
 * }).pipe(Effect.provide(FetchHttpClient.layer))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Id extends string>(id: Id): KernelApi<Id, never> =>
  // The type declares an api without registrations.
  makeApi({ id, registrations: [], guards: new Set() }) as never

/** A description of any registrations, without their types. @internal */
export interface Any {
  readonly id: string
  readonly api: HttpApi.Top
  readonly registrations: ReadonlyArray<Registration.Registration>
  readonly guards: ReadonlySet<Guard.Guard>
  readonly register: (target: Registration.Described, options?: AnyOptions) => Any
  readonly "~appkernel/Described": Described<never>["~appkernel/Described"]
  readonly enableSecurity: () => Any
  readonly enableRateLimits: () => Any
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type AnyOptions = Registration.ModelOptions<ReadonlyArray<Resource.Method>, string, number>

interface Parts {
  readonly id: string
  readonly registrations: ReadonlyArray<Registration.Registration>
  readonly guards: ReadonlySet<Guard.Guard>
}

const makeApi = (parts: Parts): Any => {
  const { guards, id, registrations } = parts
  const register = (target: Model.Any | Resource.AnyDescription | Service.AnyDescription, options?: AnyOptions) => {
    const registration = Service.isDescription(target)
      ? Registration.ofService(target, options)
      : isDescription(target)
      ? Registration.ofResource(target, options)
      : Registration.ofResource(
        Resource.describe(Registration.formed(target, options), options),
        Registration.mounting(options)
      )
    return makeApi({ ...parts, registrations: [...registrations, registration] })
  }
  let api: HttpApi.Top | undefined
  const own: Any & { readonly [typeId]: undefined } = {
    // The type-level property is never read.
    [typeId]: undefined,
    // Only the complete description is built.
    get api() {
      return api ??= apiOf(id, registrations, guards)
    },
    id,
    guards,
    registrations,
    register,
    "~appkernel/Described": { id, clientOver: (transport: Transport) => KernelClient.over(own, transport) },
    enableSecurity: () => makeApi({ ...parts, guards: new Set([...guards, "security" as const]) }),
    enableRateLimits: () => makeApi({ ...parts, guards: new Set([...guards, "rateLimits" as const]) })
  }
  return own
}
