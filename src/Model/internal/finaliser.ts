import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import type { Any } from "../Model.ts"
import { type ModelError, Problem, PropertyRequiredException, ValidationException } from "../ModelError.ts"
import type { FieldAttributes } from "./annotations.ts"
import { stripped } from "./fields.ts"
import { type FieldProblem, problemsOf } from "./issues.ts"
import { perModel } from "./perModel.ts"
import { type ModelLike, modelTypeId, nestedModel, validationTypeId } from "./variants.ts"

/**
 * Where in the whole a part is being finalised, by which fiber, and what was found to be wrong so far.
 *
 * @internal
 */
export interface Place {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly path: string
  /** Whether it lies in an omitted field, of whose value nothing may be told. */
  readonly discreet: boolean
  readonly problems: Array<FieldProblem>
}

/** Gives the value to keep, `undefined` for none, or `invalid` after adding to the problems. */
type Resolve = (value: unknown, place: Place) => Effect.Effect<unknown>

type Values = Record<string, unknown>

/** @internal */
export const finaliser = (model: Any): (input: unknown) => Effect.Effect<unknown, ModelError> => {
  const finalise = planOf(model)
  return (input) => reported(model, input, (place) => finalise(input, place))
}

/**
 * Runs what may find problems, and fails when it found any.
 *
 * @internal
 */
export const reported = <A>(
  model: Any,
  input: unknown,
  run: (place: Place) => Effect.Effect<A>
): Effect.Effect<A, ModelError> => Effect.withFiber((fiber) => reportedIn(fiber, model, input, run))

/**
 * {@link reported}, for whoever runs in that fiber.
 *
 * @internal
 */
export const reportedIn = <A>(
  fiber: Place["fiber"],
  model: Any,
  input: unknown,
  run: (place: Place) => Effect.Effect<A>
): Effect.Effect<A, ModelError> => {
  const place: Place = { fiber, path: "", discreet: false, problems: [] }
  return Effect.flatMapEager(
    run(place),
    (result): Effect.Effect<A, ModelError> =>
      place.problems.length === 0 ? Effect.succeed(result) : failureOf(model, input, place.problems)
  )
}

const planOf: (model: ModelLike) => Resolve = perModel((model) => compile(model))

const compile = (model: ModelLike): Resolve => {
  const fields = Object.entries(model.store.fields).map(([key, field]) => {
    // A field of a struct is a schema.
    const schema = field as Schema.Top
    const attributes = model[modelTypeId][key] ?? {}
    return { key, nullIsValue: isNullValue(schema, attributes), resolve: resolverOf(key, schema, attributes) }
  })
  const issueOf = validator(Schema.toType(model.store))
  const construct = constructorOf(model)
  const validate = validationOf(model)
  return (input, place) => {
    const values: Values = {}
    const keep = (i: number, value: unknown) => {
      if (value !== undefined) values[fields[i]!.key] = value
    }
    const filled = inOrder(fields.length, (i) => {
      const { key, nullIsValue, resolve } = fields[i]!
      const value = ownValue(input, key)
      const given = value === null && !nullIsValue ? undefined : value
      return resolve === undefined ? keep(i, given) : resolve(given, place)
    }, keep)
    return Effect.flatMapEager(
      filled,
      () =>
        Effect.flatMapEager(issueOf(values), (issue) => {
          if (issue !== undefined) return Effect.succeed(report(issue, values, place))
          const instance = construct(values)
          return validate === undefined ? Effect.succeed(instance) : Effect.as(validate(instance, place), instance)
        })
    )
  }
}

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
 * Whether `null` is a value of the field; of any other it says that there is none.
 *
 * @internal
 */
export const isNullValue = (schema: Schema.Top, { optional }: FieldAttributes): boolean =>
  optional !== true && SchemaParser.is(schema)(null)

const ownValue = (values: unknown, key: string): unknown =>
  typeof values === "object" && values !== null && Object.hasOwn(values, key) ? Reflect.get(values, key) : undefined

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

/** What is to be done for a field besides taking its value; for most fields nothing is. */
const resolverOf = (key: string, schema: Schema.Top, attributes: FieldAttributes): Resolve | undefined => {
  const { converter, default: byDefault, generator, omitted, unconverted } = attributes
  const model = nestedModel(schema)
  const steps: Array<Resolve> = []
  if (generator !== undefined) steps.push((value) => value === undefined ? generator : Effect.succeed(value))
  if (byDefault !== undefined) steps.push((value) => Effect.succeed(value === undefined ? byDefault() : value))
  if (model !== undefined) steps.push(ifThere(key, omitted, nested(model)))
  if (converter !== undefined && unconverted !== undefined) {
    steps.push(ifThere(key, omitted, conversion(converter, unconverted)))
  }
  return steps.length === 0
    ? undefined
    : steps.reduce((first, next) => (value, place) =>
      Effect.flatMapEager(first(value, place), (given) => next(given, place))
    )
}

const ifThere = (key: string, omitted: boolean | undefined, resolve: Resolve): Resolve => (value, place) =>
  value === undefined || value === invalid ? Effect.succeed(value) : resolve(value, under(place, key, omitted))

/** @internal */
export const under = (place: Place, key: string, omitted = false): Place => ({
  fiber: place.fiber,
  path: place.path === "" ? key : `${place.path}.${key}`,
  discreet: place.discreet || omitted,
  problems: place.problems
})

const invalid = Symbol("invalid")

const nested = (model: ModelLike): Resolve => {
  // A recursive model has no plan yet.
  const one: Resolve = (value, place) =>
    typeof value === "object" && value !== null ? planOf(model)(value, place) : Effect.succeed(value)
  return (value, place) => {
    if (!Array.isArray(value)) return one(value, place)
    const elements: Array<unknown> = []
    return Effect.mapEager(
      inOrder(value.length, (i) => one(value[i], under(place, String(i))), (_, element) => elements.push(element)),
      () => elements
    )
  }
}

const conversion = (convert: (value: unknown) => Effect.Effect<unknown>, unconverted: Schema.Top): Resolve => {
  const issueOf = validator(Schema.toType(unconverted))
  const kindIssueOf = validator(Schema.toType(stripped(unconverted)))
  return (value, place) =>
    Effect.flatMapEager(issueOf(value), (issue) => {
      if (issue === undefined) return convert(value)
      return Effect.flatMapEager(kindIssueOf(value), (wrongKind) =>
        wrongKind === undefined
          // What a converter leaves alone was converted before; rules for what comes from outside are not for it.
          ? Effect.map(
            convert(value),
            (converted) => Equal.equals(converted, value) ? converted : report(issue, value, place)
          )
          : Effect.succeed(report(wrongKind, value, place)))
    })
}

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
 * The class makes an instance of values that were validated just before, as its decoder does.
 *
 * @internal
 */
export const constructorOf = (model: ModelLike): (values: Values) => unknown => {
  const transformation = model.ast.encoding?.[0]?.transformation
  return transformation?._tag === "Transformation" && transformation.decode._tag === "Transform"
    ? transformation.decode.transform
    : (values) => Reflect.construct(model, [values, { disableChecks: true }])
}

/**
 * The problems as the error that a caller gets; what is missing counts most.
 *
 * @internal
 */
export const failureOf = (
  model: Any,
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
