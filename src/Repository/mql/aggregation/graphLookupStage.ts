/**
 * `$graphLookup`: follows the connections of the documents of a collection, which is held in memory.
 */
import { longOf } from "../../bson/number.ts"
import { existsAt, withValue } from "../../bson/path.ts"
import { isArray } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { mapEach } from "../execution/batchIterator.ts"
import { namesOf, pathOf, wholeOf } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { type Filter, matchAll, parseFilter } from "../filter/parseFilter.ts"
import { beginEvaluation, charge } from "../limits/costBudget.ts"
import { orReject, reject } from "../limits/queryProblem.ts"
import { checkSize } from "../limits/sizeLimits.ts"
import { joinedValues, joiningValues, makeJoinTable } from "./joinTable.ts"
import type { StageParser } from "./stageContext.ts"
import { collectionOf } from "./subPipeline.ts"

/** @internal */
export const parseGraphLookup: StageParser = (operand, context) => {
  const required = ["from", "startWith", "connectFromField", "connectToField", "as"]
  const given = namesOf(operand, "$graphLookup", required, ["maxDepth", "depthField", "restrictSearchWithMatch"])
  const path = (name: string) => pathOf(`${name} of $graphLookup`, given[name])
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

// internal

/** May throw. */
const matches = (filter: Filter, document: Document): boolean => {
  charge(50)
  return filter.matches(document)
}
