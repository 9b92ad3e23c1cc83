/** The catalog of the embedded store: its collections and indexes, in the committed and in the pending state. */
import type { Collation, Document, IndexDescription } from "@appkernel/document-store/DocumentStore"
import { getOrMake } from "@appkernel/document-store/internal"
import { normalised } from "@appkernel/document-store/shared"
import { collationVersion, encodeComponent, isArray, isDocument } from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import { type Encoded, everything, type KeyValue } from "../storage/orderedStore.ts"
import type { ChangeRecorder, Recording } from "./changeRecorder.ts"
import { type Collection, type Index, type KeyTraits, makeCollection, makeIndex } from "./collection.ts"
import { damageIn } from "./damage.ts"
import { Counter, type Counting } from "./documentCounter.ts"
import { type RecordIds, recordIdsOf } from "./recordIds.ts"
import { parseValidator, type Validator } from "./validator.ts"

const collectionPrefix = "collection:"

const keyOf = (name: string): string => collectionPrefix + encodeComponent(name, { inexact: false })

const countersKey = "counters"

const toDocument = ({ identifiers, indexes, name, number, recording, validator }: Collection): Document => ({
  name,
  number,
  ...identifiers.traits,
  indexes: indexes.map(({ description, isReady, number, traits }) => ({
    number,
    name: description.name,
    // An array keeps the order of the fields; some readers of BSON don't keep that of an object.
    key: Object.entries(description.key),
    unique: description.unique === true,
    sparse: description.sparse === true,
    ...description.expireAfterSeconds === undefined ? {} : { expireAfterSeconds: description.expireAfterSeconds },
    ...description.partialFilterExpression === undefined ? {} : { part: description.partialFilterExpression },
    ...description.weights === undefined ? {} : { weights: Object.entries(description.weights) },
    ...description.defaultLanguage === undefined ? {} : { defaultLanguage: description.defaultLanguage },
    ...description.collation === undefined ? {} : { collation: description.collation, collationVersion },
    isReady,
    ...traits
  })),
  ...validator === undefined ? {} : { validator: { jsonSchema: validator.jsonSchema, action: validator.action } },
  ...recording === undefined ? {} : { recording }
})

const traitsOf = (document: Document): KeyTraits => ({
  multikey: document["multikey"] === true,
  inexact: document["inexact"] === true,
  wrapped: document["wrapped"] === true
})

const fromDocument = (document: Document): Collection => ({
  ...makeCollection(String(document["name"]), Number(document["number"]), traitsOf(document)),
  indexes: listAt(document, "indexes").filter(isDocument).map((index) => {
    const isOutdated = index["collation"] !== undefined && index["collationVersion"] !== collationVersion
    return {
      ...makeIndex(Number(index["number"]), descriptionOf(index)),
      traits: traitsOf(index),
      isReady: index["isReady"] === true && !isOutdated,
      isOutdated
    }
  }),
  validator: validatorOf(document["validator"]),
  recording: recordingOf(document["recording"])
})

const recordingOf = (stored: unknown): Recording | undefined => {
  if (!isDocument(stored)) return undefined
  const { keep, maxSize, since } = stored
  return { keep: Number(keep), maxSize: Number(maxSize), since: Number(since) }
}

/** The collections of a stored catalog, by its keys. */
export const collectionsIn = (catalog: ReadonlyMap<string, Document>): ReadonlyArray<Collection> =>
  Array.from(catalog).filter(([key]) => key.startsWith(collectionPrefix)).map(([, stored]) => fromDocument(stored))

const validatorOf = (stored: unknown): Validator | undefined => {
  const { action, jsonSchema } = isDocument(stored) ? { ...stored } : {}
  if (!isDocument(jsonSchema)) return undefined
  // The schema is valid: it was parsed when it was installed.
  return Result.getOrThrowWith(
    parseValidator(jsonSchema, { action: action === "warn" ? action : "error" }),
    ({ text }) => new Error(text)
  )
}

const descriptionOf = (index: Document): IndexDescription => {
  const { collation, defaultLanguage, expireAfterSeconds, part, weights } = index
  return normalised({
    name: String(index["name"]),
    key: Object.fromEntries(
      pairsOf(index, "key").map(([path, direction]) => [
        path,
        direction === -1 || direction === 1 ? direction : String(direction)
      ])
    ),
    unique: index["unique"] === true,
    sparse: index["sparse"] === true,
    expireAfterSeconds: expireAfterSeconds === undefined ? undefined : Number(expireAfterSeconds),
    partialFilterExpression: isDocument(part) ? part : undefined,
    weights: weights === undefined
      ? undefined
      : Object.fromEntries(pairsOf(index, "weights").map(([path, weight]) => [path, Number(weight)])),
    defaultLanguage: typeof defaultLanguage === "string" ? defaultLanguage : undefined,
    // A stored collation is the one of a description.
    collation: collation as Collation | undefined
  })
}

const listAt = (document: Document, key: string): ReadonlyArray<unknown> => {
  const list = document[key]
  return isArray(list) ? list : []
}

const numberOf = ({ number }: Index): number => number

const pairsOf = (document: Document, key: string): ReadonlyArray<[string, unknown]> =>
  listAt(document, key).filter(isArray).map(([path, value]) => [String(path), value])

/** The part of a catalog that reads use. */
export type ReadCatalog = Pick<Catalog, "get" | "endOfRecords">

