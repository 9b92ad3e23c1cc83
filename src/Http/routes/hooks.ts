/** Composes the hooks of a resource for each method, before and after its reads and writes. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { managedField } from "../../Model/internal.ts"
import * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { apartFromAddressed, documentCodec, identifierOf } from "../../Repository/internal.ts"
import type { Method } from "../description/endpoint.ts"
import type * as Hook from "../description/hook.ts"
import type { AnyHook } from "../Resource.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import { isServiceError } from "../ServiceError.ts"

type Instance = Model.Any["Type"]

type Request = Hook.Request<Model.Any>

/** The failure of a hook. It has a type of its own, since the engine retries its own conflicts and never a hook's. */
export class HookFailed extends Data.TaggedClass("HookFailed")<{ readonly error: HandlerFailure }> {}

/** Fails with the hook's own failure. */
export const withoutHookFailure = <A, E extends HandlerFailure>(
  effect: Effect.Effect<A, E | HookFailed>
): Effect.Effect<A, HandlerFailure> =>
  Effect.catch(effect, (error) => Effect.fail(error instanceof HookFailed ? error.error : error))

/**
 * What becomes of hooks after writes that are not committed yet; `undefined` where each write is one of its own. See
 * {@link runAfterwards}.
 */
export const Afterwards = Context.Reference<
  ((after: Effect.Effect<void, HookFailed>) => Effect.Effect<void>) | undefined
>(
  "appkernel/Http/routes/hooks/Afterwards",
  { defaultValue: () => undefined }
)

/** Runs the hooks after a write, once it is committed. */
export const runAfterwards = (after: Effect.Effect<void, HookFailed>): Effect.Effect<void, HookFailed> =>
  Effect.flatMap(Afterwards, (later) =>
    later === undefined
      ? Effect.tapError(after, ({ error }) => Effect.sync(() => afterWrites.add(error)))
      : later(after))

/** Whether the failure of a write says that nothing was written. That of a store may come after the commit. */
export const isUnwritten = (error: HandlerFailure): boolean =>
  !afterWrites.has(error) && (isServiceError(error) || unwritten.has(error._tag))

/** The failures of hooks after writes. */
const afterWrites = new WeakSet<HandlerFailure>()

const unwritten: ReadonlySet<string> = new Set([
  "AccessDenied",
  "BadRequest",
  "Conflict",
  "DocumentNotFound",
  "DuplicateKey",
  "FileQuotaExceeded",
  "Forbidden",
  "NotFound",
  "PayloadTooLarge",
  "PreconditionFailed",
  "PropertyRequiredException",
  "ValidationException",
  "VersionConflict"
])

/** The hooks of one method, composed by kind; `undefined` if there are none. */
export interface MethodHooks {
  /** The instance that hooks return, with the identifier and version of the existing document. */
  readonly before: ((model: Instance, request: Request) => Effect.Effect<Instance, HookFailed>) | undefined
  readonly after: ((model: Instance, request: Request) => Effect.Effect<void, HookFailed>) | undefined
}

export const isHooked = ({ after, before }: MethodHooks): boolean => before !== undefined || after !== undefined

export const hooksOf = (model: Model.Any, hooks: ReadonlyArray<AnyHook>, method: Method): MethodHooks => {
  const name = `${method[0]!}${method.slice(1).toLowerCase()}`
  // The types of `Hook` declare the arguments and results of hooks by name.
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
      // What a hook returns is validated like input.
      : Model.finalise(model, { ...changed, ...kept(current, previous) })
  return {
    before: before.length === 0 ?
      undefined :
      (instance, request) =>
        failing(Effect.reduce(
          before,
          () => instance,
          (current, hook) =>
            Effect.flatMap(
              apartFromAddressed(hook(current, request)),
              (changed) => changedBy(current, request, changed)
            )
        )),
    after: after.length === 0 ?
      undefined :
      (instance, request) =>
        failing(Effect.forEach(after, (hook) => apartFromAddressed(hook(instance, request)), { discard: true }))
  }
}

const failing = <A>(effect: Effect.Effect<A, HandlerFailure>): Effect.Effect<A, HookFailed> =>
  Effect.mapError(effect, (error) => new HookFailed({ error }))

/** The hooks that run before a document is read. */
const beforeGetOf = (
  hooks: ReadonlyArray<AnyHook>
): ((request: Request) => Effect.Effect<void, HandlerFailure>) | undefined => {
  // The types of `Hook` declare the arguments and results of hooks by name.
  const before = hooks.filter(({ name }) => name === "beforeGet")
    .map(({ hook }) => hook as Hook.BeforeGet<Model.Any, never, never>)
  return before.length === 0
    ? undefined
    : (request) => Effect.forEach(before, (hook) => apartFromAddressed(hook(request)), { discard: true })
}

const requestOf = (id: unknown): Request => ({ id: Option.some(id), previous: Option.none() })

const listRequest: Request = { id: Option.none(), previous: Option.none() }

/** The hooks of reads, those of one document by themselves too. */
export const readHooksOf = (model: Model.Any, hooks: ReadonlyArray<AnyHook>) => {
  const before = beforeGetOf(hooks)
  const { after } = hooksOf(model, hooks, "GET")
  const codec = documentCodec(model)
  const { valueOf } = identifierOf(model)
  const afterBy = (requestFor: (document: Document) => Request) =>
    after && ((document: Document): Effect.Effect<void, HandlerFailure> =>
      Effect.flatMap(
        codec.fromDocument(document),
        (instance) => withoutHookFailure(after(instance, requestFor(document)))
      ))
  return {
    before,
    after,
    beforeEach: before && ((id: unknown) => before(requestOf(id))),
    beforeList: before?.(listRequest),
    afterEach: afterBy((document) => requestOf(valueOf(document["_id"]))),
    afterListed: afterBy(() => listRequest)
  }
}
