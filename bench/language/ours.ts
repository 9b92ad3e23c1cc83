import * as Result from "effect/Result"
import { beginStep } from "../../packages/document-store/src/internal/stepBudget.ts"
import { parsePipeline } from "../../packages/mql/src/aggregation/pipeline.ts"
import { plainValue } from "../../packages/mql/src/bson/plainDocument.ts"
import { type BatchIterator, fromArray } from "../../packages/mql/src/execution/batchIterator.ts"
import { matchAll, parseFilter } from "../../packages/mql/src/filter/parseFilter.ts"
import type { Problem } from "../../packages/mql/src/limits/queryProblem.ts"
import { makeMemory } from "../../packages/mql/src/limits/sizeLimits.ts"
import { parseUpdate } from "../../packages/mql/src/update/applyUpdate.ts"
import type { Contestant } from "./contestant.ts"

const right = <A>(result: Result.Result<A, Problem>): A => Result.getOrThrowWith(result, ({ text }) => new Error(text))

const readAll = (next: BatchIterator): ReadonlyArray<unknown> => {
  const all: Array<unknown> = []
  for (;;) {
    beginStep()
    const items = right(next())
    if (items === undefined) return all
    for (const item of items) all.push(plainValue(item))
  }
}

/** The evaluator of the embedded store with its bounds and in its steps, without the store. */
export const ours = (): Contestant => ({
  title: "ours",
  prepare: (task) => {
    switch (task.kind) {
      case "filter": {
        const { matches } = right(parseFilter(task.filter, { now: 0 }))
        return (documents) => documents.filter(matches)
      }
      case "pipeline":
        return (documents) => {
          const find = () => Result.succeed(() => fromArray([]))
          const context = { now: 0, random: Math.random, find, memory: makeMemory() }
          return readAll(right(parsePipeline(task.pipeline, context))(fromArray(documents)))
        }
      case "update": {
        const update = right(parseUpdate(task.update, { now: 0 }))
        return (documents) =>
          documents.map((document) => plainValue(right(update.apply(document, matchAll)) ?? document))
      }
    }
  }
})
