/**
 * The store on disk, by lmdb.
 *
 * A write is durable when its effect succeeds: its transaction has been flushed to the disk. A crash leaves the state of
 * the last committed transaction.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { FileModes, makeFolder } from "@appkernel/document-store/folders"
import { rethrow } from "@appkernel/document-store/internal"
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import { maxDocumentBytes } from "@appkernel/mql/internal"
import * as BSON from "bson"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { ABORT, open, type RootDatabase, type Transaction } from "lmdb"
import * as path from "node:path"
import type { SteppedKeyValue } from "../orderedStore.ts"
import { RecordHints } from "../recordHints.ts"
import { registered } from "./copy.ts"
import { lockFolder } from "./folderLock.ts"
import { formatKey, isMixed as isMixedFormat, takeFormat } from "./format.ts"
import { withGaps } from "./gaps.ts"
import { attempted, closed, makeWriter, type Transactors, type TurnResult } from "./groupCommit.ts"
import { problemOfFolder, watchFolder } from "./preflight.ts"
import { TableCache } from "./recordCache.ts"
import { RecordCheck } from "./records.ts"
import { type Room, watchRoom } from "./room.ts"
import {
  type Bytes,
  cachedTableOf,
  documentForm,
  encodingBehind,
  entryTableOf,
  numberLength,
  recordIdForm,
  tableOf,
  tablesOf
} from "./table.ts"

const defaultCacheBytes = 32 * 1024 * 1024

// The part of the cache that hints may take.
const hintShare = 1 / 4

const messageOf = (cause: unknown): string => cause instanceof Error ? cause.message : "it can't be opened"

interface EnvironmentState {
  /** lmdb crashes when a closed environment is read. */
  isOpen: boolean
  /** Whether a job is running, whose reads see its own writes. */
  isWriting: boolean
  /** The read transaction between the turns of a long job: it sees the last commit. */
  committed: Transaction | undefined
}

/** Opens the store of a folder, which is created if needed. Closed with the scope, after pending writes. */
export const make = Effect.fnUntraced(function*(
  folder: string,
  maxCacheBytes = defaultCacheBytes
): Effect.fn.Return<SteppedKeyValue, StoreUnavailable, Scope.Scope> {
  const location = path.resolve(folder)
  const state: EnvironmentState = { isOpen: true, isWriting: false, committed: undefined }
  const check = yield* prepareFolder(location)
  const environment = yield* openEnvironment(location, state)
  yield* registered(location, environment)
  const cache = new TableCache(maxCacheBytes)
  const hints = new RecordHints(maxCacheBytes * hintShare, (bytes) => cache.grow(bytes))
  const room = yield* watchRoom(location)
  const { catalog, documents, entries } = yield* openTables(environment, location, state, cache, check, room)
  const loss = yield* watchFolder(location)
  const forget = forgetReaders(environment)
  const settled = () => {
    settle(environment, state, cache)
    forget()
  }
  const writer = yield* Effect.acquireRelease(
    Effect.sync(() => makeWriter(transactorsOf(environment, state), settled, () => loss() ?? room.lack())),
    (writer) => writer.finish
  )
  return {
    description: location,
    catalog,
    documents,
    entries,
    hints,
    encode,
    write: writer.write,
    writeInSteps: writer.writeInSteps,
    read: (operation, step) =>
      state.isOpen ? attempted(operation, step, writer.describe) : Result.fail(closed(operation)),
    listen: writer.listen
  }
})

const encode = (document: Document): Result.Result<Uint8Array, string> =>
  Result.flatMap(
    Result.try({
      try: () => BSON.serialize(document),
      // `bson` has a buffer of 17 MiB.
      catch: (cause) =>
        cause instanceof RangeError
          ? `the document has more than ${maxDocumentBytes} bytes`
          : BSON.BSONError.isBSONError(cause)
          ? `the document can't be encoded: ${cause.message}`
          : rethrow(cause)
    }),
    (bytes) =>
      bytes.length > maxDocumentBytes
        ? Result.fail(`the document has ${bytes.length} bytes, more than ${maxDocumentBytes}`)
        : Result.succeed(bytes)
  )

