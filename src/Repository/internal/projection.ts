/**
 * MongoDB's projections. Fields that are taken or left out are handled here; what computes is mingo's.
 */
import * as Result from "effect/Result"
import { Lazy } from "mingo/lazy"
import type { Document } from "../DocumentStore.ts"
import { toDouble } from "./bsonNumber.ts"
import { escapedProto, isArray, isDocument, isNumber, normalise, setField } from "./bsonValue.ts"
import { attempt, evaluationOptions, isProjection, problemOf, stageOf, withNow } from "./expression.ts"
import { type Problem, rejected, unsupported } from "./problem.ts"

/** @internal */
export type Projection = (document: Document) => Result.Result<Document, Problem>

// The paths of a projection as a tree, whose leaves are the fields named.
interface Branch {
  readonly fields: Map<string, Branch>
  isLeaf: boolean
}

/**
 * Reads a projection; `undefined` when it changes nothing.
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

const isSwitch = (value: unknown): boolean => typeof value === "boolean" || isNumber(value)

const isOn = (value: unknown): boolean => isNumber(value) ? toDouble(value) !== 0 : value === true

const selection = (
  entries: ReadonlyArray<[string, unknown]>
): Result.Result<(document: Document) => Document, Problem> => {
  const named = entries.filter(([path]) => path !== "_id")
  const id = entries.find(([path]) => path === "_id")
  const including = named.length === 0 ? id !== undefined && isOn(id[1]) : isOn(named[0]?.[1])
  const odd = named.find(([, value]) => isOn(value) !== including)
  if (odd !== undefined) return Result.fail(rejected(`"${odd[0]}": fields are either all included or all excluded`))
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

// Of an array, its documents and the arrays within; of what has no fields, nothing.
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

const computed = (projection: Document, now: number): Result.Result<Projection, Problem> => {
  const problem = problemOf(projection, isProjection)
  const project = stageOf("$project")
  if (problem !== undefined || project === undefined) return Result.fail(problem ?? unsupported("$project"))
  const specification = withNow(projection, now)
  const options = evaluationOptions()
  const run = (document: Document) =>
    attempt(() => project(Lazy([thaw(document)]), specification, options).collect()[0])
  return Result.succeed((document) =>
    Result.map(run(document), (result) => isDocument(result) ? definedFields(result) : {})
  )
}

/**
 * A copy that mingo may change in place.
 *
 * @internal
 */
export const thaw = (document: Document): Document => {
  const copy: { [key: string]: unknown } = {}
  for (const key of Object.keys(document)) {
    copy[key === "__proto__" ? escapedProto : key] = thawValue(document[key])
  }
  return copy
}

const thawValue = (value: unknown): unknown =>
  isDocument(value) ? thaw(value) : isArray(value) ? value.map(thawValue) : value

/**
 * What mingo computed without the fields that came to nothing.
 *
 * @internal
 */
export const definedFields = (document: Document): Document => {
  const keys = Object.keys(document)
  const isAsIs = (key: string) =>
    key !== escapedProto && document[key] !== undefined && defined(document[key]) === document[key]
  if (keys.every(isAsIs)) return document
  const copy: { [key: string]: unknown } = {}
  for (const key of keys) {
    const value = defined(document[key])
    if (value !== undefined) setField(copy, key === escapedProto ? "__proto__" : key, value)
  }
  return copy
}

/** @internal */
export const defined = (value: unknown): unknown => {
  if (isDocument(value)) return definedFields(value)
  return isArray(value) && value.some((item) => item === undefined || defined(item) !== item)
    ? value.map((item) => defined(item) ?? null)
    : value
}
