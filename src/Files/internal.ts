/** Which store has the files of a store of documents: the one that a program provides, or else the one that belongs to it. */
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Option from "effect/Option"
import { FileStore, makeFolder, makeMemory } from "./FileStore.ts"
import type { Service } from "./port/service.ts"

/** A store of documents, as far as its files depend on it. */
interface Documents {
  readonly folder?: string | undefined
}

/** Says which files belong to a store of documents. */
export const belongTo = (documents: Documents, files: Effect.Effect<Service>): void => {
  others.set(documents, files)
}

/** The store of the files of documents. */
export const filesOfStore = (documents: Documents): Effect.Effect<Service> =>
  Effect.flatMap(
    Effect.serviceOption(FileStore),
    Option.match({ onNone: () => ownOf(documents), onSome: Effect.succeed })
  )

// internal

const others = new WeakMap<Documents, Effect.Effect<Service>>()

/** One for each store of documents: all that use it have the same files in memory. */
const ownOf = memoize((documents: Documents): Effect.Effect<Service> =>
  Effect.runSync(Effect.cached(
    others.get(documents) ?? (documents.folder === undefined ? makeMemory : makeFolder(`${documents.folder}/files`))
  ))
)
