import type { Catalog, Collection } from "../catalog/catalog.ts"
import type { ReadState } from "../operations/reads.ts"
import type { Versions } from "./snapshots.ts"

/**
 * Opens the state of the last commit. Indexes that were built since are not part of it; those that were dropped are not any
 * more, so that their reads fail.
 *
 * @internal
 */
export const openCommitted = ({ open }: Versions, catalog: Catalog) => (): ReadState => {
  const { committed } = catalog
  const { close, documents, entries } = open()
  return {
    store: { documents, entries },
    catalog: {
      get: (name) => {
        const collection = committed.get(name)
        return collection === undefined ? undefined : withoutDropped(collection, catalog.get(name))
      },
      endOfRecords: (collection) => catalog.endOfRecords(collection)
    },
    close
  }
}

// internal

const withoutDropped = (collection: Collection, current: Collection | undefined): Collection =>
  collection.indexes === current?.indexes ? collection : {
    ...collection,
    indexes: collection.indexes.filter(({ number }) => current?.indexes.some((index) => index.number === number))
  }
