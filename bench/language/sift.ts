import siftModule from "sift"
import type { Contestant } from "./contestant.ts"
import type { Order } from "./data.ts"

// oxlint-disable-next-line import/no-named-as-default-member -- the package is CommonJS: its default is its namespace
const { default: makeTest } = siftModule

/** It has filters only, and no `$expr`. */
export const sift = (): Contestant => ({
  title: "sift 17",
  prepare: (task) => {
    if (task.kind !== "filter" || "$expr" in task.filter) return undefined
    const test = makeTest<Order>(task.filter)
    return (documents) => documents.filter((document) => test(document))
  }
})
