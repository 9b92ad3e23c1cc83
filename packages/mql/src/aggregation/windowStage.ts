/** `$setWindowFields`: computes fields from the documents around each document. */
import { isStepDone, spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import type { Direction } from "../bson/path.ts"
import { isArray, isDocument } from "../bson/value.ts"
import { type Expression, namesOf } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { orReject, reject } from "../limits/queryProblem.ts"
import type { Memory } from "../limits/sizeLimits.ts"
import { changeFields, FieldTree } from "../projection/fieldTree.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { parseWindowFunction } from "../window/parseWindowFunction.ts"
import type { WindowFunction } from "../window/window.ts"
import { partitioned } from "./partitions.ts"
import type { StageContext, StageParser, Transform } from "./stageContext.ts"

export const parseSetWindowFields: StageParser = (operand, context) => {
  const { output, partitionBy = null, sortBy } = {
    ...namesOf(operand, "$setWindowFields", ["output"], ["partitionBy", "sortBy"])
  }
  if (!isDocument(output)) return reject("the output of $setWindowFields is a document")
  const sort = sortBy === undefined ? [] : orReject(parseSort(sortBy, context.collator))
  const key = parseExpression(partitionBy, context)
  const fields = Object.entries(output).map(([path, given]): Field => ({
    path,
    make: parseWindowFunction(path, given, sort, context)
  }))
  return windowsOf(partitionOf(key), sort, fields, context)
}

/** A field and the window function that computes it. */
export interface Field {
  readonly path: string
  readonly make: WindowFunction
}

/** Sets fields to the values of window functions, in partitions of the same key. May throw. */
export const windowsOf = (
  key: Expression,
  sort: ReadonlyArray<Direction>,
  fields: ReadonlyArray<Field>,
  context: StageContext
): Transform => {
  const withFields = settingFields(fields)
  return partitioned(key, sort, context, function*(partitions) {
    for (const { documents } of partitions) yield* windowed(documents, fields, withFields, context.memory)
  })
}

/** The key of a `partitionBy`, which is no array. */
export const partitionOf = (key: Expression): Expression => (document) => {
  const value = key(document)
  return isArray(value) ? reject("a partitionBy can't have an array as its value") : value
}

// internal

/** Sets the fields of a document. Rejects paths that collide. */
const settingFields = (fields: ReadonlyArray<Field>) => {
  const tree = new FieldTree()
  let values: ReadonlyArray<unknown> = []
  for (const [i, { path }] of fields.entries()) tree.add(path, () => values[i], true)
  return (document: Document, computed: ReadonlyArray<unknown>): Document => {
    values = computed
    return changeFields(document, tree)
  }
}

/** Yields the documents with their fields, and `undefined` where a step has done enough. May throw. */
const windowed = function*(
  documents: ReadonlyArray<Document>,
  fields: ReadonlyArray<Field>,
  withFields: (document: Document, values: ReadonlyArray<unknown>) => Document,
  memory: Memory
): Iterable<Document | undefined> {
  let used = 0
  const weigh = (bytes: number) => {
    used += bytes
    memory.hold(bytes)
  }
  const windows = fields.map(({ make }) => ({ content: make({ documents, weigh }), from: 0, to: 0 }))
  for (const [index, document] of documents.entries()) {
    const values: Array<unknown> = []
    for (const window of windows) {
      const { content } = window
      while (window.to < documents.length && content.enters(window.to, index)) {
        beginEvaluation()
        spend(moveCost)
        content.push(documents[window.to]!, window.to)
        window.to += 1
        if (isStepDone()) yield undefined
      }
      while (window.from < window.to && content.leaves(window.from, index)) {
        spend(moveCost)
        if (content.shift()) window.from += 1
        if (isStepDone()) yield undefined
      }
      beginEvaluation()
      values.push(content.result(index, window.from, window.to) ?? null)
    }
    yield withFields(document, values)
  }
  memory.release(used)
}

// What it takes to move an end of a window by one document.
const moveCost = 20
