/** Searches documents in the process, in the newest version of their model. */
import { nearFields } from "@appkernel/document-store/shared"
import { aggregate, catchRejection, fromProblem, parseProjection } from "@appkernel/mql"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Stream from "effect/Stream"
import type { ModelLike } from "../../Model/internal.ts"
import type { Document, DocumentStore, Filter, FindOptions } from "../DocumentStore.ts"
import { documentAt, placeOf, unreadableProblems } from "../query/unreadable.ts"
import { QueryRejected, type ReadError } from "../RepositoryError.ts"
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

  /** Why a search is refused, if it is: only a store has an order by distance. */
  const refusalOf = (operation: string, changes: Changes, filter: Filter): QueryRejected | undefined => {
    const near = nearFields(filter).find((field) => changes.concern([field]))
    return near === undefined
      ? undefined
      : new QueryRejected({ operation, detail: notYet(model, `${near} can't be searched by distance`) })
  }

  const search = (
    operation: string,
    changes: Changes,
    filter: Filter,
    { limit, projection, skip, sort, ...options }: Omit<FindOptions, "filter">
  ): Stream.Stream<Document, ReadError> => {
    const refusal = refusalOf(operation, changes, filter)
    if (refusal !== undefined) return Stream.fail(refusal)
    const isSort = changes.concern(Object.keys(sort ?? {}))
    const source = candidates(changes, filter, { ...options, sort: isSort ? undefined : sort })
    const { isTextSearch, stages: matching } = changes.searchFor(filter)
    const stages = [
      ...matching,
      ...(isSort ? [{ $sort: sort }] : []),
      ...(skip === undefined || skip === 0 ? [] : [{ $skip: skip }]),
      ...(limit === undefined ? [] : [{ $limit: limit }])
    ]
    const aggregated = (from: typeof source, stages: ReadonlyArray<Document>) =>
      aggregate(from, stages, {
        operation,
        collation: options.collation,
        isTextSearch,
        elsewhere: notYet(model, isTextSearch === true ? "changed fields can't be searched by $text" : "")
      })
    if (limit === 0) return Stream.empty
    const found = isSort
      ? Stream.map(aggregated(Stream.map(source, placeOf), stages), documentAt)
      : aggregated(source, stages)
    return projection === undefined ? found : projected(operation, found, projection)
  }

  const countIn = (
    changes: Changes,
    filter: Filter,
    options: Omit<FindOptions, "filter">
  ): Effect.Effect<number, ReadError> => {
    const { isTextSearch, stages } = changes.searchFor(filter)
    const refusal = refusalOf("count", changes, filter)
    return refusal !== undefined ? Effect.fail(refusal) : Effect.map(
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

/** The projected documents. One that can't be read stays as it is, so that it is known for one. */
const projected = (
  operation: string,
  documents: Stream.Stream<Document, ReadError>,
  projection: Document
): Stream.Stream<Document, ReadError> =>
  Stream.unwrap(Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const project = (yield* fromProblem(parseProjection(projection, { now }), operation)) ?? Function.identity<Document>
    return Stream.mapEffect(documents, (document) =>
      unreadableProblems(document) === undefined
        ? fromProblem(catchRejection(() => project(document)), operation)
        : Effect.succeed(document))
  }))

/** Why an operation is refused, in a sentence that says what to do. */
export const notYet = ({ modelName }: ModelLike, detail: string): string =>
  `${detail === "" ? "it can't be done" : detail} while ${modelName} is stored in earlier forms: ` +
  "run `appkernel upgrade --finish` once no process needs them"
