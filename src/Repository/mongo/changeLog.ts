/**
 * The log of changes on MongoDB: its change streams, with the images of documents before and after each change. A position
 * is a resume token. Each reader has a change stream of its own.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Binary, type ChangeStream, type ChangeStreamDocument, MongoServerError, type ResumeToken } from "mongodb"
import type { ChangeLog, ChangePage, Document, Position, StoredChange } from "../DocumentStore.ts"
import { PositionGone, QueryRejected, type ReadError, Unsupported } from "../RepositoryError.ts"
import { rejectDuplicateKey } from "../store/rejectDuplicateKey.ts"
import { recordImages, recordsImages } from "./collectionAdmin.ts"
import * as mongo from "./driverCall.ts"
import { textOfTime } from "./receipts.ts"

/** @internal */
export const makeChangeLog = (session: mongo.MongoSession): ChangeLog => {
  const context: LogContext = { session, recorded: new Set() }
  return {
    record: (collection, options) => options === undefined ? Effect.void : record(context, collection),
    end: endOf(session),
    read: (collections, { after, limit }) =>
      Effect.scoped(Effect.andThen(
        checked(context, collections),
        Effect.gen(function*() {
          const end = yield* endOf(session)
          const stream = yield* open(session, collections, after)
          return yield* readPage(session, stream, after, limit, end)
        })
      )),
    stream: (collections, options) =>
      Stream.unwrap(Effect.andThen(checked(context, collections), follow(session, collections, options?.after)))
  }
}

// internal

const operation = "changes"

interface LogContext {
  readonly session: mongo.MongoSession
  /** The collections that are known to be recorded. */
  readonly recorded: Set<string>
}

const record = Effect.fnUntraced(function*(
  { recorded, session }: LogContext,
  collection: string
): Effect.fn.Return<void, ReadError> {
  const call = { session, operation: "record", collection }
  const isReplicated = yield* mongo.read(
    call,
    ({ db }, signal) =>
      db.command({ hello: 1 }, { signal }).then(({ msg, setName }) => setName !== undefined || msg === "isdbgrid")
  )
  if (!isReplicated) return yield* unsupported(collection, "the server is no member of a replica set")
  yield* Effect.catchTag(recordImages(call), "QueryRejected", ({ detail }) => unsupported(collection, detail))
  recorded.add(collection)
})

const unsupported = (collection: string, reason: string) =>
  new Unsupported({
    operation: "record",
    feature: `a log of the changes of "${collection}", which needs a replica set of MongoDB 6.0 or newer: ${reason}`
  })

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

/** Opens a change stream of these collections; without any, it has no changes. The scope closes it. */
const open = (
  session: mongo.MongoSession,
  collections: ReadonlyArray<string>,
  after: Position | undefined,
  wait = shortWait
): Effect.Effect<Changes, ReadError | PositionGone, Scope.Scope> => {
  const token = after === undefined ? undefined : tokenOf(after)
  return after !== undefined && token === undefined
    ? Effect.fail(new PositionGone({ position: after }))
    : Effect.acquireRelease(
      mongo.read(
        callIn(session),
        ({ db }) =>
          Promise.resolve(db.watch<Document>([{ $match: { "ns.coll": { $in: [...collections] } } }], {
            fullDocument: "required",
            fullDocumentBeforeChange: "required",
            maxAwaitTimeMS: wait,
            ...token === undefined ? {} : { resumeAfter: token }
          }))
      ),
      (stream) => mongo.cleanUp(() => stream.close())
    )
}

// The milliseconds that the server waits for a change: at the end of a page, and of the tail.
const shortWait = 20
const longWait = 1_000

// The change streams are those of the database.
const callIn = (session: mongo.MongoSession): mongo.MongoCall => ({ session, operation, collection: "$cmd.aggregate" })

/** The next event, or `undefined` if there is none within the time that the stream waits. */
const next = (
  session: mongo.MongoSession,
  stream: Changes,
  position: Position
): Effect.Effect<ChangeStreamDocument<Document> | undefined, ReadError | PositionGone> =>
  Effect.matchEffect(Effect.tryPromise({ try: () => stream.tryNext(), catch: (cause) => new Caught(cause) }), {
    onSuccess: (event) => Effect.succeed(event ?? undefined),
    onFailure: ({ cause }): Effect.Effect<never, ReadError | PositionGone> =>
      cause instanceof MongoServerError && typeof cause.code === "number" && goneCodes.has(cause.code)
        ? Effect.fail(new PositionGone({ position }))
        : rejectDuplicateKey(operation, mongo.failWith(cause, callIn(session)))
  })

