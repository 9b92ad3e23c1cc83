/** The operations of a model's collection as its store has them: with all conditions in the filter, and read defaults. */
import { conjunctionOf, fallibleLast, fallibleMatchesLast, storeOperations } from "@appkernel/document-store/shared"
import { isDocument } from "@appkernel/mql/values"
import { type ModelLike, someFieldIn, versionsTypeId, type ViewOf, viewTypeId } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, DocumentStore, Filter, TakeOptions } from "../DocumentStore.ts"
import {
  type Aggregation,
  type CollectionOperation,
  everyHandler,
  type Handlers,
  type Name,
  type Outcome,
  type Runner
} from "./modelCollection.ts"
import { holdingRowFilters, rowFiltersIn } from "./rowFilterMarks.ts"

/** Runs operations in the store. */
export interface StoreRunner {
  readonly runner: Runner
  /** The filter of an operation with its conditions, as the store has it. */
  readonly whole: (operation: Pick<CollectionOperation<"count">, "conditions" | "filter">) => Filter
  /** The pipeline of an operation with its conditions, as the store has it. */
  readonly pipeline: (operation: Aggregation) => ReadonlyArray<Document>
}

/** The innermost part: the store's own operations. */
export const storeRunner = (
  { modelName: collection }: ModelLike,
  store: DocumentStore["Service"],
  stored: (filter: Filter) => Filter
): StoreRunner => {
  /** The filter of an operation with its conditions, as the store has it. */
  const whole: StoreRunner["whole"] = ({ conditions = [], filter = everything }) => {
    if (conditions.length === 0) return marked(stored(filter), [filter])
    // The conditions of a caller are the same objects each time, whose stored form is known. They come first: a filter that fails for
    // some documents would tell of those that the caller does not see.
    const own = conditions.some(isRowFilter) ? fallibleLast(stored(filter)) : stored(filter)
    return marked(conjunctionOf(...conditions.map(stored), own), [...conditions, filter])
  }
  /** Marks what is made of these filters: it holds their row filters. */
  const marked = (filter: Filter, parts: ReadonlyArray<Filter>) => {
    const rows = parts.flatMap(rowFiltersIn)
    return rows.length === 0 ? filter : holdingRowFilters(filter, rows.map(stored))
  }
  /** Calls the store's operation with the arguments that the table says, which are members of the operation here. */
  const calling = <N extends Name>(name: N): (operation: CollectionOperation<N>) => Outcome<N> => {
    const [first, second, third]: ReadonlyArray<string> = storeOperations[name].takes
    // It takes these arguments, by the table.
    const call = store[name] as (collection: string, ...args: ReadonlyArray<unknown>) => Outcome<N>
    const argument = (operation: CollectionOperation<N>, taken: string | undefined): unknown =>
      taken === "filter" ? whole(operation) : taken && (operation as object as ArgumentsOfAny)[taken]
    return (operation) =>
      call(collection, argument(operation, first), argument(operation, second), argument(operation, third))
  }
  const handlers: Handlers = {
    ...everyHandler(calling),
    // These have the filter among their options.
    findById: ({ conditions, id, options }) =>
      store.findById(
        collection,
        id,
        conditions === undefined ? options : { ...options, filter: whole({ conditions }) }
      ),
    find: (operation) => store.find(collection, { ...operation.options, filter: whole(operation) }),
    findAndCount: (operation) => store.findAndCount(collection, { ...operation.options, filter: whole(operation) }),
    estimatedCount: (operation) =>
      operation.conditions === undefined
        ? store.estimatedCount(collection)
        : store.count(collection, whole(operation))
  }
  const pipeline: StoreRunner["pipeline"] = ({ conditions = [], pipeline }) => {
    const own = conditions.some(isRowFilter) ? fallibleMatchesLast(pipeline) : pipeline
    const stages = pipelineOf(conditions.reduce(pipelineWithin, own), stored)
    const [filter, given] = [matchOf(stages), matchOf(pipeline)]
    if (filter !== undefined) marked(filter, given === undefined ? conditions : [...conditions, given])
    return stages
  }
  const [findById, find, findAndCount] = [store.findById.atOnce, store.find.atOnce, store.findAndCount.atOnce]
  const wholly = (options: TakeOptions): TakeOptions => ({ ...options, filter: whole({ filter: options.filter }) })
  const runner: Runner = {
    atOnce: findById && find && findAndCount && {
      findById: (id) => findById(collection, id),
      find: (options, now) => find(collection, wholly(options), now),
      findAndCount: (options, now) => findAndCount(collection, wholly(options), now)
    },
    run: (operation) => handlers[operation.name](operation),
    runStream: (operation) =>
      operation.name === "stream"
        ? store.stream(collection, { ...operation.options, filter: whole(operation) })
        : store.aggregate(collection, pipeline(operation), operation.options)
  }
  return { runner, whole, pipeline }
}

