import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import { managedField } from "../../Model/introspection.ts"
import * as Model from "../../Model/Model.ts"
import type { Method } from "../Endpoint.ts"
import type * as Hook from "../Hook.ts"
import type { AnyHook } from "../Resource.ts"
import type { CallFailure } from "../response/failures.ts"

type Instance = Model.Any["Type"]

type Request = Hook.Request<Model.Any>

/**
 * What a hook failed with. It is told apart from what the engine itself fails with, which some conflicts of its own mean
 * that it begins again by.
 *
 * @internal
 */
export class HookFailed {
  readonly _tag = "HookFailed"
  readonly error: CallFailure
  constructor(error: CallFailure) {
    this.error = error
  }
}

/**
 * Fails with what a hook failed with.
 *
 * @internal
 */
export const unwrapped = <A, E extends CallFailure>(
  effect: Effect.Effect<A, E | HookFailed>
): Effect.Effect<A, CallFailure> =>
  Effect.catch(effect, (error) => Effect.fail(error instanceof HookFailed ? error.error : error))

/**
 * The hooks of one method, each kind as one; `undefined` where there is none.
 *
 * @internal
 */
export interface MethodHooks {
  /** Gives the instance as the hooks changed it: of a document that is there, all but its identifier and version. */
  readonly before: ((model: Instance, request: Request) => Effect.Effect<Instance, HookFailed>) | undefined
  readonly after: ((model: Instance, request: Request) => Effect.Effect<void, HookFailed>) | undefined
}

/** @internal */
export const isHooked = ({ after, before }: MethodHooks): boolean => before !== undefined || after !== undefined

/** @internal */
export const hooksOf = (model: Model.Any, hooks: ReadonlyArray<AnyHook>, method: Method): MethodHooks => {
  const name = `${method[0]!}${method.slice(1).toLowerCase()}`
  // The types of `Hook` say what hooks of these names take, and what they give.
  const named = <H>(name: string) => hooks.filter((hook) => hook.name === name).map(({ hook }) => hook as H)
  const before = named<Hook.Before<Model.Any, never, never>>(`before${name}`)
  const after = named<Hook.After<Model.Any, never, never>>(`after${name}`)
  const versionField = managedField(model, "version")
  const kept = (current: Instance, previous: Option.Option<unknown>) =>
    previous._tag === "None" ? {} : {
      id: Reflect.get(Object(current), "id"),
      ...(versionField === undefined ? {} : { [versionField]: Reflect.get(Object(current), versionField) })
    }
  const changedBy = (current: Instance, { previous }: Request, changed: Instance) =>
    changed === undefined || changed === current || method === "DELETE"
      ? Effect.succeed(current)
      // What a hook changed is looked at as what a caller sent is.
      : Model.finalise(model, { ...changed, ...kept(current, previous) })
  return {
    before: before.length === 0 ?
      undefined :
      (instance, request) =>
        failing(Effect.reduce(
          before,
          () => instance,
          (current, hook) => Effect.flatMap(hook(current, request), (changed) => changedBy(current, request, changed))
        )),
    after: after.length === 0 ?
      undefined :
      (instance, request) => failing(Effect.forEach(after, (hook) => hook(instance, request), { discard: true }))
  }
}

const failing = <A>(effect: Effect.Effect<A, CallFailure>): Effect.Effect<A, HookFailed> =>
  Effect.mapError(effect, (error) => new HookFailed(error))

/**
 * The hooks before reading, which there is no model for yet.
 *
 * @internal
 */
export const beforeGetOf = (
  hooks: ReadonlyArray<AnyHook>
): ((request: Request) => Effect.Effect<void, CallFailure>) | undefined => {
  // As above.
  const before = hooks.filter(({ name }) => name === "beforeGet")
    .map(({ hook }) => hook as Hook.BeforeGet<Model.Any, never, never>)
  return before.length === 0
    ? undefined
    : (request) => Effect.forEach(before, (hook) => hook(request), { discard: true })
}
