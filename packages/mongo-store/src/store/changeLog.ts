/**
 * The log of changes on MongoDB: its change streams, with the images of documents before and after each change. A position is a
 * time of the server's log and a resume token of that time, or the time alone, which is the end of it. So positions have the
 * order of the log, whatever tokens look like.
 *
 * All who follow the same collections share a change stream. A stream that begins earlier first reads up to there. A change stream
 * that ends or stops to answer is begun again where it was.
 */
import type { ChangeLog, ChangePage, Document, Position, StoredChange } from "@appkernel/document-store/DocumentStore"
import { maxPage, RecentChanges, rejectDuplicateKey } from "@appkernel/document-store/shared"
import { PositionGone, QueryRejected, type ReadError, StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import {
  Binary,
  BSON,
  type ChangeStream,
  type ChangeStreamDocument,
  MongoServerError,
  type ResumeToken,
  Timestamp
} from "mongodb"
import * as mongo from "../driver/driverCall.ts"
import { recordsImages } from "./collectionAdmin.ts"
import { textOfTime } from "./receipts.ts"
import { recorder } from "./recordChanges.ts"

export const makeOplog = Effect.fnUntraced(function*(
  session: mongo.MongoSession
): Effect.fn.Return<ChangeLog, never, Scope.Scope> {
  const tails: Tails = yield* RcMap.make({
    lookup: (collections: ReadonlyArray<string>) => Effect.suspend(() => tailOf(context, collections))
  })
  const context: LogContext = { session, recorded: new Set(), tails }
  const end = Effect.map(timeOfServer(session), endOf)
  const record = recorder(session, end, (collection, after) => readPage(context, [collection], after, maxPage))
  return {
    record: (collection, options) =>
      options === undefined
        ? Effect.void
        : Effect.andThen(record(collection), Effect.sync(() => context.recorded.add(collection))),
    end,
    since: (collections, time) =>
      Effect.andThen(
        checked(context, collections),
        Effect.map(timeOfServer(session), (now) => {
          const before = timestampText(secondsBefore(time))
          return endOf(before < now ? before : now)
        })
      ),
    read: (collections, { after, limit }) =>
      Effect.andThen(checked(context, collections), readPage(context, collections, after, limit)),
    stream: (collections, options) =>
      Stream.unwrap(Effect.andThen(checked(context, collections), follow(context, collections, options?.after)))
  }
})

// internal

const operation = "changes"

interface LogContext {
  readonly session: mongo.MongoSession
  /** The collections that are known to be recorded. */
  readonly recorded: Set<string>
  /** The change streams that are followed, by their collections. */
  readonly tails: Tails
}

type Tails = RcMap.RcMap<ReadonlyArray<string>, Tail>

const checked = Effect.fnUntraced(function*(
  { recorded, session }: LogContext,
  collections: ReadonlyArray<string>
): Effect.fn.Return<void, ReadError> {
  for (const collection of collections) {
    if (recorded.has(collection)) continue
    if (!(yield* recordsImages({ session, operation, collection }))) {
      return yield* new QueryRejected({ operation, detail: `the changes of "${collection}" are not recorded` })
    }
    recorded.add(collection)
  }
})

type Changes = ChangeStream<Document, ChangeStreamDocument<Document>>

/** Opens a change stream of these collections, which is closed with the scope. */
const open = (
  session: mongo.MongoSession,
  collections: ReadonlyArray<string>,
  start: Document,
  wait: number
): Effect.Effect<Changes, ReadError, Scope.Scope> =>
  Effect.acquireRelease(
    mongo.read(
      callIn(session),
      ({ db }) =>
        Promise.resolve(db.watch<Document>([{ $match: { "ns.coll": { $in: [...collections] } } }], {
          // Where they are required, a server may want those of other collections before it looks at the name.
          fullDocument: "whenAvailable",
          fullDocumentBeforeChange: "whenAvailable",
          maxAwaitTimeMS: wait,
          ...start
        }))
    ),
    (stream) => mongo.cleanUp(() => stream.close())
  )

// The milliseconds that the server waits for a change: at the end of a page, and of the tail.
const shortWait = 20
const longWait = 1_000

// The change streams are those of the database.
const callIn = (session: mongo.MongoSession): mongo.MongoCall => ({ session, operation, collection: "$cmd.aggregate" })

/** The next change, or `undefined` if there is none within the time that the stream waits. */
const next = (
  { recorded, session }: LogContext,
  stream: Changes,
  position: Position
): Effect.Effect<StoredChange | undefined, ReadError | PositionGone> =>
  Effect.matchEffect(
    mongo.withDeadline(session, longWait + session.lookUpLimit, {
      run: () => stream.tryNext(),
      failed: (cause) => ({ cause }),
      late: () => ({ cause: undefined })
    }),
    {
      onSuccess: (event): Effect.Effect<StoredChange | undefined, PositionGone> => {
        // A stream is closed if its database was dropped, and would return `null` at once and for ever.
        if (event === null) return stream.closed ? Effect.fail(new PositionGone({ position })) : Effect.undefined
        const change = changeOf(event)
        if (change !== undefined) return Effect.succeed(change)
        // Whether there are still images is asked again.
        recorded.clear()
        return Effect.fail(new PositionGone({ position }))
      },
      onFailure: ({ cause }): Effect.Effect<never, ReadError | PositionGone> =>
        cause === undefined
          ? Effect.fail(
            new StoreUnavailable({ operation, detail: "the change stream does not answer", retryable: true })
          )
          : cause instanceof MongoServerError && typeof cause.code === "number" && goneCodes.has(cause.code)
          ? Effect.fail(new PositionGone({ position }))
          : rejectDuplicateKey(operation, mongo.failWith(cause, callIn(session)))
    }
  )

/** Codes of the server for a token that it can't resume, and for images that it no longer has, or can't send. */
const goneCodes = new Set([
  9, // FailedToParse
  47, // NoMatchingDocument
  136, // CappedPositionLost
  260, // InvalidResumeToken
  280, // ChangeStreamFatalError
  286, // ChangeStreamHistoryLost
  10_334, // BSONObjectTooLarge: one change and its images
  50_811 // A token that is no BSON
])

/** The time of the last operation that the server has. */
const timeOfServer = (session: mongo.MongoSession): Effect.Effect<string, ReadError> =>
  mongo.read(
    callIn(session),
    ({ db }, signal) => db.command({ ping: 1 }, { signal }).then(({ operationTime }) => timestampText(operationTime))
  )

const readPage = (
  context: LogContext,
  collections: ReadonlyArray<string>,
  after: Position,
  limit: number
): Effect.Effect<ChangePage, ReadError | PositionGone> =>
  Effect.scoped(Effect.gen(function*() {
    const end = yield* timeOfServer(context.session)
    const start = startOf(after)
    if (start === undefined) return yield* new PositionGone({ position: after })
    const stream = yield* open(context.session, collections, start, shortWait)
    const changes: Array<StoredChange> = []
    let position = after
    // The server may give up a long search before its end.
    let empty = 0
    let before: ResumeToken
    while (changes.length < limit) {
      const change = yield* next(context, stream, position)
      if (change !== undefined) {
        position = change.position
        changes.push(change)
      } else if (hasReached(stream.resumeToken, end, before)) {
        const last = endOf(end)
        return { changes, position: position > last ? position : last, isUpToDate: true }
      } else if (++empty === maxEmpty) {
        // Changes may lie between the place that the search has come to and the end.
        const reached = placeOf(stream.resumeToken, position)
        return { changes, position: position > reached ? position : reached, isUpToDate: false }
      } else before = stream.resumeToken
    }
    return { changes, position, isUpToDate: false }
  }))

const maxEmpty = 100

/** A change stream that all who follow its collections share. */
interface Tail {
  readonly held: RecentChanges
  /** Where the first change that was held came after. */
  readonly start: Deferred.Deferred<Position, ReadError | PositionGone>
  /** Fails when the change stream does. */
  readonly failed: Deferred.Deferred<never, ReadError | PositionGone>
}

/** The change stream of these collections. Whoever comes after it has failed needs another one. */
const tailOf = Effect.fnUntraced(function*(
  context: LogContext,
  collections: ReadonlyArray<string>
): Effect.fn.Return<Tail, never, Scope.Scope> {
  const { session, tails } = context
  const held = new RecentChanges(0)
  const start = yield* Deferred.make<Position, ReadError | PositionGone>()
  const failed = yield* Deferred.make<never, ReadError | PositionGone>()
  let position = ""
  let from: Document = {}
  let number = 1
  let failures = 0
  const pump = Effect.scoped(Effect.gen(function*() {
    const stream = yield* open(session, collections, from, longWait)
    while (true) {
      const change = yield* next(context, stream, position)
      if (stream.resumeToken !== undefined) from = { resumeAfter: stream.resumeToken }
      failures = 0
      if (change === undefined) continue
      position = change.position
      held.publish([change], number++, [BSON.calculateObjectSize(change)])
    }
  }))
  const begunAgain: Effect.Effect<never, ReadError | PositionGone> = Effect.catchTag(
    pump,
    "StoreUnavailable",
    (failure) =>
      ++failures > maxFailures ? Effect.fail(failure) : Effect.andThen(
        Effect.logWarning(`The change stream of ${collections.join(", ")} is begun again`, failure),
        Effect.andThen(Effect.provideService(Effect.sleep(failures * pause), Clock.Clock, realClock), begunAgain)
      )
  )
  const followed = Effect.scoped(Effect.gen(function*() {
    yield* held.reader
    const time = yield* timeOfServer(session)
    position = endOf(time)
    from = startAfter(time)
    yield* Deferred.succeed(start, position)
    return yield* begunAgain
  }))
  yield* Effect.forkScoped(Effect.onExit(
    Effect.tapError(followed, () => RcMap.invalidate(tails, collections)),
    (exit) => Effect.andThen(Deferred.done(failed, exit), Deferred.done(start, exit))
  ))
  return { held, start, failed }
})

// How often a change stream is begun again without an answer, and the milliseconds before the first time.
const maxFailures = 3
const pause = 200
// The server's, also in a test.
const realClock = Clock.Clock.defaultValue()

/** Pages of one change or more, which has been read together; the first page says where the stream begins. */
const follow = Effect.fnUntraced(function*(
  context: LogContext,
  collections: ReadonlyArray<string>,
  after: Position | undefined
): Effect.fn.Return<Stream.Stream<ChangePage, ReadError | PositionGone>, ReadError | PositionGone, Scope.Scope> {
  const { failed, held, start } = yield* RcMap.get(context.tails, collections)
  const first = yield* Deferred.await(start)
  const names = new Set(collections)
  const pages = (begin: Position) =>
    Stream.paginate(begin, (position) =>
      Effect.gen(function*() {
        const number = held.numberAt(position, first)
        if (number === undefined) {
          const page = yield* readPage(context, collections, position, maxPage)
          return [page.changes.length === 0 ? [] : [page], Option.some(page.position)] as const
        }
        yield* held.wait(names, number)
        // Changes of before may arrive after it was asked where the log ends.
        const changes = (held.after(number) ?? []).filter((change) => change.position > position)
        const last = changes.at(-1)?.position
        if (last === undefined) return [[], Option.some(position)] as const
        const page: ChangePage = { changes, position: last, isUpToDate: changes.length < maxPage }
        return [[page], Option.some(last)] as const
      }))
  const begin: ChangePage = after === undefined
    ? { changes: [], position: endOf(yield* timeOfServer(context.session)), isUpToDate: true }
    // The server knows whether there is such a place.
    : yield* readPage(context, collections, after, maxPage)
  const isTold = after === undefined || begin.changes.length > 0
  return Stream.interruptWhen(
    Stream.concat(isTold ? Stream.succeed(begin) : Stream.empty, pages(begin.position)),
    Deferred.await(failed)
  )
})

/** The change of a document; `undefined` for another event, such as a dropped collection, or without an image. */
const changeOf = (event: ChangeStreamDocument<Document>): StoredChange | undefined => {
  if (!("documentKey" in event) || !("coll" in event.ns)) return undefined
  const { clusterTime, documentKey, wallTime } = event
  const facts = {
    position: positionOf(timestampText(clusterTime), event._id),
    transaction: clusterTime === undefined ? "" : textOfTime(clusterTime),
    collection: event.ns.coll,
    id: documentKey["_id"],
    time: wallTime ?? DateTime.toDateUtc(DateTime.makeUnsafe((clusterTime?.t ?? 0) * 1_000))
  }
  switch (event.operationType) {
    case "insert":
      return { ...facts, operation: "insert", after: event.fullDocument }
    case "update":
    case "replace": {
      const { fullDocument, fullDocumentBeforeChange } = event
      return isMissing(fullDocument) || isMissing(fullDocumentBeforeChange)
        ? undefined
        : { ...facts, operation: "update", before: fullDocumentBeforeChange, after: fullDocument }
    }
    case "delete": {
      const { fullDocumentBeforeChange } = event
      return isMissing(fullDocumentBeforeChange)
        ? undefined
        : { ...facts, operation: "delete", before: fullDocumentBeforeChange }
    }
    default:
      return undefined
  }
}

// The server has `null` in its place.
const isMissing = (image: Document | null | undefined): image is null | undefined =>
  image === null || image === undefined

// Of one length, so that they are in the order of times.
const timestampText = (time: Timestamp | undefined): string => (time?.toBigInt() ?? 0n).toString(16).padStart(16, "0")

// Times of the log are whole seconds, and that of a change may be of the second before.
const secondsBefore = (time: Date): Timestamp => {
  const seconds = Math.floor(time.getTime() / 1_000) - 2
  return new Timestamp({ t: Math.min(Math.max(0, seconds), maxUint32), i: maxUint32 })
}

const maxUint32 = 0xffff_ffff

// The data of the token, and its type bits, which tell the types of numbers in an identifier.
const positionOf = (time: string, token: ResumeToken): Position => {
  const { _data, _typeBits } = Object(token)
  return `${time}_${_data}${_typeBits === undefined ? "" : `.${Buffer.from(_typeBits.buffer).toString("hex")}`}`
}

// The letter is after the character before tokens.
const endOf = (time: string): Position => `${time}z`

/** Where a change stream begins that has all changes after a position. */
const startOf = (position: Position): Document | undefined => {
  const [, time = "", data, types] = /^([0-9a-f]{16})(?:z|_([0-9A-Fa-f]+)(?:\.([0-9a-f]+))?)$/u.exec(position) ?? []
  if (time === "") return undefined
  if (data === undefined) return startAfter(time)
  const token = types === undefined
    ? { _data: data }
    : { _data: data, _typeBits: new Binary(Buffer.from(types, "hex")) }
  return { resumeAfter: token }
}

const startAfter = (time: string): Document => ({ startAtOperationTime: new Timestamp(BigInt(`0x${time}`) + 1n) })

/**
 * Whether a stream that has no more changes has seen those up to a time, which the tokens of MongoDB begin with. With other tokens it
 * has if it came no further than the time before.
 */
const hasReached = (token: ResumeToken, time: string, before: ResumeToken): boolean => {
  const own = timeOf(token)
  return own === undefined ? textOf(token) === textOf(before) : own >= time
}

/** The position of a token, which is after another one. */
const placeOf = (token: ResumeToken, after: Position): Position =>
  token === undefined ? after : positionOf(timeOf(token) ?? after.slice(0, 16), token)

const timeOf = (token: ResumeToken): string | undefined => /^82([0-9A-F]{16})/u.exec(textOf(token))?.[1]?.toLowerCase()

const textOf = (token: ResumeToken): string => String(Object(token)._data)
