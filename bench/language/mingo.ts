import { aggregate, Query, updateMany } from "mingo"
import type { Contestant } from "./contestant.ts"

/** A copy of plain data. */
const copyOf = <A>(value: A): A => {
  if (typeof value !== "object" || value === null) return value
  // The copies have the types of what is copied.
  if (value instanceof Date) return new Date(value) as A
  if (Array.isArray(value)) return value.map(copyOf) as A
  const copy: { [key: string]: unknown } = {}
  for (const key in value) copy[key] = copyOf(value[key])
  return copy as A
}

/** Its updates change the documents that it is given, at any depth, so it is given copies: a store has other readers. */
export const mingo = (): Contestant => ({
  title: "mingo 7",
  prepare: (task) => {
    switch (task.kind) {
      case "filter": {
        const query = new Query(task.filter)
        return (documents) => documents.filter((document) => query.test(document))
      }
      case "pipeline":
        return (documents) => aggregate(documents, [...task.pipeline])
      case "update":
        return (documents) => {
          const copies = copyOf(documents)
          updateMany(copies, {}, task.update)
          return copies
        }
    }
  }
})
