/** Inserts several documents by MongoDB's driver, and reports the rejected ones. */
import type { Document, InsertManyResult } from "@appkernel/document-store/DocumentStore"
import type { ReadError } from "@appkernel/document-store/StoreError"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { type ClientSession, MongoBulkWriteError } from "mongodb"
import { classifyWriteError, defect } from "../driver/classifyError.ts"
import { contextOf, type MongoCall, remove, withSignal } from "../driver/driverCall.ts"
import { brokenRuleCode, brokenRules } from "../driver/validationErrors.ts"

/** Inserts documents; the rejected ones are part of the result. */
export const bulkInsert = (
  call: MongoCall,
  documents: ReadonlyArray<Document>,
  ordered: boolean,
  options: { readonly session?: ClientSession } = {}
): Effect.Effect<InsertManyResult, ReadError> =>
  remove(
    call,
    (collection, signal) =>
      collection.insertMany(documents, withSignal({ ...options, ordered }, signal)).then(
        ({ insertedCount }): BulkOutcome => ({ insertedCount, rejections: [] }),
        (cause: unknown) => rejectionsOf(cause)
      )
  ).pipe(Effect.flatMap(({ insertedCount, rejections }) =>
    Effect.map(
      Effect.forEach(rejections, ({ code, index, message }) => {
        const error = classifyWriteError(code, message, contextOf(call))
        if (error === undefined) return Effect.die(defect(new Error(`Write error ${code}`), contextOf(call)))
        return error._tag === "DuplicateKey" || error._tag === "QueryRejected"
          ? Effect.succeed({ index, error })
          : Effect.fail(error)
      }),
      (failures) => ({ insertedCount, failures })
    )
  ))

interface BulkOutcome {
  readonly insertedCount: number
  readonly rejections: ReadonlyArray<{ readonly index: number; readonly code: number; readonly message: string }>
}

const rejectionsOf = (cause: unknown): Promise<BulkOutcome> => {
  if (!(cause instanceof MongoBulkWriteError)) return Promise.reject(cause)
  const writeErrors = Arr.ensure(cause.writeErrors)
  // An unmet write concern affects the documents that were written, so it is a failure of the whole call.
  const unmet = cause.result.getWriteConcernError()
  if (writeErrors.length === 0 || unmet !== undefined) return Promise.reject(cause)
  return Promise.resolve({
    insertedCount: cause.insertedCount,
    rejections: writeErrors
      .map(({ code, err, errmsg, index }) => ({
        code,
        index,
        message: code === brokenRuleCode ? brokenRules(err.errInfo) : errmsg ?? ""
      }))
      .toSorted((a, b) => a.index - b.index)
  })
}
