/** Joins registered descriptions with the handlers and hooks that implement them. */
import * as Effect from "effect/Effect"
import type * as Grant from "../../Access/Grant.ts"
import { errorList, type OwnErrors, upstreamStatusesIn } from "../description/ownErrors.ts"
import type * as Operation from "../Operation.ts"
import type { Call, Registration, ResourceInfo, ServiceInfo } from "../registration/registration.ts"
import { type Relation, relationsOf } from "../registration/relations.ts"
import * as Resource from "../Resource.ts"
import { noRules } from "../resource/rules.ts"
import { type HandlerFailure, passOn } from "../response/handlerFailures.ts"
import type { LinkedReference } from "../response/links.ts"
import type * as Service from "../Service.ts"

/** The implementation of a registration. */
export type AnyImplementation = Resource.Any | Service.Any

export interface ImplementedOperation extends Call {
  readonly handler: Operation.Any["handler"]
  /** Whether the handler makes the response itself. */
  readonly responds?: boolean
  /** Finds the document of an action. Defaults to that of the repository. */
  readonly find?: (id: unknown) => Effect.Effect<unknown, HandlerFailure>
}

/** A registered resource with its handlers and hooks. */
export interface ImplementedResource extends ResourceInfo {
  readonly calls: ReadonlyArray<ImplementedOperation>
  readonly hooks: ReadonlyArray<Resource.AnyHook>
  readonly transactional: boolean
  readonly rules: Grant.Rules
  /** Defaults to none. */
  readonly relations?: ReadonlyArray<Relation>
  /** The relations that documents link: fields that refer to a single document. Defaults to none. */
  readonly references?: ReadonlyArray<LinkedReference>
}

/** A registered service with its handlers. */
export interface ImplementedService extends ServiceInfo {
  readonly calls: ReadonlyArray<ImplementedOperation>
  readonly rules: Grant.Rules
}

/** Joins a registration with its implementation. Calls without a handler are left out: the start has failed then. */
export const implemented = (
  registration: Registration,
  implementations: ReadonlyArray<AnyImplementation>
): ImplementedResource | ImplementedService => {
  const own = implementations.find(({ description }) => description === registration.description)
  const calls = registration.calls.flatMap((call): ReadonlyArray<ImplementedOperation> => {
    const handler = own?.handlers.get(call.name)
    return handler === undefined ? [] : [{ ...call, handler: declaring(call.options.error ?? [], handler) }]
  })
  const rules = own?.rules ?? noRules
  if (registration._tag === "Service") return { ...registration, calls, rules }
  const { hooks, transactional } = own !== undefined && "hooks" in own ? own : unhooked
  const { errors } = registration.description
  const declared = hooks.map(({ hook, name }): Resource.AnyHook => ({
    name,
    // `declaring` keeps the arguments and the result of the hook.
    hook: declaring(errors[Resource.methodOfHook(name)] ?? [], hook) as Resource.AnyHook["hook"]
  }))
  return { ...registration, calls, hooks: declared, transactional, rules }
}

/** Adds the relations of the registration's documents to other registrations of the engine. */
export const withRelations = (
  registration: ImplementedResource | ImplementedService,
  registrations: ReadonlyArray<Registration>
): ImplementedResource | ImplementedService => {
  if (registration._tag === "Service") return registration
  const relations = relationsOf(registration.model, registrations)
  const references = relations.flatMap(({ name, path, target: { model, path: place } }) =>
    path.length === 1 ? [{ field: name, model, path: place }] : []
  )
  return { ...registration, relations, references }
}

/** Passes on the statuses of failed calls to other services that the errors of a handler or a hook declare. */
const declaring = (errors: OwnErrors, run: Operation.Any["handler"]): Operation.Any["handler"] => {
  const statuses = upstreamStatusesIn(errorList(errors))
  if (statuses.size === 0) return run
  const passed = passOn(statuses)
  // The types of `Operation` and `Hook` declare arguments and failures.
  const checked = run as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, HandlerFailure>
  return (...args: ReadonlyArray<unknown>) => Effect.catch(checked(...args), passed)
}

const unhooked = { hooks: [], transactional: false }
