/** Assembles catalog, operations, transactions and the change log over any ordered tables into a `DocumentStore`. */
import { DocumentStore } from "@appkernel/document-store/DocumentStore"
import { makeTransactional } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Catalog } from "../catalog/catalog.ts"
import { ChangeRecorder } from "../catalog/changeRecorder.ts"
import type { Collection } from "../catalog/collection.ts"
import { makeChangeLog, withWriters } from "../operations/changeLog.ts"
import { DocumentWriter } from "../operations/documentWriter.ts"
import { makeIndexing } from "../operations/indexBuild.ts"
import { makeWritingAggregate } from "../operations/pipelineWrites.ts"
import { makeEmbeddedReads, type ReadState } from "../operations/reads.ts"
import { makeExpiry } from "../operations/ttl.ts"
import { makeValidators } from "../operations/validators.ts"
import { makeEmbeddedWrites } from "../operations/writes.ts"
import type { SteppedKeyValue, StoreFailure } from "../storage/orderedStore.ts"
import { makeGate, makeTransactionPolicy } from "../transaction/optimisticTransaction.ts"
import { makeVersions, type Versions } from "../transaction/snapshots.ts"

/** Makes the embedded store from ordered tables. */
export const fromKeyValue = (
  store: SteppedKeyValue,
  location: string
): Effect.Effect<DocumentStore["Service"], StoreFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const recorder = new ChangeRecorder(store)
    const opened = makeVersions(store)
    const versions = { ...opened, store: withWriters(opened.store, recorder) }
    const gate = makeGate(versions.store)
    const { store: gated } = gate
    const catalog = new Catalog(gated, { recorder })
    const log = Effect.runForkWith(yield* Effect.context<never>())
    const warn = (text: string): void => void log(Effect.logWarning(text))
    const writer = new DocumentWriter(gated, catalog, warn)
    const indexing = yield* makeIndexing(gated, catalog, writer, yield* makeExpiry(gated, catalog, writer))
    const direct = {
      ...makeEmbeddedReads(gated, catalog, openCommitted(versions, catalog)),
      ...makeEmbeddedWrites(gated, catalog, writer)
    }
    const aggregate = makeWritingAggregate({
      catalog,
      operations: direct,
      transaction: (use) => Effect.suspend(() => transaction(use(operations)))
    })
    const { operations, outside, transaction } = makeTransactional(
      { ...direct, aggregate },
      makeTransactionPolicy(versions, gate, catalog, writer)
    )
    return DocumentStore.of({
      description: `the embedded store in ${location}`,
      isolation: "serializable",
      ...operations,
      findById: Object.assign(operations.findById, { atOnce: direct.findById.atOnce }),
      find: Object.assign(operations.find, { atOnce: direct.find.atOnce }),
      findAndCount: Object.assign(operations.findAndCount, { atOnce: direct.findAndCount.atOnce }),
      transaction,
      changes: yield* makeChangeLog(gated, catalog, recorder),
      listCollections: Effect.sync(() =>
        Array.from(catalog.committed.values(), ({ name, validator }) => ({
          name,
          ...validator === undefined ? {} : { jsonSchema: validator.jsonSchema, action: validator.action }
        })).toSorted((a, b) => a.name < b.name ? -1 : 1)
      ),
      ...outside({ ...indexing, ...makeValidators(gated, catalog) })
    })
  })

/**
 * Opens the state of the last commit. It has no index that was built later. Reads by an index that was dropped later fail.
 */
const openCommitted = ({ open }: Versions, catalog: Catalog) => (): ReadState => {
  const { committed } = catalog
  const { close, documents, entries, isExpired } = open()
  return {
    store: { documents, entries },
    catalog: {
      get: (name) => {
        const collection = committed.get(name)
        return collection === undefined ? undefined : withoutDropped(collection, catalog.get(name))
      },
      endOfRecords: (collection) => catalog.endOfRecords(collection)
    },
    isExpired,
    close
  }
}

const withoutDropped = (collection: Collection, current: Collection | undefined): Collection =>
  collection.indexes === current?.indexes ? collection : {
    ...collection,
    indexes: collection.indexes.filter(({ number }) => current?.indexes.some((index) => index.number === number))
  }
