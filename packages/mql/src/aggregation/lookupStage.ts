/**
 * `$lookup` joins the documents that a field equals, that a pipeline gives, or both. `$graphLookup` follows the connections of
 * the documents of a collection, which is held in memory.
 *
 * What of a `$lookup` does not depend on the document is read once and held in memory. The rest of the pipeline is run over it for each
 * document; if it begins with a `$match` whose `$expr` compares a variable by `$eq`, only over the documents that are equal.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { longOf } from "../bson/number.ts"
import { existsAt, type Segments, withValue } from "../bson/path.ts"
import { isArray, isDocument } from "../bson/value.ts"
import { type BatchIterator, fromArray, gatherEach, mapEach } from "../execution/batchIterator.ts"
import { fieldPathOf, namesOf, wholeOf } from "../expression/expression.ts"
import { type LetVariables, parseLet } from "../expression/letVariables.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { type Filter, matchAll, parseFilter } from "../filter/parseFilter.ts"
import { beginEvaluation, charge } from "../limits/costBudget.ts"
import { orReject, reject, rejectWith, unsupported } from "../limits/queryProblem.ts"
import { checkSize, makeSize } from "../limits/sizeLimits.ts"
import { joinedValues, joiningValues, type JoinTable, makeJoinTable } from "./joinTable.ts"
import type { StageContext, StageParser } from "./stageContext.ts"
import { collectionOf, isDocumentsStage, nestedContext, parseSubPipeline } from "./subPipeline.ts"

export const parseLookup: StageParser = (operand, context) => {
  const { fields, from, let: variables, pipeline, place } = parseOperand(operand)
  const { bind, context: scope } = parseLet(variables, "$lookup", context)
  const inner = nestedContext(scope)
  // The equality comes before the pipeline, but conditions may as well be tested before it.
  const isShared = fields === undefined ? undefined : isSource
  const { open, rest } = parseSubPipeline(from, pipeline, inner, isShared)
  if (fields !== undefined && isDocumentsStage(rest[0])) {
    return rejectWith(unsupported("$lookup by fields in $documents that use variables"))
  }
  // A run for one document may end before its stages have returned what they hold.
  const memory = context.memory.part()
  const transform = rest.length === 0 ? undefined : inner.parse(rest, { ...inner, memory })
  const join = fields === undefined ? equalityOf(rest[0], inner) : joinOf(fields)
  const table = makeJoinTable(open, join?.keysOf, context)
  return (source: BatchIterator) =>
    table((table) => {
      const candidates = candidatesIn(table, join, bind)
      return transform === undefined
        ? mapEach(source, (document) => checkSize(withValue(document, place, candidates(document))))
        : gatherEach(
          source,
          (document) => transform(fromArray(candidates(document))),
          (document, found) => {
            memory.releaseAll()
            return checkSize(withValue(document, place, found))
          },
          makeSize
        )
    })
}

// internal

interface Lookup {
  readonly from: unknown
  readonly place: Segments
  readonly fields: Fields | undefined
  readonly let: Document
  readonly pipeline: ReadonlyArray<unknown>
}

interface Fields {
  readonly localField: Segments
  readonly foreignField: Segments
}

const parseOperand = (operand: unknown): Lookup => {
  const given = namesOf(operand, "$lookup", ["as"], ["from", "localField", "foreignField", "let", "pipeline"])
  const { from, let: variables, pipeline } = { ...given }
  const path = (name: string) => fieldPathOf(`${name} of $lookup`, given[name])
  const hasFields = Object.hasOwn(given, "localField") || Object.hasOwn(given, "foreignField")
  if (!hasFields && !isArray(pipeline)) return reject("$lookup needs a localField and a foreignField, or a pipeline")
  const fields = hasFields ? { localField: path("localField"), foreignField: path("foreignField") } : undefined
  const place = path("as")
  return variables !== undefined && (!isDocument(variables) || pipeline === undefined)
    ? reject("the let of $lookup needs a document of variables, and a pipeline that uses them")
    : pipeline !== undefined && !isArray(pipeline)
    ? reject("the pipeline of $lookup is an array of stages")
    : { place, from, fields, let: variables ?? {}, pipeline: pipeline ?? [] }
}

const isSource = (stage: unknown): boolean =>
  isDocumentsStage(stage) || (isDocument(stage) && Object.hasOwn(stage, "$match"))

/** By which keys documents are joined. Both may throw. */
interface Join {
  readonly keysOf: (joined: Document) => ReadonlyArray<unknown>
  readonly wanted: (document: Document) => ReadonlyArray<unknown>
}

