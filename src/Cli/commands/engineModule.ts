/**
 * The engine of a project, which commands work on.
 */
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Predicate from "effect/Predicate"
import type { AccessPolicy } from "../../Http/AccessPolicy.ts"
import { CommandFailed } from "./commandFailed.ts"

/**
 * The argument with the module that exports the engine.
 *
 * @internal
 */
export const engineModule = Argument.String("module").pipe(
  Argument.withDescription("The module that exports the engine, as engine or by default. Defaults to src/engine.ts"),
  Argument.withDefault("src/engine.ts")
)

/**
 * What commands use of an engine.
 *
 * @internal
 */
export interface Engine {
  readonly policy: AccessPolicy
}

/**
 * Loads the module, and the engine from it.
 *
 * @internal
 */
export const loadEngine = Effect.fnUntraced(function*(module: string) {
  const path = yield* Path.Path
  const url = yield* path.toFileUrl(path.resolve(module))
  const loaded: unknown = yield* Effect.tryPromise({
    try: () => import(url.href),
    catch: (cause) =>
      new CommandFailed({
        detail: `${module} can't be loaded: ${Predicate.isError(cause) ? cause.message : String(cause)}`
      })
  })
  const found = ["engine", "default"].flatMap((name) =>
    Predicate.hasProperty(loaded, name) && isEngine(loaded[name]) ? [loaded[name]] : []
  )[0]
  return found ?? (yield* new CommandFailed({
    detail: `${module} exports no engine: export const engine = KernelEngine.make(…)`
  }))
})

const isEngine = (value: unknown): value is Engine =>
  Predicate.hasProperty(value, "policy") && Predicate.hasProperty(value, "api") && Predicate.hasProperty(value, "layer")
