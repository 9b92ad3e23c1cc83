/**
 * Which collections and indexes there are, as the embedded store remembers them.
 */
import * as Result from "effect/Result"
import { component, numberOfRecord, recordIdOf } from "../../bson/keyEncoding.ts"
import { type Direction, isArrayIndex, segmentsOf } from "../../bson/path.ts"
import { isArray, isDocument } from "../../bson/value.ts"
import type { Document, IndexDescription } from "../../DocumentStore.ts"
import type { TextField } from "../../mql/text/textSearch.ts"
import { everything, type KeyValue } from "../../storage/orderedStore.ts"
import { isText, normalised } from "../../store/indexDefinition.ts"
import { Counter, type Counting } from "./documentCounter.ts"
import { parsePart, type Part } from "./partialIndex.ts"

/**
 * What the keys of an index, or of the documents themselves, are known to be. It only ever gets worse.
 *
 * @internal
 */
export interface KeyTraits {
  /** A document may have several entries. */
  multikey: boolean
  /** The entries are not quite in the order of the values. */
  inexact: boolean
}

/** @internal */
export interface Index {
  readonly number: number
  readonly description: IndexDescription
  readonly paths: ReadonlyArray<string>
  readonly directions: ReadonlyArray<Direction>
  readonly traits: KeyTraits
  /** Which documents are in it; without one, all. */
  readonly part: Part | undefined
  /** What it knows the words of, when that is what it is for. */
  readonly text: ReadonlyArray<TextField> | undefined
  /** Whether all documents are in it; until then it is written, but not read. */
  readonly isReady: boolean
}

/** @internal */
export interface Collection {
  readonly name: string
  readonly number: number
  /** The index of the identifiers, which every collection has. */
  readonly identifiers: Index
  readonly indexes: ReadonlyArray<Index>
}

/** @internal */
export const makeCollection = (
  name: string,
  number: number,
  traits: KeyTraits = { multikey: false, inexact: false }
): Collection => ({
  name,
  number,
  identifiers: {
    ...makeIndex(number, { name: "_id_", key: { _id: 1 }, unique: true }),
    traits,
    isReady: true
  },
  indexes: []
})

/** @internal */
export const makeIndex = (number: number, description: IndexDescription): Index => {
  const directions = Object.entries(description.key).map(([path, direction]) => ({
    path: segmentsOf(path),
    descending: direction === -1
  }))
  const { partialFilterExpression, weights = {} } = description
  return {
    number,
    description,
    paths: Object.keys(description.key),
    directions,
    // It only ever had one that could be read.
    part: partialFilterExpression === undefined
      ? undefined
      : Result.getOrThrowWith(parsePart(partialFilterExpression), ({ text }) => new Error(text)),
    text: isText(description)
      ? directions.map(({ path }) => ({ path, weight: weights[path.join(".")] ?? 1 }))
      : undefined,
    traits: { multikey: false, inexact: false },
    isReady: false
  }
}

/**
 * Whether a filter on the paths of an index means the same to both: a place in an array may also be a field's name.
 *
 * @internal
 */
export const isSearchable = (index: Index): boolean =>
  index.isReady && index.text === undefined && !index.directions.some(({ path }) => path.some(isArrayIndex))

/**
 * The index that knows the words of a collection's texts, when there is one to be read.
 *
 * @internal
 */
export const textIndexOf = (collection: Collection | undefined): Index | undefined =>
  collection?.indexes.find(({ isReady, text }) => isReady && text !== undefined)

const collectionPrefix = "collection:"

const keyOf = (name: string): string => collectionPrefix + component(name, { inexact: false })

const countersKey = "counters"

const toDocument = ({ identifiers, indexes, name, number }: Collection): Document => ({
  name,
  number,
  ...identifiers.traits,
  indexes: indexes.map(({ description, isReady, number, traits }) => ({
    number,
    name: description.name,
    // An array, because the order of fields matters and BSON's documents are also read by others.
    key: Object.entries(description.key),
    unique: description.unique === true,
    sparse: description.sparse === true,
    ...description.expireAfterSeconds === undefined ? {} : { expireAfterSeconds: description.expireAfterSeconds },
    ...description.partialFilterExpression === undefined ? {} : { part: description.partialFilterExpression },
    ...description.weights === undefined ? {} : { weights: Object.entries(description.weights) },
    ...description.defaultLanguage === undefined ? {} : { defaultLanguage: description.defaultLanguage },
    isReady,
    ...traits
  }))
})

const traitsOf = (document: Document): KeyTraits => ({
  multikey: document["multikey"] === true,
  inexact: document["inexact"] === true
})

const fromDocument = (document: Document): Collection => ({
  ...makeCollection(String(document["name"]), Number(document["number"]), traitsOf(document)),
  indexes: listAt(document, "indexes").filter(isDocument).map((index) => ({
    ...makeIndex(Number(index["number"]), descriptionOf(index)),
    traits: traitsOf(index),
    isReady: index["isReady"] === true
  }))
})

const descriptionOf = (index: Document): IndexDescription => {
  const { defaultLanguage, expireAfterSeconds, part, weights } = index
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
    defaultLanguage: typeof defaultLanguage === "string" ? defaultLanguage : undefined
  })
}

const listAt = (document: Document, key: string): ReadonlyArray<unknown> => {
  const list = document[key]
  return isArray(list) ? list : []
}

const numberOf = ({ number }: Index): number => number

const pairsOf = (document: Document, key: string): ReadonlyArray<[string, unknown]> =>
  listAt(document, key).filter(isArray).map(([path, value]) => [String(path), value])