const joinOf = ({ foreignField, localField }: Fields): Join => ({
  keysOf: (joined) => joinedValues(joined, foreignField),
  wanted: (document) => {
    const values = joiningValues(document, localField)
    return values.length === 0 ? [null] : values
  }
})

/** The documents that the pipeline is run over, after the variables are set. */
const candidatesIn =
  (table: JoinTable, join: Join | undefined, bind: LetVariables["bind"]) =>
  (document: Document): ReadonlyArray<Document> => {
    beginEvaluation()
    bind(document)
    return join === undefined ? table.all : table.find(join.wanted(document))
  }

/** The join by an `$eq` of the `$expr` that a `$match` requires, between a path and a variable. */
const equalityOf = (stage: unknown, context: StageContext): Join | undefined => {
  const conditions = isDocument(stage) ? stage["$match"] : undefined
  const [equality] = isDocument(conditions) ? equalitiesIn(conditions["$expr"]) : []
  if (equality === undefined) return undefined
  const [path, variable] = [parseExpression(equality[0], context), parseExpression(equality[1], context)]
  return { keysOf: (joined) => [path(joined)], wanted: () => [variable(undefined)] }
}

type Equality = readonly [path: string, variable: string]

const equalitiesIn = (expression: unknown): ReadonlyArray<Equality> => {
  if (!isDocument(expression)) return []
  const { $and, $eq } = { ...expression }
  if (isArray($and)) return $and.flatMap(equalitiesIn)
  const [left, right] = isArray($eq) && $eq.length === 2 ? $eq : []
  return isPath(left) && isVariable(right) ? [[left, right]] : isPath(right) && isVariable(left) ? [[right, left]] : []
}

const isPath = (expression: unknown): expression is string =>
  typeof expression === "string" && expression.startsWith("$") && !expression.startsWith("$$")

// MongoDB's own variables, some of which are the document, are in capitals.
const isVariable = (expression: unknown): expression is string =>
  typeof expression === "string" && /^\$\$[^A-Z]/.test(expression)

export const parseGraphLookup: StageParser = (operand, context) => {
  const required = ["from", "startWith", "connectFromField", "connectToField", "as"]
  const given = namesOf(operand, "$graphLookup", required, ["maxDepth", "depthField", "restrictSearchWithMatch"])
  const path = (name: string) => fieldPathOf(`${name} of $graphLookup`, given[name])
  const { from, maxDepth, restrictSearchWithMatch, startWith } = { ...given }
  const [connectFrom, connectTo, place] = [path("connectFromField"), path("connectToField"), path("as")]
  const depthPlace = Object.hasOwn(given, "depthField") ? path("depthField") : undefined
  const start = parseExpression(startWith, context)
  const filter = restrictSearchWithMatch === undefined
    ? matchAll
    : orReject(parseFilter(restrictSearchWithMatch, context))
  const depths = maxDepth === undefined ? Infinity : wholeOf("the maxDepth of $graphLookup", maxDepth)
  if (depths < 0) return reject("the maxDepth of $graphLookup is a whole number from 0")
  const open = orReject(context.find(collectionOf("$graphLookup", from), {}, context))
  // As MongoDB does, null finds no document without the field.
  const table = makeJoinTable(
    open,
    (other) => existsAt(other, connectTo) ? joinedValues(other, connectTo) : [],
    context
  )
  return (source) =>
    table((table) => {
      const search = (document: Document): ReadonlyArray<Document> => {
        beginEvaluation()
        const seen = new Map<Document, number>()
        const first = start(document)
        let values = isArray(first) ? first : first === undefined ? [] : [first]
        for (let depth = 0; depth <= depths && values.length > 0; depth++) {
          const fresh = new Set(
            table.find(values).filter((other) => !seen.has(other) && matches(filter, other))
          )
          for (const other of fresh) seen.set(other, depth)
          values = Array.from(fresh).flatMap((other) => joiningValues(other, connectFrom))
        }
        return Array.from(
          seen,
          ([other, depth]) => depthPlace === undefined ? other : withValue(other, depthPlace, longOf(depth))
        )
      }
      return mapEach(source, (document) => checkSize(withValue(document, place, search(document))))
    })
}

/** May throw. */
const matches = (filter: Filter, document: Document): boolean => {
  charge(50)
  return filter.matches(document)
}