/** Whether a field of the model, or one in it, has a value as which documents without it are read. */
export const hasDefaults = (model: ModelLike): boolean =>
  someFieldIn(model, (attributes) => attributes.absent !== undefined)

/** Whether documents of the model may be stored in earlier versions. */
export const hasVersions = (model: ModelLike): boolean => versionsTypeId in model

/** The model whose documents are stored: itself, unless it is an earlier version of another one. */
export const ownerOf = (model: ModelLike): Model.Any => viewOf(model)?.model ?? model

/** Of which model this is an earlier version, and which one. */
export const viewOf = (model: ModelLike): ViewOf<Model.Any> | undefined =>
  // Only `Model.form` sets this property.
  Reflect.get(model, viewTypeId) as ViewOf<Model.Any> | undefined

// internal

/** An operation has what its store's one takes, by the words of the table. */
type ArgumentsOfAny = { readonly [argument: string]: unknown }

const everything: Filter = {}

const isRowFilter = (condition: Filter): boolean => rowFiltersIn(condition).length > 0

/** The filter with which a pipeline begins. */
const matchOf = ([first]: ReadonlyArray<Document>): Filter | undefined => {
  const filter = first?.["$match"]
  return isDocument(filter) ? filter : undefined
}

/** The filters with which a pipeline begins select documents; all other stages compute with what is stored. */
const pipelineOf = (pipeline: ReadonlyArray<Document>, stored: (filter: Filter) => Filter): ReadonlyArray<Document> => {
  const end = pipeline.findIndex((stage) => !isDocument(stage["$match"]))
  const count = end < 0 ? pipeline.length : end
  return pipeline.map((stage, i) => {
    const { $geoNear, $match } = stage
    if (i < count && isDocument($match)) return { ...stage, $match: stored($match) }
    return i === 0 && isDocument($geoNear) && isDocument($geoNear["query"])
      ? { ...stage, $geoNear: { ...$geoNear, query: stored($geoNear["query"]) } }
      : stage
  })
}

/** Adds the condition as early as possible: a stage that must be first has it in its query, or right after. */
const pipelineWithin = (
  [first, ...others]: ReadonlyArray<Document>,
  condition: Filter
): ReadonlyArray<Document> => {
  const [stage] = Object.keys(first ?? {})
  if (first === undefined || stage === undefined) return [{ $match: condition }]
  const operand = Object(first[stage])
  if (stage === "$match") return [{ $match: conjunctionOf(condition, operand) }, ...others]
  if (stage === "$geoNear") {
    return [{ $geoNear: { ...operand, query: conjunctionOf(condition, Object(operand["query"] ?? {})) } }, ...others]
  }
  return firstStages.has(stage)
    ? [first, { $match: condition }, ...others]
    : [{ $match: condition }, first, ...others]
}

const firstStages: ReadonlySet<string> = new Set(["$search", "$vectorSearch"])
