/** The store of a connected client. This module loads MongoDB's driver. */
import {
  type Document,
  DocumentStore,
  type IndexDescription,
  type ValidatorOptions
} from "@appkernel/document-store/DocumentStore"
import { makeSync, makeTransactional, missingIndexesOf } from "@appkernel/document-store/shared"
import type { ReadError, StoreError, StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { connect, type Timeouts } from "../driver/connection.ts"
import type { MongoAddress } from "../driver/connectionString.ts"
import * as mongo from "../driver/driverCall.ts"
import { makeOplog } from "./changeLog.ts"
import { dropIndex, listCollections, listIndexes as installedIndexes, setValidator } from "./collectionAdmin.ts"
import { fromDriverIndex, toDriverIndex } from "./indexCodec.ts"
import { makeMongoOperations } from "./operations.ts"
import { withReceipts } from "./receipts.ts"
import { mongoTransactions } from "./transaction.ts"

/** A store with its connection. */
export interface Connected {
  readonly store: DocumentStore["Service"]
  readonly session: mongo.MongoSession
}

/** Connects a client, which is closed with the scope, and makes the store of its database. */
export const openMongo = (
  address: MongoAddress,
  database: string,
  timeouts: Timeouts
): Effect.Effect<Connected, StoreUnavailable, Scope.Scope> =>
  Effect.flatMap(
    connect(address, database, timeouts),
    (session) =>
      Effect.map(makeStore(session, `MongoDB at ${address.hosts}/${database}`), (store) => ({ session, store }))
  )

const makeStore = Effect.fnUntraced(function*(
  session: mongo.MongoSession,
  description: string
): Effect.fn.Return<DocumentStore["Service"], never, Scope.Scope> {
  const call = (operation: string, collection: string): mongo.MongoCall => ({ session, operation, collection })

  const listIndexes = (collection: string): Effect.Effect<ReadonlyArray<IndexDescription>, ReadError> =>
    Effect.map(
      installedIndexes(call("listIndexes", collection)),
      (infos) => infos.filter((info) => info.name !== "_id_").map((info) => fromDriverIndex(info))
    )

  const missingIndexes = Effect.fnUntraced(
    function*(collection: string, indexes: ReadonlyArray<IndexDescription>) {
      const installed = yield* listIndexes(collection)
      return yield* Effect.fromResult(missingIndexesOf("createIndexes", collection, indexes, installed))
    }
  )

  const createIndexes = Effect.fnUntraced(function*(
    collection: string,
    indexes: ReadonlyArray<IndexDescription>
  ): Effect.fn.Return<void, StoreError> {
    if (indexes.length === 0) return
    const missing = yield* missingIndexes(collection, indexes)
    if (missing.length === 0) return
    // Interruptible and without a deadline: a build may take hours, and a repeated request is harmless.
    yield* mongo.runCall(
      call("createIndexes", collection),
      (_) => _.createIndexes(missing.map(toDriverIndex)),
      Infinity
    ).pipe(
      // Another client may have installed a different definition since. The second check reports both definitions.
      Effect.catchTag(
        "QueryRejected",
        (rejected) => Effect.andThen(missingIndexes(collection, indexes), Effect.fail(rejected))
      )
    )
  })

  const operationsOf = (session: mongo.MongoSession) => makeMongoOperations(session, listIndexes)
  const { operations, outside, transaction } = makeTransactional(
    withReceipts(session, operationsOf),
    mongoTransactions(session, operationsOf)
  )

  return DocumentStore.of({
    description,
    isolation: "snapshot",
    ...operations,
    transaction,
    changes: yield* makeOplog(session),
    listCollections: listCollections(call("listCollections", "$cmd.listCollections")),
    ...outside({
      createIndexes,
      ...makeSync({
        list: listIndexes,
        create: (collection, index) => createIndexes(collection, [index]),
        drop: (collection, name) => dropIndex(call("dropIndexes", collection), name)
      }),
      setValidator: (
        collection: string,
        jsonSchema: Document | undefined,
        options?: ValidatorOptions
      ) => setValidator(call("setValidator", collection), jsonSchema, options?.action ?? "error"),
      listIndexes
    })
  })
})
