/**
 * `$lookup` and `$graphLookup` without pipelines, as hash joins: the joined collection is held in memory by its values.
 */
import * as Result from "effect/Result"
import { EqualTexts } from "../../bson/equalTexts.ts"
import { encodeComponent } from "../../bson/keyEncoding.ts"
import { toDouble } from "../../bson/number.ts"
import { childOf, isArrayIndex, type Segments, segmentsOf, withValue } from "../../bson/path.ts"
import { isArray, isDocument, isNumber } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { type BatchIterator, consumeThen, mapEach } from "../execution/batchIterator.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { type Filter, matchAll, parseFilter } from "../filter/parseFilter.ts"
import { beginEvaluation, charge } from "../limits/costBudget.ts"
import { catchRejection, type Problem, rejected, unsupported } from "../limits/queryProblem.ts"
import { checkSize, memoryOf, sizeOfValue } from "../limits/sizeLimits.ts"
import type { StageContext, StageParser } from "./stageContext.ts"

/** @internal */
export const parseLookup: StageParser = (operand, context) => {
  const { as, foreignField, from, localField, pipeline } = isDocument(operand) ? { ...operand } : {}
  if (pipeline !== undefined) return Result.fail(unsupported("$lookup with a pipeline"))
  if (!isName(from) || !isName(localField) || !isName(foreignField) || !isName(as)) {
    return Result.fail(rejected("$lookup needs a collection, a localField, a foreignField and an as"))
  }
  const place = segmentsOf(as)
  return Result.succeed((source) =>
    withOthers(from, foreignField, context, (others) =>
      mapEach(
        mapEach(source, (document) =>
          catchRejection(() => {
            beginEvaluation()
            const values = valuesAt(document, localField)
            const matches = values.length === 1
              ? others(values[0])
              : Array.from(new Set(values.flatMap((value) => others(value))))
            return withValue(document, place, matches)
          })),
        checkSize
      ))
  )
}

/** @internal */
export const parseGraphLookup: StageParser = (operand, context) => {
  const { as, connectFromField, connectToField, depthField, from, maxDepth, restrictSearchWithMatch, startWith } =
    isDocument(operand) ? { ...operand } : {}
  if (
    !isName(from) || !isName(connectFromField) || !isName(connectToField) || !isName(as) || startWith === undefined
    || !(depthField === undefined || isName(depthField)) || !(maxDepth === undefined || isNumber(maxDepth))
  ) return Result.fail(rejected("$graphLookup needs a collection, a startWith, the fields to connect and an as"))
  const start = parseExpression(startWith, context)
  if (Result.isFailure(start)) return Result.fail(start.failure)
  const filter = restrictSearchWithMatch === undefined
    ? Result.succeed(matchAll)
    : parseFilter(restrictSearchWithMatch, context)
  if (Result.isFailure(filter)) return Result.fail(filter.failure)
  const place = segmentsOf(as)
  const depths = maxDepth === undefined ? Infinity : toDouble(maxDepth)
  return Result.succeed((source) =>
    withOthers(from, connectToField, context, (others) => {
      const search = (document: Document): ReadonlyArray<Document> => {
        beginEvaluation()
        const seen = new Map<Document, number>()
        let values = listOf(start.success(document))
        for (let depth = 0; depth <= depths && values.length > 0; depth++) {
          const fresh = new Set(
            values.flatMap((value) => others(value)).filter((other) =>
              !seen.has(other) && matches(filter.success, other)
            )
          )
          for (const other of fresh) seen.set(other, depth)
          values = Array.from(fresh).flatMap((other) => valuesAt(other, connectFromField))
        }
        return Array.from(
          seen,
          ([other, depth]) => depthField === undefined ? other : withValue(other, segmentsOf(depthField), depth)
        )
      }
      return mapEach(
        source,
        (document) =>
          Result.flatMap(
            catchRejection(() => search(document)),
            (found) => checkSize(withValue(document, place, found))
          )
      )
    })
  )
}

// internal

const isName = (value: unknown): value is string => typeof value === "string" && value !== ""

const listOf = (value: unknown): ReadonlyArray<unknown> => isArray(value) ? value : [value ?? null]

/** The values at a path; a missing one is `null`. May throw. */
const valuesAt = (document: Document, path: string): ReadonlyArray<unknown> => listOf(along(document, segmentsOf(path)))

/** The value at a path, which leads to the items of an array by their numbers, or through its documents. */
const along = (start: unknown, path: Segments, from = 0): unknown => {
  let node = start
  for (let at = from; at < path.length; at++) {
    const segment = path[at] ?? ""
    if (isArray(node) && !isArrayIndex(segment)) {
      charge(4 * node.length)
      return node.map((item) => isDocument(item) ? along(item, path, at) : undefined)
        .filter((value) => value !== undefined)
    }
    node = childOf(node, segment)
  }
  return node
}

/** May throw. */
const matches = (filter: Filter, document: Document): boolean => {
  charge(50)
  return filter.matches(document)
}

/** Gives values the same text that are equal once their texts are replaced. */
const textBy = (replace: ((value: unknown) => unknown) | undefined) => (value: unknown): string => {
  charge(20 + sizeOfValue(value))
  return encodeComponent((replace === undefined ? value : replace(value)) ?? null, { inexact: false })
}

/** Builds the hash table of the joined collection, then continues with a function that looks a value up in it. */
const withOthers = (
  from: string,
  path: string,
  { collator, collection, memory }: StageContext,
  next: (others: (value: unknown) => ReadonlyArray<Document>) => BatchIterator
): BatchIterator => {
  const known = new Map<string, Array<Document>>()
  const equalTexts = collator === undefined ? undefined : new EqualTexts(collator)
  const [textOf, textOfNew] = [textBy(equalTexts?.find), textBy(equalTexts?.add)]
  const add = (other: Document): Problem | undefined => {
    beginEvaluation()
    const texts = catchRejection(() => new Set(valuesAt(other, path).map(textOfNew)))
    if (Result.isFailure(texts)) return texts.failure
    let bytes = memoryOf(other)
    for (const text of texts.success) {
      const alike = known.get(text)
      bytes += entrySize + text.length
      if (alike === undefined) known.set(text, [other])
      else alike.push(other)
    }
    return memory.hold(bytes)
  }
  return consumeThen(collection(from), add, () =>
    next((value) => {
      const found = known.get(textOf(value)) ?? []
      charge(found.length * 10)
      return found
    }))
}

const entrySize = 100
