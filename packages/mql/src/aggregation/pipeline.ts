/**
 * Parses MongoDB's aggregation pipelines. The stages that handle many documents are implemented here, so that each step
 * is short.
 */
import { spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import type * as Result from "effect/Result"
import { orderOf } from "../bson/collator.ts"
import { longOf } from "../bson/number.ts"
import { valueAt, withValue } from "../bson/path.ts"
import { isArray, isDocument, rankOf, setField } from "../bson/value.ts"
import {
  type BatchIterator,
  collectThen,
  concat,
  consumeThen,
  flatMapEach,
  fromArray,
  lazily,
  mapEach,
  releasing,
  sequenceOf,
  slice
} from "../execution/batchIterator.ts"
import { sorted } from "../execution/mergeSort.ts"
import { fieldPathOf, listOperand, namesOf } from "../expression/expression.ts"
import { isComputed, parseConstant } from "../expression/parseExpression.ts"
import { matchCost, parseFilter } from "../filter/parseFilter.ts"
import { catchRejection, orReject, type Problem, reject, rejectWith, unsupported } from "../limits/queryProblem.ts"
import { makeSize, memoryOf } from "../limits/sizeLimits.ts"
import { documentStages } from "../projection/documentStages.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { parseDensify, parseFill } from "./densifyStage.ts"
import { parseBucketAuto, parseGroup } from "./groupStage.ts"
import { limitIn, naturalNumber } from "./leadingFind.ts"
import { parseGraphLookup, parseLookup } from "./lookupStage.ts"
import { parseRedact } from "./redactStage.ts"
import type { PipelineContext, StageContext, StageParser, Transform } from "./stageContext.ts"
import { isDocumentsStage, nestedContext, parseDocuments, parseSubPipeline } from "./subPipeline.ts"
import { parseSetWindowFields } from "./windowStage.ts"

/** Parses a pipeline of normalised stages. */
export const parsePipeline = (
  stages: ReadonlyArray<unknown>,
  context: PipelineContext
): Result.Result<Transform, Problem> =>
  catchRejection(() => parseStages(stages, { ...context, parse: parseStages, lasting: context.memory, depth: 0 }))

// internal

const parseStages: StageContext["parse"] = (stages, context) => {
  if (stages.length > maxStages) return reject(`a pipeline may have ${maxStages} stages at most`)
  const transforms = stages.map((stage, i) => parseStage(stage, i, stages[i + 1], context))
  return (source) => transforms.reduce((upstream, transform) => transform(upstream), source)
}

// MongoDB's limit.
const maxStages = 1000

const unsupportedStages = new Set([
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

// Outside of transactions, the store runs them itself.
const writingStages = new Set(["$out", "$merge"])

const parseStage = (
  stage: unknown,
  place: number,
  next: unknown,
  context: StageContext
): Transform => {
  if (!isDocument(stage)) return reject("a stage must be a document")
  const [name = "", ...others] = Object.keys(stage)
  if (others.length > 0 || name === "") return reject("a stage must have exactly one field")
  const operand = stage[name]
  if (name === "$sort") return parseSortStage(operand, limitIn(next), context)
  const document = documentStages.get(name)
  if (document !== undefined) {
    const project = document(operand, context)
    return (source) => mapEach(source, project)
  }
  const parser = stageParsers.get(name)
  if (parser !== undefined) return parser(operand, context)
  if (name === "$geoNear") {
    return place === 0 && context.depth > 0
      ? rejectWith(unsupported("$geoNear in the pipeline of another stage"))
      : reject("$geoNear must be the first stage of a pipeline")
  }
  if (isDocumentsStage(stage)) {
    return place === 0 && context.depth > 0
      ? parseDocuments(operand, context)
      : reject("$documents can only begin the pipeline of a stage without a collection")
  }
  if (writingStages.has(name)) {
    return context.depth === 0 && next === undefined
      ? rejectWith(unsupported(`${name} in a transaction`))
      : reject(`${name} can only be the last stage, and not be in another`)
  }
  return unsupportedStages.has(name) ? rejectWith(unsupported(name)) : reject(`${name} is no stage`)
}

const parseMatch: StageParser = (operand, context) => {
  const filter = orReject(parseFilter(operand, context))
  return (source) =>
    mapEach(source, (document) => {
      spend(matchCost * filter.relativeCost)
      return filter.matches(document) ? document : undefined
    })
}

const parseSortStage = (operand: unknown, limit: number, { collator, memory }: StageContext): Transform => {
  const directions = orReject(parseSort(operand, collator))
  return directions.length === 0
    ? reject("$sort needs at least one field")
    : (source) => sorted(source, (document) => document, directions, limit, memory)
}

const parseLimit: StageParser = (operand) => {
  const limit = naturalNumber(operand)
  return limit === undefined || limit === 0
    ? reject("$limit needs a whole number from 1")
    : (source) => slice(source, 0, limit)
}

const parseSkip: StageParser = (operand) => {
  const skip = naturalNumber(operand)
  return skip === undefined
    ? reject("$skip needs a whole number from 0")
    : (source) => slice(source, skip, undefined)
}

/** The name of a field of the result. */
const fieldOf = (stage: string, name: unknown): string => {
  const [field = "", ...others] = fieldPathOf(stage, name)
  return others.length === 0 ? field : reject(`${stage} needs the name of a field`)
}

const parseCount: StageParser = (operand) => {
  const name = fieldOf("$count", operand)
  return (source) => {
    let count = 0
    return consumeThen(source, () => {
      count += 1
    }, () => fromArray(count === 0 ? [] : [{ [name]: count }]))
  }
}

const parseSample: StageParser = (operand, { memory, random }) => {
  const size = naturalNumber(namesOf(operand, "$sample", ["size"])["size"])
  if (size === undefined || size === 0) return reject("$sample needs a whole number from 1 as its size")
  return (source) => {
    // Reservoir sampling: each document is equally likely to be in the sample.
    const sample: Array<Document> = []
    let seen = 0
    return consumeThen(source, (document) => {
      seen += 1
      const index = sample.length < size ? sample.length : Math.floor(random() * seen)
      if (index >= size) return
      const before = sample[index]
      sample[index] = document
      memory.hold(memoryOf(document) - (before === undefined ? 0 : memoryOf(before)))
    }, () => releasing(sample, memory))
  }
}

const parseSortByCount: StageParser = (operand, context) =>
  isComputed(operand)
    ? parseStages(
      [{ $group: { _id: operand, count: { $sum: 1 } } }, { $sort: { count: -1 } }],
      context
    )
    : reject("$sortByCount needs a path such as $a.b, or an expression")

// Rewritten as a `$group`.
const parseBucket: StageParser = (operand, context) => {
  const specification = namesOf(operand, "$bucket", ["groupBy", "boundaries"], ["default", "output"])
  const { groupBy, output = { count: { $sum: 1 } } } = { ...specification }
  const valueOf = (expression: unknown) => parseConstant("$bucket", expression, context)
  const boundaries = listOperand("boundaries of $bucket", specification["boundaries"]).map(valueOf)
  if (!isComputed(groupBy) || boundaries.length < 2 || !isDocument(output)) {
    return reject("$bucket needs a path or an expression as its groupBy, and at least two boundaries")
  }
  const { compare } = orderOf(context.collator)
  const [first, last] = [boundaries[0], boundaries.at(-1)]
  if (boundaries.some((boundary, i) => i > 0 && !(compare(boundaries[i - 1], boundary) < 0))) {
    return reject("the boundaries of $bucket must be in order")
  }
  if (boundaries.some((boundary) => rankOf(boundary) !== rankOf(first))) {
    return reject("the boundaries of $bucket must be of one type")
  }
  const hasDefault = Object.hasOwn(specification, "default")
  const other = hasDefault ? valueOf(specification["default"]) : undefined
  if (hasDefault && compare(other, first) >= 0 && compare(other, last) < 0) {
    return reject("the default of $bucket must be outside its boundaries")
  }
  const branches = boundaries.slice(1).map((end, i) => ({
    case: { $and: [{ $gte: [groupBy, { $literal: boundaries[i] }] }, { $lt: [groupBy, { $literal: end }] }] },
    then: { $literal: boundaries[i] }
  }))
  const otherwise = hasDefault ? { default: { $literal: other } } : {}
  return parseStages(
    [{ $group: { ...output, _id: { $switch: { branches, ...otherwise } } } }, { $sort: { _id: 1 } }],
    context
  )
}

const parseUnwind: StageParser = (operand) => {
  const specification = namesOf(
    isDocument(operand) ? operand : { path: operand },
    "$unwind",
    ["path"],
    ["includeArrayIndex", "preserveNullAndEmptyArrays"]
  )
  const { includeArrayIndex, path, preserveNullAndEmptyArrays = false } = { ...specification }
  if (typeof path !== "string" || !path.startsWith("$")) return reject("$unwind needs a path such as $a.b")
  if (typeof preserveNullAndEmptyArrays !== "boolean") {
    return reject("preserveNullAndEmptyArrays of $unwind is true or false")
  }
  const segments = fieldPathOf("$unwind", path.slice(1))
  const place = includeArrayIndex === undefined
    ? undefined
    : fieldPathOf("includeArrayIndex of $unwind", includeArrayIndex)
  const placed = (document: Document, index: number | null) =>
    place === undefined ? document : withValue(document, place, index === null ? null : longOf(index))
  return (source) =>
    flatMapEach(source, (document) => {
      const value = valueAt(document, segments)
      if (isArray(value) && value.length > 0) {
        const keys = Object.keys(document).length
        return {
          length: value.length,
          at: (index) => {
            spend(unwindCost * keys)
            return placed(withValue(document, segments, value[index]), index)
          }
        }
      }
      const isEmpty = isArray(value) || value === undefined || value === null
      if (!isEmpty) return sequenceOf([placed(document, null)])
      if (!preserveNullAndEmptyArrays) return sequenceOf([])
      return sequenceOf([placed(isArray(value) ? withValue(document, segments, undefined) : document, null)])
    })
}

const unwindCost = 10

const notInFacets = ["$facet", "$documents", "$geoNear"]

const parseFacet: StageParser = (operand, context) => {
  if (!isDocument(operand) || Object.keys(operand).length === 0) {
    return reject("$facet needs named pipelines")
  }
  const facets = Object.entries(operand).map(([name, pipeline]) => {
    const field = fieldOf("$facet", name)
    if (!isArray(pipeline)) return reject(`"${name}" of $facet needs a pipeline`)
    return pipeline.some((stage) => isDocument(stage) && notInFacets.some((name) => Object.hasOwn(stage, name)))
      ? reject(`${notInFacets.join(", ")} can't be in a $facet`)
      : [field, parseStages(pipeline, { ...context, depth: context.depth + 1 })] as const
  })
  return (source) =>
    collectThen(source, context.memory, (documents) => {
      const result: { [name: string]: unknown } = {}
      const grow = makeSize()
      return facets.reduceRight<() => BatchIterator>(
        (next, [name, transform]) => () => {
          const items: Array<Document> = []
          setField(result, name, items)
          return consumeThen(transform(fromArray(documents)), (item) => {
            items.push(item)
            grow(item)
          }, next)
        },
        () => {
          for (const document of documents) context.memory.release(memoryOf(document))
          return fromArray([result])
        }
      )()
    })
}

const parseUnionWith: StageParser = (operand, context) => {
  const specification = namesOf(isDocument(operand) ? operand : { coll: operand }, "$unionWith", [], [
    "coll",
    "pipeline"
  ])
  const { coll, pipeline: stages = [] } = { ...specification }
  const pipeline = listOperand("the pipeline of $unionWith", stages)
  const inner = nestedContext(context)
  const { open, rest } = parseSubPipeline(coll, pipeline, inner)
  const transform = inner.parse(rest, inner)
  return (source) => concat(source, lazily(() => transform(open())))
}

export const stageParsers = new Map<string, StageParser>([
  ["$match", parseMatch],
  ["$limit", parseLimit],
  ["$skip", parseSkip],
  ["$count", parseCount],
  ["$sample", parseSample],
  ["$group", parseGroup],
  ["$sortByCount", parseSortByCount],
  ["$bucket", parseBucket],
  ["$bucketAuto", parseBucketAuto],
  ["$unwind", parseUnwind],
  ["$facet", parseFacet],
  ["$unionWith", parseUnionWith],
  ["$redact", parseRedact],
  ["$densify", parseDensify],
  ["$fill", parseFill],
  ["$setWindowFields", parseSetWindowFields],
  ["$lookup", parseLookup],
  ["$graphLookup", parseGraphLookup]
])
