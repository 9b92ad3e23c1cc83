/**
 * The fast path of inserts: supplies generated, default and converted values in a decoded body, without an instance.
 */
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import { synchronousOf } from "../../internal/synchronous.ts"
import {
  childContext,
  collectingProblems,
  collectingProblemsIn,
  convertSent,
  isNullValue,
  issueFinder,
  reportedInvalid,
  reportIssue,
  runInOrder,
  type ValidationContext
} from "../codec/validationContext.ts"
import type { ModelError } from "../ModelError.ts"
import type { FieldAttributes } from "../shape/annotations.ts"
import { hasRules, type ModelLike, modelsIn, modelTypeId, nestedModel, someFieldIn } from "../shape/variants.ts"
import { finaliser } from "./finaliser.ts"

type Values = Record<string, unknown>

/** Completes decoded values, synchronously if the caller runs in `fiber` and no value is asynchronous. */
type Complete = (decoded: Values, fiber?: ValidationContext["fiber"]) => Effect.Effect<Values, ModelError>

/** Changes the values in place. It returns an Effect only for asynchronous work. */
type Step = (values: Values, context: ValidationContext) => Effect.Effect<void> | void

/**
 * Finalises the output of a model's `create` decoder in place, without an instance. The decoder has validated what the
 * caller sent, so only generated, default and converted values are validated here. Nested models are copied, so that a
 * shallow copy of the output can be completed again when a first attempt is rejected.
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
    const run = (context: ValidationContext) =>
      Effect.mapEager(complete(decoded, context) ?? Effect.void, () => decoded)
    return fiber === undefined
      ? collectingProblems(model, decoded, run, true)
      : collectingProblemsIn(fiber, model, decoded, run, true)
  }
}

const planOf: (model: ModelLike) => Step = memoize((model) => compile(model))

const isSupplied = ({ converter, default: byDefault, generator }: FieldAttributes): boolean =>
  generator !== undefined || byDefault !== undefined || converter !== undefined

/** Whether the model or a nested model may have to supply values. */
const isIncomplete = (model: ModelLike): boolean => someFieldIn(model, isSupplied)

/** Whether the model or a nested model has rules over several fields, or is converted itself. Both need instances. */
const needsInstance = (model: ModelLike): boolean =>
  modelsIn(model).some(hasRules) ||
  someFieldIn(model, ({ converter }, key, { store }) =>
    converter !== undefined && nestedModel(store.fields[key]) !== undefined)

const compile = (model: ModelLike): Step => {
  const steps = Object.entries(model.store.fields).flatMap(([key, schema]) => {
    const attributes = model[modelTypeId][key] ?? {}
    const inner = nestedModel(schema)
    return [
      ...(inner !== undefined && isIncomplete(inner) ? [nestedStep(key, attributes, inner)] : []),
      // Every struct field is a schema.
      ...(isSupplied(attributes) ? [supplyStep(key, attributes, schema as Schema.Top)] : [])
    ]
  })
  return (values, context) => runInOrder(steps.length, (i) => steps[i]!(values, context), () => {})
}

const supplyStep = (key: string, attributes: FieldAttributes, schema: Schema.Top): Step => {
  const { converter, default: byDefault, generator, omitted, optional } = attributes
  const supply = (generated: unknown): unknown => generated === undefined ? byDefault?.() : generated
  const generate = generator === undefined ? undefined : synchronousOf(generator)
  const issueOf = issueFinder(Schema.toType(schema))
  const nullIsValue = isNullValue(schema, attributes)
  const setValue = (values: Values, context: ValidationContext, value: unknown): Effect.Effect<void> | void => {
    values[key] = value
    const issueEffect = issueOf(value)
    return issueEffect === Effect.undefined ? undefined : Effect.mapEager(issueEffect, (issue) => {
      if (issue !== undefined) reportIssue(issue, value, childContext(context, key, omitted))
    })
  }
  const reportMissing = (values: Values, context: ValidationContext): void => {
    delete values[key]
    if (optional === true) return
    context.problems.push({ field: childContext(context, key).path, validator: "Required", message: "must be given" })
  }
  const setConverted = (
    values: Values,
    context: ValidationContext,
    conversion: Effect.Effect<unknown>
  ): Effect.Effect<void> =>
    Effect.flatMapEager(
      conversion,
      (converted) => converted === reportedInvalid ? Effect.void : setValue(values, context, converted) ?? Effect.void
    )
  /** A value that the model supplies was not sent, and may be converted already. */
  const convert = (values: Values, context: ValidationContext, value: unknown): Effect.Effect<void> | void =>
    value === undefined
      ? reportMissing(values, context)
      : converter === undefined
      ? setValue(values, context, value)
      : setConverted(values, context, converter(value))
  return (values, context) => {
    const given = values[key]
    if (given !== undefined && (given !== null || nullIsValue)) {
      return converter === undefined
        ? undefined
        : setConverted(values, context, convertSent(converter, given, childContext(context, key)))
    }
    if (generate !== undefined) return convert(values, context, supply(generate(context.fiber)))
    if (generator !== undefined) {
      return Effect.flatMap(generator, (value) => convert(values, context, supply(value)) ?? Effect.void)
    }
    return byDefault === undefined ? undefined : convert(values, context, byDefault())
  }
}

const nestedStep = (key: string, { omitted }: FieldAttributes, model: ModelLike): Step => {
  const completeOne: (value: unknown, context: ValidationContext) => Effect.Effect<void> | void = (value, context) =>
    // A decoded nested model is an object of its fields.
    typeof value === "object" && value !== null ? planOf(model)(value as Values, context) : undefined
  return (values, context) => {
    const value = values[key]
    const nestedContext = childContext(context, key, omitted)
    if (!Array.isArray(value)) return completeOne(values[key] = copyOf(value), nestedContext)
    const items = value.map(copyOf)
    values[key] = items
    return runInOrder(items.length, (i) => completeOne(items[i], childContext(nestedContext, String(i))), () => {})
  }
}

const copyOf = (value: unknown): unknown => typeof value === "object" && value !== null ? { ...value } : value
