/**
 * The log of changes of the embedded store: the reads of its records, and their removal. Write jobs add the records.
 *
 * Records are removed from the oldest on, every minute, and whenever the log has grown by a tenth of its size. A record is
 * removed if it is older than the longest time of all recorded collections, or if the log exceeds the sum of their sizes.
 */
import type { ChangeLog, ChangePage, LogOptions, Position, StoredChange } from "@appkernel/document-store/DocumentStore"
import { beginStep, isStepDone } from "@appkernel/document-store/internal"
import { maxPage } from "@appkernel/document-store/shared"
import { PositionGone, QueryRejected, type ReadError } from "@appkernel/document-store/StoreError"
import { fromProblem } from "@appkernel/mql/internal"
import * as ByteSize from "effect/ByteSize"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Catalog } from "../catalog/catalog.ts"
import type { ChangeRecorder, Recording } from "../catalog/changeRecorder.ts"
import type { ChangeRecords, NumberedRecord } from "../catalog/changeRecords.ts"
import { checkedName } from "../catalog/collectionName.ts"
import { costOfBytes } from "../planner/candidates.ts"
import type { KeyValue, SteppedKeyValue, StoreFailure } from "../storage/orderedStore.ts"
import { maxPerJob } from "./writeJob.ts"

/** Tells the recorder whose jobs run. Does nothing while no changes are recorded. */
export const withWriters = <Store extends SteppedKeyValue>(store: Store, recorder: ChangeRecorder): Store => {
  const begun = <A>(writer: Fiber.Fiber<unknown, unknown>, job: () => A) => () => {
    recorder.begin(writer)
    return job()
  }
  return {
    ...store,
    write: (operation, job) =>
      recorder.exists
        ? Effect.withFiber((fiber) => store.write(operation, begun(fiber, job)))
        : store.write(operation, job),
    writeInSteps: (operation, job) =>
      recorder.exists
        ? Effect.withFiber((fiber) => store.writeInSteps(operation, begun(fiber, job)))
        : store.writeInSteps(operation, job)
  }
}

export const makeChangeLog = Effect.fnUntraced(function*(
  store: KeyValue,
  catalog: Catalog,
  recorder: ChangeRecorder
): Effect.fn.Return<ChangeLog, never, Scope.Scope> {
  const scope = yield* Scope.Scope
  yield* Scope.addFinalizer(scope, Effect.sync(() => recorder.recent.close()))
  const context: LogContext = { store, catalog, recorder }
  const beginTrimming = yield* trimming(context, scope)
  if (recorder.exists) yield* beginTrimming
  return {
    record: (collection, options) =>
      Effect.andThen(
        Effect.suspend(() =>
          options === undefined && catalog.get(collection)?.recording === undefined
            ? Effect.void
            : Effect.andThen(
              fromProblem(checkedName(collection), operation),
              store.write(operation, () => install(context, collection, options))
            )
        ),
        // What is kept may be another time now.
        options === undefined ? Effect.void : Effect.andThen(beginTrimming, recorder.grown.open)
      ),
    ...logReads(context),
    stream: (collections, options) =>
      Stream.unwrap(Effect.gen(function*() {
        yield* recorder.recent.reader
        const { after } = options ?? {}
        const number = after === undefined ? yield* endOf(context) : yield* checked(context, collections, after)
        return follow(context, collections, number)
      }))
  }
})

/** What reads of a log need. */
export interface LogTables {
  readonly store: Pick<KeyValue, "read">
  readonly catalog: { readonly get: (name: string) => { readonly recording?: Recording | undefined } | undefined }
  readonly recorder: ChangeRecords
}

/** The reads of a log that do not wait. */
export const logReads = (tables: LogTables): Pick<ChangeLog, "end" | "read" | "since"> => ({
  end: Effect.map(endOf(tables), (end) => tables.recorder.positionOf(end)),
  since: (collections, time) =>
    Effect.flatMap(firstOf(tables, collections), (first) =>
      Effect.fromResult(
        tables.store.read(operation, () => {
          // Changes may have been removed meanwhile.
          const { recorder } = tables
          return recorder.positionOf(recorder.before(Math.max(first, recorder.trimmed), time.getTime()))
        })
      )),
  read: (collections, { after, limit }) =>
    Effect.flatMap(
      checked(tables, collections, after),
      (number) => readSome(tables, new Set(collections), number, limit)
    )
})

