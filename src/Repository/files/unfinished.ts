/**
 * Uploads that come in several requests. What has come of one is in the store of files, in a part for each request or each few
 * megabytes, and a record has them in order. It is a record without holders, which a sweep removes with its parts once it has expired.
 */
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import { dateOf } from "@appkernel/mql/values"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { FileMissing, FileStoreFailed } from "../../Files/FileStore.ts"
import { newIdentifier } from "../../Files/internal.ts"
import type { Document, DocumentStore } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"
import { date, fileRecords, type Stores } from "./fileRecords.ts"

/** What its sender says of an upload before its bytes. */
export interface Announced {
  /** The path at which it was begun. */
  readonly address: string
  /** Who has begun it; `undefined` for somebody without credentials. */
  readonly by: string | undefined
  /** The bytes that it will have. */
  readonly length: number
  readonly name: string | undefined
  readonly type: string | undefined
}

/** An upload of which some bytes have come. */
export interface Unfinished extends Announced {
  readonly id: string
  /** The bytes that have come. */
  readonly offset: number
  readonly parts: ReadonlyArray<Part>
  readonly expires: Date
}

/** Some bytes of an upload. */
export interface Part {
  readonly id: string
  readonly size: number
}

/** Keeps uploads that come in several requests, each for so long after the last of them. */
export const makeUnfinishedUploads = ({ files, store }: Stores, keep: Duration.Duration) => {
  const updated = (id: string, filter: Document, update: Document) =>
    Effect.map(
      rejectDuplicateKey("uploads", store.updateOne(fileRecords, { _id: recordOf(id), ...filter }, update)),
      ({ matchedCount }) => matchedCount === 1
    )
  const later = Effect.map(date, (now) => dateOf(now.getTime() + Duration.toMillis(keep)))
  const find = (id: string) =>
    Effect.map(
      store.findById(fileRecords, recordOf(id)),
      (record) => record === undefined ? undefined : uploadOf(record)
    )

  /** Removes bytes that nothing refers to any more; a sweep does so if that fails, or somebody holds the store. */
  const removed = (ids: ReadonlyArray<string>) =>
    Effect.ignore(Effect.flatMap(files.isHeld, (isHeld) => isHeld ? Effect.void : files.remove(ids)))

  return {
    find,
    begin: Effect.fnUntraced(function*(
      { address, by, length, name, type }: Announced
    ): Effect.fn.Return<Unfinished, ReadError> {
      const id = yield* newIdentifier
      const gone = yield* later
      const said = { address, by: by ?? null, length, name: name ?? null, type: type ?? null }
      yield* rejectDuplicateKey(
        "uploads",
        store.insertOne(fileRecords, { _id: recordOf(id), holders: [], gone, made: [], offset: 0, ...said })
      )
      return { address, by, length, name, type, id, offset: 0, parts: [], expires: gone }
    }),
    /** Adds what has come next. `undefined` if another request has been faster, or has ended it; then the part is removed. */
    append: Effect.fnUntraced(function*(
      { id, offset }: Unfinished,
      part: Part
    ): Effect.fn.Return<Unfinished | undefined, ReadError> {
      const { size } = part
      const isAdded = yield* updated(id, { offset, ...going }, {
        $push: { made: { id: part.id, size } },
        $set: { offset: offset + size, gone: yield* later }
      })
      if (isAdded) return yield* find(id)
      yield* removed([part.id])
      return undefined
    }),
    /** The bytes that have come, in order. */
    read: ({ parts }: Pick<Unfinished, "parts">): Stream.Stream<Uint8Array, FileMissing | FileStoreFailed> =>
      Stream.flatMap(Stream.fromIterable(parts), ({ id }) => files.read(id)),
    /**
     * Says which file an upload becomes, before a document has it: false if another request has done so since it was read, or has ended
     * it. No document can get the file any more that it was to become before.
     */
    become: Effect.fnUntraced(function*(
      { id }: Unfinished,
      file: string,
      before: string | undefined
    ): Effect.fn.Return<boolean, ReadError> {
      if (before !== undefined) {
        const refused = store.insertOne(fileRecords, { _id: before, holders: [], gone: yield* date })
        yield* rejectDuplicateKey("uploads", Effect.catchTag(refused, "DuplicateKey", () => Effect.void))
        // Its writer was faster.
        const known = yield* store.findById(fileRecords, before)
        if (known?.["size"] !== undefined) return false
      }
      return yield* updated(id, { file: before ?? { $exists: false }, ...going }, {
        $set: { file, gone: yield* later }
      })
    }),
    /** The file that it was to become, and whether a document has got it. */
    became: Effect.fnUntraced(function*(
      id: string
    ): Effect.fn.Return<{ readonly file: string; readonly isWritten: boolean } | undefined, ReadError> {
      const record = yield* store.findById(fileRecords, recordOf(id))
      const file: unknown = record?.["file"]
      if (typeof file !== "string") return undefined
      const held = yield* store.findById(fileRecords, file)
      // The sweep makes a record without a size for what nobody has held.
      return { file, isWritten: held?.["size"] !== undefined }
    }),
    /** Removes the parts of an upload whose document is written. What is known of it stays, for a client that missed the answer. */
    finish: Effect.fnUntraced(function*({ id, length, parts }: Unfinished): Effect.fn.Return<void, ReadError> {
      yield* updated(id, {}, { $set: { offset: length, gone: yield* later } })
      yield* removed(parts.map((part) => part.id))
    }),
    /** Forgets an upload. */
    remove: Effect.fnUntraced(function*({ id, parts }: Unfinished): Effect.fn.Return<void, ReadError> {
      yield* updated(id, {}, { $set: { gone: dateOf(0), address: null } })
      yield* removed(parts.map((part) => part.id))
    }),
    discard: removed
  }
}

/** The parts of all uploads. Those of a finished one may be gone. */
export const unfinishedParts = (store: DocumentStore["Service"]): Stream.Stream<Part, ReadError> =>
  Stream.flatMap(
    store.stream(fileRecords, { filter: going }),
    (record) => Stream.fromIterable(uploadOf(record)?.parts ?? [])
  )

// internal

/** What the record of an upload has that is not removed. */
const going: Document = { address: { $ne: null } }

const recordOf = (id: string): string => `upload/${id}`

const uploadOf = (record: Document): Unfinished | undefined => {
  // Only this module writes it.
  const { _id, address, by, gone, length, made, name, offset, type } = record as unknown as Stored
  return address === null ? undefined : {
    id: _id.slice(recordOf("").length),
    address,
    by: by ?? undefined,
    length,
    name: name ?? undefined,
    type: type ?? undefined,
    offset,
    parts: made,
    expires: gone
  }
}

/** How the record of an upload is stored. */
interface Stored {
  readonly _id: string
  /** `null` once it is removed. */
  readonly address: string | null
  readonly by: string | null
  readonly length: number
  readonly name: string | null
  readonly type: string | null
  readonly offset: number
  readonly made: ReadonlyArray<Part>
  readonly gone: Date
}
