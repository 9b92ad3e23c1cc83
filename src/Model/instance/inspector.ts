/** Validates instances that exist already. It reports problems and changes nothing. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { memoize } from "effect/Function"
import {
  childContext,
  collectingProblems,
  instanceRuleOf,
  reportIssue,
  runInOrder,
  type ValidationContext
} from "../codec/validationContext.ts"
import { validityOf } from "../codec/validity.ts"
import type { Converter } from "../Converter.ts"
import type { ModelError } from "../ModelError.ts"
import { isConverted, unconvertedEntry, unconvertedMessage } from "../shape/fieldConverter.ts"
import { type ModelLike, modelTypeId, nestedModel } from "../shape/variants.ts"
import { previousElements } from "./previousElements.ts"

type Inspect = (instance: unknown, context: ValidationContext, previous?: unknown) => Effect.Effect<void>

/** Validates an existing instance, whose validity may depend on time, but for values equal to `previous`. */
export const inspector = (
  model: ModelLike
): (instance: unknown, previous?: unknown) => Effect.Effect<void, ModelError> =>
(instance, previous) => collectingProblems(model, instance, (context) => planOf(model)(instance, context, previous))

const planOf: (model: ModelLike) => Inspect = memoize((model) => compile(model))

const compile = (model: ModelLike): Inspect => {
  const { isChanged, issueOf, reportChanges } = validityOf(model)
  const validate = instanceRuleOf(model)
  // A class schema only tests whether a nested value is an instance.
  const nestedSteps = Object.entries(model.store.fields).flatMap(([key, schema]) => {
    const inner = nestedModel(schema)
    return inner === undefined ? [] : [partInspector(key, inner, model[modelTypeId][key]?.omitted)]
  })
  const conversionSteps = Object.entries(model[modelTypeId]).flatMap(([key, { converter }]) =>
    // The schema has tested a synchronous conversion already.
    converter === undefined || converter.makes !== undefined && nestedModel(model.store.fields[key]) === undefined
      ? []
      : [conversionInspector(key, converter)]
  )
  const checkFields = (values: Values, context: ValidationContext, previous: unknown): Effect.Effect<boolean> =>
    Effect.flatMapEager(issueOf(values), (issue) => {
      if (issue === undefined) return Effect.succeed(true)
      if (previous !== undefined) return reportChanges(values, context, previous)
      reportIssue(issue, values, context)
      return Effect.succeed(false)
    })
  return (instance, context, previous) => {
    // An instance is an object of its fields.
    const values = { ...instance as Values }
    return Effect.flatMapEager(checkFields(values, context, previous), (isValid) => {
      const nestedChecked = runSteps(nestedSteps, values, context, previous)
      if (!isValid) return nestedChecked
      const conversionsChecked = conversionSteps.length === 0
        ? nestedChecked
        : Effect.flatMapEager(nestedChecked, () => runSteps(conversionSteps, values, context, previous))
      return validate === undefined || previous !== undefined && !isChanged(values, previous)
        ? conversionsChecked
        : Effect.flatMapEager(conversionsChecked, () => validate(instance, context))
    })
  }
}

type Values = { readonly [key: string]: unknown }

type Step = (values: Values, context: ValidationContext, previous: unknown) => Effect.Effect<void> | void

const runSteps = (
  steps: ReadonlyArray<Step>,
  values: Values,
  context: ValidationContext,
  previous: unknown
): Effect.Effect<void> => runInOrder(steps.length, (i) => steps[i]!(values, context, previous), () => {})

const partInspector =
  (key: string, model: ModelLike, omitted: boolean | undefined): Step => (values, context, previousValues) => {
    const value = values[key]
    if (value === undefined) return
    const nestedContext = childContext(context, key, omitted)
    const previous = valueAt(previousValues, key)
    if (!Array.isArray(value)) return inspectPart(model, value, nestedContext, previous)
    const previousOf = previousElements(model, previous)
    return runInOrder(
      value.length,
      (i) => inspectPart(model, value[i], childContext(nestedContext, String(i)), previousOf(value[i], i)),
      () => {}
    )
  }

const inspectPart = (
  model: ModelLike,
  value: unknown,
  context: ValidationContext,
  previous: unknown
): Effect.Effect<void> | void =>
  // A model is a class.
  value instanceof (model as unknown as typeof Object)
    ? planOf(model)(value, context, previous instanceof Object ? previous : undefined)
    : undefined

const conversionInspector = (key: string, converter: Converter<unknown>): Step => (values, context, previous) => {
  const value = values[key]
  if (value === undefined || Equal.equals(value, valueAt(previous, key))) return
  return Effect.mapEager(isConverted(converter, value), (isOutput) => {
    if (isOutput) return
    context.problems.push({
      field: childContext(context, key).path,
      validator: unconvertedEntry.type,
      message: unconvertedMessage
    })
  })
}

const valueAt = (values: unknown, key: string): unknown =>
  typeof values === "object" && values !== null ? Reflect.get(values, key) : undefined
