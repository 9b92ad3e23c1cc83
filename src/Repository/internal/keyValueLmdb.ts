/**
 * Tables on disk, by lmdb.
 */
import * as BSON from "bson"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { ABORT, type Database, open, type RootDatabase } from "lmdb"
import * as path from "node:path"
import type { Document } from "../DocumentStore.ts"
import { StoreUnavailable } from "../RepositoryError.ts"
import { currentProcess, isRunning, type Owner, ownerOf } from "./folderOwner.ts"
import type { Encoded, KeyValue, Range, Table } from "./keyValue.ts"
import { problemOfFolder } from "./lmdbFiles.ts"
import { closed, makeWriter, unavailable } from "./lmdbWriter.ts"

// MongoDB's limit.
const maxDocumentBytes = 16 * 1024 * 1024

type Bytes = Database<Buffer, Uint8Array>

const bytesOf = (key: string): Buffer => Buffer.from(key, "latin1")

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")

const tableOf = <Value, Written>(
  database: Bytes,
  prefix: string,
  decode: (bytes: Buffer) => Value,
  encode: (value: Written) => Uint8Array
): Table<Value, Written> => {
  const keyOf = (key: string) => bytesOf(prefix + key)
  // lmdb leaves the beginning out of neither, and the end out of both: backwards it is the other way round.
  const boundsOf = ({ end, reverse, start }: Range) =>
    reverse
      ? { start: keyOf(end), end: keyOf(start), reverse, exclusiveStart: true, inclusiveEnd: true }
      : { start: keyOf(start), end: keyOf(end) }
  return {
    get: (key) => {
      const bytes = database.get(keyOf(key))
      return bytes === undefined ? undefined : decode(bytes)
    },
    has: (key) => database.doesExist(keyOf(key)),
    put: (key, value) => {
      database.putSync(keyOf(key), Buffer.from(encode(value)))
    },
    remove: (key) => {
      database.removeSync(keyOf(key))
    },
    scan: (range, visit) => {
      for (const { key, value } of database.getRange(boundsOf(range))) {
        if (!visit(textOf(key).slice(prefix.length), decode(value), value.length)) return
      }
    },
    scanKeys: (range, visit) => {
      for (const key of database.getKeys(boundsOf(range))) {
        if (!visit(textOf(key).slice(prefix.length))) return
      }
    }
  }
}

const decodeDocument = (bytes: Buffer): Document => BSON.deserialize(bytes)

const encodeDocument = (document: Encoded): Uint8Array =>
  document instanceof Uint8Array ? document : BSON.serialize(document)

const number = (value: number): string => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes.toString("latin1")
}

const ownerKey = "owner"

const messageOf = (cause: unknown): string => cause instanceof Error ? cause.message : "it can't be opened"

const inUse = (folder: string, { pid }: Owner): StoreUnavailable =>
  new StoreUnavailable({
    operation: "open",
    detail: pid === currentProcess().pid
      ? `folder ${folder} is already open in this process`
      : `folder ${folder} is in use by process ${pid}`,
    retryable: false
  })

// In one transaction, which lmdb lets only one process at a time have: of two that start, one sees the other.
const takeFolder = (environment: RootDatabase, catalog: Table<Document>): Owner | undefined =>
  environment.transactionSync(() => {
    const owner = ownerOf(catalog.get(ownerKey))
    if (owner !== undefined && isRunning(owner)) return owner
    catalog.put(ownerKey, { ...currentProcess() })
    return undefined
  })

/**
 * Tables in a folder, which is made when it isn't there; closed with the scope, after what is being written.
 *
 * @internal
 */
export const make = (folder: string): Effect.Effect<KeyValue, StoreUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    const location = path.resolve(folder)
    const failed = (detail: string) =>
      new StoreUnavailable({
        operation: "open",
        detail: `folder ${location} can't be used: ${detail}`,
        retryable: false
      })
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
    const database = (name: string): Bytes =>
      environment.openDB<Buffer, Uint8Array>({ name, encoding: "binary", keyEncoding: "binary" })
    const prepared = yield* Effect.try({
      try: () => {
        const catalog = tableOf(database("catalog"), "", decodeDocument, encodeDocument)
        return {
          catalog,
          documents: database("documents"),
          entries: database("entries"),
          other: takeFolder(environment, catalog)
        }
      },
      catch: (cause) => failed(messageOf(cause))
    })
    const { catalog, documents, entries, other } = prepared
    if (other !== undefined) return yield* inUse(location, other)
    const writer = yield* Effect.acquireRelease(
      Effect.sync(() => makeWriter((run) => environment.childTransaction(() => run() ? undefined : ABORT))),
      (writer) => Effect.ignoreCause(Effect.andThen(writer.finish, Effect.sync(() => catalog.remove(ownerKey))))
    )
    return {
      description: location,
      catalog,
      documents: (collection) => tableOf(documents, number(collection), decodeDocument, encodeDocument),
      entries: (index) => tableOf(entries, number(index), textOf, bytesOf),
      encode: (document) => {
        const bytes = BSON.serialize(document)
        return bytes.length > maxDocumentBytes
          ? Result.fail(`the document has ${bytes.length} bytes, more than ${maxDocumentBytes}`)
          : Result.succeed(bytes)
      },
      write: writer.write,
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
