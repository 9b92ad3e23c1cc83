/**
 * Files in GridFS, in the database of the documents. Their identifiers are texts; a file that another client of GridFS has put
 * is named by its ObjectId in hexadecimal digits.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import type { StoreError } from "@appkernel/document-store/StoreError"
import * as mongo from "@appkernel/mongo-store/driver"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { FileMissing, FileStoreFailed } from "../port/errors.ts"
import type { Entry, Service } from "../port/service.ts"
import { isIdentifier, newIdentifier, putting } from "./contents.ts"

/** The collections of the bucket are `appkernel_files.files` and `appkernel_files.chunks`. */
export const filesBucket = "appkernel_files"

export const makeGridFsFiles = (session: mongo.MongoSession, description: string): Service => {
  const bucket = session.files(filesBucket)
  const names = { files: `${filesBucket}.files`, chunks: `${filesBucket}.chunks`, holds: `${filesBucket}.holds` }
  const call = (operation: string, collection: string): mongo.MongoCall => ({ session, operation, collection })
  const failed = (operation: string) => (cause: unknown): FileStoreFailed => {
    const error = mongo.classify(cause, {
      operation,
      collection: names.chunks,
      redact: session.redact,
      isLimited: false
    })
    return told(operation)(error ?? { message: String(cause) })
  }

  /** Gives a piece to the stream, or its end, and waits until it is taken. */
  const written = (upload: mongo.GridFSBucketWriteStream, piece: Uint8Array | undefined) =>
    Effect.uninterruptible(Effect.callback<void, FileStoreFailed>((resume) => {
      const taken = (error?: Error | null): void => {
        resume(error ? Effect.fail(failed("put")(error)) : Effect.void)
      }
      if (piece === undefined) upload.end(taken)
      else upload.write(piece, taken)
    }))

  /** Succeeds with the number of the chunks. */
  const uploaded = <E, R>(id: string, content: Stream.Stream<Uint8Array, E, R>, isCopy: boolean) =>
    Effect.suspend(() => {
      const upload = bucket.openUploadStreamWithId(nameOf(id), id)
      // Whoever waits for a piece learns of it.
      upload.on("error", () => {})
      return Stream.runForEach(content, (piece) => written(upload, piece)).pipe(
        Effect.andThen(written(upload, undefined)),
        // The chunks may be those of another copy of the file.
        Effect.onError(() => isCopy ? Effect.void : Effect.ignore(Effect.tryPromise(() => upload.abort()))),
        Effect.map(() => Math.ceil(upload.length / upload.chunkSizeBytes))
      )
    })

  const found = (id: string) => {
    const missing = new FileMissing({ id })
    return isIdentifier(id) || isObjectId(id)
      ? mongo.read(call("stat", names.files), (files) => files.findOne({ _id: nameOf(id) })).pipe(
        Effect.mapError(told("stat")),
        Effect.flatMap((file) => file === null ? Effect.fail(missing) : Effect.succeed(entryOf(file)))
      )
      : Effect.fail(missing)
  }

  const remove = Effect.fnUntraced(function*(ids: ReadonlyArray<string>) {
    const all = { $in: ids.filter((id) => isIdentifier(id) || isObjectId(id)).map(nameOf) }
    yield* mongo.remove(call("remove", names.files), (files) => files.deleteMany({ _id: all }))
    yield* mongo.remove(call("remove", names.chunks), (chunks) => chunks.deleteMany({ files_id: all }))
  }, Effect.mapError(told("remove")))

  const isThere = (id: string): Effect.Effect<boolean, FileStoreFailed> =>
    found(id).pipe(Effect.as(true), Effect.catchTag("FileMissing", () => Effect.succeed(false)))

  const write = Effect.fnUntraced(function*<E, R>(
    id: string,
    content: Stream.Stream<Uint8Array, E, R>,
    isCopy: boolean
  ): Effect.fn.Return<void, E | FileStoreFailed, R> {
    if (isCopy) {
      // Bytes never change.
      if (yield* isThere(id)) return yield* Stream.runDrain(content)
      // The chunks of a copy that was killed would be in the way.
      yield* remove([id])
    }
    const count = yield* uploaded(id, content, isCopy)
    if (!isCopy) return
    // Another copy may have removed some before it began.
    const chunks = yield* mongo.read(
      call("put", names.chunks),
      (chunks) => chunks.countDocuments({ files_id: nameOf(id) })
    ).pipe(Effect.mapError(told("put")))
    if (chunks === count) return
    yield* remove([id])
    return yield* new FileStoreFailed({ operation: "put", detail: `${id} is copied twice at once`, retryable: true })
  })

  const documentsOf = (operation: string, collection: string, filter: Document, projection: Document) =>
    mongo.readBatches(
      call(operation, collection),
      (documents) => documents.find(filter, { projection, ...mongo.asBytes })
    )
      .pipe(
        Stream.mapError(told(operation))
      )

  /** The chunks of a file that was not completed, as a file of no size that was written with its last one. */
  const incomplete = Effect.fnUntraced(function*(ids: ReadonlyArray<unknown>) {
    const complete = yield* Stream.runCollect(
      documentsOf("entries", names.files, { _id: { $in: ids } }, { _id: 1 })
    )
    const known = new Set(complete.map(({ _id }) => String(_id)))
    return yield* Effect.forEach(ids.filter((id) => !known.has(String(id))), (id) =>
      mongo.read(
        call("entries", names.chunks),
        (chunks) => chunks.findOne({ files_id: id }, { sort: { n: -1 }, projection: { _id: 1 } })
      ).pipe(
        Effect.mapError(told("entries")),
        Effect.map((chunk): ReadonlyArray<Entry> => {
          const last = new mongo.ObjectId(String(chunk?._id ?? "0".repeat(24))).getTimestamp()
          return chunk === null ? [] : [{ id: String(id), size: 0, modified: DateTime.fromDateUnsafe(last) }]
        })
      ))
  })

  const holding = (run: (id: string, now: Date) => Effect.Effect<unknown, StoreError>) => (id: string) =>
    Effect.flatMap(DateTime.now, (now) => Effect.mapError(run(id, DateTime.toDateUtc(now)), told("hold")))
  const renewed = holding((id, now) =>
    mongo.write(
      call("hold", names.holds),
      (holds) => holds.updateOne({ _id: nameOf(id) }, { $set: { at: now } }, { upsert: true })
    )
  )

  const held = Effect.fnUntraced(function*(id: string) {
    yield* Effect.acquireRelease(
      renewed(id),
      () => Effect.ignore(mongo.remove(call("hold", names.holds), (holds) => holds.deleteOne({ _id: nameOf(id) })))
    )
    yield* Effect.forkScoped(
      Effect.repeat(Effect.ignore(renewed(id)), Schedule.spaced(Duration.times(staleAfter, 1 / 12)))
    )
  })

  return {
    description: `files in GridFS of ${description}`,
    put: putting(write),
    read: (id, range) =>
      Stream.unwrap(Effect.map(found(id), ({ size }) => {
        const start = range?.offset ?? 0
        const end = Math.min(size, start + (range?.length ?? size))
        return start >= end
          ? Stream.empty
          : Stream.suspend(() =>
            Stream.fromAsyncIterable<Uint8Array, FileStoreFailed>(
              bucket.openDownloadStream(nameOf(id), { start, end }),
              failed("read")
            )
          )
      })),
    stat: (id) => found(id),
    remove,
    entries: Stream.concat(
      Stream.map(documentsOf("entries", names.files, {}, {}), entryOf),
      documentsOf("entries", names.chunks, { n: 0 }, { files_id: 1 }).pipe(
        Stream.grouped(200),
        Stream.mapEffect((chunks) => incomplete(chunks.map(({ files_id }) => files_id))),
        Stream.map((entries) => entries.flat()),
        Stream.flattenIterable
      )
    ),
    hold: Effect.flatMap(newIdentifier, held),
    isHeld: Effect.flatMap(DateTime.now, (now) => {
      // That of a process that is gone for good.
      const forgotten = DateTime.toDateUtc(DateTime.subtractDuration(now, Duration.days(1)))
      const since = DateTime.toDateUtc(DateTime.subtractDuration(now, staleAfter))
      return mongo.read(
        call("hold", names.holds),
        (holds) => holds.countDocuments({ at: { $gt: since } }, { limit: 1 })
      ).pipe(
        Effect.tap(mongo.remove(call("hold", names.holds), (holds) => holds.deleteMany({ at: { $lt: forgotten } }))),
        Effect.mapBoth({ onSuccess: (count) => count > 0, onFailure: told("hold") })
      )
    })
  }
}

// internal

/** The age after which a hold is one of a process that was killed. */
const staleAfter = Duration.minutes(2)

const isObjectId = (id: string): boolean => /^[0-9a-f]{24}$/u.test(id)

// The driver's types have ObjectIds only; GridFS takes any identifier.
const nameOf = (id: string): mongo.ObjectId => isObjectId(id) ? new mongo.ObjectId(id) : id as never

const entryOf = ({ _id, length, uploadDate }: Document): Entry => ({
  id: String(_id),
  size: Number(length),
  // Every client of GridFS sets it.
  modified: DateTime.fromDateUnsafe(uploadDate as Date)
})

const told =
  (operation: string) => (error: { readonly message: string; readonly retryable?: boolean }): FileStoreFailed =>
    new FileStoreFailed({ operation, detail: error.message, retryable: error.retryable ?? false })
