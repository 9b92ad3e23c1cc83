import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Any } from "../Model.ts"
import type { ModelError } from "../ModelError.ts"
import { inOrder, type Place, report, reported, under, validationOf, validator } from "./finaliser.ts"
import { perModel } from "./perModel.ts"
import { type ModelLike, modelTypeId, nestedModel } from "./variants.ts"

type Inspect = (instance: unknown, place: Place) => Effect.Effect<void>

/**
 * Finds out whether an instance is still one: it may have been made without being validated, or time has passed.
 *
 * @internal
 */
export const inspector = (model: Any): (instance: unknown) => Effect.Effect<void, ModelError> => {
  const inspect = planOf(model)
  return (instance) => reported(model, instance, (place) => inspect(instance, place))
}

const planOf: (model: ModelLike) => Inspect = perModel((model) => compile(model))

const compile = (model: ModelLike): Inspect => {
  const issueOf = validator(Schema.toType(model.store))
  const validate = validationOf(model)
  // A schema only asks whether what is nested is an instance of its class.
  const parts = Object.entries(model.store.fields).flatMap(([key, schema]) => {
    const inner = nestedModel(schema)
    return inner === undefined ? [] : [{ key, inner, omitted: model[modelTypeId][key]?.omitted }]
  })
  return (instance, place) => {
    // An instance is an object of its fields.
    const values = { ...instance as { readonly [key: string]: unknown } }
    return Effect.flatMapEager(issueOf(values), (issue) => {
      if (issue !== undefined) report(issue, values, place)
      const inParts = inOrder(parts.length, (i) => {
        const { inner, key, omitted } = parts[i]!
        const value = values[key]
        const inside = under(place, key, omitted)
        return Array.isArray(value)
          ? inOrder(value.length, (j) => inspectPart(inner, value[j], under(inside, String(j))), () => {})
          : inspectPart(inner, value, inside)
      }, () => {})
      return issue !== undefined || validate === undefined
        ? inParts
        : Effect.flatMapEager(inParts, () => validate(instance, place))
    })
  }
}

const inspectPart = (model: ModelLike, value: unknown, place: Place): Effect.Effect<void> | void =>
  // A model is a class.
  value instanceof (model as unknown as typeof Object) ? planOf(model)(value, place) : undefined
