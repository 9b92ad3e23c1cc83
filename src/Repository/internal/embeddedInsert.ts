/**
 * Insertions into the embedded store.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Document, DocumentStore, InsertManyResult } from "../DocumentStore.ts"
import type { DuplicateKey, ReadError } from "../RepositoryError.ts"
import { normalise } from "./bsonValue.ts"
import type { Catalog } from "./catalog.ts"
import { type DocumentWriter, prepare, type Prepared } from "./documentWriter.ts"
import { failureOf, inTurn, maxPerJob, runJob } from "./embeddedJob.ts"
import type { KeyValue } from "./keyValue.ts"
import { type Problem, rejected, toError } from "./problem.ts"

/** @internal */
export type Inserting = Pick<DocumentStore["Service"], "insertOne" | "insertMany">

/** @internal */
export const makeInserting = (store: KeyValue, catalog: Catalog, writer: DocumentWriter): Inserting => {
  const prepareNew = (document: Document): Result.Result<Prepared, Problem> => {
    const normalised = normalise(document)
    return Result.isFailure(normalised)
      ? Result.fail(rejected(normalised.failure))
      : prepare(store, normalised.success)
  }

  const insertOne: Inserting["insertOne"] = (name, document) =>
    Effect.suspend(() => {
      const prepared = prepareNew(document)
      return Result.isFailure(prepared)
        ? Effect.fail(toError(prepared.failure, "insertOne"))
        : runJob(store, "insertOne", () => writer.insert(catalog.ensure(name), prepared.success))
    })

  const insertChunk = (
    name: string,
    chunk: ReadonlyArray<ReturnType<typeof prepareNew>>,
    from: number,
    isOrdered: boolean
  ) =>
    store.write("insertMany", () => {
      catalog.ensure(name)
      let insertedCount = 0
      const failures: Array<Refusal> = []
      for (const [i, prepared] of chunk.entries()) {
        const inserted = Result.flatMap(
          prepared,
          // Asked for again, since a document may be the first with an array, say.
          (ready): Result.Result<void, DuplicateKey | Problem> => writer.insert(catalog.ensure(name), ready)
        )
        if (Result.isSuccess(inserted)) insertedCount += 1
        else {
          failures.push({ index: from + i, failure: inserted.failure })
          if (isOrdered) break
        }
      }
      return { insertedCount, failures }
    })

  const insertMany: Inserting["insertMany"] = (name, documents, options) =>
    Effect.suspend(() => {
      const isOrdered = options?.ordered ?? true
      const prepared = documents.map(prepareNew)
      const go = (from: number, before: InsertManyResult): Effect.Effect<InsertManyResult, ReadError> =>
        from >= documents.length || (isOrdered && before.failures.length > 0)
          ? Effect.succeed(before)
          : insertChunk(name, prepared.slice(from, from + maxPerJob), from, isOrdered).pipe(
            Effect.flatMap((outcome) =>
              Effect.map(Effect.forEach(outcome.failures, refusal), (failures) => ({
                insertedCount: before.insertedCount + outcome.insertedCount,
                failures: [...before.failures, ...failures]
              }))
            ),
            Effect.flatMap((result) => inTurn(from + maxPerJob < documents.length, () => go(from + maxPerJob, result)))
          )
      return Effect.uninterruptible(go(0, { insertedCount: 0, failures: [] }))
    })

  return { insertOne, insertMany }
}

// internal

interface Refusal {
  readonly index: number
  readonly failure: DuplicateKey | Problem
}

const refusal = ({ failure, index }: Refusal): Effect.Effect<InsertManyResult["failures"][number], ReadError> => {
  const error = failureOf(failure, "insertMany")
  return error._tag === "DuplicateKey" || error._tag === "QueryRejected"
    ? Effect.succeed({ index, error })
    : Effect.fail(error)
}
