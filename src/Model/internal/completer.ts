import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Any } from "../Model.ts"
import type { ModelError } from "../ModelError.ts"
import type { FieldAttributes } from "./annotations.ts"
import { finaliser, inOrder, isNullValue, type Place, report, reported, under, validator } from "./finaliser.ts"
import { immediateOf } from "./immediate.ts"
import { type ModelLike, modelTypeId, nestedModel } from "./variants.ts"

type Values = Record<string, unknown>

/** Does something to the values, if there is something to do; what can't be done at once is an Effect. */
type Step = (values: Values, place: Place) => Effect.Effect<void> | void

/**
 * Finalises what the `create` schema of a model has just decoded, in place and without making an instance. What a caller
 * sent is valid already, so only what generators, defaults and converters give is validated.
 *
 * @internal
 */
export const completer = (model: Any): (decoded: Values) => Effect.Effect<Values, ModelError> => {
  if (!isIncomplete(model)) return Effect.succeed
  if (isConvertedAsInstance(model)) {
    const finalise = finaliser(model)
    // An instance is an object of its fields.
    return (decoded) => Effect.map(finalise(decoded), (instance) => ({ ...instance as Values }))
  }
  const complete = planOf(model)
  return (decoded) =>
    reported(model, decoded, (place) => Effect.mapEager(complete(decoded, place) ?? Effect.void, () => decoded))
}

const plans = new WeakMap<ModelLike, Step>()

const planOf = (model: ModelLike): Step => {
  const known = plans.get(model)
  if (known !== undefined) return known
  const plan = compile(model)
  plans.set(model, plan)
  return plan
}

const isSupplied = ({ converter, default: byDefault, generator }: FieldAttributes): boolean =>
  generator !== undefined || byDefault !== undefined || converter !== undefined

/** Whether anything in the model, or in the models within it, may have to be filled in. */
const isIncomplete = (model: ModelLike, seen: ReadonlySet<ModelLike> = new Set()): boolean =>
  !seen.has(model) && Object.entries(model.store.fields).some(([key, schema]) => {
    const inner = nestedModel(schema)
    return isSupplied(model[modelTypeId][key] ?? {}) ||
      inner !== undefined && isIncomplete(inner, new Set([...seen, model]))
  })

/** Whether anything in the model is a model that is converted: converters are for instances. */
const isConvertedAsInstance = (model: ModelLike, seen: ReadonlySet<ModelLike> = new Set()): boolean =>
  !seen.has(model) && Object.entries(model.store.fields).some(([key, schema]) => {
    const inner = nestedModel(schema)
    return inner !== undefined &&
      (model[modelTypeId][key]?.converter !== undefined || isConvertedAsInstance(inner, new Set([...seen, model])))
  })

const compile = (model: ModelLike): Step => {
  const steps = Object.entries(model.store.fields).flatMap(([key, schema]) => {
    const attributes = model[modelTypeId][key] ?? {}
    const inner = nestedModel(schema)
    return [
      ...(inner !== undefined && isIncomplete(inner) ? [nested(key, attributes, inner)] : []),
      // A field of a struct is a schema.
      ...(isSupplied(attributes) ? [supplied(key, attributes, schema as Schema.Top)] : [])
    ]
  })
  return (values, place) => inOrder(steps.length, (i) => steps[i]!(values, place), () => {})
}

const supplied = (key: string, attributes: FieldAttributes, schema: Schema.Top): Step => {
  const { converter, default: byDefault, generator, omitted } = attributes
  const generate = generator === undefined ? undefined : immediateOf(generator)
  const issueOf = validator(Schema.toType(schema))
  const nullIsValue = isNullValue(schema, attributes)
  const keep = (values: Values, place: Place, value: unknown): Effect.Effect<void> | void => {
    values[key] = value
    const found = issueOf(value)
    return found === Effect.undefined ? undefined : Effect.mapEager(found, (issue) => {
      if (issue !== undefined) report(issue, value, under(place, key, omitted))
    })
  }
  const convert = (values: Values, place: Place, value: unknown): Effect.Effect<void> | void =>
    converter === undefined
      ? keep(values, place, value)
      : Effect.flatMapEager(converter(value), (converted) => keep(values, place, converted) ?? Effect.void)
  return (values, place) => {
    const given = values[key]
    if (given !== undefined && (given !== null || nullIsValue)) {
      return converter === undefined
        ? undefined
        : convert(values, place, given)
    }
    if (generate !== undefined) return convert(values, place, generate(place.fiber))
    if (generator !== undefined) {
      return Effect.flatMap(generator, (value) => convert(values, place, value) ?? Effect.void)
    }
    return byDefault === undefined ? undefined : convert(values, place, byDefault())
  }
}

const nested = (key: string, { omitted }: FieldAttributes, model: ModelLike): Step => {
  const one: (value: unknown, place: Place) => Effect.Effect<void> | void = (value, place) =>
    // What the schema of a nested model decoded is an object of its fields.
    typeof value === "object" && value !== null ? planOf(model)(value as Values, place) : undefined
  return (values, place) => {
    const value = values[key]
    const inside = under(place, key, omitted)
    return Array.isArray(value)
      ? inOrder(value.length, (i) => one(value[i], under(inside, String(i))), () => {})
      : one(value, inside)
  }
}
