/**
 * Tables of lmdb: ranges of keys with the number of the table as their prefix, decoded without copying, with a cache.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { getOrMake, rethrow } from "@appkernel/document-store/internal"
import { numberOfRecord, recordIdLength } from "@appkernel/mql/internal"
import * as BSON from "bson"
import type { Database, RangeOptions, Transaction } from "lmdb"
import { type Encoded, type Range, type Table, visitEach } from "../orderedStore.ts"
import {
  checkedDocument,
  checkedEntry,
  checksumLength,
  DamagedValue,
  emptyHash,
  hashOfText,
  isIntactEntry,
  isUncheckedEntry,
  storedDocument
} from "./checksum.ts"
import { Places } from "./places.ts"
import type { TableCache } from "./recordCache.ts"

// The bytes of a read are valid until the next call of lmdb, so they are decoded at once.
export type Bytes = Database<Uint8Array, string>

const { latin1Slice, latin1Write } = Buffer.prototype

// lmdb's own encoders copy what they read. The prefix of a key, which is the number of its table, is skipped.
export const encodingBehind = (prefixLength: number) => ({
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

const bytesText = (bytes: Uint8Array): string => textAt(bytes, 0, bytes.length)

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
  readonly encode: (value: Written, key: string) => Uint8Array
}

/** A table that counts keys without a look at their values. */
interface CountedTable<Value, Written> extends Table<Value, Written> {
  readonly countKeys: (range: Range) => number
}

/** The transaction to read in; without one it is lmdb's own: that of the job that runs, or else the last commit. */
type Reading = () => Transaction | undefined

export const tableOf = <Value, Written>(
  database: Bytes,
  prefix: string,
  { decode, encode }: Form<Value, Written>,
  reading: Reading,
  wrote: (bytes: number) => void
): CountedTable<Value, Written> => {
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
  const table: CountedTable<Value, Written> = {
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
      const bytes = encode(value, key)
      wrote(bytes.length)
      database.putSync(prefix + key, bytes)
    },
    remove: (key) => {
      wrote(0)
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
    },
    // lmdb passes over the others without leaving its own code.
    keyAt: (range, place) => {
      const offset = Math.min(place, maxOffset)
      for (const key of database.getKeys({ ...boundsOf(range), offset, limit: 1 })) {
        if (offset === place) return key
        const rest = range.reverse ? { ...range, end: key } : { ...range, start: `${key}\0` }
        return table.keyAt(rest, place - offset - 1)
      }
      return undefined
    },
    countKeys: (range) => database.getKeysCount(boundsOf(range))
  }
  return table
}

// lmdb takes it as a signed number of 32 bits.
const maxOffset = 2 ** 31 - 1

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
  const isUnordered = keys.some((key, i) => i > 0 && (reverse ? key >= keys[i - 1]! : key <= keys[i - 1]!))
  return isUnordered ? undefined : { start, end: `${end}\0`, reverse }
}

export const tablesOf = <T extends object>(
  database: Bytes,
  make: (database: Bytes, prefix: string, number: number) => T
): (number: number) => T => {
  const tables = new Map<number, T>()
  return (number) => getOrMake(tables, number, () => make(database, bytesOfNumber(number), number))
}

/** A table with a cache of values that are read repeatedly. */
export const cachedTableOf = <Value, Written>(
  database: Bytes,
  prefix: string,
  { decode, encode }: Form<Value, Written>,
  { cache, isWriting, reading, wrote }: {
    readonly cache: TableCache
    readonly isWriting: () => boolean
    readonly reading: Reading
    /** Notes that a value of so many bytes is written. */
    readonly wrote: (bytes: number) => void
  }
): CountedTable<Value, Written> => {
  const cached = cache.table<Value>()
  const table = tableOf(database, prefix, { decode, encode }, reading, wrote)
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
      reading,
      wrote
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

export const numberLength = 4

const bytesOfNumber = (value: number): string => {
  const bytes = Buffer.alloc(numberLength)
  bytes.writeUInt32BE(value)
  return bytesText(bytes)
}

/** The codec of the documents of a table. `isMixed` tells whether they may lack their checksums. */
export const documentForm = (prefix: string, number: number, isMixed: boolean): Form<Document, Encoded> => {
  const start = hashOfText(prefix, emptyHash)
  return {
    decode: (bytes, key) =>
      storedDocument(bytes, hashOfText(key, start), isMixed) ??
        rethrow(new DamagedValue("documents", number, key, bytes)),
    encode: (document, key) =>
      checkedDocument(
        document instanceof Uint8Array ? document : BSON.serialize(document),
        hashOfText(key, start)
      )
  }
}

/** The codec of index entries, whose values are record ids. */
export const recordIdForm = (prefix: string, number: number, isMixed: boolean): Form<string, string> => {
  const start = hashOfText(prefix, emptyHash)
  return {
    decode: (bytes, key) =>
      isIntactEntry(bytes, hashOfText(key, start))
        ? textAt(bytes, 0, bytes.length - checksumLength)
        : isMixed && isUncheckedEntry(bytes)
        ? bytesText(bytes)
        : rethrow(new DamagedValue("entries", number, key, bytes)),
    encode: (recordId, key) => checkedEntry(recordId, hashOfText(key, start))
  }
}

/**
 * A table of index entries that knows places. Its keys are checked, too, since counts use them alone; a page skips the rest.
 */
export const entryTableOf = (table: CountedTable<string, string>, cache: TableCache): Table<string> => {
  const scanKeys: Table<string>["scanKeys"] = (range, visit) => table.scan(range, (key) => visit(key))
  const places = new Places({ ...table, scanKeys }, (places) => cache.begin(places))
  return {
    ...table,
    scanKeys,
    has: (key) => table.get(key) !== undefined,
    put: (key, value) => {
      places.write(key)
      table.put(key, value, undefined)
    },
    remove: (key) => {
      places.write(key)
      table.remove(key, undefined)
    },
    keyAt: (range, place) => places.keyAt(range, place),
    learn: (range, isChecked, place) => places.learn(range, isChecked, place),
    countLearned: (range) => places.countLearned(range)
  }
}
