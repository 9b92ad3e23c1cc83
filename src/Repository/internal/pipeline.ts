/**
 * MongoDB's aggregation pipelines. The stages that decide how long one step takes are our own; mingo runs the others,
 * and evaluates all expressions.
 */
import * as Result from "effect/Result"
import { Lazy } from "mingo/lazy"
import type { Document } from "../DocumentStore.ts"
import { toDouble } from "./bsonNumber.ts"
import { compare, isArray, isDocument, isNumber, setField } from "./bsonValue.ts"
import { segmentsOf } from "./documentPath.ts"
import {
  attempt,
  evaluationOptions,
  isExpression,
  isWindowOperator,
  problemOf,
  stageOf,
  withNow
} from "./expression.ts"
import { parseFilter } from "./filter.ts"
import { parseGroup } from "./groupStage.ts"
import { type Problem, rejected, unsupported } from "./problem.ts"
import { definedFields, thaw } from "./projection.ts"
import { parseSort } from "./sort.ts"
import { after, collected, concat, fromArray, mapChunks, slice, sorted, type Source } from "./source.ts"
import type { StageParser, Surroundings, Transform } from "./stage.ts"

/**
 * Reads a pipeline, whose stages are normalised.
 *
 * @internal
 */
export const parsePipeline = (
  stages: ReadonlyArray<unknown>,
  surroundings: Surroundings
): Result.Result<Transform, Problem> =>
  Result.map(
    Result.all(stages.map((stage) => parseStage(stage, surroundings))),
    (transforms) => (source) => transforms.reduce((upstream, transform) => transform(upstream), source)
  )

const unsupportedStages = new Set([
  "$out",
  "$merge",
  "$documents",
  "$geoNear",
  "$search",
  "$searchMeta",
  "$vectorSearch",
  "$changeStream",
  "$collStats",
  "$indexStats",
  "$planCacheStats",
  "$currentOp",
  "$listSessions",
  "$rankFusion"
])

const parseStage = (stage: unknown, surroundings: Surroundings): Result.Result<Transform, Problem> => {
  if (!isDocument(stage)) return Result.fail(rejected("a stage must be a document"))
  const [name = "", ...others] = Object.keys(stage)
  if (others.length > 0 || name === "") return Result.fail(rejected("a stage must have exactly one field"))
  const operand = stage[name]
  const own = ownStages.get(name)
  if (own !== undefined) return own(operand, surroundings)
  if (unsupportedStages.has(name)) return Result.fail(unsupported(name))
  return foreignStage(name, operand, surroundings)
}

const parseMatch: StageParser = (operand, { now }) =>
  Result.map(
    parseFilter(operand, now),
    (filter): Transform => (source) =>
      mapChunks(source, (documents) => attempt(() => documents.filter((document) => filter.matches(document))))
  )

const parseSortStage: StageParser = (operand) =>
  Result.flatMap(parseSort(operand), (directions) =>
    directions.length === 0
      ? Result.fail(rejected("$sort needs at least one field"))
      : Result.succeed((source) => sorted(source, (document) => document, directions, Infinity)))

const whole = (value: unknown): number | undefined => {
  const double = isNumber(value) ? toDouble(value) : -1
  return Number.isInteger(double) && double >= 0 ? double : undefined
}

const parseLimit: StageParser = (operand) => {
  const limit = whole(operand)
  return limit === undefined || limit === 0
    ? Result.fail(rejected("$limit needs a whole number from 1"))
    : Result.succeed((source) => slice(source, 0, limit))
}

const parseSkip: StageParser = (operand) => {
  const skip = whole(operand)
  return skip === undefined
    ? Result.fail(rejected("$skip needs a whole number from 0"))
    : Result.succeed((source) => slice(source, skip, undefined))
}

const parseCount: StageParser = (operand) => {
  if (typeof operand !== "string" || operand === "" || operand.startsWith("$") || operand.includes(".")) {
    return Result.fail(rejected("$count needs the name of a field"))
  }
  return Result.succeed((source) => {
    let count = 0
    return after(source, (documents) => {
      count += documents.length
      return undefined
    }, () => fromArray(count === 0 ? [] : [{ [operand]: count }]))
  })
}

