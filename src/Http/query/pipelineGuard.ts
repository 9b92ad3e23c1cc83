/**
 * Guards aggregation pipelines from callers: allows known stages, removes hidden fields before they are read, and
 * limits the result.
 */
import { isPlainObject } from "../../internal/objects.ts"
import { type ExpressionContext, guardDirections, guardExpression, guardPath, storedName } from "./expressionGuard.ts"
import { guardFilter } from "./filterGuard.ts"
import { isUnsafePath, ProblemCollector } from "./guardedJson.ts"
import type { QueryFields } from "./queryFields.ts"

type Values = { readonly [key: string]: unknown }

const maxStages = 100

/** Translates a pipeline. Omitted fields are removed before a stage that could read them; a limit ends it. */
export const guardPipeline = (
  pipeline: unknown,
  access: QueryFields,
  report: ProblemCollector,
  maxResults: number
): ReadonlyArray<Values> => {
  const state: State = { access, report, isModel: true, isComplete: true, stages: 0 }
  const stages = guardStages(pipeline, state)
  return [...stages, ...(state.isComplete ? [{ $project: access.projection }] : []), { $limit: maxResults }]
}

/** The documents that a stage receives. */
interface State {
  readonly access: QueryFields
  readonly report: ProblemCollector
  isModel: boolean
  isComplete: boolean
  stages: number
}

const guardStages = (pipeline: unknown, state: State): ReadonlyArray<Values> => {
  const { report } = state
  if (!Array.isArray(pipeline)) {
    report.reject("NotStages")
    return []
  }
  const stages: Array<Values> = []
  for (const stage of pipeline) {
    state.stages += 1
    if (state.stages > maxStages) {
      report.reject("TooManyStages", { limit: maxStages }, "Limit")
      return stages
    }
    const [name = "", ...others] = isPlainObject(stage) ? Object.keys(stage) : []
    if (!isPlainObject(stage) || name === "" || others.length > 0) {
      report.reject("StageName")
      continue
    }
    const guard = guards.get(name)
    if (guard === undefined) {
      report.forbid(name)
      continue
    }
    if (state.isComplete && !preservingStages.has(name)) {
      if (computedStages.has(name) && isSafe(guard, stage[name], state)) state.isComplete = false
      else {
        stages.push({ $project: state.access.projection })
        state.isComplete = false
      }
    }
    if (name === "$sort" && state.isComplete && isPlainObject(stage[name]) && sortsByWhole(stage[name], state)) {
      stages.push({ $project: state.access.projection })
      state.isComplete = false
    }
    stages.push({ [name]: guard(stage[name], state) })
  }
  return stages
}

/** Stages that do not change documents. */
const preservingStages: ReadonlySet<string> = new Set(["$match", "$sort", "$limit", "$skip", "$sample"])

/** Stages whose output contains only the results of their expressions. */
const computedStages: ReadonlySet<string> = new Set([
  "$bucket",
  "$bucketAuto",
  "$count",
  "$group",
  "$replaceRoot",
  "$replaceWith",
  "$sortByCount"
])

/** Whether a stage accesses no omitted fields although the documents still contain them. */
const isSafe = (guard: Guard, operand: unknown, { access, isModel, stages }: State): boolean => {
  const report = new ProblemCollector("")
  guard(operand, { access, isModel, isComplete: true, stages, report })
  return report.problems.length === 0
}

const sortsByWhole = (sort: Values, { access, isModel }: State): boolean =>
  isModel && Object.keys(sort).some((path) => access.field(storedName(path, access))?.holdsOmitted === true)

type Guard = (operand: unknown, state: State) => unknown

const context = ({ access, isModel, isComplete, report }: State): ExpressionContext => ({
  access,
  isModel,
  isComplete,
  report
})

/** The following stages receive documents with other fields. */
const reshaping = (guard: Guard): Guard => (operand, state) => {
  const guarded = guard(operand, state)
  state.isModel = false
  return guarded
}

const plain = (operator: string): Guard => (operand, { report }) => {
  if (typeof operand === "number" || typeof operand === "string") return operand
  if (isPlainObject(operand) && Object.values(operand).every((value) => typeof value === "number")) return operand
  report.reject("Number", { operator })
  return operand
}

const expression: Guard = (operand, state) => guardExpression(operand, context(state))

const guardMatch: Guard = (operand, state) => guardFilter(operand, context(state))

const guardSort: Guard = (operand, state) => {
  if (!isPlainObject(operand)) {
    state.report.reject("Fields", { operator: "$sort" })
    return operand
  }
  return guardDirections("$sort", operand, { ...context(state), isComplete: false })
}

