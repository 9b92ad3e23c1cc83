import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { CallerRules } from "../../Repository/introspection.ts"

/** The rules of a caller for each model. */
export type RulesOfModels = NonNullable<(typeof CallerRules)["Service"]>

/**
 * The rules for what the handler of an action or a hook does, which are others than those that the request's own document is
 * read and written with; `undefined` if they are the same.
 *
 * @internal
 */
export const HandlerRules: Context.Reference<RulesOfModels | undefined> = Context.Reference<RulesOfModels | undefined>(
  "appkernel/Http/routes/HandlerRules",
  { defaultValue: () => undefined }
)

/**
 * Runs the handler of an action, or a hook.
 *
 * @internal
 */
export const withHandlerRules = <A, E, R>(handler: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const rules = Context.get(fiber.context, HandlerRules)
    return rules === undefined ? handler : Effect.provideService(handler, CallerRules, rules)
  })
