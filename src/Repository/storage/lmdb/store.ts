/**
 * The store on disk, by lmdb.
 *
 * A write is durable when its effect succeeds: its transaction has been flushed to the disk. A crash leaves the state of
 * the last committed transaction.
 */
import * as BSON from "bson"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { ABORT, type Database, open, type RangeOptions, type RootDatabase, type Transaction } from "lmdb"
import * as path from "node:path"
import { makeFolder } from "../../../internal/makeFolder.ts"
import { decodeDocument } from "../../bson/decoder.ts"
import { numberOfRecord, recordIdLength } from "../../bson/keyEncoding.ts"
import { maxDocumentBytes } from "../../bson/limits.ts"
import type { Document } from "../../DocumentStore.ts"
import { StoreUnavailable } from "../../RepositoryError.ts"
import { type Encoded, everything, type Range, type SteppedKeyValue, type Table, visitEach } from "../orderedStore.ts"
import { lockFolder } from "./folderLock.ts"
import { closed, makeWriter, type Turn, unavailable } from "./groupCommit.ts"
import { problemOfFolder, watchFolder } from "./preflight.ts"
import { TableCache } from "./recordCache.ts"

const maxCacheBytes = 32 * 1024 * 1024

// The bytes of a read are valid until the next call of lmdb, so they are decoded at once.
type Bytes = Database<Uint8Array, string>

const { latin1Slice, latin1Write } = Buffer.prototype

// lmdb's own encoders copy what they read. The prefix of a key, which is the number of its table, is skipped.
const encodingBehind = (prefixLength: number) => ({
  encoder: { encode: (bytes: Uint8Array): Uint8Array => bytes, decode: (bytes: Uint8Array): Uint8Array => bytes },
  keyEncoder: {
    writeKey: (key: string, target: Uint8Array, position: number): number => {
      const end = position + key.length
      // Throws a `RangeError` if the buffer is too small; lmdb then retries with a larger one.
      if (end > target.length) target.set(bytesOf(key), position)
      else latin1Write.call(target, key, position, key.length)
      return end
    },
    readKey: (source: Uint8Array, start: number, end: number): string => textAt(source, start + prefixLength, end)
  }
})

const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1")

const textOf = (bytes: Uint8Array): string => textAt(bytes, 0, bytes.length)

// The fast path for record ids, which takes less time than a call of `latin1Slice`.
const textAt = (source: Uint8Array, start: number, end: number): string =>
  end - start === recordIdLength
    ? String.fromCharCode(
      source[start]!,
      source[start + 1]!,
      source[start + 2]!,
      source[start + 3]!,
      source[start + 4]!,
      source[start + 5]!
    )
    : latin1Slice.call(source, start, end)

/** The codec of a table's values. */
interface Form<Value, Written> {
  readonly decode: (bytes: Uint8Array, key: string) => Value
  readonly encode: (value: Written) => Uint8Array
}

/** The transaction to read in; without one it is lmdb's own: that of the job that runs, or else the last commit. */
type Reading = () => Transaction | undefined

