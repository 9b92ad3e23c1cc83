import * as Effect from "effect/Effect"
import { type ModelLike, nestedModel } from "../../Model/introspection.ts"
import type { AccessDecision } from "../../Repository/introspection.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import { type FieldNames, hiddenBy, maskedBy } from "./fieldMask.ts"

/**
 * The fields that a caller does not see of a model without a registration: those that are hidden from them, in some document,
 * of the registered models that stand in it.
 *
 * @internal
 */
export const hiddenWithin = (
  model: ModelLike,
  decision: Pick<AccessDecision, "of">
): Effect.Effect<FieldNames, ReadError> =>
  Effect.map(
    walk(model, decision, "", [model]),
    ({ cycles, names }) => names.length === 0 ? names : [...names, ...cycles].toSorted()
  )

interface Walked {
  readonly names: FieldNames
  /** The fields in which a model holds one of its own kind, which no list of paths describes to any depth. */
  readonly cycles: FieldNames
}

const walk = Effect.fnUntraced(function*(
  model: ModelLike,
  decision: Pick<AccessDecision, "of">,
  path: string,
  ancestors: ReadonlyArray<ModelLike>
): Effect.fn.Return<Walked, ReadError> {
  const names: Array<string> = []
  const cycles: Array<string> = []
  for (const [key, field] of Object.entries(model.store.fields)) {
    const nested = nestedModel(field)
    if (nested === undefined) continue
    const name = path + key
    const grants = yield* decision.of(nested)
    if (grants !== undefined) names.push(...maskedBy(grants.read, hiddenBy).ever.map((hidden) => `${name}.${hidden}`))
    else if (ancestors.includes(nested)) cycles.push(name)
    else {
      const within: Walked = yield* walk(nested, decision, `${name}.`, [...ancestors, nested])
      names.push(...within.names)
      cycles.push(...within.cycles)
    }
  }
  return { names, cycles }
})