const parseSample: StageParser = (operand, { random }) => {
  const size = isDocument(operand) ? whole(operand["size"]) : undefined
  if (size === undefined) return Result.fail(rejected("$sample needs a size"))
  return Result.succeed((source) => {
    // Each document has the same chance to be among those kept.
    const kept: Array<Document> = []
    let seen = 0
    return after(source, (documents) => {
      for (const document of documents) {
        seen += 1
        const place = kept.length < size ? kept.length : Math.floor(random() * seen)
        if (place < size) kept[place] = document
      }
      return undefined
    }, () => fromArray(kept))
  })
}

const parseSortByCount: StageParser = (operand, surroundings) =>
  parsePipeline(
    [{ $group: { _id: operand, count: { $sum: 1 } } }, { $sort: { count: -1 } }],
    surroundings
  )

// mingo's own counts a boundary to the bucket below it.
const parseBucket: StageParser = (operand, surroundings) => {
  const specification: Document = isDocument(operand) ? operand : {}
  const { boundaries, groupBy, output = { count: { $sum: 1 } } } = { ...specification }
  if (!isArray(boundaries) || boundaries.length < 2 || groupBy === undefined || !isDocument(output)) {
    return Result.fail(rejected("$bucket needs a groupBy and at least two boundaries"))
  }
  if (boundaries.some((boundary, i) => i > 0 && compare(boundaries[i - 1], boundary) >= 0)) {
    return Result.fail(rejected("the boundaries of $bucket must be in order"))
  }
  const branches = boundaries.slice(1).map((end, i) => ({
    case: { $and: [{ $gte: [groupBy, { $literal: boundaries[i] }] }, { $lt: [groupBy, { $literal: end }] }] },
    then: { $literal: boundaries[i] }
  }))
  const other = Object.hasOwn(specification, "default") ? { default: { $literal: specification["default"] } } : {}
  return parsePipeline(
    [{ $group: { ...output, _id: { $switch: { branches, ...other } } } }, { $sort: { _id: 1 } }],
    surroundings
  )
}

const parseUnwind: StageParser = (operand) => {
  const specification: Document = isDocument(operand) ? operand : { path: operand }
  const { includeArrayIndex, path, preserveNullAndEmptyArrays } = { ...specification }
  if (typeof path !== "string" || !/^\$[^$]/.test(path)) {
    return Result.fail(rejected("$unwind needs a path such as $a.b"))
  }
  if (includeArrayIndex !== undefined && (typeof includeArrayIndex !== "string" || includeArrayIndex.startsWith("$"))) {
    return Result.fail(rejected("includeArrayIndex of $unwind needs the name of a field"))
  }
  const segments = segmentsOf(path.slice(1))
  const place = includeArrayIndex === undefined ? undefined : segmentsOf(includeArrayIndex)
  const placed = (document: Document, index: number | null) =>
    place === undefined ? document : withValue(document, place, index)
  return Result.succeed((source) =>
    mapChunks(source, (documents) =>
      Result.succeed(documents.flatMap((document) => {
        const value = valueAt(document, segments)
        if (isArray(value) && value.length > 0) {
          return value.map((item, index) => placed(withValue(document, segments, item), index))
        }
        const isEmpty = isArray(value) || value === undefined || value === null
        if (!isEmpty) return [placed(document, null)]
        if (preserveNullAndEmptyArrays !== true) return []
        return [placed(isArray(value) ? withValue(document, segments, undefined) : document, null)]
      })))
  )
}

const valueAt = (document: Document, segments: ReadonlyArray<string>): unknown =>
  segments.reduce<unknown>(
    (node, segment) => isDocument(node) && Object.hasOwn(node, segment) ? node[segment] : undefined,
    document
  )

// A copy of the document with another value at a path; `undefined` leaves it out.
const withValue = (document: Document, [segment = "", ...rest]: ReadonlyArray<string>, value: unknown): Document => {
  const copy: { [key: string]: unknown } = {}
  for (const key of Object.keys(document)) {
    if (key !== segment || rest.length > 0 || value !== undefined) setField(copy, key, document[key])
  }
  const inner = valueAt(document, [segment])
  if (rest.length > 0) setField(copy, segment, withValue(isDocument(inner) ? inner : {}, rest, value))
  else if (value !== undefined) setField(copy, segment, value)
  return copy
}

