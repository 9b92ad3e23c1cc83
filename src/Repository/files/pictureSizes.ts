/**
 * The sizes of pictures: files that are made of others, once each. The record of a file has them, and they are removed with it. What
 * can't be made is recorded as well, so that nobody tries it again.
 */
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { FileMissing, FileStoreFailed, Stored } from "../../Files/FileStore.ts"
import { PictureRefused, resizedPicture, type Resizing } from "../../Files/internal.ts"
import type { Document } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"
import { fileRecords, type Stores } from "./fileRecords.ts"

/** A file that was made of a picture. */
export interface MadePicture extends Stored {
  readonly type: string
}

type Failure = FileMissing | FileStoreFailed | PictureRefused | ReadError

/** Makes the sizes of the files of a store. */
export interface PictureSizes {
  /** The picture in a size, which is made unless it is there. Of all who ask for it at once in this process, one makes it. */
  readonly get: (id: string, resizing: Resizing) => Effect.Effect<MadePicture, Failure>
  /** Makes it in the background, as long as the scope is open. */
  readonly begin: (id: string, resizing: Resizing) => Effect.Effect<void>
}

export const makePictureSizes = Effect.fnUntraced(function*(
  stores: Stores
): Effect.fn.Return<PictureSizes, never, Scope.Scope> {
  const { files, store } = stores
  const making = yield* FiberMap.make<string, MadePicture, Failure>()
  const fork = yield* FiberMap.runtime(making)()
  const waiting = yield* FiberSet.make<unknown, never>()

  const updated = (filter: Document, update: Document) =>
    rejectDuplicateKey("pictures", store.updateOne(fileRecords, filter, update))

  /** What the record says, as long as the bytes are there: a copy of the documents may have left them out. */
  const found = Effect.fnUntraced(function*(
    id: string,
    size: string
  ): Effect.fn.Return<MadePicture | undefined, Failure> {
    const known = madeOf(yield* store.findById(fileRecords, id)).find((one) => one.size === size)
    if (known?.refused !== undefined) return yield* new PictureRefused(known.refused)
    if (known?.picture === undefined) return undefined
    const isThere = yield* files.stat(known.picture.id).pipe(
      Effect.as(true),
      Effect.catchTag("FileMissing", () => Effect.succeed(false))
    )
    if (isThere) return known.picture
    yield* updated({ _id: id }, { $pull: { made: { id: known.picture.id } } })
    return undefined
  })

  /** Records what was made, unless another process has been faster. */
  const recorded = (id: string, size: string, made: Document) =>
    Effect.map(
      updated({ _id: id, "made.size": { $ne: size } }, { $push: { made: { size, ...made } } }),
      ({ matchedCount }) => matchedCount === 1
    )

  const make = Effect.fnUntraced(function*(
    id: string,
    size: string,
    resizing: Resizing
  ): Effect.fn.Return<MadePicture, Failure> {
    const known = yield* found(id, size)
    if (known !== undefined) return known
    const { bytes, type } = yield* Effect.tapError(
      resizedPicture(files.read(id), resizing),
      (error) => error._tag === "PictureRefused" ? recorded(id, size, { refused: { ...error } }) : Effect.void
    )
    // No limit is given.
    const stored = yield* Effect.catchTag(files.put(Stream.make(bytes)), "FileTooLarge", Effect.die)
    const picture = { ...stored, type }
    if (yield* recorded(id, size, { id: stored.id, picture })) return picture
    const faster = yield* found(id, size)
    if (faster === undefined) return picture
    yield* files.remove([stored.id])
    return faster
  })

  const run = (id: string, resizing: Resizing) => {
    const { fit, format, height, maxPixels, quality, width } = resizing
    const size = JSON.stringify([width, height, fit, format, quality, maxPixels])
    const key = `${id} ${size}`
    // In one step, so that nobody begins it in between.
    return Effect.sync(() =>
      Option.getOrElse(FiberMap.getUnsafe(making, key), () => fork(key, make(id, size, resizing)))
    )
  }

  return {
    get: (id, resizing) => Effect.flatMap(run(id, resizing), (fiber) => Fiber.join(fiber)),
    begin: (id, resizing) =>
      Effect.flatMap(FiberSet.size(waiting), (count) =>
        count >= maxWaiting
          ? Effect.void
          : Effect.asVoid(
            FiberSet.run(
              waiting,
              background.withPermit(Effect.flatMap(run(id, resizing), (fiber) => Fiber.await(fiber)))
            )
          ))
  }
})

// internal

/** One is made for nobody at a time, so that those who ask for one don't wait for all of these. */
const background = Semaphore.makeUnsafe(1)

/** How many wait for their turn. Those beyond are made for the first who asks. */
const maxWaiting = 1_000

/** What a record says of one size. */
interface Made {
  readonly size: string
  readonly picture?: MadePicture
  readonly refused?: { readonly limit?: number }
}

// Only this module writes it.
const madeOf = (record: Document | undefined): ReadonlyArray<Made> => (record?.["made"] ?? []) as ReadonlyArray<Made>