/**
 * The collections as the last commit left them, and as the jobs that have run since will. Readers use the former: what
 * is not committed may never be.
 *
 * @internal
 */
export class Catalog {
  #committed: ReadonlyMap<string, Collection>
  #pending: ReadonlyMap<string, Collection>
  readonly #activities = new Map<number, Activity>()
  readonly #touched: Array<Activity> = []
  readonly #store: KeyValue
  readonly #recordIds: RecordIds

  constructor(store: KeyValue, recordIds?: RecordIds) {
    this.#store = store
    this.#committed = this.#load()
    this.#pending = this.#committed
    this.#recordIds = recordIds ?? recordIdsOf(store, this.#committed.values())
    store.listen({
      committed: () => {
        this.#committed = this.#pending
        for (const activity of this.#touched) {
          activity.committed = activity.pending
          for (const counter of activity.counters.values()) counter.committed()
        }
        this.#touched.length = 0
      },
      aborted: () => {
        this.#pending = this.#load()
        this.#committed = this.#pending
        this.#touched.length = 0
        // Nobody who has read before may believe that nothing happened.
        for (const activity of this.#activities.values()) {
          activity.committed = activity.pending += 1
          for (const counter of activity.counters.values()) counter.aborted()
        }
      }
    })
  }

  #load(): ReadonlyMap<string, Collection> {
    const collections = new Map<string, Collection>()
    this.#store.catalog.scan({ ...everything, start: collectionPrefix }, (key, document) => {
      if (!key.startsWith(collectionPrefix)) return false
      const collection = fromDocument(document)
      collections.set(collection.name, collection)
      return true
    })
    return collections
  }

  /** For readers. */
  get(name: string): Collection | undefined {
    return this.#committed.get(name)
  }

  get all(): Iterable<Collection> {
    return this.#committed.values()
  }

  /** By their names, as the last commit left them. */
  get committed(): ReadonlyMap<string, Collection> {
    return this.#committed
  }

  /** Takes over a collection that is there already. */
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

  /** For jobs: the collection of this name, which comes into being with its first document. */
  ensure(name: string): Collection {
    return this.#pending.get(name) ?? this.save(makeCollection(name, this.nextNumber()))
  }

  /** For jobs: a record identifier behind all others, which none had since the store was opened. */
  nextRecordId({ number }: Collection): string {
    return this.#recordIds.next(number)
  }

  /** Behind the record identifiers that there are by now. */
  endOfRecords({ number }: Collection): string {
    return this.#recordIds.end(number)
  }

  /** The numbers of indexes that are gone. */
  get forsaken(): ReadonlyArray<number> {
    const used = new Set(
      Array.from(this.all).flatMap(({ identifiers, indexes }) => [identifiers, ...indexes].map(numberOf))
    )
    return Array.from({ length: this.#lastNumber() }, (_, i) => i + 1).filter((number) => !used.has(number))
  }

  #lastNumber(): number {
    return Number(this.#store.catalog.get(countersKey)?.["next"] ?? 0)
  }

  /** For jobs: a number that no table has had. */
  nextNumber(): number {
    const next = this.#lastNumber() + 1
    this.#store.catalog.put(countersKey, { next }, undefined)
    return next
  }

  #activity({ number }: Collection): Activity {
    const known = this.#activities.get(number)
    if (known !== undefined) return known
    const activity = { committed: 0, pending: 0, counters: new Map() }
    this.#activities.set(number, activity)
    return activity
  }

  /** For jobs: a record was written, which had the one document and has the other. */
  wrote(collection: Collection, recordId: string, before: Document | undefined, after: Document | undefined): void {
    const activity = this.#activity(collection)
    if (activity.pending === activity.committed) this.#touched.push(activity)
    activity.pending += 1
    if (activity.counters.size === 0) return
    for (const counter of activity.counters.values()) counter.wrote(recordId, before, after)
  }

  /** How many writes a reader sees. */
  seen(name: string): number {
    const collection = this.#committed.get(name)
    return collection === undefined ? 0 : this.#activity(collection).committed
  }

  /** For jobs: how many writes there are. */
  written(name: string): number {
    const collection = this.#pending.get(name)
    return collection === undefined ? 0 : this.#activity(collection).pending
  }

  /**
   * What counts the documents of a collection that fulfil the condition of this name; `undefined` when it can't count
   * them now: others are writing, or there are too many conditions.
   */
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

// Each takes a moment of every write.
const maxCounters = 8

/**
 * The record identifiers that collections, by their numbers, have given.
 *
 * @internal
 */
export interface RecordIds {
  /** One behind all that were given. */
  readonly next: (collection: number) => string
  /** What would be next. */
  readonly end: (collection: number) => string
}

/** Jobs that are given up take nothing back: what they removed is there again, and must not be met. */
const recordIdsOf = (store: KeyValue, collections: Iterable<Collection>): RecordIds => {
  const nexts = new Map<number, number>()
  for (const { number } of collections) {
    store.documents(number).scanKeys({ ...everything, reverse: true }, (recordId) => {
      nexts.set(number, numberOfRecord(recordId) + 1)
      return false
    })
  }
  const end = (collection: number) => nexts.get(collection) ?? 0
  return {
    next: (collection) => {
      const next = end(collection)
      nexts.set(collection, next + 1)
      return recordIdOf(next)
    },
    end: (collection) => recordIdOf(end(collection))
  }
}

// How often a collection was written, and what is counted of it.
interface Activity {
  committed: number
  pending: number
  readonly counters: Map<string, Counter>
}