const openFailed = (location: string, detail: string): StoreUnavailable =>
  new StoreUnavailable({ operation: "open", detail: `folder ${location} can't be used: ${detail}`, retryable: false })

const prepareFolder = Effect.fnUntraced(function*(
  location: string
): Effect.fn.Return<RecordCheck, StoreUnavailable, Scope.Scope> {
  const modes = yield* FileModes
  const unmade = yield* Effect.sync(() => makeFolder(location, modes.folder))
  if (unmade !== undefined) return yield* openFailed(location, unmade)
  yield* lockFolder(location)
  const check = new RecordCheck()
  const problem = yield* problemOfFolder(location, check, modes)
  if (problem !== undefined) return yield* openFailed(location, problem)
  return check
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
  cache: TableCache,
  check: RecordCheck,
  { wrote }: Room
): Effect.fn.Return<Pick<SteppedKeyValue, "catalog" | "documents" | "entries">, StoreUnavailable> {
  const database = (name: string, prefixLength = numberLength): Bytes =>
    environment.openDB<Uint8Array, string>({ name, ...encodingBehind(prefixLength) })
  const reading = () => state.isWriting ? undefined : state.committed
  const caching = { cache, isWriting: () => state.isWriting, reading, wrote }
  const { catalog, documents, entries, rejection } = yield* Effect.try({
    try: () => {
      const catalog = tableOf(database("catalog", 0), "", documentForm("", 0, true), reading, wrote)
      const isMixed = isMixedFormat(catalog.get(formatKey))
      return {
        catalog,
        documents: tablesOf(
          database("documents"),
          (database, prefix, number) =>
            withGaps(
              cachedTableOf(database, prefix, documentForm(prefix, number, isMixed), caching),
              check.contentOf("documents", number).gaps,
              "documents",
              number
            )
        ),
        entries: tablesOf(
          database("entries"),
          (database, prefix, number) =>
            withGaps(
              entryTableOf(cachedTableOf(database, prefix, recordIdForm(prefix, number, isMixed), caching), cache),
              check.contentOf("entries", number).gaps,
              "entries",
              number
            )
        ),
        rejection: takeFormat(environment, catalog, location)
      }
    },
    catch: (cause) => openFailed(location, messageOf(cause))
  })
  if (rejection !== undefined) return yield* rejection
  return { catalog, documents, entries }
})

/** Runs the turns of a batch in one transaction, which is aborted if a turn fails. */
const transactorsOf = (environment: RootDatabase<Buffer, Uint8Array>, state: EnvironmentState): Transactors => {
  const take = (run: () => TurnResult): TurnResult => {
    state.isWriting = true
    const turn = run()
    state.isWriting = false
    return turn
  }
  return {
    transact: (run) =>
      environment.childTransaction((): unknown => {
        const turn = take(run)
        if (turn !== "more") return turn === "done" ? undefined : ABORT
        state.committed = environment.useReadTransaction()
        // A rejection aborts the transaction.
        return takeTurns(() => take(run))
      }),
    transactSync: (run) => {
      const begin = performance.now()
      environment.transactionSync(() => take(run) === "done" ? undefined : ABORT)
      return performance.now() - begin
    }
  }
}

/** Takes the remaining turns of a batch; rejects when a job has failed. */
const takeTurns = (takeTurn: () => TurnResult): Promise<void> => {
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

/**
 * Forgets readers whose processes were killed, once a minute. The pages that such a one, as a backup, could still read are not
 * used again, so that the file grows with each write; without writes it does not.
 */
const forgetReaders = (environment: RootDatabase<Buffer, Uint8Array>): () => void => {
  let last = performance.now()
  return () => {
    const now = performance.now()
    if (now - last < checkEvery) return
    last = now
    Result.try(() => environment.readerCheck())
  }
}

// In milliseconds.
const checkEvery = 60_000
