/** The log of changes of a folder that another process may have open. */
import type { ChangeLog, Document } from "@appkernel/document-store/DocumentStore"
import type { ReadError, StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as path from "node:path"
import { collectionsIn } from "../catalog/catalog.ts"
import { ChangeRecords } from "../catalog/changeRecords.ts"
import { damageOf } from "../catalog/damage.ts"
import { logReads } from "../operations/changeLog.ts"
import { openReader } from "../storage/lmdb/reader.ts"
import { everything } from "../storage/orderedStore.ts"

export interface OtherLog extends Pick<ChangeLog, "end" | "read"> {
  /** The names of the folder's collections. */
  readonly collections: Effect.Effect<ReadonlyArray<string>, ReadError>
  /** All documents of a collection. */
  readonly documents: (collection: string) => Effect.Effect<ReadonlyArray<Document>, ReadError>
}

export const openOtherLog = Effect.fnUntraced(function*(
  folder: string
): Effect.fn.Return<OtherLog, StoreUnavailable, Scope.Scope> {
  const reader = yield* openReader(path.resolve(folder), (damage) => damageOf(damage, [], () => undefined))
  // The process that has the folder open may have changed what is recorded, and may be another one than before.
  const now = Effect.map(
    Effect.andThen(
      reader.renew,
      Effect.suspend(() =>
        Effect.fromResult(reader.read("changes", () => {
          const stored = new Map<string, Document>()
          reader.catalog.scan(everything, (key, document) => stored.set(key, document).size > 0)
          const collections = new Map(collectionsIn(stored).map((collection) => [collection.name, collection]))
          return { store: reader, catalog: collections, recorder: new ChangeRecords(reader) }
        }))
      )
    ),
    (tables) => ({ ...logReads(tables), catalog: tables.catalog, collections: [...tables.catalog.keys()].toSorted() })
  )
  const documentsOf = (number: number) => {
    const found: Array<Document> = []
    return Effect.fromResult(reader.read("documents", () => {
      reader.documents(number).scan(everything, (_, document) => found.push(document) > 0)
      return found
    }))
  }
  return {
    end: Effect.flatMap(now, ({ end }) => end),
    read: (collections, options) => Effect.flatMap(now, ({ read }) => read(collections, options)),
    collections: Effect.map(now, ({ collections }) => collections),
    documents: (name) =>
      Effect.flatMap(now, ({ catalog }) => {
        const collection = catalog.get(name)
        return collection === undefined ? Effect.succeed([]) : documentsOf(collection.number)
      })
  }
})
