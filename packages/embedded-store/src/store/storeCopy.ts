/**
 * Copies a store into another one: all collections with their documents, validators and indexes, and so histories, ledgers
 * and sign-ins.
 *
 * Nobody writes to either store meanwhile; `storeFollow.ts` copies a store that is written to.
 *
 * A copy that something has ended goes on where it was: what is there already is compared instead of written. The target has a
 * document that names the source until it is somebody else's, so that a copy never mixes with other documents.
 *
 * @since 0.1.0
 */
import type {
  CollectionDescription,
  Document,
  DocumentStore,
  IndexDescription,
  StoredChange
} from "@appkernel/document-store/DocumentStore"
import type { ReadError, StoreError } from "@appkernel/document-store/StoreError"
import { dateOf } from "@appkernel/mql/values"
import * as BSON from "bson"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { hash } from "node:crypto"

type Store = DocumentStore["Service"]

/**
 * Occurs when a copy can't begin or is not like its source. A retry helps once the sentence is no longer true.
 *
 * @category errors
 * @since 0.1.0
 */
export class CopyFailed extends Schema.TaggedError<CopyFailed>()("CopyFailed", { detail: Schema.String }) {
  override get message(): string {
    return this.detail
  }
}

/**
 * A collection of both stores.
 *
 * @category models
 * @since 0.1.0
 */
export interface CopiedCollection {
  readonly name: string
  readonly documents: number
  /** The exclusive or of the SHA-256 of each document, in hexadecimal: the same in both stores. */
  readonly hash: string
  /** The names of its indexes. */
  readonly indexes: ReadonlyArray<string>
}

/**
 * How far a copy is.
 *
 * @category models
 * @since 0.1.0
 */
export interface CopyProgress {
  readonly collection: string
  readonly done: number
  readonly total: number
}

/**
 * Copies a store, and reads both afterwards to compare them. A copy that has been completed is compared only. Nobody should
 * write to either store meanwhile: then the copy fails, and can be run again.
 *
 * @category constructors
 * @since 0.1.0
 */
