import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { immediateOf } from "../../internal/immediate.ts"
import { inOrder, isNullValue, type Place, report, reported, reportedIn, under, validator } from "../codec/place.ts"
import type { ModelError } from "../ModelError.ts"
import type { FieldAttributes } from "../shape/annotations.ts"
import { always } from "../shape/conversion.ts"
import { perModel } from "../shape/perModel.ts"
import { hasRules, type ModelLike, modelTypeId, nestedModel } from "../shape/variants.ts"
import { finaliser } from "./finaliser.ts"

type Values = Record<string, unknown>

/** Completes decoded values, synchronously if the caller runs in `fiber` and no value is asynchronous. */
type Complete = (decoded: Values, fiber?: Place["fiber"]) => Effect.Effect<Values, ModelError>

/** Changes the values in place. It returns an Effect only for asynchronous work. */
type Step = (values: Values, place: Place) => Effect.Effect<void> | void

/**
 * Finalises the output of a model's `create` decoder in place, without an instance. The decoder has validated what the
 * caller sent, so only generated, default and converted values are validated here.
 *
 * @internal
 */
export const completer = (model: ModelLike): Complete => {
  const isNeeded = needsInstance(model)
  if (!isNeeded && !isIncomplete(model)) return Effect.succeed
  if (isNeeded) {
    const finalise = finaliser(model)
    // An instance is an object of its fields.
    return (decoded) => Effect.map(finalise(decoded, { isSent: true }), (instance) => ({ ...instance as Values }))
  }
  const complete = planOf(model)
  return (decoded, fiber) => {
    const run = (place: Place) => Effect.mapEager(complete(decoded, place) ?? Effect.void, () => decoded)
    return fiber === undefined ? reported(model, decoded, run, true) : reportedIn(fiber, model, decoded, run, true)
  }
}

const planOf: (model: ModelLike) => Step = perModel((model) => compile(model))

const isSupplied = ({ converter, default: byDefault, generator }: FieldAttributes): boolean =>
  generator !== undefined || byDefault !== undefined || converter !== undefined

/** Whether the model or a nested model may have to supply values. */
const isIncomplete = (model: ModelLike, seen: ReadonlySet<ModelLike> = new Set()): boolean =>
  !seen.has(model) && Object.entries(model.store.fields).some(([key, schema]) => {
    const inner = nestedModel(schema)
    return isSupplied(model[modelTypeId][key] ?? {}) ||
      inner !== undefined && isIncomplete(inner, new Set([...seen, model]))
  })

/** Whether the model or a nested model has rules over several fields, or is converted itself. Both need instances. */
const needsInstance = (model: ModelLike, seen: ReadonlySet<ModelLike> = new Set()): boolean =>
  !seen.has(model) &&
  (hasRules(model) || Object.entries(model.store.fields).some(([key, schema]) => {
    const inner = nestedModel(schema)
    return inner !== undefined &&
      (model[modelTypeId][key]?.converter !== undefined || needsInstance(inner, new Set([...seen, model])))
  }))

const compile = (model: ModelLike): Step => {
  const steps = Object.entries(model.store.fields).flatMap(([key, schema]) => {
    const attributes = model[modelTypeId][key] ?? {}
    const inner = nestedModel(schema)
    return [
      ...(inner !== undefined && isIncomplete(inner) ? [nested(key, attributes, inner)] : []),
      // Every struct field is a schema.
      ...(isSupplied(attributes) ? [supplied(key, attributes, schema as Schema.Top)] : [])
    ]
  })
  return (values, place) => inOrder(steps.length, (i) => steps[i]!(values, place), () => {})
}

const supplied = (key: string, attributes: FieldAttributes, schema: Schema.Top): Step => {
  const { converter, default: byDefault, generator, omitted, optional } = attributes
  const supply = (generated: unknown): unknown => generated === undefined ? byDefault?.() : generated
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
  const missing = (values: Values, place: Place): void => {
    delete values[key]
    if (optional === true) return
    place.problems.push({ field: under(place, key).path, validator: "Required", message: "must be given" })
  }
  const keepMade = (values: Values, place: Place, made: Effect.Effect<unknown>): Effect.Effect<void> =>
    Effect.flatMapEager(made, (converted) => keep(values, place, converted) ?? Effect.void)
  /** A value that the model supplies was not sent, and may be converted already. */
  const convert = (values: Values, place: Place, value: unknown): Effect.Effect<void> | void =>
    value === undefined
      ? missing(values, place)
      : converter === undefined
      ? keep(values, place, value)
      : keepMade(values, place, converter(value))
  return (values, place) => {
    const given = values[key]
    if (given !== undefined && (given !== null || nullIsValue)) {
      return converter === undefined
        ? undefined
        : keepMade(values, place, always(converter, given))
    }
    if (generate !== undefined) return convert(values, place, supply(generate(place.fiber)))
    if (generator !== undefined) {
      return Effect.flatMap(generator, (value) => convert(values, place, supply(value)) ?? Effect.void)
    }
    return byDefault === undefined ? undefined : convert(values, place, byDefault())
  }
}

const nested = (key: string, { omitted }: FieldAttributes, model: ModelLike): Step => {
  const one: (value: unknown, place: Place) => Effect.Effect<void> | void = (value, place) =>
    // A decoded nested model is an object of its fields.
    typeof value === "object" && value !== null ? planOf(model)(value as Values, place) : undefined
  return (values, place) => {
    const value = values[key]
    const inside = under(place, key, omitted)
    return Array.isArray(value)
      ? inOrder(value.length, (i) => one(value[i], under(inside, String(i))), () => {})
      : one(value, inside)
  }
}
