/**
 * The store in memory, which is lost with the process.
 *
 * A short job is one synchronous step. A long job takes several turns of the event loop; until it is done, other fibers
 * read the state before it, and other writes wait. A failed long job is undone.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { getOrMake } from "@appkernel/document-store/internal"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { scanMerged, scanMergedKeys, type TableChanges } from "../mergedTable.ts"
import {
  type Encoded,
  keyAtBy,
  type Listener,
  type SteppedKeyValue,
  type Steps,
  type Table,
  takeSteps,
  visitEach
} from "../orderedStore.ts"
import { EntryTable } from "./entryTable.ts"
import { MemoryTable } from "./memoryTable.ts"
import { RecordTable } from "./recordTable.ts"

/** A job that runs in several turns of the event loop. */
interface LongJob {
  /** Whether the job is between two turns, so that other fibers may read. */
  isPaused: boolean
  /** Ends the job in the tables that it has written: keeps its writes, or undoes them. */
  readonly endings: Array<(isKept: boolean) => void>
  /** Succeeds when the job has ended. */
  readonly done: Deferred.Deferred<void>
}

const takeTurn = <A>(job: LongJob, steps: Steps<A>): IteratorResult<void, A> => {
  job.isPaused = false
  try {
    return takeSteps(steps)
  } finally {
    // After the last turn, too: other fibers may run before the job has ended.
    job.isPaused = true
  }
}

/** A table that shows the state before a long job while the job is paused. */
const steppedTable = <Value>(table: Table<Value>, current: () => LongJob | undefined): Table<Value> => {
  // What the current job has replaced in this table.
  let replaced: MemoryTable<{ readonly before: Value | undefined }> | undefined
  const hidden = () => current()?.isPaused === true ? replaced : undefined
  const end = (isKept: boolean) => {
    const entries = isKept ? [] : replaced?.entries() ?? []
    replaced = undefined
    for (const [key, { before }] of entries) {
      if (before === undefined) table.remove(key, undefined)
      else table.put(key, before, undefined)
    }
  }
  const remember = (key: string, before: Value | undefined) => {
    const job = current()
    if (job === undefined) return
    if (replaced === undefined) {
      replaced = new MemoryTable()
      job.endings.push(end)
    }
    if (!replaced.has(key)) replaced.put(key, { before })
  }
  const get = (key: string): Value | undefined => {
    const version = hidden()?.get(key)
    return version === undefined ? table.get(key) : version.before
  }
  return {
    get,
    has: (key) => get(key) !== undefined,
    visit: (keys, visit) => visitEach(keys, get, visit),
    put: (key, value, before) => {
      remember(key, before)
      table.put(key, value, before)
    },
    remove: (key, before) => {
      remember(key, before)
      table.remove(key, before)
    },
    scan: (range, visit) => {
      const versions = hidden()
      if (versions === undefined) table.scan(range, visit)
      else scanMerged(table, changesOf(versions), range, visit)
    },
    scanKeys: (range, visit) => {
      const versions = hidden()
      if (versions === undefined) table.scanKeys(range, visit)
      else scanMergedKeys(table, changesOf(versions), range, visit)
    },
    keyAt: (range, place) => {
      const versions = hidden()
      return versions === undefined
        ? table.keyAt(range, place)
        : keyAtBy((range, visit) => scanMergedKeys(table, changesOf(versions), range, visit), range, place)
    },
    learn: () => hidden() === undefined && table.countIn !== undefined ? "known" : "unknown",
    countIn: (range) => hidden() === undefined ? table.countIn?.(range) : undefined
  }
}

/** The values before the job, as changes of the table. */
const changesOf =
  <Value>(replaced: MemoryTable<{ readonly before: Value | undefined }>): TableChanges<Value> => (range) => {
    const entry = replaced.entriesIn(range)
    return () => entry.next() ? { key: entry.key, value: entry.value.before } : undefined
  }

export const make: Effect.Effect<SteppedKeyValue> = Effect.sync(() => {
  const catalog = new MemoryTable<Document>()
  const documents = new Map<number, Table<Document, Encoded>>()
  const entries = new Map<number, Table<string>>()
  let listener: Listener | undefined
  let current: LongJob | undefined
  const longJob = () => current

  const serialized = <A>(write: () => Effect.Effect<A>): Effect.Effect<A> =>
    Effect.suspend(() =>
      current === undefined ? write() : Effect.andThen(Deferred.await(current.done), serialized(write))
    )

  const write = <A>(job: () => A): Effect.Effect<A> =>
    serialized(() => {
      const result = job()
      listener?.committed()
      return Effect.succeed(result)
    })

  const end = (job: LongJob, isKept: boolean): Effect.Effect<unknown> =>
    Effect.suspend(() => {
      current = undefined
      for (const endIn of job.endings) endIn(isKept)
      if (isKept) listener?.committed()
      else listener?.aborted()
      return Deferred.succeed(job.done, undefined)
    })

  const goOn = <A>(job: LongJob, steps: Steps<A>): Effect.Effect<A> =>
    Effect.suspend(() => {
      const result = takeTurn(job, steps)
      return result.done === true
        ? Effect.succeed(result.value)
        : Effect.flatMap(Effect.yieldNow, () => goOn(job, steps))
    })

  const writeInSteps = <A>(makeSteps: () => Steps<A>): Effect.Effect<A> =>
    Effect.uninterruptible(serialized(() => {
      const job = { isPaused: false, endings: [], done: Deferred.makeUnsafe<void>() }
      current = job
      return Effect.onExit(
        Effect.suspend(() => goOn(job, makeSteps())),
        (exit) => end(job, Exit.isSuccess(exit))
      )
    }))

  return {
    description: "memory",
    catalog,
    documents: (collection) =>
      getOrMake(
        documents,
        collection,
        // In memory, `encode` returns the document itself.
        () => steppedTable(new RecordTable<Document>(), longJob) as Table<Document, Encoded>
      ),
    entries: (index) => getOrMake(entries, index, () => steppedTable(new EntryTable(), longJob)),
    encode: Result.succeed,
    write: (_, job) => write(job),
    writeInSteps: (_, job) => writeInSteps(job),
    read: (_, step) => Result.succeed(step()),
    listen: (given) => {
      listener = given
    }
  }
})
