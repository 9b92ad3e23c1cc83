import { aggregate, Query, updateMany } from "mingo"
import type { Contestant } from "./contestant.ts"

/** Its updates change the documents that it is given, and keep nothing of those before. */
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
          updateMany(documents, {}, task.update)
          return documents
        }
    }
  }
})