/** A field name in the output of a stage. */
const guardName = (name: unknown, { report }: State): void => {
  if (typeof name !== "string" || name === "" || name.startsWith("$") || isUnsafePath(name)) {
    report.reject("FieldName", { name: JSON.stringify(name) })
  }
}

const guardFields = (operator: string): Guard => (operand, state) => {
  if (!isPlainObject(operand)) {
    state.report.reject("Fields", { operator })
    return operand
  }
  for (const name of Object.keys(operand)) guardName(name, state)
  return guardExpression(operand, context(state))
}

const isSwitch = (value: unknown): boolean => typeof value === "boolean" || typeof value === "number"

/** An included field must exist, a computed one need not. */
const guardProject = (operand: unknown, state: State, prefix = ""): unknown => {
  if (!isPlainObject(operand)) {
    state.report.reject("Fields", { operator: "$project" })
    return operand
  }
  return Object.fromEntries(
    Object.entries(operand).map(([key, value]) => {
      if (!isSwitch(value)) guardName(key, state)
      else if (prefix !== "") guardPath(prefix + key, context(state))
      else return [guardPath(key, context(state)), value]
      return isSwitch(value)
        ? [key, value]
        : isPlainObject(value) && !Object.keys(value).some((name) => name.startsWith("$"))
        ? [key, guardProject(value, state, `${prefix}${key}.`)]
        : [key, guardExpression(value, context(state))]
    })
  )
}

const guardUnset: Guard = (operand, state) => {
  const names: ReadonlyArray<unknown> = Array.isArray(operand) ? operand : [operand]
  return names.map((name) => {
    if (typeof name === "string") return guardPath(name, context(state))
    state.report.reject("Names")
    return name
  })
}

const guardUnwind: Guard = (operand, state) => {
  if (!isPlainObject(operand)) return guardExpression(operand, context(state))
  const { includeArrayIndex: index, path, ...others } = operand
  if (index !== undefined) guardName(index, state)
  const guarded = {
    ...others,
    path: guardExpression(path, context(state)),
    ...(index === undefined ? {} : { includeArrayIndex: index })
  }
  if (index !== undefined) state.isModel = false
  return guarded
}

const guardFacet: Guard = (operand, state) => {
  if (!isPlainObject(operand)) {
    state.report.reject("Pipelines")
    return operand
  }
  return Object.fromEntries(
    Object.entries(operand).map(([name, pipeline]) => {
      guardName(name, state)
      const inner: State = { ...state }
      const stages = guardStages(pipeline, inner)
      state.stages = inner.stages
      return [name, stages]
    })
  )
}

/** The type of the grouping expression determines how boundaries are decoded. */
const guardBucket: Guard = (operand, state) => {
  if (!isPlainObject(operand)) {
    state.report.reject("Group")
    return operand
  }
  const { boundaries, groupBy, ...others } = operand
  const path = state.isModel && typeof groupBy === "string" && /^\$[^$]/u.test(groupBy) ? groupBy.slice(1) : undefined
  const field = path === undefined ? undefined : state.access.field(storedName(path, state.access))
  return {
    ...Object.fromEntries(Object.entries(others).map(([key, value]) => [key, guardExpression(value, context(state))])),
    groupBy: guardExpression(groupBy, context(state)),
    ...(boundaries === undefined ? {} : {
      boundaries: Array.isArray(boundaries)
        ? boundaries.map((bound) => field?.readJson(bound) ?? guardExpression(bound, context(state)))
        : boundaries
    })
  }
}

const guards: ReadonlyMap<string, Guard> = new Map<string, Guard>([
  ["$match", guardMatch],
  ["$sort", guardSort],
  ["$limit", plain("$limit")],
  ["$skip", plain("$skip")],
  ["$sample", plain("$sample")],
  ["$count", reshaping(plain("$count"))],
  ["$group", reshaping(guardFields("$group"))],
  ["$sortByCount", reshaping(expression)],
  ["$bucket", reshaping(guardBucket)],
  ["$bucketAuto", reshaping(guardBucket)],
  ["$project", reshaping((operand, state) => guardProject(operand, state))],
  ["$addFields", reshaping(guardFields("$addFields"))],
  ["$set", reshaping(guardFields("$set"))],
  ["$unset", guardUnset],
  ["$unwind", guardUnwind],
  ["$facet", reshaping(guardFacet)],
  ["$replaceRoot", reshaping(expression)],
  ["$replaceWith", reshaping(expression)],
  ["$redact", expression]
])

/** The stages that callers may use. */
export const stageNames: ReadonlyArray<string> = [...guards.keys()]
