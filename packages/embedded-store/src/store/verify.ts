/** Verifies a folder, without the help of LMDB. */
import type { DataDamaged, StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import * as path from "node:path"
import { collectionsIn } from "../catalog/catalog.ts"
import { logTableIn } from "../catalog/changeRecords.ts"
import type { Collection } from "../catalog/collection.ts"
import { damageOf } from "../catalog/damage.ts"
import { lockFolder } from "../storage/lmdb/folderLock.ts"
import { dataFile, problemOfData } from "../storage/lmdb/preflight.ts"
import { RecordCheck } from "../storage/lmdb/records.ts"

/**
 * The result of `EmbeddedStore.verify`. `problem` says why the folder can't be opened. The collections are then those that
 * were read before the problem.
 *
 * @category models
 * @since 0.1.0
 */
export interface Verification {
  readonly problem?: string
  readonly collections: ReadonlyArray<CollectionVerification>
  /** The log of changes; `undefined` if the folder has none. */
  readonly log?: LogVerification
}

/**
 * The result of `EmbeddedStore.verify` for the log of changes.
 *
 * @category models
 * @since 0.1.0
 */
export interface LogVerification {
  readonly changes: number
  /** The number of changes that do not match their checksums. Who reads the log can't pass them. */
  readonly damaged: number
}

/**
 * The result of `EmbeddedStore.verify` for a collection.
 *
 * @category models
 * @since 0.1.0
 */
export interface CollectionVerification {
  readonly name: string
  /** The number of documents, including damaged ones. */
  readonly documents: number
  /** The indexes, each with the number of its entries. */
  readonly indexes: ReadonlyArray<{ readonly name: string; readonly entries: number }>
  /** The number of documents and entries without a checksum, which an older version wrote. */
  readonly unchecked: number
  /** The documents and entries that do not match their checksums. */
  readonly damaged: ReadonlyArray<DataDamaged>
  /** The number of documents that no identifier leads to, and of identifiers that lead to no document. */
  readonly missing: number
}

/** Verifies a folder that nobody has open meanwhile. */
export const verify = (folder: string): Effect.Effect<Verification, StoreUnavailable> =>
  Effect.scoped(Effect.gen(function*() {
    const location = path.resolve(folder)
    yield* lockFolder(location)
    return yield* verifyUnused(location)
  }))

/** Verifies a folder that no other process uses. @internal */
export const verifyUnused = (folder: string): Effect.Effect<Verification> =>
  Effect.gen(function*() {
    const check = new RecordCheck()
    const problem = yield* problemOfData(path.join(folder, dataFile), check, Infinity)
    const collections = collectionsIn(check.catalog)
    const sorted = collections.map((collection) => verificationOf(collection, check))
    const table = logTableIn(check.catalog)
    const records = table === undefined ? undefined : check.contentOf("documents", table)
    return {
      ...problem === undefined ? {} : { problem },
      collections: sorted,
      ...records === undefined ? {} : { log: { changes: records.values, damaged: records.damaged.length } }
    }
  })

/** Whether the verification found no problem. @internal */
export const isSound = ({ collections, log, problem }: Verification): boolean =>
  problem === undefined && (log?.damaged ?? 0) === 0 &&
  collections.every(({ damaged, missing }) => damaged.length === 0 && missing === 0)

// internal

const verificationOf = (collection: Collection, check: RecordCheck): CollectionVerification => {
  const { identifiers, name, number } = collection
  const indexes = [identifiers, ...collection.indexes]
  const documents = check.contentOf("documents", number)
  const entries = indexes.map((index) => check.contentOf("entries", index.number))
  return {
    name,
    documents: documents.values,
    indexes: indexes.map(({ description }, i) => ({ name: description.name, entries: entries[i]!.values })),
    unchecked: [documents, ...entries].reduce((sum, { unchecked }) => sum + unchecked, 0),
    damaged: [documents, ...entries].flatMap(({ damaged }) =>
      damaged.map((damage) => damageOf(damage, [collection], check.recordOf))
    ),
    missing: Math.abs(documents.values - entries[0]!.values)
  }
}