const tableOf = <Value, Written>(
  database: Bytes,
  prefix: string,
  { decode, encode }: Form<Value, Written>,
  reading: Reading
): Table<Value, Written> => {
  // lmdb includes the start of a range and excludes its end, in either direction; this store's ranges don't turn round.
  const boundsOf = ({ end, reverse, start }: Range): RangeOptions => {
    const bounds = reverse
      ? { start: prefix + end, end: prefix + start, reverse, exclusiveStart: true, inclusiveEnd: true }
      : { start: prefix + start, end: prefix + end }
    const transaction = reading()
    return transaction === undefined ? bounds : { ...bounds, transaction }
  }
  let size = 0
  const get = (key: string): Value | undefined => {
    const bytes = bytesAt(database, prefix + key, reading())
    if (bytes === undefined) return undefined
    size = bytes.length
    return decode(bytes, key)
  }
  return {
    get,
    visit: (keys, visit) => {
      const run = runOf(keys)
      if (run === undefined) {
        visitEach(keys, get, visit, () => size)
        return
      }
      let next = 0
      for (const { key, value } of database.getRange(boundsOf(run))) {
        const place = keys[next] === key ? next : keys.indexOf(key, next)
        if (place === -1) continue
        next = place + 1
        size = value.length
        if (!visit(place, decode(value, key), size)) return
      }
    },
    has: (key) => bytesAt(database, prefix + key, reading()) !== undefined,
    put: (key, value) => {
      database.putSync(prefix + key, encode(value))
    },
    remove: (key) => {
      database.removeSync(prefix + key)
    },
    scan: (range, visit) => {
      for (const { key, value } of database.getRange(boundsOf(range))) {
        const size = value.length
        if (!visit(key, decode(value, key), size)) return
      }
    },
    scanKeys: (range, visit) => {
      for (const key of database.getKeys(boundsOf(range))) {
        if (!visit(key)) return
      }
    }
  }
}

// Whatever transaction it is given, lmdb gets a single value from the one that writes, if there is one.
const bytesAt = (database: Bytes, key: string, transaction: Transaction | undefined): Uint8Array | undefined => {
  if (transaction === undefined) return database.get(key)
  for (const { value } of database.getRange({ start: key, end: `${key}\0`, limit: 1, transaction })) return value
  return undefined
}

// A range scan is cheaper than single lookups, even if it passes over some other records.
const minRun = 4
const maxGaps = 2

/** The range of record ids, if they are in order and close together. */
const runOf = (keys: ReadonlyArray<string>): Range | undefined => {
  const [first, last] = [keys[0], keys.at(-1)]
  if (first === undefined || last === undefined || keys.length < minRun) return undefined
  const reverse = first > last
  const [start, end] = reverse ? [last, first] : [first, last]
  if (numberOfRecord(end) - numberOfRecord(start) > maxGaps * keys.length) return undefined
  const isTurned = keys.some((key, i) => i > 0 && (reverse ? key >= keys[i - 1]! : key <= keys[i - 1]!))
  return isTurned ? undefined : { start, end: `${end}\0`, reverse }
}

const tablesOf = <T>(database: Bytes, make: (database: Bytes, prefix: string) => T): (number: number) => T => {
  const tables = new Map<number, T>()
  return (number) => {
    const known = tables.get(number)
    if (known !== undefined) return known
    const table = make(database, bytesOfNumber(number))
    tables.set(number, table)
    return table
  }
}

/** A table with a cache of values that are read repeatedly. */
const cachedTableOf = <Value, Written>(
  database: Bytes,
  prefix: string,
  { decode, encode }: Form<Value, Written>,
  { cache, isWriting, reading }: {
    readonly cache: TableCache
    readonly isWriting: () => boolean
    readonly reading: Reading
  }
): Table<Value, Written> => {
  const cached = cache.table<Value>()
  const table = tableOf(database, prefix, { decode, encode }, reading)
  let size = 0
  const find = (key: string): Value | undefined => {
    size = 0
    const known = cached.get(key)
    if (known !== undefined) return known
    const bytes = bytesAt(database, prefix + key, reading())
    if (bytes === undefined) return undefined
    size = bytes.length
    const value = decode(bytes, key)
    // A job usually changes what it reads, so it does not fill the cache.
    if (!isWriting()) cached.offer(key, value, size)
    return value
  }
  return {
    ...table,
    // A scan uses cached values but caches none, so that it does not displace the others.
    scan: tableOf(
      database,
      prefix,
      { decode: (bytes, key) => cached.peek(key) ?? decode(bytes, key), encode },
      reading
    ).scan,
    get: (key) => cache.isUseful() ? find(key) : table.get(key),
    visit: (keys, visit) => cache.isUseful() ? visitEach(keys, find, visit, () => size) : table.visit(keys, visit),
    put: (key, value) => {
      cached.forget(key)
      table.put(key, value, undefined)
    },
    remove: (key) => {
      cached.forget(key)
      table.remove(key, undefined)
    }
  }
}

