/**
 * The embedded store's transactions. What one writes stays apart, over the store's tables, until it is written all at
 * once, in one job, unless what the transaction has read is no longer so.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { Document } from "../DocumentStore.ts"
import { StoreUnavailable } from "../RepositoryError.ts"
import { Catalog, type Collection, type RecordIds } from "./catalog.ts"
import { DocumentWriter, prepare, type Prepared } from "./documentWriter.ts"
import { makeReading } from "./embeddedRead.ts"
import { makeWriting } from "./embeddedWrite.ts"
import type { Encoded, KeyValue, Listener } from "./keyValue.ts"
import { recordIdOf } from "./orderedKey.ts"
import { OverlayTable } from "./overlayTable.ts"
import { Again, type Attempt, isAgain, type Policy, unlucky } from "./transaction.ts"

/**
 * A door before the writing of a store, which a transaction shuts when it was in vain too often.
 *
 * @internal
 */
export interface Gate {
  /** The store for everybody else. */
  readonly store: KeyValue
  readonly shut: Effect.Effect<void>
  readonly open: Effect.Effect<void>
}

/** @internal */
export const makeGate = (store: KeyValue): Gate => {
  let isShut: Deferred.Deferred<void> | undefined
  return {
    store: {
      ...store,
      write: (operation, job) =>
        isShut === undefined
          ? store.write(operation, job)
          : Effect.andThen(Effect.timeoutOption(Deferred.await(isShut), patience), store.write(operation, job))
    },
    shut: Effect.sync(() => {
      isShut = Deferred.makeUnsafe()
    }),
    open: Effect.suspend(() => {
      const opened = isShut
      isShut = undefined
      return opened === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(opened, undefined))
    })
  }
}

/**
 * Transactions over `store`, whose collections `catalog` knows and whose documents `writer` writes.
 *
 * @internal
 */
export const makePolicy = (store: KeyValue, gate: Gate, catalog: Catalog, writer: DocumentWriter): Policy => {
  const alone = Semaphore.makeUnsafe(1)
  const leave = Effect.asVoid(Effect.andThen(gate.open, alone.release(1)))

  const attempt = (isAlone: boolean): Attempt => {
    const overlay = new Overlay(store, catalog)
    const { operations } = overlay
    // Whoever is alone has shut the others out.
    const { write } = isAlone ? store : gate.store
    const rollback = isAlone ? leave : Effect.void
    return {
      operations,
      // A reader may see what was just written before the store says so. Nothing is written here: no gate is in the way.
      isVain: Effect.suspend(() =>
        overlay.isUnused
          ? Effect.succeed(false)
          : store.write("transaction", () => !overlay.isIntact("pending"))
      ).pipe(Effect.catchCause(() => Effect.succeed(false))),
      commit: Effect.ensuring(commit(overlay, write), rollback),
      rollback
    }
  }

  const commit = (overlay: Overlay, write: KeyValue["write"]) =>
    Effect.suspend(() => {
      const changes = overlay.changes
      if (changes.length === 0) return Effect.void
      return Effect.flatMap(
        write("transaction", () => overlay.isIntact("pending") && apply(changes)),
        (isKept) => isKept ? Effect.void : Effect.fail(new Again(unlucky()))
      )
    })

  /** What was there goes first: two documents may have changed places in a unique index. */
  const apply = (changes: ReadonlyArray<Changes>): true => {
    for (const { documents, name } of changes) {
      const collection = catalog.ensure(name)
      const table = store.documents(collection.number)
      const kept = new Set<string>()
      for (const [recordId] of documents) {
        const document = table.get(recordId)
        if (document === undefined) continue
        kept.add(recordId)
        writer.remove(collection, { recordId, document })
      }
      for (const [recordId, prepared] of documents) {
        if (prepared === undefined) continue
        // It was refused when the transaction wrote it, or nothing is in its way.
        Result.getOrThrow(writer.insert(catalog.ensure(name), prepared, kept.has(recordId) ? recordId : undefined))
      }
    }
    return true
  }

  return {
    begin: (failed, restore) => {
      const attempted = (isAlone: boolean) =>
        Effect.suspend(() => Effect.fromResult(store.read("transaction", () => attempt(isAlone))))
      return failed < maxTogether
        ? attempted(false)
        : Effect.andThen(
          restore(alone.take(1)),
          gate.shut.pipe(
            // What others have begun to write is waited for.
            Effect.andThen(store.write("transaction", () => {})),
            Effect.andThen(attempted(true)),
            Effect.onError(() => leave)
          )
        )
    },
    repeat: (attempt) => {
      const go = (failed: number): typeof attempt =>
        Effect.catchIf(
          attempt,
          isAgain,
          (again) => failed === maxAttempts ? Effect.fail(again) : Effect.andThen(Effect.yieldNow, go(failed + 1))
        )
      return go(1)
    }
  }
}

