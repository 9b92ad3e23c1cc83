/** Copies of the files of documents, for backups and for other stores, and whether they are what the documents refer to. */
import { openLog } from "@appkernel/embedded-store/internal"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { filesOfStore, makeFolder, type Service } from "../../Files/internal.ts"
import type { Document, DocumentStore } from "../DocumentStore.ts"
import { type ReadError, StoreUnavailable } from "../RepositoryError.ts"
import { asStoreFailure, fileRecords, holdersOf, placeOfFiles } from "./fileRecords.ts"
import { unfinishedParts } from "./unfinished.ts"

/** What was found of the files that documents refer to. */
export interface FoundFiles {
  readonly files: number
  /** Whether the folder has none of them: then they are not read. */
  readonly isElsewhere: boolean
  /** The identifiers of files whose bytes are not those that were written. */
  readonly damaged: ReadonlyArray<string>
  readonly missing: ReadonlyArray<string>
}

/** Asks that no file of a folder is removed until the scope closes, if it has some. */
export const holdFiles = (folder: string): Effect.Effect<void, StoreUnavailable, Scope.Scope> =>
  Effect.suspend(() =>
    fs.existsSync(filesIn(folder))
      ? Effect.mapError(Effect.flatMap(makeFolder(filesIn(folder)), ({ hold }) => hold), asStoreFailure)
      : Effect.void
  )

/** Copies what the other store does not have. What is removed meanwhile is left out. */
export const copyFiles = (from: Service, to: Service): Effect.Effect<void, StoreUnavailable> =>
  Stream.runForEach(
    from.entries,
    Effect.fnUntraced(function*({ id, size }) {
      const there = yield* Effect.catchTag(to.stat(id), "FileMissing", () => Effect.undefined)
      if (there?.size === size) return
      if (there !== undefined) yield* to.remove([id])
      yield* Effect.catchTag(to.put(from.read(id), { id }), ["FileMissing", "FileTooLarge"], () => Effect.void)
    })
  ).pipe(Effect.mapError(asStoreFailure))

/**
 * Copies the files of a folder into another one, which has the documents already. Fails if these refer to a file that is missing or
 * damaged then. Those that they do not refer to are swept later.
 */
export const copyFolderFiles = Effect.fnUntraced(function*(from: string, to: string) {
  // Where they are elsewhere now, what is left in the folder is what nobody refers to any more.
  const isElsewhere = yield* Effect.mapError(
    Effect.scoped(Effect.map(recordsIn(to), ({ isElsewhere }) => isElsewhere)),
    ({ message }) => unavailable(message)
  )
  if (isElsewhere) return
  if (fs.existsSync(filesIn(from))) yield* copyFiles(yield* makeFolder(filesIn(from)), yield* makeFolder(filesIn(to)))
  const { damaged, missing } = yield* Effect.mapError(foundInFolder(to), ({ message }) => unavailable(message))
  const [first] = [...missing, ...damaged]
  if (first === undefined) return
  return yield* unavailable(
    `${missing.length} files of documents are missing, and ${damaged.length} are damaged: ${first}`
  )
})

/**
 * Copies the files of documents that were copied, and the parts of unfinished uploads. Counts the files that are in the target then,
 * and those that the source does not have: they are kept elsewhere.
 */
export const copyDocumentFiles = Effect.fnUntraced(function*(
  from: DocumentStore["Service"],
  to: DocumentStore["Service"]
): Effect.fn.Return<{ readonly files: number; readonly missing: number }, ReadError> {
  const [source, target] = [yield* filesOfStore(from), yield* filesOfStore(to)]
  /** The checksum of a new copy, or whether there is one: one of this size is not made again. */
  const copied = Effect.fnUntraced(
    function*(id: string, size: unknown) {
      const there = yield* Effect.catchTag(target.stat(id), "FileMissing", () => Effect.undefined)
      if (there?.size === size) return true
      if (there !== undefined) yield* target.remove([id])
      const { sha256 } = yield* target.put(source.read(id), { id })
      return sha256
    },
    Effect.catchTag(["FileMissing", "FileTooLarge"], () => Effect.succeed(false)),
    Effect.mapError(asStoreFailure)
  )
  let [files, missing] = [0, 0]
  yield* Stream.runForEach(
    from.stream(fileRecords, { filter: { holders: { $exists: true, $ne: [] } } }),
    Effect.fnUntraced(function*({ _id, sha256, size }) {
      const id = String(_id)
      const copy = yield* copied(id, size)
      if (copy === false) missing++
      else if (copy === true || copy === sha256) files++
      else return yield* Effect.andThen(target.remove([id]), unavailable(`the file ${id} is damaged`))
    }, Effect.catchTag("FileStoreFailed", (error) => Effect.fail(asStoreFailure(error))))
  )
  yield* Stream.runForEach(unfinishedParts(from), ({ id, size }) => copied(id, size))
  return { files, missing }
})

/** Reads all files that the documents of a folder refer to. No other process of this program has it open. */
export const foundInFolder = (folder: string): Effect.Effect<FoundFiles, ReadError> =>
  Effect.scoped(Effect.gen(function*() {
    const { held, isElsewhere } = yield* recordsIn(folder)
    if (isElsewhere) return { files: held.length, isElsewhere, damaged: [], missing: [] }
    return { isElsewhere, ...yield* foundFiles(held, yield* makeFolder(filesIn(folder))) }
  }))

// internal

/** The folder of the files of a folder of documents. */
const filesIn = (folder: string): string => `${folder}/files`

/** The records of the files that documents of a folder have, and whether the files are in the folder. */
const recordsIn = Effect.fnUntraced(function*(folder: string) {
  const { documents } = yield* openLog(folder)
  const records = yield* documents(fileRecords)
  const place = records.find(({ _id }) => _id === placeOfFiles)
  return {
    held: records.filter((record) => holdersOf(record).length > 0),
    isElsewhere: place === undefined ? !fs.existsSync(filesIn(folder)) : place["beside"] !== true
  }
})

/** Reads the files of records. */
const foundFiles = Effect.fnUntraced(function*(
  held: ReadonlyArray<Document>,
  files: Service
): Effect.fn.Return<Omit<FoundFiles, "isElsewhere">, StoreUnavailable> {
  const [damaged, missing]: [Array<string>, Array<string>] = [[], []]
  for (const { _id, sha256 } of held) {
    const id = String(_id)
    const hash = createHash("sha256")
    const isThere = yield* Stream.runForEach(files.read(id), (piece) => Effect.sync(() => hash.update(piece))).pipe(
      Effect.as(true),
      Effect.catchTag("FileMissing", () => Effect.succeed(false)),
      Effect.mapError(asStoreFailure)
    )
    if (!isThere) missing.push(id)
    else if (hash.digest("hex") !== sha256) damaged.push(id)
  }
  return { files: held.length, damaged, missing }
})

const unavailable = (detail: string): StoreUnavailable =>
  new StoreUnavailable({ operation: "files", detail, retryable: false })
