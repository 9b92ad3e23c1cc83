/** Sorts the documents of a stage into partitions, and writes its results in steps. */
import { isStepDone, spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import { orderOf } from "../bson/collator.ts"
import { type Direction, type Segments, valueAt } from "../bson/path.ts"
import { isDocument } from "../bson/value.ts"
import { type BatchIterator, consumeThen, ended, mapEach } from "../execution/batchIterator.ts"
import { sorted } from "../execution/mergeSort.ts"
import type { Expression } from "../expression/expression.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { catchRejection } from "../limits/queryProblem.ts"
import { checkSize, memoryOf } from "../limits/sizeLimits.ts"
import type { StageContext, Transform } from "./stageContext.ts"

/** Documents with the same key, in the order of the sort. */
export interface Partition {
  readonly key: unknown
  readonly documents: ReadonlyArray<Document>
}

/** The key of a partition by the values at paths. */
export const fieldsKey = (paths: ReadonlyArray<Segments>): Expression => (document) =>
  paths.map((path) => isDocument(document) ? valueAt(document, path) ?? null : null)

/** A stage that needs all of its partitions. `make` yields results, and `undefined` to pause. It may throw. */
export const partitioned = (
  key: Expression,
  sort: ReadonlyArray<Direction>,
  { collator, memory }: Pick<StageContext, "collator" | "memory">,
  make: (partitions: ReadonlyArray<Partition>) => Iterable<Document | undefined>
): Transform =>
(source) => {
  const keyed = mapEach(source, (document) => {
    beginEvaluation()
    return { key: key(document) ?? null, document }
  })
  // In a document, an array is as good a key as any, and not each of its items.
  const byKey: Direction = { path: ["key"], descending: false, collator }
  const directions = [byKey, ...sort.map((direction) => ({ ...direction, path: ["document", ...direction.path] }))]
  const { equals } = orderOf(collator)
  const inOrder = sorted(keyed, ({ document, key }) => ({ key: { key }, document }), directions, Infinity, memory)
  const partitions: Array<{ readonly key: unknown; readonly documents: Array<Document> }> = []
  let used = 0
  return consumeThen(inOrder, ({ document, key }) => {
    const last = partitions.at(-1)
    if (last !== undefined && equals(last.key, key)) last.documents.push(document)
    else partitions.push({ key, documents: [document] })
    const bytes = memoryOf(document)
    used += bytes
    memory.hold(bytes)
  }, () => inSteps(make(partitions), () => memory.release(used)))
}

// internal

const maxPerStep = 128

const documentCost = 100

const inSteps = (documents: Iterable<Document | undefined>, release: () => void): BatchIterator => {
  const iterator = documents[Symbol.iterator]()
  let isDone = false
  const step = (): ReadonlyArray<Document> => {
    const some: Array<Document> = []
    do {
      beginEvaluation()
      spend(documentCost)
      const { done, value } = iterator.next()
      if (done === true) {
        isDone = true
        release()
      }
      if (value === undefined) break
      some.push(checkSize(value))
    } while (some.length < maxPerStep && !isStepDone())
    return some
  }
  return () => isDone ? ended : catchRejection(step)
}
