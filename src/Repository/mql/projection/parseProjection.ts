/**
 * Parses MongoDB's projections: inclusions and exclusions are evaluated here, computed fields by mingo.
 */
import * as Result from "effect/Result"
import { normalise } from "../../bson/normalise.ts"
import { toDouble } from "../../bson/number.ts"
import { segmentsOf, valueAt, withValue } from "../../bson/path.ts"
import { isArray, isDocument, isNumber, setField } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { prepareExpression } from "../expression/fieldReferences.ts"
import { definedFields, readable } from "../expression/mingoDocuments.ts"
import { evaluate } from "../expression/operatorContext.ts"
import { evaluationOptions, expressionProblem, isProjection, tryMingo } from "../expression/operators.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { type Problem, rejected, unsupported } from "../limits/queryProblem.ts"
import { checkSize } from "../limits/sizeLimits.ts"
import { perDocument, type Phases, problemOfStage } from "./mingoStages.ts"

/** @internal */
export type Projection = (document: Document) => Result.Result<Document, Problem>

// The paths of a projection as a tree, whose leaves are the projected fields.
interface Branch {
  readonly fields: Map<string, Branch>
  isLeaf: boolean
}

/**
 * Whether a projection has computed fields.
 *
 * @internal
 */
export const computes = (projection: Document | undefined): boolean =>
  projection !== undefined && Object.values(projection).some((value) => !isSwitch(value))

/**
 * Parses a projection; `undefined` if it is empty.
 *
 * @internal
 */
export const parseProjection = (projection: Document, now: number): Result.Result<Projection | undefined, Problem> => {
  const normalised = Result.mapError(normalise(projection, true), rejected)
  if (Result.isFailure(normalised)) return Result.fail(normalised.failure)
  const entries = Object.entries(normalised.success)
  if (entries.length === 0) return Result.succeed(undefined)
  const bad = entries.find(([path]) => path === "" || path.startsWith("$") || path.includes(".."))
  if (bad !== undefined) return Result.fail(rejected(`"${bad[0]}" can't be projected`))
  if (entries.some(([path]) => path.endsWith(".$"))) return Result.fail(unsupported("positional projection"))
  return entries.every(([, value]) => isSwitch(value))
    ? Result.map(selection(entries), (select): Projection => (document) => Result.succeed(select(document)))
    : computed(normalised.success, now)
}

/** Whether a value of a projection includes or excludes its field, and computes nothing. */
const isSwitch = (value: unknown): boolean => typeof value === "boolean" || isNumber(value)

const isOn = (value: unknown): boolean => isNumber(value) ? toDouble(value) !== 0 : value === true

const selection = (
  entries: ReadonlyArray<[string, unknown]>
): Result.Result<(document: Document) => Document, Problem> => {
  const named = entries.filter(([path]) => path !== "_id")
  const id = entries.find(([path]) => path === "_id")
  const including = named.length === 0 ? id !== undefined && isOn(id[1]) : isOn(named[0]?.[1])
  const mixed = named.find(([, value]) => isOn(value) !== including)
  if (mixed !== undefined) return Result.fail(rejected(`"${mixed[0]}": fields are either all included or all excluded`))
  const root: Branch = { fields: new Map(), isLeaf: false }
  for (const [path] of named) {
    if (!grow(root, path.split("."))) return Result.fail(rejected(`"${path}" collides with another path`))
  }
  const withId = id === undefined || isOn(id[1])
  if (including === withId) grow(root, ["_id"])
  return Result.succeed((document) => including ? include(document, root) : exclude(document, root))
}

const grow = (root: Branch, path: ReadonlyArray<string>): boolean => {
  let branch = root
  for (const segment of path) {
    if (branch.isLeaf) return false
    const next: Branch = branch.fields.get(segment) ?? { fields: new Map(), isLeaf: false }
    branch.fields.set(segment, next)
    branch = next
  }
  if (branch.isLeaf || branch.fields.size > 0) return false
  branch.isLeaf = true
  return true
}

