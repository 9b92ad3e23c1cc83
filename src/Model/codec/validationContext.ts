/** The state and the steps that finalising, patching and inspecting an instance share: paths, problems, conversions. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { MayConvert } from "../../internal/passwordHash.ts"
import type { Converter } from "../Converter.ts"
import { type ModelError, Problem, PropertyRequiredException, ValidationException } from "../ModelError.ts"
import type { FieldAttributes } from "../shape/annotations.ts"
import { convertAlways } from "../shape/fieldConverter.ts"
import { type ModelLike, modelTypeId, nestedModel, validationTypeId } from "../shape/variants.ts"
import { compileParsers } from "./compiledParsers.ts"
import { type FieldProblem, problemsOf } from "./fieldProblems.ts"
import { ownIn } from "./ownNames.ts"

/** The state of a validation run at one path: the running fiber, the path, and the problems so far. */
export interface ValidationContext {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly path: string
  /** Whether the path is inside an omitted field, whose values must not appear in messages. */
  readonly isConfidential: boolean
  /** Whether a caller sent the values. Sent values are always converted, whatever they look like. */
  readonly isSent: boolean
  readonly problems: Array<FieldProblem>
}

/** Runs a validation and fails if it added problems. `subject` is the model, or the value with models in it. */
export const collectingProblems = <A>(
  subject: ModelLike | string,
  input: unknown,
  run: (context: ValidationContext) => Effect.Effect<A>,
  isSent = false
): Effect.Effect<A, ModelError> => Effect.withFiber((fiber) => collectingProblemsIn(fiber, subject, input, run, isSent))

/** {@link collectingProblems} for a caller that already runs in the fiber. */
export const collectingProblemsIn = <A>(
  fiber: ValidationContext["fiber"],
  subject: ModelLike | string,
  input: unknown,
  run: (context: ValidationContext) => Effect.Effect<A>,
  isSent = false
): Effect.Effect<A, ModelError> => {
  const context: ValidationContext = { fiber, path: "", isConfidential: false, isSent, problems: [] }
  return Effect.flatMapEager(
    run(context),
    (result): Effect.Effect<A, ModelError> =>
      context.problems.length === 0 ? Effect.succeed(result) : modelErrorOf(subject, input, context.problems)
  )
}

export const childContext = (context: ValidationContext, key: string, omitted = false): ValidationContext => ({
  fiber: context.fiber,
  path: context.path === "" ? key : `${context.path}.${key}`,
  isConfidential: context.isConfidential || omitted,
  isSent: context.isSent,
  problems: context.problems
})

/** Converts what a caller sent: {@link reportedInvalid} if it is too long, or the request has too many values that are costly to convert. */
export const convertSent = (
  converter: Converter<unknown>,
  value: unknown,
  { fiber, path, problems }: ValidationContext
): Effect.Effect<unknown> => {
  const { maxLength = Infinity } = converter
  if (typeof value === "string" && value.length > maxLength) {
    problems.push({ field: path, validator: "Limit", message: `must have at most ${maxLength} characters` })
    return Effect.succeed(reportedInvalid)
  }
  if (converter.isCostly !== true || fiber.getRef(MayConvert)(fiber)) return convertAlways(converter, value)
  problems.push({ field: path, validator: "Limit", message: "is one value too many to hash in a request" })
  return Effect.succeed(reportedInvalid)
}

/** Stands for an invalid value whose problems are reported already. */
export const reportedInvalid: unique symbol = Symbol("invalid")

/** Runs the steps in order. A step that completes synchronously does not go through the fiber. */
export const runInOrder = (
  count: number,
  start: (i: number) => Effect.Effect<unknown> | void,
  done: (i: number, value: unknown) => void,
  from = 0
): Effect.Effect<void> => {
  for (let i = from; i < count; i++) {
    const step = start(i)
    if (step === undefined) continue
    if (!Exit.isExit(step)) {
      return Effect.flatMap(step, (value) => {
        done(i, value)
        return runInOrder(count, start, done, i + 1)
      })
    }
    if (Exit.isFailure(step)) return step
    done(i, step.value)
  }
  return Effect.void
}