// Carries the driver's error, whose code decides.
class Caught {
  readonly _tag = "Caught"
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}

/** Codes of the server for a token that it can't resume, and for images that it no longer has. */
const goneCodes = new Set([
  9, // FailedToParse
  47, // NoMatchingDocument
  136, // CappedPositionLost
  260, // InvalidResumeToken
  280, // ChangeStreamFatalError
  286, // ChangeStreamHistoryLost
  50_811 // A token that is no BSON
])

/** The position after the last change: that of a new change stream without changes. */
const endOf = (session: mongo.MongoSession): Effect.Effect<Position, ReadError> =>
  Effect.scoped(Effect.flatMap(open(session, [], undefined), (stream) =>
    Effect.map(
      mongo.read(callIn(session), () => stream.tryNext()),
      () => positionOf(stream.resumeToken)
    ))).pipe(Effect.catchTag("PositionGone", (gone) => Effect.die(gone)))

const readPage = Effect.fnUntraced(function*(
  session: mongo.MongoSession,
  stream: Changes,
  after: Position,
  limit: number,
  end: Position
): Effect.fn.Return<ChangePage, ReadError | PositionGone> {
  const changes: Array<StoredChange> = []
  let position = after
  // The server may return nothing before it has searched all changes.
  let empty = 0
  while (changes.length < limit && empty < maxEmpty) {
    const event = yield* next(session, stream, position)
    if (event === undefined) {
      position = positionOf(stream.resumeToken)
      if (position >= end) return { changes, position, isUpToDate: true }
      empty += 1
      continue
    }
    const change = changeOf(event)
    if (change === undefined) return yield* new PositionGone({ position })
    position = change.position
    changes.push(change)
  }
  return { changes, position, isUpToDate: changes.length < limit }
})

const maxEmpty = 3

/** Pages of the changes that were read together. The first page has none, and tells the position of the beginning. */
const follow = Effect.fnUntraced(function*(
  session: mongo.MongoSession,
  collections: ReadonlyArray<string>,
  after: Position | undefined
): Effect.fn.Return<Stream.Stream<ChangePage, ReadError | PositionGone>, ReadError | PositionGone, Scope.Scope> {
  let position = after ?? (yield* endOf(session))
  const stream = yield* open(session, collections, position, longWait)
  const page = Effect.gen(function*() {
    const event = yield* next(session, stream, position)
    if (event === undefined) {
      position = positionOf(stream.resumeToken)
      return []
    }
    const change = changeOf(event)
    if (change === undefined) return yield* new PositionGone({ position })
    position = change.position
    return [{ changes: [change], position, isUpToDate: false }]
  })
  const first: ChangePage = { changes: [], position, isUpToDate: after === undefined }
  return Stream.concat(
    after === undefined ? Stream.succeed(first) : Stream.empty,
    Stream.paginate(undefined, () => Effect.map(page, (pages) => [pages, Option.some(undefined)] as const))
  )
})

/** The change of a document; `undefined` for another event, such as a dropped collection, or without an image. */
const changeOf = (event: ChangeStreamDocument<Document>): StoredChange | undefined => {
  if (!("documentKey" in event) || !("coll" in event.ns)) return undefined
  const { clusterTime, documentKey, wallTime } = event
  const facts = {
    position: positionOf(event._id),
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
      return fullDocument === undefined || fullDocumentBeforeChange === undefined
        ? undefined
        : { ...facts, operation: "update", before: fullDocumentBeforeChange, after: fullDocument }
    }
    case "delete":
      return event.fullDocumentBeforeChange === undefined
        ? undefined
        : { ...facts, operation: "delete", before: event.fullDocumentBeforeChange }
    default:
      return undefined
  }
}

// The data of the token, and its type bits, which tell the types of numbers in an identifier.
const positionOf = (token: ResumeToken): Position => {
  const { _data, _typeBits } = Object(token)
  return _typeBits === undefined ? String(_data) : `${_data}.${Buffer.from(_typeBits.buffer).toString("hex")}`
}

const tokenOf = (position: Position): Document | undefined => {
  const [, data, types] = /^([0-9A-Fa-f]+)(?:\.([0-9a-f]+))?$/u.exec(position) ?? []
  if (data === undefined) return undefined
  return types === undefined ? { _data: data } : { _data: data, _typeBits: new Binary(Buffer.from(types, "hex")) }
}