// internal

const operation = "changes"

interface LogContext extends LogTables {
  readonly store: KeyValue
  readonly catalog: Catalog
  readonly recorder: ChangeRecorder
}

const defaultKeep = Duration.days(7)

const bytesOf = (size: LogOptions["maxSize"]): number =>
  size === undefined ? defaultSize : Number(ByteSize.toBigInt(ByteSize.fromInputUnsafe(size)))

const defaultSize = 256 * 1024 * 1024

/** For jobs: starts or stops to record a collection. */
const install = ({ catalog, recorder }: LogContext, name: string, options: LogOptions | undefined): void => {
  const collection = catalog.ensure(name)
  if (options === undefined) {
    catalog.save({ ...collection, recording: undefined })
    return
  }
  recorder.make(() => catalog.nextNumber())
  if (collection.recording === undefined) recorder.mark()
  catalog.save({
    ...collection,
    recording: {
      since: collection.recording?.since ?? recorder.end,
      keep: Duration.toMillis(Duration.fromInputUnsafe(options.keep ?? defaultKeep)),
      maxSize: bytesOf(options.maxSize)
    }
  })
}

const endOf = ({ recorder, store }: LogTables): Effect.Effect<number, StoreFailure> =>
  Effect.suspend(() => Effect.fromResult(store.read(operation, () => recorder.end)))

/** The number after which all changes of the collections are kept. */
const firstOf = Effect.fnUntraced(function*(
  { catalog, recorder, store }: LogTables,
  collections: ReadonlyArray<string>
): Effect.fn.Return<number, ReadError> {
  let first = yield* Effect.fromResult(store.read(operation, () => recorder.trimmed))
  for (const name of collections) {
    const recording = catalog.get(name)?.recording
    if (recording === undefined) {
      return yield* new QueryRejected({ operation, detail: `the changes of "${name}" are not recorded` })
    }
    first = Math.max(first, recording.since)
  }
  return first
})

/** The number of a position. Fails if changes of the collections after it have been removed. */
const checked = Effect.fnUntraced(function*(
  tables: LogTables,
  collections: ReadonlyArray<string>,
  after: Position
): Effect.fn.Return<number, ReadError | PositionGone> {
  const number = yield* Effect.fromResult(tables.store.read(operation, () => tables.recorder.numberOf(after)))
  const first = yield* firstOf(tables, collections)
  return number === undefined || number < first ? yield* new PositionGone({ position: after }) : number
})

/** Reads a page in several steps, between which other fibers run. */
const readSome = Effect.fnUntraced(function*(
  { recorder, store }: LogTables,
  names: ReadonlySet<string>,
  after: number,
  limit: number
): Effect.fn.Return<ChangePage & { readonly number: number }, ReadError | PositionGone> {
  const changes: Array<StoredChange> = []
  let number = after
  let isUpToDate = false
  while (true) {
    const before = number
    const isComplete = yield* Effect.fromResult(store.read(operation, () => {
      // Each step checks this, since records may have been removed since the last one.
      if (before < recorder.trimmed) return false
      beginStep()
      let work = maxWork
      recorder.scan(before, (record, bytes) => {
        number = record.number
        if (names.has(record.collection)) changes.push(record.change())
        work -= costOfBytes(bytes)
        return changes.length < limit && work > 0 && !isStepDone()
      })
      isUpToDate = number >= recorder.end
      return true
    }))
    if (!isComplete) return yield* new PositionGone({ position: recorder.positionOf(before) })
    if (isUpToDate || changes.length >= limit) break
    yield* Effect.yieldNow
  }
  return { changes, number, position: recorder.positionOf(number), isUpToDate }
})

// The maximum number of documents that one step reads.
const maxWork = 256

