/**
 * Insertions into the embedded store. Each document is inserted atomically; `insertMany` uses several jobs and is not
 * atomic as a whole. It is uninterruptible, so that the result tells which documents were inserted.
 */
import type { Document, DocumentStore, InsertManyResult } from "@appkernel/document-store/DocumentStore"
import { beginStep, isStepDone } from "@appkernel/document-store/internal"
import type { DuplicateKey, ReadError } from "@appkernel/document-store/StoreError"
import { fromProblem, memoryOf, normalise, type Problem, queryProblem, toError } from "@appkernel/mql/internal"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Catalog } from "../catalog/catalog.ts"
import { checkedName } from "../catalog/collectionName.ts"
import type { KeyValue } from "../storage/orderedStore.ts"
import { type DocumentWriter, prepare, type Prepared } from "./documentWriter.ts"
import { maxPerJob, runJob, writeFailureOf, yieldIf } from "./writeJob.ts"

export type EmbeddedInserts = Pick<DocumentStore["Service"], "insertOne" | "insertMany">

export const makeEmbeddedInserts = (store: KeyValue, catalog: Catalog, writer: DocumentWriter): EmbeddedInserts => {
  const context: InsertContext = { store, catalog, writer }
  return {
    insertOne: (name, document) => insertOne(context, name, document),
    insertMany: (name, documents, options) => insertMany(context, name, documents, options?.ordered ?? true)
  }
}

// internal

interface InsertContext {
  readonly store: KeyValue
  readonly catalog: Catalog
  readonly writer: DocumentWriter
}

const insertOne = (
  { catalog, store, writer }: InsertContext,
  name: string,
  document: Document
): ReturnType<EmbeddedInserts["insertOne"]> =>
  Effect.suspend(() => {
    const prepared = Result.andThen(checkedName(name), () => prepareNew(store, document))
    return Result.isFailure(prepared)
      ? Effect.fail(toError(prepared.failure, "insertOne"))
      : runJob(store, "insertOne", () => writer.insert(catalog.ensure(name), prepared.success))
  })

const insertMany = (
  context: InsertContext,
  name: string,
  documents: ReadonlyArray<Document>,
  isOrdered: boolean
): Effect.Effect<InsertManyResult, ReadError> =>
  Effect.andThen(fromProblem(checkedName(name), "insertMany"), () => {
    const failures: Array<InsertManyResult["failures"][number]> = []
    let insertedCount = 0
    const go = (from: number, waiting: Chunk): Effect.Effect<InsertManyResult, ReadError> => {
      if (from >= documents.length || (isOrdered && failures.length > 0)) {
        return Effect.succeed({ insertedCount, failures })
      }
      const chunk = waiting.length > 0 ? waiting : prepareChunk(context.store, documents, from)
      return insertChunk(context, name, chunk, from, isOrdered).pipe(
        Effect.tap((outcome) =>
          Effect.map(Effect.forEach(outcome.failures, rejection), (rejections) => {
            insertedCount += outcome.insertedCount
            failures.push(...rejections)
          })
        ),
        Effect.flatMap(({ attempted }) =>
          yieldIf(from + attempted < documents.length, () => go(from + attempted, chunk.slice(attempted)))
        )
      )
    }
    return Effect.uninterruptible(go(0, []))
  })

const prepareNew = (store: KeyValue, document: Document): Result.Result<Prepared, Problem> => {
  const normalised = normalise(document)
  return Result.isFailure(normalised)
    ? Result.fail(queryProblem(normalised.failure))
    : prepare(store, normalised.success)
}

/** Prepares documents from an index on, as many as the step allows. */
const prepareChunk = (store: KeyValue, documents: ReadonlyArray<Document>, from: number): Chunk => {
  beginStep()
  const chunk: Array<Chunk[number]> = []
  for (let at = from; at < documents.length && chunk.length < maxPerJob && !isStepDone(); at++) {
    const document = documents[at]!
    const prepared = prepareNew(store, document)
    chunk.push(prepared)
    // Counts the size as work. Encoding to bytes has counted it already.
    if (Result.isSuccess(prepared) && !(prepared.success.encoded instanceof Uint8Array)) memoryOf(document)
  }
  return chunk
}

/** Inserts as many documents of a chunk as the step allows, in one job. */
const insertChunk = (
  { catalog, store, writer }: InsertContext,
  name: string,
  chunk: Chunk,
  from: number,
  isOrdered: boolean
) =>
  store.write("insertMany", () => {
    beginStep()
    catalog.ensure(name)
    let attempted = 0
    let insertedCount = 0
    const failures: Array<Rejection> = []
    for (const [i, prepared] of chunk.entries()) {
      if (isStepDone()) break
      attempted += 1
      const inserted = Result.flatMap(
        prepared,
        // Each insertion looks the collection up, since the one before may have changed the traits of an index.
        (ready): Result.Result<void, DuplicateKey | Problem> => writer.insert(catalog.ensure(name), ready)
      )
      if (Result.isSuccess(inserted)) insertedCount += 1
      else {
        failures.push({ index: from + i, failure: inserted.failure })
        if (isOrdered) break
      }
    }
    return { attempted, insertedCount, failures }
  })

// Consecutive documents, each prepared or rejected.
type Chunk = ReadonlyArray<Result.Result<Prepared, Problem>>

interface Rejection {
  readonly index: number
  readonly failure: DuplicateKey | Problem
}

const rejection = ({ failure, index }: Rejection): Effect.Effect<InsertManyResult["failures"][number], ReadError> => {
  const error = writeFailureOf(failure, "insertMany")
  return error._tag === "DuplicateKey" || error._tag === "QueryRejected"
    ? Effect.succeed({ index, error })
    : Effect.fail(error)
}