const numberLength = 4

const bytesOfNumber = (value: number): string => {
  const bytes = Buffer.alloc(numberLength)
  bytes.writeUInt32BE(value)
  return textOf(bytes)
}

// lmdb writes a `Buffer` without copying it.
const encodeDocument = (document: Encoded): Uint8Array =>
  Buffer.from(document instanceof Uint8Array ? document : BSON.serialize(document))

const documentForm: Form<Document, Encoded> = { decode: decodeDocument, encode: encodeDocument }

/** The codec of index entries, whose values are record ids. */
const recordIdForm: Form<string, string> = { decode: textOf, encode: bytesOf }

const formatKey = "format"

// Format 1 stored the documents in the order of their identifiers.
const format = 2

const messageOf = (cause: unknown): string => cause instanceof Error ? cause.message : "it can't be opened"

const otherFormat = (folder: string, found: unknown): StoreUnavailable =>
  new StoreUnavailable({
    operation: "open",
    detail: `folder ${folder} was written in format ${
      String(found)
    } by another version; this one reads format ${format}`,
    retryable: false
  })

// Format 1 was not recorded in the catalog.
const formatOf = (catalog: Table<Document>): unknown => {
  const known = catalog.get(formatKey)
  if (known !== undefined) return known["version"]
  let isNew = true
  catalog.scanKeys(everything, () => isNew = false)
  return isNew ? format : 1
}

const takeFormat = (
  environment: RootDatabase,
  catalog: Table<Document>,
  folder: string
): StoreUnavailable | undefined =>
  environment.transactionSync(() => {
    const found = formatOf(catalog)
    if (found !== format) return otherFormat(folder, found)
    catalog.put(formatKey, { version: format }, undefined)
    return undefined
  })

/** The state of an open environment. */
interface EnvironmentState {
  /** lmdb crashes when a closed environment is read. */
  isOpen: boolean
  /** Whether a job is running, whose reads see its own writes. */
  isWriting: boolean
  /** The read transaction between the turns of a long job: it sees the last commit. */
  committed: Transaction | undefined
}

/**
 * Opens the store of a folder, which is created if needed. Closed with the scope, after pending writes.
 *
 * @internal
 */
export const make = Effect.fnUntraced(function*(
  folder: string
): Effect.fn.Return<SteppedKeyValue, StoreUnavailable, Scope.Scope> {
  const location = path.resolve(folder)
  const state: EnvironmentState = { isOpen: true, isWriting: false, committed: undefined }
  yield* prepareFolder(location)
  const environment = yield* openEnvironment(location, state)
  const cache = new TableCache(maxCacheBytes)
  const { catalog, documents, entries } = yield* openTables(environment, location, state, cache)
  const loss = yield* watchFolder(location)
  const writer = yield* Effect.acquireRelease(
    Effect.sync(() => makeWriter(transactorOf(environment, state), () => settle(environment, state, cache), loss)),
    (writer) => writer.finish
  )
  return {
    description: location,
    catalog,
    documents,
    entries,
    encode: (document) => {
      const bytes = BSON.serialize(document)
      return bytes.length > maxDocumentBytes
        ? Result.fail(`the document has ${bytes.length} bytes, more than ${maxDocumentBytes}`)
        : Result.succeed(bytes)
    },
    write: writer.write,
    writeInSteps: writer.writeInSteps,
    read: (operation, step) =>
      state.isOpen
        ? Result.try({
          try: step,
          catch: (cause) => unavailable(operation, cause) ?? Result.getOrThrowWith(Result.fail(cause), (_) => _)
        })
        : Result.fail(closed(operation)),
    listen: writer.listen
  }
})

const openFailed = (location: string, detail: string): StoreUnavailable =>
  new StoreUnavailable({ operation: "open", detail: `folder ${location} can't be used: ${detail}`, retryable: false })

