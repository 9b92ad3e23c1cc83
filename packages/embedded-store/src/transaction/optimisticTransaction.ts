/**
 * The embedded store's transactions: optimistic concurrency control, serializable.
 *
 * A transaction reads a snapshot of the last commit before it began, and buffers its writes in memory. Its commit is one
 * job. The job first validates that no other transaction has written the keys and ranges of keys that this one has read,
 * which also detects phantoms. Then it applies all writes atomically. The job may take many turns of the event loop; until
 * it is committed, other reads see the state before it, and other writes wait. The serialization point is the commit. A
 * transaction without writes needs no validation, and its serialization point is its begin.
 *
 * A conflict aborts a transaction. It is then retried, in a queue with other retries. After repeated conflicts, it is
 * retried once with exclusive access, while all other writes wait for at most a second.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { getOrMake, spend } from "@appkernel/document-store/internal"
import {
  isConflict,
  makeRetry,
  tooManyConflicts,
  type TransactionAttempt,
  TransactionConflict,
  type TransactionPolicy,
  withTurn
} from "@appkernel/document-store/shared"
import { recordIdOf } from "@appkernel/mql/internal"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { Catalog } from "../catalog/catalog.ts"
import type { Collection, Index } from "../catalog/collection.ts"
import type { RecordIds } from "../catalog/recordIds.ts"
import { DocumentWriter, mergeTraits, writeCost } from "../operations/documentWriter.ts"
import { makeEmbeddedReads } from "../operations/reads.ts"
import { makeEmbeddedWrites } from "../operations/writes.ts"
import { MemoryTable } from "../storage/memory/memoryTable.ts"
import type {
  Encoded,
  KeyValue,
  Listener,
  SteppedKeyValue,
  StoreFailure,
  WatchedKeyValue
} from "../storage/orderedStore.ts"
import type { Snapshot, Versions } from "./snapshots.ts"
import { BufferedTable } from "./writeBuffer.ts"

/** Blocks other writers during the exclusive access of a transaction. */
export interface CommitGate {
  /** The store for all other writers. */
  readonly store: SteppedKeyValue & WatchedKeyValue
  readonly close: Effect.Effect<void>
  readonly open: Effect.Effect<void>
}

export const makeGate = (store: SteppedKeyValue & WatchedKeyValue): CommitGate => {
  let opened: Deferred.Deferred<void> | undefined
  const whenOpen = <A, E>(write: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    opened === undefined ? write : Effect.andThen(Deferred.await(opened), write)
  return {
    store: {
      ...store,
      write: (operation, job) => whenOpen(store.write(operation, job)),
      writeInSteps: (operation, job) => whenOpen(store.writeInSteps(operation, job))
    },
    close: Effect.sync(() => {
      opened = Deferred.makeUnsafe()
    }),
    open: Effect.suspend(() => {
      const waiting = opened
      opened = undefined
      return waiting === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(waiting, undefined))
    })
  }
}

