/**
 * Makes a valid instance of given values: supplies what is missing, converts, validates, and keeps read-only fields.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import { ownValue } from "../../internal/objects.ts"
import {
  childContext,
  collectingProblems,
  convertSent,
  instanceRuleOf,
  isNullValue,
  issueFinder,
  reportedInvalid,
  reportIssue,
  runInOrder,
  type ValidationContext
} from "../codec/validationContext.ts"
import { validityOf } from "../codec/validity.ts"
import type { Converter } from "../Converter.ts"
import type { ModelError } from "../ModelError.ts"
import type { FieldAttributes } from "../shape/annotations.ts"
import { outputGuardOf } from "../shape/fieldConverter.ts"
import { withoutChecks } from "../shape/fields.ts"
import { managedField, type ModelLike, modelTypeId, nestedModel } from "../shape/variants.ts"
import { keepsPrevious, Kept } from "./keptFields.ts"
import { isContainedIn, previousElements } from "./previousElements.ts"

/** The value to store, `undefined` for none, or {@link reportedInvalid} after adding problems. It replaces `previous`. */
export type Resolve = (value: unknown, context: ValidationContext, previous?: unknown) => Effect.Effect<unknown>

type Values = Record<string, unknown>

/** The origin of the values: whether a client sent them, and what they replace. */
export interface FinaliseOptions {
  /** Whether a caller sent the values. Defaults to false: values of the process may be converted already. */
  readonly isSent?: boolean | undefined
  /** The instance that is replaced: gives generated and read-only fields; unchanged values are not validated. */
  readonly previous?: unknown
}

export const finaliser = (
  model: ModelLike
): (input: unknown, origin?: FinaliseOptions) => Effect.Effect<unknown, ModelError> => {
  const finalise = planOf(model)
  return (input, { isSent, previous } = {}) =>
    collectingProblems(model, input, (context) => finalise(input, context, previous), isSent)
}

export const planOf: (model: ModelLike) => Resolve = memoize((model) => compile(model))

const compile = (model: ModelLike): Resolve => {
  const fields = resolversOf(model)
  const instantiate = instantiatorOf(model)
  return (input, context, previous) => {
    const values: Values = {}
    const setValue = (i: number, value: unknown) => {
      if (value !== undefined) values[fields[i]!.key] = value
    }
    const resolved = runInOrder(fields.length, (i) => {
      const { key, nullIsValue, resolve } = fields[i]!
      const value = ownValue(input, key)
      if (value instanceof Kept) return setValue(i, value.value)
      const fieldInput = value === null && !nullIsValue ? undefined : value
      return resolve === undefined ? setValue(i, fieldInput) : resolve(fieldInput, context, ownValue(previous, key))
    }, setValue)
    return Effect.flatMapEager(resolved, () => instantiate(values, context, previous))
  }
}

/** Makes an instance of resolved values, or reports what is wrong with them. */
export const instantiatorOf = (model: ModelLike): Resolve => {
  const { isChanged, issueOf, reportChanges } = validityOf(model)
  const construct = constructorOf(model)
  const validate = instanceRuleOf(model)
  const instanceOf = (values: unknown, context: ValidationContext, previous: unknown): Effect.Effect<unknown> => {
    // Resolved values are an object of fields.
    const instance = construct(values as Values)
    return validate === undefined || previous !== undefined && !isChanged(values, previous)
      ? Effect.succeed(instance)
      : Effect.as(validate(instance, context), instance)
  }
  return (values, context, previous) =>
    Effect.flatMapEager(issueOf(values), (issue) => {
      if (issue === undefined) return instanceOf(values, context, previous)
      if (previous === undefined) return Effect.succeed(reportIssue(issue, values, context))
      return Effect.flatMapEager(
        reportChanges(values, context, previous),
        (isValid) => isValid ? instanceOf(values, context, previous) : Effect.succeed(reportedInvalid)
      )
    })
}

export const resolversOf: (model: ModelLike) => ReadonlyArray<FieldResolver> = memoize((model) =>
  Object.entries(model.store.fields).map(([key, field]) => {
    // Every struct field is a schema.
    const schema = field as Schema.Top
    const attributes = model[modelTypeId][key] ?? {}
    return { key, nullIsValue: isNullValue(schema, attributes), resolve: resolverOf(key, schema, attributes) }
  })
)