/** Whether `null` is a value of the field. In any other field `null` means missing. */
export const isNullValue = (schema: Schema.Top, { optional }: FieldAttributes): boolean =>
  optional !== true && SchemaParser.is(schema)(null)

/** Finds the issue of a value. A compiled guard accepts valid values first, since most values are valid. */
export const issueFinder = (schema: Schema.Top): (value: unknown) => Effect.Effect<SchemaIssue.Issue | undefined> => {
  compileParsers(schema.ast)
  const isValid = SchemaParser.is(schema)
  // Fields need no services.
  const decode = SchemaParser.decodeUnknownEffect(schema as Schema.Codec<unknown>, { errors: "all" })
  const outcome = { onSuccess: () => undefined, onFailure: (issue: SchemaIssue.Issue) => issue }
  const own = ownIn(schema.ast)
  return (given) => {
    const value = own(given)
    return isValid(value) ? Effect.undefined : Effect.matchEager(decode(value), outcome)
  }
}

export const reportIssue = (
  issue: SchemaIssue.Issue,
  value: unknown,
  context: ValidationContext
): typeof reportedInvalid => {
  for (const problem of problemsOf(issue, context.isConfidential)) {
    const path = problem.field === "" ? [] : problem.field.split(".")
    // The nested part has already reported its own problem.
    if (path.reduce(propertyAt, value) === reportedInvalid) continue
    context.problems.push({ ...problem, field: [context.path, ...path].filter((key) => key !== "").join(".") })
  }
  return reportedInvalid
}

const propertyAt = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

/** The model's own rule over an instance; `undefined` if the model has none. */
export const instanceRuleOf = (
  model: ModelLike
): ((instance: unknown, context: ValidationContext) => Effect.Effect<void>) | undefined => {
  const validate = model[validationTypeId]
  return validate === undefined ? undefined : (instance, { path, problems }) =>
    // The rule is called with instances of its own model only.
    Effect.catch(validate(instance as never), (fieldProblems) =>
      Effect.sync(() => {
        for (const { field, message, validator } of Array.isArray(fieldProblems) ? fieldProblems : [fieldProblems]) {
          problems.push({ field: [path, field].filter((key) => key !== "").join("."), validator, message })
        }
      }))
}

/** Converts problems into the error that callers get. Missing fields take precedence. */
export const modelErrorOf = (
  subject: ModelLike | string,
  input: unknown,
  fieldProblems: ReadonlyArray<FieldProblem>
): Effect.Effect<never, ModelError> => {
  const missing = fieldProblems.filter((problem) => problem.validator === "Required")
  const problems = [...missing, ...fieldProblems.filter((problem) => problem.validator !== "Required")].map(
    (problem) => new Problem(problem)
  )
  const first = problems[0]!
  const model = typeof subject === "string" ? subject : subject.modelName
  if (missing.length > 0) {
    return Effect.fail(new PropertyRequiredException({ model, field: first.field, problems }))
  }
  const value = typeof subject === "string" ? undefined : visibleValueAt(subject, input, first.field.split("."))
  return Effect.fail(
    new ValidationException({
      model,
      validator: first.validator,
      field: first.field,
      ...(value === undefined ? {} : { value }),
      detail: first.message,
      problems
    })
  )
}

/** The input value at the path, unless the value is omitted or may contain omitted parts. */
const visibleValueAt = (
  model: ModelLike | undefined,
  value: unknown,
  [key, ...path]: ReadonlyArray<string>
): unknown => {
  if (key === undefined) return isScalar(value) || Array.isArray(value) && value.every(isScalar) ? value : undefined
  if (model?.[modelTypeId][key]?.omitted === true) return undefined
  const inner = Array.isArray(value) ? model : nestedModel(model?.store.fields[key])
  return visibleValueAt(inner, propertyAt(value, key), path)
}

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null || DateTime.isDateTime(value)