/** The transactions of a store. */
export const makeTransactionPolicy = (
  { open, store }: Versions,
  gate: CommitGate,
  catalog: Catalog,
  writer: DocumentWriter
): TransactionPolicy => {
  const retryOnConflict = makeRetry()
  const exclusive = Semaphore.makeUnsafe(1)

  const begin = (isExclusive: boolean): TransactionAttempt => {
    const overlay = new TransactionBuffer(store, catalog, open(), writer)
    // An exclusive transaction has closed the gate, which would block its own commit.
    const { writeInSteps } = isExclusive ? store : gate.store
    const end = Effect.sync(() => overlay.close())
    return {
      operations: overlay.operations,
      // A failure is a conflict only if it comes from an expired snapshot.
      hasConflict: Effect.sync(() => overlay.isBroken),
      commit: Effect.ensuring(
        Effect.suspend(() =>
          overlay.isUnchanged
            ? Effect.void
            : Effect.flatMap(
              writeInSteps("transaction", () => overlay.commit()),
              (isCommitted) => isCommitted ? Effect.void : Effect.fail(new TransactionConflict(tooManyConflicts()))
            )
        ),
        end
      ),
      rollback: end
    }
  }

  /** Runs an attempt after the writes that have begun, and while no other transaction commits. */
  const exclusively = <A, E, R>(attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreFailure, R> =>
    withTurn(
      exclusive,
      maxExclusive,
      Effect.andThen(store.write("transaction", () => {}), Effect.provideService(attempt, Exclusive, gate)),
      Effect.acquireRelease(gate.close, () => gate.open)
    )

  return {
    begin: Effect.withFiber((fiber) =>
      Effect.suspend(() => Effect.fromResult(store.read("transaction", () => begin(fiber.getRef(Exclusive) === gate))))
    ),
    retry: <A, E, R>(attempt: Effect.Effect<A, E | TransactionConflict, R>) => {
      let tries = 0
      const next = Effect.suspend(() => {
        tries += 1
        return tries === triesBefore + 1 ? exclusively(attempt) : attempt
      })
      return retryOnConflict(gate, (error: E | TransactionConflict | StoreFailure) => isConflict(error), next)
    }
  }
}

// internal

// The number of attempts before one with exclusive access.
const triesBefore = 3

// The longest time of exclusive access.
const maxExclusive = Duration.seconds(1)

// The gate that the current attempt has closed.
const Exclusive = Context.Reference<CommitGate | undefined>("appkernel/Repository/exclusive", {
  defaultValue: () => undefined
})

/** The read set and the write buffer of a transaction. */
class TransactionBuffer {
  readonly operations: TransactionAttempt["operations"]
  readonly #store: KeyValue
  readonly #catalog: Catalog
  readonly #snapshot: Snapshot
  readonly #writer: DocumentWriter
  readonly #names: TransactionCatalog
  readonly #documents = new Map<number, BufferedTable<Document, Encoded>>()
  readonly #entries = new Map<number, BufferedTable<string>>()
  readonly #encoded = new WeakMap<Document, Encoded>()
  #isBroken = false

  /** `writer` is the one of writes outside of transactions. */
  constructor(store: KeyValue, catalog: Catalog, snapshot: Snapshot, writer: DocumentWriter) {
    this.#store = store
    this.#catalog = catalog
    this.#snapshot = snapshot
    this.#writer = writer
    const tables = this.#tables()
    this.#names = new TransactionCatalog(tables, catalog.committed)
    this.operations = {
      ...makeEmbeddedReads(tables, this.#names),
      ...makeEmbeddedWrites(tables, this.#names, new DocumentWriter(tables, this.#names, writer.warn))
    }
  }

  close(): void {
    this.#snapshot.close()
  }

  /** Whether an operation has failed because the snapshot has expired. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  get isUnchanged(): boolean {
    for (const table of this.#documents.values()) for (const _ of table.written) return false
    return true
  }

  /** For jobs: whether another transaction has written what this one has read. */
  get hasConflict(): boolean {
    if (this.#isUnreadable) return true
    for (const [name, indexes] of this.#names.used) if (this.#catalog.pending(name)?.indexes !== indexes) return true
    for (const table of this.#documents.values()) if (table.hasConflict) return true
    for (const table of this.#entries.values()) if (table.hasConflict) return true
    return false
  }

  /** Whether the snapshot has expired, or one of its indexes was dropped. */
  get #isUnreadable(): boolean {
    if (this.#snapshot.isExpired()) return true
    for (const [name, indexes] of this.#names.used) {
      if (indexes !== undefined && this.#catalog.pending(name)?.indexes !== indexes) return true
    }
    return false
  }

  /** For jobs: validates, then applies the buffered writes; returns whether the validation succeeded. */
  *commit(): Generator<void, boolean> {
    if (this.hasConflict) return false
    yield* this.#apply()
    return true
  }

  *#apply(): Generator<void, void> {
    for (const name of this.#names.used.keys()) {
      const source = this.#names.pending(name)
      const documents = source === undefined ? undefined : this.#documents.get(source.number)
      if (source !== undefined && documents !== undefined) yield* this.#applyTo(source, documents)
    }
  }

  *#applyTo(source: Collection, written: BufferedTable<Document, Encoded>): Generator<void, void> {
    const target = this.#catalog.ensure(source.name)
    const documents = this.#store.documents(target.number)
    // The final record ids of inserted documents by their temporary ones.
    const recordIds = new Map<string, string>()
    for (const [id, { before, value }] of written.written) {
      if (before === undefined && value !== undefined) recordIds.set(id, this.#catalog.nextRecordId(target))
      const recordId = recordIds.get(id) ?? id
      const encoded = value === undefined ? undefined : this.#encoded.get(value) ?? value
      if (encoded !== undefined) documents.put(recordId, encoded, before)
      else if (before !== undefined) documents.remove(recordId, before)
      this.#catalog.wrote(target, recordId, before, value, encoded)
      spend(writeCost)
      yield
    }
    let isWorse = false
    for (const [i, { number, traits }] of [source.identifiers, ...source.indexes].entries()) {
      const index = i === 0 ? target.identifiers : target.indexes[i - 1]
      if (index === undefined) continue
      const entries = this.#store.entries(index.number)
      for (const [key, { before, value }] of this.#entries.get(number)?.written ?? []) {
        const recordId = value === undefined ? undefined : recordIds.get(value) ?? value
        if (recordId === before) continue
        if (recordId !== undefined) {
          entries.put(key, recordId, before)
          if (index.description.expireAfterSeconds !== undefined) this.#writer.expiring.openUnsafe()
        } else if (before !== undefined) entries.remove(key, before)
        spend(writeCost)
        yield
      }
      isWorse = mergeTraits(index.traits, traits) || isWorse
    }
    if (isWorse) this.#catalog.save(target)
  }

  #whileReadable<A>(operation: string, step: () => A): Result.Result<A, StoreFailure> {
    return Result.flatMap(
      this.#store.read(operation, (): Result.Result<A, StoreFailure> => {
        if (!this.#isUnreadable) return Result.succeed(step())
        this.#isBroken = true
        return Result.fail(tooManyConflicts(operation))
      }),
      (result) => result
    )
  }

  #tables(): WatchedKeyValue {
    let listener: Listener | undefined
    const encode = (document: Document): Result.Result<Encoded, string> =>
      Result.map(this.#store.encode(document), (encoded) => {
        this.#encoded.set(document, encoded)
        return document
      })
    return {
      description: this.#store.description,
      // Changes of the catalog are applied with the documents.
      catalog: new MemoryTable(),
      documents: (number) =>
        getOrMake(this.#documents, number, () => new BufferedTable(this.#snapshot.documents(number), decoded)),
      entries: (number) =>
        getOrMake(
          this.#entries,
          number,
          () => new BufferedTable(this.#snapshot.entries(number), (recordId) => recordId)
        ),
      encode,
      write: (operation, job) =>
        Effect.suspend(() =>
          Effect.fromResult(this.#whileReadable(operation, () => {
            const result = job()
            listener?.committed()
            return result
          }))
        ),
      read: (operation, step) => this.#whileReadable(operation, step),
      // Only fibers of the transaction write to its buffer.
      watch: (number) => ({
        written: () => Array.from(this.#documents.get(number)?.written ?? [], ([recordId]) => recordId),
        close: () => {}
      }),
      listen: (given) => {
        listener = given
      }
    }
  }
}

// In a transaction, `encode` returns the document itself.
const decoded = (encoded: Encoded) => encoded as Document

// Temporary table numbers, beyond those of the store.
const firstNumber = 0xffff_0000

// Temporary record ids, beyond those of stored documents.
const firstRecord = 0x8000_0000_0000

const temporaryIds = (): RecordIds => {
  let next = firstRecord
  return { next: () => recordIdOf(next++), end: () => recordIdOf(next) }
}

/** The catalog of a snapshot with the changes of a transaction. */
class TransactionCatalog extends Catalog {
  /** The indexes of the collections that were read; `undefined` if there was none. */
  readonly used = new Map<string, ReadonlyArray<Index> | undefined>()
  readonly #snapshot: ReadonlyMap<string, Collection>
  #next = firstNumber

  constructor(store: KeyValue, snapshot: ReadonlyMap<string, Collection>) {
    super(store, { recordIds: temporaryIds() })
    this.#snapshot = snapshot
  }

  #use(name: string): void {
    if (this.used.has(name)) return
    const collection = this.#snapshot.get(name)
    this.used.set(name, collection?.indexes)
    if (collection === undefined) return
    // Copied, since other writes change the traits of the original.
    const { identifiers, indexes } = collection
    this.adopt({ ...collection, identifiers: copyOf(identifiers), indexes: indexes.map(copyOf) })
  }

  override get(name: string): Collection | undefined {
    this.#use(name)
    return super.get(name)
  }

  override pending(name: string): Collection | undefined {
    this.#use(name)
    return super.pending(name)
  }

  override ensure(name: string): Collection {
    this.#use(name)
    return super.ensure(name)
  }

  override nextNumber(): number {
    this.#next += 1
    return this.#next
  }
}

const copyOf = (index: Index): Index => ({ ...index, traits: { ...index.traits } })
