/**
 * Tables on disk, by lmdb.
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
import type { Document } from "../../DocumentStore.ts"
import { StoreUnavailable } from "../../RepositoryError.ts"
import { type Encoded, everything, type Range, type SteppedKeyValue, type Table, visitEach } from "../orderedStore.ts"
import { lockFolder } from "./folderLock.ts"
import { closed, makeWriter, type Turn, unavailable } from "./groupCommit.ts"
import { problemOfFolder, watchFolder } from "./preflight.ts"
import { TableCache } from "./recordCache.ts"

// MongoDB's limit.
const maxDocumentBytes = 16 * 1024 * 1024

const maxCacheBytes = 32 * 1024 * 1024

// What is read holds until the next call of lmdb: it is decoded at once.
type Bytes = Database<Uint8Array, string>

const { latin1Slice, latin1Write } = Buffer.prototype

// lmdb's own ways to encode copy whatever they read. What is in front of each key, of so many bytes, is not read.
const encodingBehind = (prefixLength: number) => ({
  encoder: { encode: (bytes: Uint8Array): Uint8Array => bytes, decode: (bytes: Uint8Array): Uint8Array => bytes },
  keyEncoder: {
    writeKey: (key: string, target: Uint8Array, position: number): number => {
      const end = position + key.length
      // lmdb takes another buffer when this one refuses.
      if (end > target.length) target.set(bytesOf(key), position)
      else latin1Write.call(target, key, position, key.length)
      return end
    },
    readKey: (source: Uint8Array, start: number, end: number): string => textAt(source, start + prefixLength, end)
  }
})

const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1")

const textOf = (bytes: Uint8Array): string => textAt(bytes, 0, bytes.length)

// A record identifier is read in less time than it takes to call what reads texts of any length.
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

/** How the values of a table are written. */
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
  // lmdb leaves the beginning out of neither, and the end out of both: backwards it is the other way round.
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

// To go from one to the next is cheaper than to look for each, even if some between them are passed over.
const minRun = 4
const maxGaps = 2

/** The range of record identifiers, when they lie close together, one after the other. */
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

/** A table of which those values that are read often are known. */
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
    // What a job reads is about to change, most often, or has changed.
    if (!isWriting()) cached.offer(key, value, size)
    return value
  }
  return {
    ...table,
    // Whoever looks at all values meets those that are known, but makes none known.
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

// lmdb takes a `Buffer` as it is.
const encodeDocument = (document: Encoded): Uint8Array =>
  Buffer.from(document instanceof Uint8Array ? document : BSON.serialize(document))

const documentForm: Form<Document, Encoded> = { decode: decodeDocument, encode: encodeDocument }

/** The record identifier of the document to which an entry leads. */
const recordIdForm: Form<string, string> = { decode: textOf, encode: bytesOf }

const formatKey = "format"

// 1 had the documents in the order of their identifiers.
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

// The first did not say so.
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

/** Takes turns after the present one until there is nothing left to do; rejects when a job has failed. */
const takeTurns = (takeTurn: () => Turn): Promise<void> => {
  const next: Effect.Effect<void, string> = Effect.flatMap(Effect.yieldNow, () => {
    const turn = takeTurn()
    return turn === "more" ? next : turn === "done" ? Effect.void : Effect.fail("a job has failed")
  })
  return Effect.runPromise(next)
}

/**
 * Tables in a folder, which is made when it isn't there; closed with the scope, after what is being written.
 *
 * @internal
 */
export const make = (folder: string): Effect.Effect<SteppedKeyValue, StoreUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    const location = path.resolve(folder)
    const failed = (detail: string) =>
      new StoreUnavailable({
        operation: "open",
        detail: `folder ${location} can't be used: ${detail}`,
        retryable: false
      })
    const unmade = yield* Effect.sync(() => makeFolder(location))
    if (unmade !== undefined) return yield* failed(unmade)
    yield* lockFolder(location)
    const problem = yield* Effect.sync(() => problemOfFolder(location))
    if (problem !== undefined) return yield* failed(problem)
    // lmdb crashes when it is read after it was closed.
    let isOpen = true
    const environment = yield* Effect.acquireRelease(
      Effect.try({
        try: () =>
          open<Buffer, Uint8Array>({
            path: location,
            noSubdir: false,
            maxDbs: 3,
            // Otherwise a transaction counts before it is on disk, and a failing disk is never reported.
            overlappingSync: false,
            // Otherwise lmdb makes promises of its own, which nobody handles when a transaction fails.
            eventTurnBatching: false
          }),
        catch: (cause) => failed(messageOf(cause))
      }),
      (environment) =>
        Effect.promise(() => {
          isOpen = false
          return environment.close()
        })
    )
    const database = (name: string, prefixLength = numberLength): Bytes =>
      environment.openDB<Uint8Array, string>({ name, ...encodingBehind(prefixLength) })
    const cache = new TableCache(maxCacheBytes)
    let isWriting = false
    // What is read between the turns of a job: the last commit.
    let committed: Transaction | undefined
    const reading = () => isWriting ? undefined : committed
    const caching = { cache, isWriting: () => isWriting, reading }
    const prepared = yield* Effect.try({
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
      catch: (cause) => failed(messageOf(cause))
    })
    const { catalog, documents, entries, refusal } = prepared
    if (refusal !== undefined) return yield* refusal
    const loss = yield* watchFolder(location)
    const transact = (run: () => Turn): Promise<unknown> => {
      const takeTurn = (): Turn => {
        isWriting = true
        const turn = run()
        isWriting = false
        return turn
      }
      return environment.childTransaction((): unknown => {
        const turn = takeTurn()
        if (turn !== "more") return turn === "done" ? undefined : ABORT
        committed = environment.useReadTransaction()
        // lmdb gives the transaction up when it is rejected.
        return takeTurns(takeTurn)
      })
    }
    const writer = yield* Effect.acquireRelease(
      Effect.sync(() =>
        makeWriter(
          transact,
          () => {
            committed?.done()
            committed = undefined
            // Who reads from now on reads what is there now.
            const isRenewed = Result.try(() => environment.resetReadTxn())
            if (Result.isSuccess(isRenewed)) cache.settle()
          },
          loss
        )
      ),
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
        isOpen
          ? Result.try({
            try: step,
            catch: (cause) => unavailable(operation, cause) ?? Result.getOrThrowWith(Result.fail(cause), (_) => _)
          })
          : Result.fail(closed(operation)),
      listen: writer.listen
    }
  })