const follow = (
  context: LogContext,
  collections: ReadonlyArray<string>,
  start: number
): Stream.Stream<ChangePage, ReadError | PositionGone> => {
  const { recorder } = context
  const names = new Set(collections)
  const pageAfter = (number: number) =>
    Effect.suspend(() => {
      const recent = recorder.recent.after(number)
      if (recent === undefined) return readSome(context, names, number, maxPage)
      const end = number + recent.length
      return Effect.succeed({
        changes: recent.filter(({ collection }) => names.has(collection)),
        number: end,
        position: recorder.positionOf(end),
        isUpToDate: recent.length < maxPage
      })
    })
  return Stream.paginate({ number: start, isFirst: true }, ({ isFirst, number }) =>
    Effect.map(
      isFirst
        ? pageAfter(number)
        : Effect.flatMap(recorder.recent.wait(names, number), (before) => pageAfter(Math.max(before, number))),
      ({ number, ...page }) =>
        [
          page.changes.length === 0 && !(isFirst && page.isUpToDate) ? [] : [page],
          Option.some({ number, isFirst: isFirst && !page.isUpToDate })
        ] as const
    ))
}

/** Starts the removal of old records, once. It sleeps until a record is due, or the log has grown. */
const trimming = (context: LogContext, scope: Scope.Scope) => {
  const { grown } = context.recorder
  const sweep = Effect.catchCause(
    trim(context),
    (cause) => Effect.as(Effect.logWarning("Old changes could not be removed", cause), 0)
  )
  const rounds = Effect.forever(Effect.flatMap(
    // Closed before, since a sweep may fail, and the log may grow meanwhile.
    Effect.andThen(grown.close, sweep),
    (millis) => Effect.race(millis === Infinity ? Effect.never : Effect.sleep(Math.max(millis, minPause)), grown.await)
  ))
  return Effect.cached(Effect.asVoid(Effect.forkIn(rounds, scope)))
}

const minPause = 60_000

/** Removes old records; succeeds with the milliseconds until the next one is old, or `Infinity` without one. */
const trim = Effect.fnUntraced(function*(
  { catalog, recorder, store }: LogContext
): Effect.fn.Return<number, StoreFailure> {
  const recordings = Array.from(catalog.committed.values()).flatMap(({ recording }) =>
    recording === undefined ? [] : [recording]
  )
  const oldest = (yield* Clock.currentTimeMillis) - Math.max(0, ...recordings.map(({ keep }) => keep))
  const size = recordings.reduce((sum, { maxSize }) => sum + maxSize, 0)
  /** The milliseconds until a record is old; 0 once it is due. The last one is due as soon as another one follows. */
  const remaining = ({ number, offset, time }: NumberedRecord) =>
    number >= recorder.end ? Infinity : time < oldest || recorder.bytes - offset > size ? 0 : time - oldest + 1
  while (true) {
    const { next, numbers } = yield* Effect.fromResult(dueRecords(store, recorder, remaining))
    recorder.growBy(next === Infinity ? 0 : size / 10)
    if (numbers.length === 0) return next
    yield* store.write(operation, () => recorder.trim(numbers))
    yield* Effect.yieldNow
  }
})

/** The oldest records, as far as they are due, and the milliseconds until the next one is. A damaged one is as old as the next. */
const dueRecords = (
  store: KeyValue,
  recorder: ChangeRecords,
  remaining: (record: NumberedRecord) => number
): Result.Result<{ readonly numbers: ReadonlyArray<number>; readonly next: number }, StoreFailure> => {
  const seen: Array<number> = []
  let [due, next] = [0, Infinity]
  const see = () => {
    recorder.scan(seen.at(-1) ?? recorder.trimmed, (record) => {
      seen.push(record.number)
      next = remaining(record)
      if (next === 0) due = seen.length
      return next === 0 && due < maxPerJob
    })
    return undefined
  }
  const nextNumber = () => recorder.firstAfter(seen.at(-1) ?? 0)
  while (true) {
    const end = store.read(operation, see)
    const damaged = Result.isFailure(end) && end.failure._tag === "DataDamaged"
      ? store.read(operation, nextNumber)
      : end
    if (Result.isFailure(damaged)) return Result.fail(damaged.failure)
    if (damaged.success === undefined) return Result.succeed({ numbers: seen.slice(0, due), next })
    seen.push(damaged.success)
  }
}
