/**
 * Pipelines that write: `$out` replaces a collection in one transaction, `$merge` writes each document atomically.
 *
 * An interrupted `$out` writes nothing, or all; an interrupted `$merge` keeps the documents that it has written.
 */
import type { Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import { QueryRejected, type ReadError, type StoreError } from "@appkernel/document-store/StoreError"
import {
  beginEvaluation,
  catchRejection,
  fromProblem,
  isArray,
  makeMemory,
  memoryOf,
  type MergeStage,
  normalise,
  parseUpdate,
  parseWritingStage,
  type Problem,
  queryProblem,
  segmentsOf,
  valueAt,
  Variable,
  type WritingStage,
  writingStageOf
} from "@appkernel/mql/internal"
import { ObjectId } from "bson"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Catalog } from "../catalog/catalog.ts"

type Store = DocumentStore["Service"]

export interface PipelineWriteContext {
  readonly catalog: Catalog
  readonly operations: Pick<Store, "aggregate" | "count" | "updateOne" | "insertOne">
  /** Runs an effect over operations that take part in a transaction. */
  readonly transaction: <A>(
    use: (operations: Pick<Store, "deleteMany" | "insertMany">) => Effect.Effect<A, StoreError>
  ) => Effect.Effect<A, StoreError>
}

/** `aggregate` outside of transactions, with stages that write. Their result has no documents. */
export const makeWritingAggregate =
  (context: PipelineWriteContext): Store["aggregate"] => (name, pipeline, options) => {
    const last = writingStageOf(pipeline)
    if (last === undefined) return context.operations.aggregate(name, pipeline, options)
    return Stream.unwrap(Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const stage = yield* fromProblem(
        Result.flatMap(
          Result.mapError(normalise(last, true), queryProblem),
          (normalised) =>
            Result.flatMap(parseWritingStage(normalised, { now }), (stage) => checked(context, stage, now))
        ),
        operation
      )
      const source = context.operations.aggregate(name, pipeline.slice(0, -1), options)
      yield* "out" in stage
        ? replaceAll(context, stage.out, source)
        : Stream.runForEach(source, (document) => mergeOne(context, stage.merge, document))
      return Stream.empty
    }))
  }

// internal

const operation = "aggregate"

/** Checks the stage before any document is read: the pipeline of a `$merge`, and the unique index for its fields. */
const checked = (
  { catalog }: PipelineWriteContext,
  stage: WritingStage,
  now: number
): Result.Result<WritingStage, Problem> => {
  if ("out" in stage) return Result.succeed(stage)
  const { into, on, stages, variables } = stage.merge
  const isIndexed = on.join() === "_id" ||
    catalog.get(into)?.indexes.some(({ description, isReady, part, paths }) =>
        isReady && description.unique === true && part === undefined && paths.length === on.length &&
        on.every((path) => paths.includes(path))
      ) === true
  if (!isIndexed) {
    return Result.fail(queryProblem(`the on of $merge needs a unique index of these fields: ${on.join(", ")}`))
  }
  if (stages === undefined) return Result.succeed(stage)
  const context = { now, variables: { ...variables.context.variables, new: new Variable() } }
  return Result.map(parseUpdate(stages, context), () => stage)
}

const withId = (document: Document): Document =>
  document["_id"] === undefined ? { _id: new ObjectId(), ...document } : document

const replaceAll = Effect.fnUntraced(function*(
  { transaction }: PipelineWriteContext,
  into: string,
  source: Stream.Stream<Document, ReadError>
): Effect.fn.Return<void, ReadError> {
  const documents: Array<Document> = []
  const memory = makeMemory()
  yield* Stream.runForEach(source, (document) => {
    documents.push(withId(document))
    return fromProblem(catchRejection(() => memory.hold(memoryOf(document))), operation)
  })
  yield* rejectDuplicateKey(
    operation,
    transaction((operations) =>
      Effect.gen(function*() {
        yield* operations.deleteMany(into, {})
        const { failures: [first] } = yield* operations.insertMany(into, documents)
        if (first !== undefined) return yield* Effect.fail(first.error)
      })
    )
  )
})

const mergeOne = (
  context: PipelineWriteContext,
  merge: MergeStage,
  document: Document
): Effect.Effect<void, ReadError> =>
  Effect.flatMap(
    fromProblem(identityOf(merge, document), operation),
    (filter) => rejectDuplicateKey(operation, mergeWhere(context, merge, document, filter, true))
  )

/** The filter of the stored document that a `$merge` changes. */
const identityOf = ({ on }: MergeStage, document: Document): Result.Result<Document, Problem> => {
  const entries = on.map((path) => [path, valueAt(document, segmentsOf(path))] as const)
  const wrong = entries.find(([path, value]) => isArray(value) || ((value ?? null) === null && path !== "_id"))
  return wrong === undefined
    ? Result.succeed(Object.fromEntries(entries.map(([path, value]) => [path, { $eq: value }])))
    : Result.fail(queryProblem(`"${wrong[0]}" in the on of $merge is missing, null or an array`))
}

const mergeWhere = Effect.fnUntraced(function*(
  context: PipelineWriteContext,
  merge: MergeStage,
  document: Document,
  filter: Document,
  mayRetry: boolean
): Effect.fn.Return<void, StoreError> {
  const { operations } = context
  const { into, isMatchFailure, stages, variables, whenNotMatched } = merge
  const isNew = document["_id"] === undefined && Object.hasOwn(filter, "_id")
  const matched = isNew
    ? 0
    : stages === undefined
    ? yield* operations.count(into, filter)
    : (yield* operations.updateOne(into, filter, stages, {
      let: yield* fromProblem(valuesOf(variables, document), operation)
    })).matchedCount
  if (matched > 0) {
    return isMatchFailure ? yield* rejection(`$merge finds a document in "${into}" that is there already`) : undefined
  }
  if (whenNotMatched === "fail") return yield* rejection(`$merge finds no document in "${into}" to merge into`)
  if (whenNotMatched === "discard") return
  const inserted = operations.insertOne(into, withId(document))
  // Another write may have inserted the document meanwhile.
  yield* mayRetry
    ? Effect.catchTag(inserted, "DuplicateKey", () => mergeWhere(context, merge, document, filter, false))
    : inserted
})

const rejection = (detail: string) => Effect.fail(new QueryRejected({ operation, detail }))

/** The variables of a `$merge` for a document, as literal values. */
const valuesOf = (
  { bind, context: { variables = {} } }: MergeStage["variables"],
  document: Document
): Result.Result<Document, Problem> =>
  catchRejection(() => {
    beginEvaluation()
    bind(document)
    const values = Object.entries(variables).map(([name, { value }]) => [name, { $literal: value }] as const)
    return { ...Object.fromEntries(values), new: { $literal: document } }
  })