export const copy = Effect.fn("StoreCopy.copy")(function*({ from, onProgress = () => Effect.void, to }: {
  readonly from: Store
  readonly to: Store
  readonly onProgress?: ((progress: CopyProgress) => Effect.Effect<void>) | undefined
}): Effect.fn.Return<ReadonlyArray<CopiedCollection>, StoreError | CopyFailed> {
  const collections = yield* collectionsOf(from)
  const isDone = (yield* begin(from.description, to))["state"] === "done"
  const copied: Array<CopiedCollection> = []
  for (const { action, jsonSchema, name } of collections) {
    const total = yield* from.estimatedCount(name)
    const passage: Passage = {
      from,
      to,
      name,
      onProgress: (done) => onProgress({ collection: name, done, total })
    }
    if (!isDone) yield* loosen(to, name)
    const { count, hash } = yield* isDone ? compared(passage) : equalised(passage)
    const indexes = yield* from.listIndexes(name)
    if (!isDone) {
      // What is written from now on is checked and found as in the source.
      yield* to.setValidator(name, jsonSchema, { action })
      yield* to.syncIndexes(name, indexes)
    }
    copied.push({ name, documents: count, hash, indexes: indexes.map(({ name }) => name).toSorted() })
  }
  const names = new Set(collections.map(({ name }) => name))
  for (const { name } of yield* collectionsOf(to)) {
    if (names.has(name) || (yield* to.find(name, { limit: 1 })).length === 0) continue
    return yield* new CopyFailed({ detail: `${name} has documents in the copy, and none in the source` })
  }
  if (!isDone) yield* note(to, { state: "done" })
  return copied
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ledger = "appkernel.copies"

const ledgerId = "copy"

/** Writes into the note of the target. */
export const note = (to: Store, facts: Document): Effect.Effect<void, StoreError> =>
  Effect.asVoid(to.updateOne(ledger, { _id: ledgerId }, { $set: facts }))

/** What is copied of a store. */
export const collectionsOf = (store: Store): Effect.Effect<ReadonlyArray<CollectionDescription>, ReadError> =>
  Effect.map(store.listCollections, (collections) => collections.filter(isCopied))

/** Whether a collection has documents of the store: neither the note of a copy, nor the bytes of files in GridFS. */
const isCopied = ({ name }: CollectionDescription): boolean => name !== ledger && !name.startsWith("appkernel_files.")

/**
 * Takes the target for a source, and returns its note, which says how far the copy is. Fails if it has documents of another
 * origin.
 */
export const begin = Effect.fnUntraced(function*(
  source: string,
  to: Store
): Effect.fn.Return<Document, StoreError | CopyFailed> {
  const known = yield* to.findById(ledger, ledgerId)
  if (known !== undefined) {
    if (known["from"] === source) return known
    return yield* new CopyFailed({ detail: `${to.description} has a copy of ${String(known["from"])} already` })
  }
  for (const { name } of yield* to.listCollections) {
    if ((yield* to.find(name, { limit: 1 })).length === 0) continue
    return yield* new CopyFailed({ detail: `${to.description} has documents of its own, in ${name}` })
  }
  const begun = { _id: ledgerId, from: source, begun: dateOf(yield* Clock.currentTimeMillis), state: "copying" }
  yield* to.insertOne(ledger, begun)
  return begun
})

/** Whether an index decides which documents there may be: it refuses some, or removes them. */
export const isStrict = ({ expireAfterSeconds, unique }: IndexDescription): boolean =>
  unique === true || expireAfterSeconds !== undefined

/**
 * Lets a collection of the target take documents in any order: what an earlier run of the copy has installed could refuse those
 * that are newer, while older ones are still there.
 */
export const loosen = Effect.fnUntraced(function*(to: Store, name: string) {
  const strict = (yield* to.listIndexes(name)).filter(isStrict)
  if (strict.length > 0) yield* to.dropIndexes(name, strict.map(({ name }) => name))
  const known = (yield* to.listCollections).find((collection) => collection.name === name)
  if (known?.jsonSchema !== undefined) yield* to.setValidator(name, undefined)
})

export interface Passage {
  readonly from: Store
  readonly to: Store
  readonly name: string
  readonly onProgress: (done: number) => Effect.Effect<void>
}

interface Sum {
  count: number
  hash: string
}

const emptySum = (): { count: number; bytes: Buffer } => ({ count: 0, bytes: Buffer.alloc(32) })

const add = (sum: ReturnType<typeof emptySum>, bytes: Uint8Array): void => {
  const digest = hash("sha256", bytes, "buffer")
  sum.count += 1
  for (let i = 0; i < digest.length; i++) sum.bytes[i]! ^= digest[i]!
}

const sumOf = ({ bytes, count }: ReturnType<typeof emptySum>): Sum => ({ count, hash: bytes.toString("hex") })

const bytesOf = (document: Document): Uint8Array => BSON.serialize(document, { ignoreUndefined: true })

const idOf = (document: Document): string => Buffer.from(bytesOf({ _id: document["_id"] })).toString("latin1")

/** The sum of what a store has. */
const summed = (store: Store, name: string): Effect.Effect<Sum, StoreError> =>
  Effect.suspend(() => {
    const sum = emptySum()
    return Effect.map(
      Stream.runForEachArray(store.stream(name, {}), (documents) =>
        Effect.sync(() => {
          for (const document of documents) add(sum, bytesOf(document))
        })),
      () => sumOf(sum)
    )
  })

const compared = Effect.fnUntraced(function*({ from, name, onProgress, to }: Passage) {
  const source = yield* summed(from, name)
  yield* onProgress(source.count)
  const target = yield* summed(to, name)
  return isSame(source, target) ? source : yield* different(name, source, target)
})

const isSame = (a: Sum, b: Sum): boolean => a.count === b.count && a.hash === b.hash

const different = (name: string, source: Sum, target: Sum): CopyFailed =>
  new CopyFailed({
    detail:
      `${name} differs: ${source.count} documents with the hash ${source.hash} in the source, ${target.count} with ` +
      `${target.hash} in the copy`
  })

/** Copies until both stores have the same: documents may have expired, or an earlier part of this copy may be old. */
const equalised = Effect.fnUntraced(function*(passage: Passage) {
  const { from, name, to } = passage
  for (let round = 1;; round++) {
    const source = yield* written(passage)
    const target = yield* summed(to, name)
    if (isSame(source, target)) return source
    if (round === maxRounds) return yield* different(name, source, target)
    yield* removed(from, to, name)
  }
})

const maxRounds = 3

/** Writes what the target lacks or has otherwise. Returns the sum of the source. */
export const written = Effect.fnUntraced(function*({ from, name, onProgress, to }: Passage) {
  const sum = emptySum()
  const isEmpty = (yield* to.find(name, { limit: 1 })).length === 0
  yield* inBatches(from.stream(name, {}), (batch) =>
    Effect.gen(function*() {
      for (const { bytes } of batch) add(sum, bytes)
      yield* put(to, name, batch, isEmpty)
      yield* onProgress(sum.count)
    }))
  return sumOf(sum)
})

/** Writes the documents that the target lacks or has otherwise. */
const put = Effect.fnUntraced(function*(to: Store, name: string, batch: ReadonlyArray<BatchItem>, isEmpty: boolean) {
  const known = isEmpty ? [] : yield* to.find(name, { filter: { _id: { $in: batch.map(({ id }) => id) } } })
  const found = new Map(known.map((document) => [idOf(document), bytesOf(document)]))
  const missing = batch.filter(({ document }) => !found.has(idOf(document)))
  const { failures: [failure] } = yield* to.insertMany(name, missing.map(({ document }) => document))
  if (failure !== undefined) return yield* failure.error
  const changed = batch.filter(({ bytes, document }) => {
    const there = found.get(idOf(document))
    return there !== undefined && Buffer.compare(there, bytes) !== 0
  })
  yield* Effect.forEach(
    changed,
    ({ document, id }) => to.replaceOne(name, { _id: { $eq: id } }, document),
    { concurrency: 16, discard: true }
  )
})

/** Writes what changes of one collection, in their order, leave behind. */
export const applied = Effect.fnUntraced(function*(to: Store, name: string, changes: ReadonlyArray<StoredChange>) {
  const last = [...new Map(changes.map((change) => [idOf({ _id: change.id }), change])).values()]
  const gone = last.filter(({ operation }) => operation === "delete").map(({ id }) => id)
  if (gone.length > 0) yield* to.deleteMany(name, { _id: { $in: gone } })
  const documents = last.flatMap((change) => change.operation === "delete" ? [] : [change.after])
  yield* inBatches(Stream.fromIterable(documents), (batch) => put(to, name, batch, false))
})

/** Removes what the source does not have any more. */
export const removed = (from: Store, to: Store, name: string): Effect.Effect<void, StoreError> =>
  inBatches(to.stream(name, { projection: { _id: 1 } }), (batch) =>
    Effect.gen(function*() {
      const ids = batch.map(({ id }) => id)
      const known = yield* from.find(name, { filter: { _id: { $in: ids } }, projection: { _id: 1 } })
      const found = new Set(known.map((document) => idOf(document)))
      const gone = batch.filter(({ document }) => !found.has(idOf(document))).map(({ id }) => id)
      if (gone.length > 0) yield* to.deleteMany(name, { _id: { $in: gone } })
    }))

interface BatchItem {
  readonly id: unknown
  readonly document: Document
  readonly bytes: Uint8Array
}

const maxBatch = 1000

const maxBatchBytes = 8 * 1024 * 1024

/** Runs a function on batches of a stream that are not large. */
const inBatches = Effect.fnUntraced(function*<E>(
  documents: Stream.Stream<Document, E>,
  use: (batch: ReadonlyArray<BatchItem>) => Effect.Effect<void, StoreError>
) {
  let [batch, size]: [Array<BatchItem>, number] = [[], 0]
  const flush = Effect.suspend(() => {
    const full = batch
    batch = []
    size = 0
    return full.length === 0 ? Effect.void : use(full)
  })
  yield* Stream.runForEach(documents, (document) =>
    Effect.suspend(() => {
      const bytes = bytesOf(document)
      batch.push({ id: document["_id"], document, bytes })
      size += bytes.length
      return batch.length >= maxBatch || size >= maxBatchBytes ? flush : Effect.void
    }))
  yield* flush
})
