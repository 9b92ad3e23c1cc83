import * as Result from "effect/Result"
import { beginStep } from "../../src/internal/stepBudget.ts"
import { plainValue } from "../../src/Repository/bson/plainDocument.ts"
import { parsePipeline } from "../../src/Repository/mql/aggregation/pipeline.ts"
import { type BatchIterator, fromArray } from "../../src/Repository/mql/execution/batchIterator.ts"
import { matchAll, parseFilter } from "../../src/Repository/mql/filter/parseFilter.ts"
import type { Problem } from "../../src/Repository/mql/limits/queryProblem.ts"
import { makeMemory } from "../../src/Repository/mql/limits/sizeLimits.ts"
import { parseUpdate } from "../../src/Repository/mql/update/applyUpdate.ts"
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