// internal

// From then on, a transaction has the store for itself.
const maxTogether = 5

const maxAttempts = 20

// A transaction that waits for a write of somebody else must not have it wait for ever.
const patience = "5 seconds"

interface Changes {
  readonly name: string
  readonly documents: ReadonlyArray<readonly [recordId: string, prepared: Prepared | undefined]>
}

// A collection as it was at the beginning.
interface Seen {
  readonly collection: Collection
  readonly indexes: ReadonlyArray<number>
  /** How often it had been written when all that was read of it was still so. */
  writes: number
}

class Overlay {
  readonly operations: Attempt["operations"]
  readonly #store: KeyValue
  readonly #catalog: Catalog
  readonly #names: TransactionCatalog
  readonly #seen = new Map<string, Seen>()
  readonly #scanned = new Set<string>()
  readonly #documents = new Map<number, OverlayTable<Document, Encoded>>()
  readonly #entries = new Map<number, OverlayTable<string>>()
  #isVain = false

  constructor(store: KeyValue, catalog: Catalog) {
    this.#store = store
    this.#catalog = catalog
    for (const collection of catalog.all) {
      this.#seen.set(collection.name, {
        collection,
        indexes: numbersOf(collection),
        writes: catalog.seen(collection.name)
      })
    }
    const tables = this.#tables()
    this.#names = new TransactionCatalog(tables)
    this.operations = {
      ...makeReading(tables, this.#names),
      ...makeWriting(tables, this.#names, new DocumentWriter(tables, this.#names))
    }
  }

  /** Whether somebody else has written what was read here. */
  get isVain(): boolean {
    this.#isVain ||= !this.isIntact("committed")
    return this.#isVain
  }

  /** Whether nothing was asked of it. */
  get isUnused(): boolean {
    return this.#names.used.size === 0
  }

  isIntact(when: "committed" | "pending"): boolean {
    for (const name of this.#names.used) if (!this.#isUnchanged(name, when)) return false
    return true
  }

  #isUnchanged(name: string, when: "committed" | "pending"): boolean {
    const seen = this.#seen.get(name)
    const collection = when === "pending" ? this.#catalog.pending(name) : this.#catalog.get(name)
    if (seen === undefined || collection === undefined) return seen === undefined && collection === undefined
    const writes = when === "pending" ? this.#catalog.written(name) : this.#catalog.seen(name)
    const indexes = numbersOf(collection)
    if (indexes.length !== seen.indexes.length || indexes.some((index, i) => index !== seen.indexes[i])) return false
    const isUntouched = writes === seen.writes
    // An index that is being made changes without a write.
    if (isUntouched && collection.indexes.every(({ isReady }) => isReady)) return true
    const isIntact = (isUntouched || !this.#scanned.has(name))
      && (this.#documents.get(collection.number)?.isIntact ?? true)
      && indexes.every((index) => this.#entries.get(index)?.isIntact ?? true)
    if (isIntact && when === "committed") seen.writes = writes
    return isIntact
  }

  /** What was written, ready to be kept. */
  get changes(): ReadonlyArray<Changes> {
    const all: Array<Changes> = []
    for (const name of this.#names.used) {
      const collection = this.#names.pending(name)
      const table = collection === undefined ? undefined : this.#documents.get(collection.number)
      const documents = table?.changes.map(([recordId, document]) =>
        [
          recordId,
          // It was ready once already.
          document === undefined ? undefined : Result.getOrThrow(prepare(this.#store, document))
        ] as const
      ) ?? []
      if (documents.length > 0) all.push({ name, documents })
    }
    return all
  }

  #whileIntact<A>(operation: string, step: () => A): Result.Result<A, StoreUnavailable> {
    return Result.flatMap(
      this.#store.read(
        operation,
        (): Result.Result<A, StoreUnavailable> => this.isVain ? Result.fail(vainly(operation)) : Result.succeed(step())
      ),
      (result) => result
    )
  }

  #watch(name: string | undefined) {
    return {
      isScanned: () => name !== undefined && this.#scanned.has(name),
      onScan: () => {
        if (name !== undefined) this.#scanned.add(name)
      }
    }
  }

  #tables(): KeyValue {
    const store = this.#store
    let listener: Listener | undefined
    const nameOf = (is: (collection: Collection) => boolean): string | undefined => {
      for (const { collection } of this.#seen.values()) if (is(collection)) return collection.name
      return undefined
    }
    return {
      description: store.description,
      catalog: new OverlayTable(store.catalog, (document) => document, { isScanned: () => true, onScan: () => {} }),
      documents: (number) =>
        known(this.#documents, number, () =>
          new OverlayTable(
            store.documents(number),
            decoded,
            this.#watch(nameOf((collection) => collection.number === number))
          )),
      entries: (number) =>
        known(this.#entries, number, () =>
          new OverlayTable(
            store.entries(number),
            (key) => key,
            this.#watch(nameOf((collection) => numbersOf(collection).includes(number)))
          )),
      encode: (document) => Result.map(store.encode(document), () => document),
      write: (operation, job) =>
        Effect.suspend(() =>
          Effect.fromResult(this.#whileIntact(operation, () => {
            const result = job()
            listener?.committed()
            return result
          }))
        ),
      read: (operation, step) => this.#whileIntact(operation, step),
      listen: (given) => {
        listener = given
      }
    }
  }
}

