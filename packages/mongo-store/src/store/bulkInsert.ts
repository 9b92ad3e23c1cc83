/** Inserts several documents by MongoDB's driver, and reports the rejected ones. */
import type { Document, InsertManyResult } from "@appkernel/document-store/DocumentStore"
import { QueryRejected, type ReadError } from "@appkernel/document-store/StoreError"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BSON, type ClientSession, MongoBulkWriteError } from "mongodb"
import { classify, classifyWriteError, defect } from "../driver/classifyError.ts"
import { contextOf, type MongoCall, remove, withSignal } from "../driver/driverCall.ts"
import { brokenRuleCode, brokenRules } from "../driver/validationErrors.ts"

/** Inserts documents; the rejected ones are part of the result. */
export const bulkInsert = (
  call: MongoCall,
  documents: ReadonlyArray<Document>,
  ordered: boolean,
  options: Options = {}
): Effect.Effect<InsertManyResult, ReadError> =>
  Effect.catchTag(insertAll(call, documents, ordered, options), "QueryRejected", (rejected) => {
    // The driver sends nothing if it refuses any of them.
    const refused = refusedOf(call, documents)
    const first = refused[0]
    if (first === undefined) return Effect.fail(rejected)
    const places = new Set(refused.map(({ index }) => index))
    const kept = documents.flatMap((document, index) =>
      (ordered ? index < first.index : !places.has(index)) ? [{ document, index }] : []
    )
    const written = kept.length === 0
      ? Effect.succeed({ insertedCount: 0, failures: [] })
      : insertAll(call, kept.map(({ document }) => document), ordered, options)
    return Effect.map(written, ({ failures, insertedCount }) => {
      const own = failures.map(({ error, index }) => ({ error, index: kept[index]?.index ?? index }))
      const all = ordered ? [...own, first].slice(0, 1) : [...own, ...refused].toSorted((a, b) => a.index - b.index)
      return { insertedCount, failures: all }
    })
  })

// internal

interface Options {
  readonly session?: ClientSession
}

// A document as the client writes it.
const asWritten = { ignoreUndefined: true }

// The driver's limit, too.
const maxSize = 16 * 1024 * 1024

/** The documents that the driver can't write as BSON, or that are too large. */
const refusedOf = (
  call: MongoCall,
  documents: ReadonlyArray<Document>
): ReadonlyArray<{ readonly index: number; readonly error: QueryRejected }> =>
  documents.flatMap((document, index) => {
    const error = Result.match(Result.try(() => BSON.serialize(document, asWritten).length), {
      onSuccess: (size) => size < maxSize ? undefined : tooLarge(call),
      onFailure: (cause) => classify(cause, contextOf(call))
    })
    return error?._tag === "QueryRejected" ? [{ index, error }] : []
  })

const tooLarge = ({ operation }: MongoCall): QueryRejected =>
  new QueryRejected({ operation, detail: `a document is larger than ${maxSize - 1} bytes` })

const insertAll = (
  call: MongoCall,
  documents: ReadonlyArray<Document>,
  ordered: boolean,
  options: Options
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
