/** Which store has the files of a store of documents: the one that a program provides, or else the one that belongs to it. */
import type { MongoSession } from "@appkernel/mongo-store/driver"
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Option from "effect/Option"
import { filesKey } from "../internal/filesKey.ts"
import { FileStore, makeFolder, makeMemory } from "./FileStore.ts"
import type { Service } from "./port/service.ts"

export { makeFolder } from "./FileStore.ts"
export {
  isCleanable,
  isPicture,
  isSharpMissing,
  putCleaned,
  resizedPicture,
  type Resizing
} from "./pictures/pictures.ts"
export { FileMissing, FileStoreFailed, PictureRefused } from "./port/errors.ts"
export type { Entry, Service } from "./port/service.ts"
export { isIdentifier, newIdentifier, putting } from "./stores/contents.ts"

/** A store of documents, as far as its files depend on it. */
interface Documents {
  readonly folder?: string | undefined
  readonly [filesKey]?: Effect.Effect<Service>
}

/** The store of the files of documents. */
export const filesOfStore = (documents: Documents): Effect.Effect<Service> =>
  Effect.flatMap(
    Effect.serviceOption(FileStore),
    Option.match({ onNone: () => ownOf(documents), onSome: (files) => Effect.succeed(files) })
  )

/** Files in GridFS, on the connection of a store of documents that the description names. */
export const makeGridFs = (session: MongoSession, description: string): Effect.Effect<Service> =>
  Effect.map(
    Effect.promise(() => import("./stores/gridFs.ts")),
    ({ makeGridFsFiles }) => makeGridFsFiles(session, description)
  )

/** Whether the files are in the folder of the documents. */
export const isBeside = ({ folder }: Documents, { description }: Pick<Service, "description">): boolean =>
  folder !== undefined && description === `files in ${folderBeside(folder)}`

// internal

const folderBeside = (folder: string): string => `${folder}/files`

/** One for each store of documents: all that use it have the same files in memory. */
const ownOf = memoize((documents: Documents): Effect.Effect<Service> =>
  Effect.runSync(Effect.cached(
    documents[filesKey]
      ?? (documents.folder === undefined ? makeMemory : makeFolder(folderBeside(documents.folder)))
  ))
)