// What `encode` makes here is a document.
const decoded = (encoded: Encoded) => encoded as Document

const known = <A>(map: Map<number, A>, key: number, make: () => A): A => {
  const there = map.get(key)
  if (there !== undefined) return there
  const made = make()
  map.set(key, made)
  return made
}

const numbersOf = ({ identifiers, indexes }: Collection): ReadonlyArray<number> =>
  [identifiers, ...indexes].map(({ number }) => number)

const vainly = (operation: string): StoreUnavailable =>
  new StoreUnavailable({ operation, detail: unlucky().detail, retryable: true })

// Tables of no other collection have such numbers.
const firstNumber = 0xffff_0000

// Behind those of all documents that are kept.
const firstRecord = 0x8000_0000_0000

const temporaryIds = (): RecordIds => {
  let next = firstRecord
  return { next: () => recordIdOf(next++), end: () => recordIdOf(next) }
}

/** Knows which collections were asked for, those that are not there included. */
class TransactionCatalog extends Catalog {
  readonly used = new Set<string>()
  #next = firstNumber

  constructor(store: KeyValue) {
    super(store, temporaryIds())
  }

  override get(name: string): Collection | undefined {
    this.used.add(name)
    return super.get(name)
  }

  override pending(name: string): Collection | undefined {
    this.used.add(name)
    return super.pending(name)
  }

  override ensure(name: string): Collection {
    this.used.add(name)
    return super.ensure(name)
  }

  override nextNumber(): number {
    this.#next += 1
    return this.#next
  }
}
