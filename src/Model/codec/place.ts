import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { type ModelError, Problem, PropertyRequiredException, ValidationException } from "../ModelError.ts"
import type { FieldAttributes } from "../shape/annotations.ts"
import { type ModelLike, modelTypeId, nestedModel, validationTypeId } from "../shape/variants.ts"
import { type FieldProblem, problemsOf } from "./issues.ts"

/**
 * Where in the whole a part is being looked at, by which fiber, and what was found to be wrong so far.
 *
 * @internal
 */
export interface Place {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly path: string
  /** Whether it lies in an omitted field, of whose value nothing may be told. */
  readonly discreet: boolean
  /** Whether a caller sent the values: those are converted whatever they look like. */
  readonly isSent: boolean
  readonly problems: Array<FieldProblem>
}

/**
 * Runs what may find problems, and fails when it found any.
 *
 * @internal
 */
export const reported = <A>(
  model: ModelLike,
  input: unknown,
  run: (place: Place) => Effect.Effect<A>,
  isSent = false
): Effect.Effect<A, ModelError> => Effect.withFiber((fiber) => reportedIn(fiber, model, input, run, isSent))

/**
 * {@link reported}, for whoever runs in that fiber.
 *
 * @internal
 */
export const reportedIn = <A>(
  fiber: Place["fiber"],
  model: ModelLike,
  input: unknown,
  run: (place: Place) => Effect.Effect<A>,
  isSent = false
): Effect.Effect<A, ModelError> => {
  const place: Place = { fiber, path: "", discreet: false, isSent, problems: [] }
  return Effect.flatMapEager(
    run(place),
    (result): Effect.Effect<A, ModelError> =>
      place.problems.length === 0 ? Effect.succeed(result) : failureOf(model, input, place.problems)
  )
}

/** @internal */
export const under = (place: Place, key: string, omitted = false): Place => ({
  fiber: place.fiber,
  path: place.path === "" ? key : `${place.path}.${key}`,
  discreet: place.discreet || omitted,
  isSent: place.isSent,
  problems: place.problems
})

/**
 * Stands for a value that is not valid and has said so.
 *
 * @internal
 */
export const invalid: unique symbol = Symbol("invalid")

/**
 * Does one thing after the other. What is done at once is not handed to the fiber, and most is: a field without a
 * generator or a converter, an instance without such fields.
 *
 * @internal
 */
export const inOrder = (
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
        return inOrder(count, start, done, i + 1)
      })
    }
    if (Exit.isFailure(step)) return step
    done(i, step.value)
  }
  return Effect.void
}

/**
 * Whether `null` is a value of the field; of any other it says that there is none.
 *
 * @internal
 */
export const isNullValue = (schema: Schema.Top, { optional }: FieldAttributes): boolean =>
  optional !== true && SchemaParser.is(schema)(null)

/**
 * What is wrong with a value. Nothing is, mostly, which is found out the quick way.
 *
 * @internal
 */
export const validator = (schema: Schema.Top): (value: unknown) => Effect.Effect<SchemaIssue.Issue | undefined> => {
  SchemaJITCompiler.enable(schema.ast)
  const isValid = SchemaParser.is(schema)
  // Validation needs no services: fields are plain codecs.
  const decode = SchemaParser.decodeUnknownEffect(schema as Schema.Codec<unknown>, { errors: "all" })
  const outcome = { onSuccess: () => undefined, onFailure: (issue: SchemaIssue.Issue) => issue }
  return (value) => isValid(value) ? Effect.undefined : Effect.matchEager(decode(value), outcome)
}

/** @internal */
export const report = (issue: SchemaIssue.Issue, value: unknown, place: Place): typeof invalid => {
  for (const problem of problemsOf(issue, place.discreet)) {
    const path = problem.field === "" ? [] : problem.field.split(".")
    // A part that is wrong has said so already.
    if (path.reduce(partAt, value) === invalid) continue
    place.problems.push({ ...problem, field: [place.path, ...path].filter((key) => key !== "").join(".") })
  }
  return invalid
}

const partAt = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

/**
 * What the model itself says of an instance of it; `undefined` when it says nothing.
 *
 * @internal
 */
export const validationOf = (
  model: ModelLike
): ((instance: unknown, place: Place) => Effect.Effect<void>) | undefined => {
  const validate = model[validationTypeId]
  return validate === undefined ? undefined : (instance, { path, problems }) =>
    // It is asked about instances of its own model only.
    Effect.catch(validate(instance as never), (found) =>
      Effect.sync(() => {
        for (const { field, message, validator } of Array.isArray(found) ? found : [found]) {
          problems.push({ field: [path, field].filter((key) => key !== "").join("."), validator, message })
        }
      }))
}

/**
 * The problems as the error that a caller gets; what is missing counts most.
 *
 * @internal
 */
export const failureOf = (
  model: ModelLike,
  input: unknown,
  found: ReadonlyArray<FieldProblem>
): Effect.Effect<never, ModelError> => {
  const missing = found.filter((problem) => problem.validator === "Required")
  const problems = [...missing, ...found.filter((problem) => problem.validator !== "Required")].map(
    (problem) => new Problem(problem)
  )
  const first = problems[0]!
  if (missing.length > 0) {
    return Effect.fail(new PropertyRequiredException({ model: model.modelName, field: first.field, problems }))
  }
  const value = visibleAt(model, input, first.field.split("."))
  return Effect.fail(
    new ValidationException({
      model: model.modelName,
      validator: first.validator,
      field: first.field,
      ...(value === undefined ? {} : { value }),
      detail: first.message,
      problems
    })
  )
}

/** What was given at the path, unless it is omitted or has parts that may be. */
const visibleAt = (model: ModelLike | undefined, value: unknown, [key, ...path]: ReadonlyArray<string>): unknown => {
  if (key === undefined) return isSimple(value) || Array.isArray(value) && value.every(isSimple) ? value : undefined
  if (model?.[modelTypeId][key]?.omitted === true) return undefined
  const inner = Array.isArray(value) ? model : nestedModel(model?.store.fields[key])
  return visibleAt(inner, partAt(value, key), path)
}

const isSimple = (value: unknown): boolean => typeof value !== "object" || value === null || DateTime.isDateTime(value)
