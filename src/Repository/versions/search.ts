/** Searches documents in the process, in the newest version of their model. */
import { aggregate } from "@appkernel/mql"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ModelLike } from "../../Model/internal.ts"
import type { Document, DocumentStore, Filter, FindOptions } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"
import type { Changes } from "./changes.ts"

/** `upgrade` brings a stored document into the newest version. */
export const makeSearch = (
  model: ModelLike,
  store: DocumentStore["Service"],
  upgrade: (document: Document) => Document
) => {
  const name = model.modelName

  /** Documents that may match, in the order of the sort if it is the store's. */
  const candidates = (changes: Changes, filter: Filter, options: Omit<FindOptions, "filter"> = {}) =>
    Stream.map(store.stream(name, { ...options, filter: changes.searchFor(filter).stored }), upgrade)

  const search = (
    operation: string,
    changes: Changes,
    filter: Filter,
    { limit, projection, skip, sort, ...options }: Omit<FindOptions, "filter">
  ): Stream.Stream<Document, ReadError> => {
    const isSort = changes.concern(Object.keys(sort ?? {}))
    const source = candidates(changes, filter, { ...options, sort: isSort ? undefined : sort })
    const { isTextSearch, stages: matching } = changes.searchFor(filter)
    const stages = [
      ...matching,
      ...(isSort ? [{ $sort: sort }] : []),
      ...(skip === undefined || skip === 0 ? [] : [{ $skip: skip }]),
      ...(limit === undefined ? [] : [{ $limit: limit }]),
      ...(projection === undefined ? [] : [{ $project: projection }])
    ]
    return limit === 0
      ? Stream.empty
      : aggregate(source, stages, {
        operation,
        collation: options.collation,
        isTextSearch,
        elsewhere: notYet(model, isTextSearch === true ? "changed fields can't be searched by $text" : "")
      })
  }

  const countIn = (changes: Changes, filter: Filter, options: Omit<FindOptions, "filter">) => {
    const { isTextSearch, stages } = changes.searchFor(filter)
    return Effect.map(
      Stream.runCollect(
        aggregate(
          candidates(changes, filter, { timeLimit: options.timeLimit, collation: options.collation }),
          [...stages, { $count: "count" }],
          {
            operation: "count",
            collation: options.collation,
            isTextSearch,
            elsewhere: notYet(model, "changed fields can't be searched by $text")
          }
        )
      ),
      ([result]) => Number(result?.["count"] ?? 0)
    )
  }

  return { candidates, search, countIn }
}

/** Why an operation is refused, in a sentence that says what to do. */
export const notYet = ({ modelName }: ModelLike, detail: string): string =>
  `${detail === "" ? "it can't be done" : detail} while ${modelName} is stored in earlier forms: ` +
  "run `appkernel upgrade --finish` once no process needs them"
