/**
 * Writes single documents together with their entries in all indexes: inside a job, all checks before the first write.
 */
import * as Result from "effect/Result"
import type { Document } from "../DocumentStore.ts"
import { DuplicateKey } from "../RepositoryError.ts"
import { isArray } from "./bsonValue.ts"
import type { Catalog, Collection, Index, KeyTraits } from "./catalog.ts"
import { type Entries, entriesOf } from "./indexEntries.ts"
import type { Encoded, KeyValue } from "./keyValue.ts"
import { documentKey } from "./orderedKey.ts"
import { type Problem, rejected } from "./problem.ts"

/**
 * A document that is ready to be written.
 *
 * @internal
 */
export interface Prepared {
  readonly document: Document
  readonly encoded: Encoded
  readonly key: string
  readonly traits: KeyTraits
}

/**
 * Does what can be done before it is the document's turn.
 *
 * @internal
 */
export const prepare = (store: KeyValue, document: Document): Result.Result<Prepared, Problem> => {
  const id = document["_id"]
  if (id === undefined) return Result.fail(rejected("the document has no _id"))
  if (isArray(id) || id instanceof RegExp) {
    return Result.fail(rejected("_id can be neither an array nor a regular expression"))
  }
  const traits = { multikey: false, inexact: false }
  const key = documentKey(id, traits)
  // It comes first, wherever it was.
  const ordered = firstKeyOf(document) === "_id" ? document : Object.freeze({ _id: id, ...document })
  const encoded = store.encode(ordered)
  return Result.isFailure(encoded)
    ? Result.fail(rejected(encoded.failure))
    : Result.succeed({ document: ordered, encoded: encoded.success, key, traits })
}

const firstKeyOf = (document: Document): string | undefined => {
  for (const key in document) return key
  return undefined
}

interface IndexChange {
  readonly index: Index
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly entries: Entries
}

/** @internal */
export class DocumentWriter {
  readonly #store: KeyValue
  readonly #catalog: Catalog

  constructor(store: KeyValue, catalog: Catalog) {
    this.#store = store
    this.#catalog = catalog
  }

  insert(collection: Collection, prepared: Prepared): Result.Result<void, DuplicateKey | Problem> {
    const documents = this.#store.documents(collection.number)
    if (documents.has(prepared.key)) {
      return Result.fail(new DuplicateKey({ collection: collection.name, index: "_id_", fields: ["_id"] }))
    }
    const changes = this.#changes(collection, prepared, undefined)
    if (Result.isFailure(changes)) return Result.fail(changes.failure)
    documents.put(prepared.key, prepared.encoded)
    this.#apply(collection, prepared, changes.success, 1)
    return Result.void
  }

  replace(
    collection: Collection,
    prepared: Prepared,
    previous: Document
  ): Result.Result<void, DuplicateKey | Problem> {
    return Result.map(this.#changes(collection, prepared, previous), (changes) => {
      this.#store.documents(collection.number).put(prepared.key, prepared.encoded)
      this.#apply(collection, prepared, changes, 0)
    })
  }

  remove(collection: Collection, key: string, document: Document): void {
    this.#store.documents(collection.number).remove(key)
    for (const index of collection.indexes) {
      const entries = this.#store.entries(index.number)
      for (const entry of entriesBefore(index, document, key)) {
        // In a unique index that is still being made, it may be another document's.
        if (entries.get(entry) === key) entries.remove(entry)
      }
    }
    this.#catalog.touch(collection, -1)
  }

  /** Puts a document that is there already into an index that is being made. */
  index(
    collection: Collection,
    index: Index,
    key: string,
    document: Document
  ): Result.Result<void, DuplicateKey | Problem> {
    return Result.map(this.#change(collection, index, key, document, undefined), (change) => {
      this.#applyTo(key, change)
      if (worsen(index.traits, change.entries)) this.#catalog.save(collection)
    })
  }

  #changes(
    collection: Collection,
    { document, key }: Prepared,
    previous: Document | undefined
  ): Result.Result<ReadonlyArray<IndexChange>, DuplicateKey | Problem> {
    if (collection.indexes.length === 0) return unchanged
    return Result.all(collection.indexes.map((index) => this.#change(collection, index, key, document, previous)))
  }

  #change(
    collection: Collection,
    index: Index,
    key: string,
    document: Document,
    previous: Document | undefined
  ): Result.Result<IndexChange, DuplicateKey | Problem> {
    return Result.flatMap(Result.mapError(entriesOf(index, document, key), rejected), (entries) => {
      const before = previous === undefined ? new Set<string>() : entriesBefore(index, previous, key)
      const added = Array.from(entries.keys).filter((entry) => !before.has(entry))
      const removed = Array.from(before).filter((entry) => !entries.keys.has(entry))
      if (index.description.unique === true) {
        const table = this.#store.entries(index.number)
        const isTaken = added.some((entry) => {
          const holder = table.get(entry)
          return holder !== undefined && holder !== key
        })
        if (isTaken) {
          return Result.fail(
            new DuplicateKey({ collection: collection.name, index: index.description.name, fields: index.paths })
          )
        }
      }
      return Result.succeed({ index, added, removed, entries })
    })
  }

  #apply(
    collection: Collection,
    { key, traits }: Prepared,
    changes: ReadonlyArray<IndexChange>,
    more: number
  ): void {
    let isWorse = worsen(collection.traits, traits)
    for (const change of changes) {
      this.#applyTo(key, change)
      isWorse = worsen(change.index.traits, change.entries) || isWorse
    }
    if (isWorse) this.#catalog.save(collection)
    this.#catalog.touch(collection, more)
  }

  #applyTo(key: string, { added, index, removed }: IndexChange): void {
    const entries = this.#store.entries(index.number)
    for (const entry of removed) entries.remove(entry)
    for (const entry of added) entries.put(entry, key)
  }
}

const unchanged = Result.succeed<ReadonlyArray<IndexChange>>([])

// A document that is stored has entries in all indexes, or it would not be.
const entriesBefore = (index: Index, document: Document, key: string): ReadonlySet<string> =>
  Result.match(entriesOf(index, document, key), { onSuccess: ({ keys }) => keys, onFailure: () => new Set<string>() })

const worsen = (traits: KeyTraits, { inexact, multikey }: Omit<Entries, "keys">): boolean => {
  const isWorse = (multikey && !traits.multikey) || (inexact && !traits.inexact)
  traits.multikey ||= multikey
  traits.inexact ||= inexact
  return isWorse
}