const parseFacet: StageParser = (operand, surroundings) => {
  if (!isDocument(operand) || Object.keys(operand).length === 0) {
    return Result.fail(rejected("$facet needs named pipelines"))
  }
  const facets = Object.entries(operand).map(([name, pipeline]) =>
    isArray(pipeline)
      ? Result.map(parsePipeline(pipeline, surroundings), (transform) => [name, transform] as const)
      : Result.fail(rejected(`"${name}" of $facet needs a pipeline`))
  )
  return Result.map(Result.all(facets), (named) => (source) =>
    collected(source, (documents) => {
      const result: { [name: string]: unknown } = {}
      return named.reduceRight<Source>(
        (next, [name, transform]) =>
          collected(transform(fromArray(documents)), (items) => {
            setField(result, name, items)
            return next
          }),
        collected(fromArray([]), () => fromArray([result]))
      )
    }))
}

const parseUnionWith: StageParser = (operand, surroundings) => {
  const specification: Document = isDocument(operand) ? operand : { coll: operand }
  const { coll, pipeline = [] } = { ...specification }
  if (typeof coll !== "string" || !isArray(pipeline)) return Result.fail(rejected("$unionWith needs a collection"))
  return Result.map(
    parsePipeline(pipeline, surroundings),
    (transform) => (source) => concat(source, transform(surroundings.collection(coll)))
  )
}

// mingo wants the other collections whole, and all at once.
const parseLookup = (name: "$lookup" | "$graphLookup"): StageParser => (operand, surroundings) => {
  const { from, pipeline } = isDocument(operand) ? { ...operand } : {}
  if (typeof from !== "string" || !isDocument(operand)) return Result.fail(rejected(`${name} needs a collection`))
  if (pipeline !== undefined) return Result.fail(unsupported(`${name} with a pipeline`))
  const problem = problemOf(operand, isExpression)
  if (problem !== undefined) return Result.fail(problem)
  return Result.succeed((source) =>
    collected(surroundings.collection(from), (others) => {
      const options = evaluationOptions(() => others.map(thaw))
      return collected(source, (documents) => lazily(() => run(name, documents, operand, options)))
    })
  )
}

const ownStages = new Map<string, StageParser>([
  ["$match", parseMatch],
  ["$sort", parseSortStage],
  ["$limit", parseLimit],
  ["$skip", parseSkip],
  ["$count", parseCount],
  ["$sample", parseSample],
  ["$group", parseGroup],
  ["$sortByCount", parseSortByCount],
  ["$bucket", parseBucket],
  ["$unwind", parseUnwind],
  ["$facet", parseFacet],
  ["$unionWith", parseUnionWith],
  ["$lookup", parseLookup("$lookup")],
  ["$graphLookup", parseLookup("$graphLookup")]
])

// Those that look at one document after the other.
const streaming = new Set([
  "$addFields",
  "$set",
  "$project",
  "$unset",
  "$replaceRoot",
  "$replaceWith",
  "$redact"
])

const run = (
  name: string,
  documents: ReadonlyArray<Document>,
  operand: unknown,
  options: ReturnType<typeof evaluationOptions>
): Result.Result<ReadonlyArray<Document>, Problem> =>
  attempt(() => {
    const stage = stageOf(name)
    // mingo changes some of its input in place.
    const results = stage === undefined ? [] : stage(Lazy(documents.map(thaw)), operand, options).collect()
    return results.filter(isDocument).map(definedFields)
  })

const lazily = (make: () => Result.Result<ReadonlyArray<Document>, Problem>): Source => {
  let source: Source | undefined
  return () => {
    if (source !== undefined) return source()
    return Result.map(make(), (documents) => {
      source = fromArray(documents)
      return []
    })
  }
}

const foreignStage = (
  name: string,
  operand: unknown,
  { now }: Surroundings
): Result.Result<Transform, Problem> => {
  if (stageOf(name) === undefined) return Result.fail(rejected(`${name} is no stage`))
  const problem = problemOf(operand, isWindowOperator)
  if (problem !== undefined) return Result.fail(problem)
  if (name === "$project" && isDocument(operand) && Object.keys(operand).length === 0) {
    return Result.fail(rejected("$project needs at least one field"))
  }
  const timed = withNow(operand, now)
  const options = evaluationOptions()
  // What mingo would only find out with the first document.
  const dry = run(name, [], timed, options)
  if (Result.isFailure(dry)) return Result.fail(dry.failure)
  return Result.succeed((source) =>
    streaming.has(name)
      ? mapChunks(source, (documents) => run(name, documents, timed, options))
      : collected(source, (documents) => lazily(() => run(name, documents, timed, options)))
  )
}
