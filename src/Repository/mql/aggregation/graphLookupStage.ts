/**
 * `$graphLookup`: follows the connections of the documents of a collection, which is held in memory.
 */
import { longOf, toDouble } from "../../bson/number.ts"
import { segmentsOf, withValue } from "../../bson/path.ts"
import { isDocument, isNumber } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { mapEach } from "../execution/batchIterator.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { type Filter, matchAll, parseFilter } from "../filter/parseFilter.ts"
import { beginEvaluation, charge } from "../limits/costBudget.ts"
import { orReject, reject } from "../limits/queryProblem.ts"
import { checkSize } from "../limits/sizeLimits.ts"
import { isName, listOf, makeJoinTable, valuesAt } from "./joinTable.ts"
import type { StageParser } from "./stageContext.ts"

/** @internal */
export const parseGraphLookup: StageParser = (operand, context) => {
  const { as, connectFromField, connectToField, depthField, from, maxDepth, restrictSearchWithMatch, startWith } =
    isDocument(operand) ? { ...operand } : {}
  if (
    !isName(from) || !isName(connectFromField) || !isName(connectToField) || !isName(as) || startWith === undefined
    || !(depthField === undefined || isName(depthField)) || !(maxDepth === undefined || isNumber(maxDepth))
  ) return reject("$graphLookup needs a collection, a startWith, the fields to connect and an as")
  const start = parseExpression(startWith, context)
  const filter = restrictSearchWithMatch === undefined
    ? matchAll
    : orReject(parseFilter(restrictSearchWithMatch, context))
  const place = segmentsOf(as)
  const depths = maxDepth === undefined ? Infinity : toDouble(maxDepth)
  if (depths < 0 || (maxDepth !== undefined && !Number.isInteger(depths))) {
    return reject("the maxDepth of $graphLookup is a whole number from 0")
  }
  const open = orReject(context.find(from, {}, context))
  const table = makeJoinTable(open, (other) => valuesAt(other, connectToField), context)
  return (source) =>
    table((table) => {
      const search = (document: Document): ReadonlyArray<Document> => {
        beginEvaluation()
        const seen = new Map<Document, number>()
        let values = listOf(start(document))
        for (let depth = 0; depth <= depths && values.length > 0; depth++) {
          const fresh = new Set(
            table.find(values).filter((other) => !seen.has(other) && matches(filter, other))
          )
          for (const other of fresh) seen.set(other, depth)
          values = Array.from(fresh).flatMap((other) => valuesAt(other, connectFromField))
        }
        return Array.from(
          seen,
          ([other, depth]) => depthField === undefined ? other : withValue(other, segmentsOf(depthField), longOf(depth))
        )
      }
      return mapEach(source, (document) => checkSize(withValue(document, place, search(document))))
    })
}

// internal

/** May throw. */
const matches = (filter: Filter, document: Document): boolean => {
  charge(50)
  return filter.matches(document)
}