interface FieldResolver {
  readonly key: string
  readonly nullIsValue: boolean
  /** `undefined` if the value needs no processing. */
  readonly resolve: Resolve | undefined
}

/** The processing of a field; most fields need none. */
const resolverOf = (key: string, schema: Schema.Top, attributes: FieldAttributes): Resolve | undefined => {
  const { converter, default: byDefault, generator, omitted, unconverted } = attributes
  const model = nestedModel(schema)
  const steps: Array<Resolve> = []
  if (model !== undefined) steps.push(nestedResolver(model))
  if (converter !== undefined && unconverted !== undefined) steps.push(conversion(converter, unconverted))
  const isKept = keepsPrevious(attributes)
  if (steps.length === 0 && byDefault === undefined && !isKept) return undefined
  const finish: Resolve = (value, context, previous) =>
    steps.length === 0 || value === undefined
      ? Effect.succeed(value)
      : runSteps(steps, value, childContext(context, key, omitted), previous)
  const supply = (generated: unknown): unknown => generated === undefined ? byDefault?.() : generated
  return (value, context, previous) => {
    if (value !== undefined) return finish(value, context, previous)
    if (isKept && previous !== undefined) return Effect.succeed(previous)
    // A value that the model supplies was not sent.
    const own = context.isSent ? { ...context, isSent: false } : context
    return generator === undefined
      ? finish(supply(undefined), own)
      : Effect.flatMapEager(generator, (generated) => finish(supply(generated), own))
  }
}

const runSteps = (
  steps: ReadonlyArray<Resolve>,
  value: unknown,
  context: ValidationContext,
  previous: unknown,
  from = 0
): Effect.Effect<
  unknown
> =>
  Effect.flatMapEager(
    steps[from]!(value, context, previous),
    (result) =>
      from + 1 === steps.length || result === reportedInvalid
        ? Effect.succeed(result)
        : runSteps(steps, result, context, previous, from + 1)
  )

const nestedResolver = (model: ModelLike): Resolve => {
  // The plan of a recursive model does not exist yet, so it is looked up at each call.
  const resolveElement: Resolve = (value, context, previous) =>
    typeof value === "object" && value !== null ? planOf(model)(value, context, previous) : Effect.succeed(value)
  const hasId = managedField(model, "id") !== undefined
  return (value, context, previous) => {
    if (!Array.isArray(value)) return resolveElement(value, context, previous)
    const previousOf = previousElements(model, previous)
    const elements: Array<unknown> = []
    return Effect.mapEager(
      runInOrder(value.length, (i) => {
        const previousElement = previousOf(value[i], i)
        // Another element at the same index has no relation to the previous one.
        return resolveElement(
          value[i],
          childContext(context, String(i)),
          hasId || isContainedIn(value[i], previousElement) ? previousElement : undefined
        )
      }, (_, element) => elements.push(element)),
      () => elements
    )
  }
}

const conversion = (converter: Converter<unknown>, unconverted: Schema.Top): Resolve => {
  const issueOf = issueFinder(Schema.toType(unconverted))
  const typeIssueOf = issueFinder(Schema.toType(withoutChecks(unconverted)))
  const isOutput = outputGuardOf(converter)
  return (value, context) =>
    Effect.flatMapEager(typeIssueOf(value), (typeIssue) => {
      if (typeIssue !== undefined) return Effect.succeed(reportIssue(typeIssue, value, context))
      if (!context.isSent && isOutput?.(value) === true) return Effect.succeed(value)
      return Effect.flatMapEager(issueOf(value), (issue) => {
        if (issue === undefined) return context.isSent ? convertSent(converter, value, context) : converter(value)
        // A value of the process that the converter returns unchanged was converted before, so the checks for input do
        // not apply to it. A value from a caller never was.
        return context.isSent || isOutput !== undefined
          ? Effect.succeed(reportIssue(issue, value, context))
          : Effect.map(
            converter(value),
            (converted) => Equal.equals(converted, value) ? converted : reportIssue(issue, value, context)
          )
      })
    })
}

/** Makes an instance of values that were just validated, with the class's own decoder. */
export const constructorOf = (model: ModelLike): (values: Values) => unknown => {
  const transformation = model.ast.encoding?.[0]?.transformation
  return transformation?._tag === "Transformation" && transformation.decode._tag === "Transform"
    ? transformation.decode.transform
    : (values) => Reflect.construct(model, [values, { disableChecks: true }])
}