const prepareFolder = Effect.fnUntraced(function*(
  location: string
): Effect.fn.Return<void, StoreUnavailable, Scope.Scope> {
  const unmade = yield* Effect.sync(() => makeFolder(location))
  if (unmade !== undefined) return yield* openFailed(location, unmade)
  yield* lockFolder(location)
  const problem = yield* Effect.sync(() => problemOfFolder(location))
  if (problem !== undefined) return yield* openFailed(location, problem)
})

const openEnvironment = (
  location: string,
  state: EnvironmentState
): Effect.Effect<RootDatabase<Buffer, Uint8Array>, StoreUnavailable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () =>
        open<Buffer, Uint8Array>({
          path: location,
          noSubdir: false,
          maxDbs: 3,
          // Otherwise a transaction resolves before it is on the disk, and a failing disk is never reported.
          overlappingSync: false,
          // Otherwise lmdb creates internal promises, whose rejections are unhandled when a transaction fails.
          eventTurnBatching: false
        }),
      catch: (cause) => openFailed(location, messageOf(cause))
    }),
    (environment) =>
      Effect.promise(() => {
        state.isOpen = false
        return environment.close()
      })
  )

const openTables = Effect.fnUntraced(function*(
  environment: RootDatabase<Buffer, Uint8Array>,
  location: string,
  state: EnvironmentState,
  cache: TableCache
): Effect.fn.Return<Pick<SteppedKeyValue, "catalog" | "documents" | "entries">, StoreUnavailable> {
  const database = (name: string, prefixLength = numberLength): Bytes =>
    environment.openDB<Uint8Array, string>({ name, ...encodingBehind(prefixLength) })
  const reading = () => state.isWriting ? undefined : state.committed
  const caching = { cache, isWriting: () => state.isWriting, reading }
  const { catalog, documents, entries, refusal } = yield* Effect.try({
    try: () => {
      const catalog = tableOf(database("catalog", 0), "", documentForm, reading)
      return {
        catalog,
        documents: tablesOf(
          database("documents"),
          (database, prefix) => cachedTableOf(database, prefix, documentForm, caching)
        ),
        entries: tablesOf(
          database("entries"),
          (database, prefix) => cachedTableOf(database, prefix, recordIdForm, caching)
        ),
        refusal: takeFormat(environment, catalog, location)
      }
    },
    catch: (cause) => openFailed(location, messageOf(cause))
  })
  if (refusal !== undefined) return yield* refusal
  return { catalog, documents, entries }
})

/** Runs the turns of a batch in one transaction, which is aborted if a turn fails. */
const transactorOf =
  (environment: RootDatabase<Buffer, Uint8Array>, state: EnvironmentState) => (run: () => Turn): Promise<unknown> => {
    const takeTurn = (): Turn => {
      state.isWriting = true
      const turn = run()
      state.isWriting = false
      return turn
    }
    return environment.childTransaction((): unknown => {
      const turn = takeTurn()
      if (turn !== "more") return turn === "done" ? undefined : ABORT
      state.committed = environment.useReadTransaction()
      // A rejection aborts the transaction.
      return takeTurns(takeTurn)
    })
  }

/** Takes the remaining turns of a batch; rejects when a job has failed. */
const takeTurns = (takeTurn: () => Turn): Promise<void> => {
  const next: Effect.Effect<void, string> = Effect.flatMap(Effect.yieldNow, () => {
    const turn = takeTurn()
    return turn === "more" ? next : turn === "done" ? Effect.void : Effect.fail("a job has failed")
  })
  return Effect.runPromise(next)
}

/** Makes the result of a transaction visible to later reads, and to the cache. */
const settle = (environment: RootDatabase<Buffer, Uint8Array>, state: EnvironmentState, cache: TableCache): void => {
  state.committed?.done()
  state.committed = undefined
  const isRenewed = Result.try(() => environment.resetReadTxn())
  if (Result.isSuccess(isRenewed)) cache.settle()
}