const include = (document: Document, { fields }: Branch): Document => {
  const result: { [key: string]: unknown } = {}
  for (const key of Object.keys(document)) {
    const branch = fields.get(key)
    const value = branch?.isLeaf === false ? includeIn(document[key], branch) : document[key]
    if (branch !== undefined && value !== undefined) setField(result, key, value)
  }
  return result
}

// Keeps the documents and nested arrays of an array; drops values without fields.
const includeIn = (value: unknown, branch: Branch): unknown => {
  if (isDocument(value)) return include(value, branch)
  return isArray(value)
    ? value.map((item) => includeIn(item, branch)).filter((item) => item !== undefined)
    : undefined
}

const exclude = (document: Document, { fields }: Branch): Document => {
  const result: { [key: string]: unknown } = {}
  for (const key of Object.keys(document)) {
    const branch = fields.get(key)
    if (branch?.isLeaf !== true) {
      setField(result, key, branch === undefined ? document[key] : excludeIn(document[key], branch))
    }
  }
  return result
}

const excludeIn = (value: unknown, branch: Branch): unknown =>
  isDocument(value)
    ? exclude(value, branch)
    : isArray(value)
    ? value.map((item) => excludeIn(item, branch))
    : value

const computed = (projection: Document, now: number): Result.Result<Projection, Problem> =>
  Result.map(
    parseComputed(projection, now, isProjection),
    ([prepare, run]) => (document) => Result.map(run(prepare(document)), (made) => definedFields(made ?? {}))
  )

/**
 * Parses a projection with computed fields.
 *
 * @internal
 */
export const parseComputed = (
  projection: Document,
  now: number,
  isOperator: (name: string) => boolean
): Result.Result<Phases, Problem> => {
  const problem = expressionProblem(projection, isOperator)
  if (problem !== undefined) return Result.fail(problem)
  const specification = prepareExpression(projection, now)
  const options = evaluationOptions()
  const invalid = problemOfStage("$project", specification, options)
  if (invalid !== undefined || !isDocument(specification)) {
    return Result.fail(invalid ?? rejected("fields are needed"))
  }
  const fields = fieldsOf(specification, "")
  const taken = fields.filter(([, value]) => isSwitch(value))
  const made = fields.filter(([, value]) => !isSwitch(value)).map(([path, value]) => {
    const compute = isOfProjection(value)
      ? perDocument("$project", { [path]: value }, options)
      : (document: Document) => tryMingo(() => evaluate(document, value, options))
    return [segmentsOf(path), isOfProjection(value), compute] as const
  })
  return Result.map(taking(taken), (take): Phases => [
    readable,
    (document) => {
      beginEvaluation()
      let result = take(document)
      for (const [path, isDocumentResult, compute] of made) {
        const value = compute(document)
        if (Result.isFailure(value)) return Result.fail(value.failure)
        const field = isDocumentResult && isDocument(value.success) ? valueAt(value.success, path) : value.success
        result = withValue(result, path, field)
      }
      return checkSize(result)
    }
  ])
}

/** The paths of a projection with their values, those of nested documents included. */
const fieldsOf = (projection: Document, prefix: string): ReadonlyArray<[path: string, value: unknown]> =>
  Object.entries(projection).flatMap(([key, value]) =>
    isDocument(value) && !Object.keys(value).some((name) => name.startsWith("$"))
      ? fieldsOf(value, `${prefix}${key}.`)
      : [[`${prefix}${key}`, value] satisfies [string, unknown]]
  )

// The projection operators, which mingo evaluates for a field, not as expressions.
const isOfProjection = (value: unknown): boolean =>
  isDocument(value)
  && (Object.hasOwn(value, "$elemMatch")
    || (Object.hasOwn(value, "$slice") && [value["$slice"]].flat().every((part) => isNumber(part))))

/** Selects the fields that are not computed. */
const taking = (
  taken: ReadonlyArray<[path: string, value: unknown]>
): Result.Result<(document: Document) => Document, Problem> => {
  if (taken.some(([path]) => path !== "_id")) return selection(taken)
  const withId = taken.every(([, value]) => isOn(value))
  return Result.succeed((document) => withId && Object.hasOwn(document, "_id") ? { _id: document["_id"] } : {})
}