/** The collections as committed, which reads use, and as pending jobs, which may be aborted, leave them. */
export class Catalog {
  #committed: ReadonlyMap<string, Collection>
  #pending: ReadonlyMap<string, Collection>
  readonly #activities = new Map<number, Activity>()
  readonly #touched: Array<Activity> = []
  readonly #store: KeyValue
  readonly #recordIds: RecordIds
  /** Records changes; `undefined` in a transaction, whose commit records them. */
  readonly #recorder: ChangeRecorder | undefined

  constructor(store: KeyValue, { recordIds, recorder }: Tools = {}) {
    this.#store = store
    this.#recorder = recorder
    this.#committed = this.#load()
    this.#pending = this.#committed
    this.#recordIds = recordIds ?? recordIdsOf(store, this.#committed.values())
    store.listen({
      describe: (damage) => damageIn(store, damage, [...this.#pending.values(), ...this.#committed.values()]),
      committed: () => {
        this.#committed = this.#pending
        for (const activity of this.#touched) {
          activity.committed = activity.pending
          for (const counter of activity.counters.values()) counter.committed()
        }
        this.#touched.length = 0
        recorder?.committed()
      },
      aborted: () => {
        this.#pending = this.#load()
        this.#committed = this.#pending
        this.#touched.length = 0
        recorder?.aborted()
        // Counts as a write, so that an earlier search does not conclude that nothing was written.
        for (const activity of this.#activities.values()) {
          activity.committed = activity.pending += 1
          for (const counter of activity.counters.values()) counter.aborted()
        }
      }
    })
  }

  #load(): ReadonlyMap<string, Collection> {
    const stored = new Map<string, Document>()
    this.#store.catalog.scan({ ...everything, start: collectionPrefix }, (key, document) => {
      stored.set(key, document)
      return key.startsWith(collectionPrefix)
    })
    return new Map(collectionsIn(stored).map((collection) => [collection.name, collection]))
  }

  /** For reads: the committed collection. */
  get(name: string): Collection | undefined {
    return this.#committed.get(name)
  }

  /** The committed collections by name. */
  get committed(): ReadonlyMap<string, Collection> {
    return this.#committed
  }

  /** Adds an existing collection. */
  protected adopt(collection: Collection): void {
    this.#committed = this.#pending = new Map(this.#pending).set(collection.name, collection)
  }

  /** For jobs. */
  pending(name: string): Collection | undefined {
    return this.#pending.get(name)
  }

  /** For jobs. */
  save(collection: Collection): Collection {
    this.#store.catalog.put(keyOf(collection.name), toDocument(collection), undefined)
    this.#pending = new Map(this.#pending).set(collection.name, collection)
    return collection
  }

  /** For jobs: the collection, which is created if needed. */
  ensure(name: string): Collection {
    return this.#pending.get(name) ?? this.save(makeCollection(name, this.nextNumber()))
  }

  /** For jobs: the next record id, greater than all others; never used before since the store was opened. */
  nextRecordId({ number }: Collection): string {
    return this.#recordIds.next(number)
  }

  /** The exclusive end of the record ids so far. */
  endOfRecords({ number }: Collection): string {
    return this.#recordIds.end(number)
  }

  get droppedIndexNumbers(): ReadonlyArray<number> {
    const used = new Set(
      Array.from(this.#committed.values()).flatMap(({ identifiers, indexes }) =>
        [identifiers, ...indexes].map(numberOf)
      )
    )
    return Array.from({ length: this.#lastNumber() }, (_, i) => i + 1).filter((number) => !used.has(number))
  }

  #lastNumber(): number {
    return Number(this.#store.catalog.get(countersKey)?.["next"] ?? 0)
  }

  /** For jobs: a table number that was never used. */
  nextNumber(): number {
    const next = this.#lastNumber() + 1
    this.#store.catalog.put(countersKey, { next }, undefined)
    return next
  }

  #activity({ number }: Collection): Activity {
    return getOrMake(this.#activities, number, () => ({ committed: 0, pending: 0, counters: new Map() }))
  }

  /** For jobs: notes a write, with the document before and after it. `encoded` is the stored form of the latter. */
  wrote(
    collection: Collection,
    recordId: string,
    before: Document | undefined,
    after: Document | undefined,
    encoded?: Encoded
  ): void {
    if (collection.recording !== undefined) this.#recorder?.record(collection.name, before, after, encoded)
    const activity = this.#activity(collection)
    if (activity.pending === activity.committed) this.#touched.push(activity)
    activity.pending += 1
    if (activity.counters.size === 0) return
    for (const counter of activity.counters.values()) counter.wrote(recordId, before, after)
  }

  /** The number of committed writes. */
  seen(name: string): number {
    const collection = this.#committed.get(name)
    return collection === undefined ? 0 : this.#activity(collection).committed
  }

  /** For jobs: the number of writes, pending ones included. */
  written(name: string): number {
    const collection = this.#pending.get(name)
    return collection === undefined ? 0 : this.#activity(collection).pending
  }

  /** The counter by this name; `undefined` while writes are pending or there are too many counters. */
  counterOf(collection: Collection, name: string, counting: Counting): Counter | undefined {
    const { committed, counters, pending } = this.#activity(collection)
    const known = counters.get(name)
    const counter = known ?? new Counter(counting)
    if (counter.value === undefined && !counter.isBegun) {
      if (pending !== committed || (known === undefined && counters.size >= maxCounters)) return undefined
      counter.begin(this.endOfRecords(collection))
    }
    if (known === undefined) counters.set(name, counter)
    return counter
  }
}

interface Tools {
  readonly recordIds?: RecordIds
  readonly recorder?: ChangeRecorder
}

// Every write updates each counter.
const maxCounters = 8

// The number of writes to a collection, and its counters.
interface Activity {
  committed: number
  pending: number
  readonly counters: Map<string, Counter>
}
