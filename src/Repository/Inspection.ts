/** Compares what is stored with a model: its documents, and its indexes. */
import { excludeEachOther, isSameIndex } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { managedField } from "../Model/internal.ts"
import type * as Model from "../Model/Model.ts"
import { hasVersions } from "./collection/storedCollection.ts"
import { DocumentStore, type IndexDescription } from "./DocumentStore.ts"
import { historyIndex, historyOf } from "./repository/historyEntry.ts"
import { indexesOf } from "./repository/modelIndexes.ts"
import type { ReadError } from "./RepositoryError.ts"
import { type Misfit, misfits } from "./Upgrade.ts"
import { installableIndexes, keptIndexes } from "./versions/versionIndexes.ts"

/** The documents of a collection that do not fit the model. */
export interface Documents {
  readonly collection: string
  /** The number of documents that were read. */
  readonly documents: number
  /** The number of documents that do not fit. */
  readonly unfit: number
  /** For each field, or path in it, the number of documents that it is wrong in. */
  readonly fields: { readonly [path: string]: number }
  /** The first ones, with their problems. */
  readonly examples: ReadonlyArray<Misfit>
}

/** The names of the indexes of a collection that differ from the model's. */
export interface Indexes {
  readonly collection: string
  /** The indexes that the model has and the store lacks. */
  readonly missing: ReadonlyArray<string>
  /** The indexes that the store has with another definition. */
  readonly different: ReadonlyArray<string>
  /** The indexes that the store has and the model lacks. */
  readonly extra: ReadonlyArray<string>
}

/** Reads the documents of a model, or as many as `sample` says, deleted ones included. `ids` is the number of examples. */
export const documentsOf = Effect.fn("Inspection.documentsOf")(function*(
  model: Model.Any,
  { ids, sample }: { readonly ids: number; readonly sample?: number | undefined }
): Effect.fn.Return<Documents, ReadError, DocumentStore> {
  const store = yield* DocumentStore
  const documents = yield* store.count(model.modelName, {})
  const fields = new Map<string, number>()
  const examples: Array<Misfit> = []
  let unfit = 0
  yield* Stream.runForEach(misfits(model, { limit: sample }), (misfit) =>
    Effect.sync(() => {
      unfit += 1
      const paths = new Set(misfit.problems.map(({ field }) => field))
      for (const path of paths) fields.set(path, (fields.get(path) ?? 0) + 1)
      if (examples.length < ids) examples.push(misfit)
    }))
  return {
    collection: model.modelName,
    documents: Math.min(documents, sample ?? documents),
    unfit,
    fields: Object.fromEntries(fields),
    examples
  }
})

/** Compares the indexes of a model with those of the store; of a model with a history, those of the history as well. */
export const indexDifferences = Effect.fn("Inspection.indexDifferences")(function*(
  model: Model.Any
): Effect.fn.Return<ReadonlyArray<Indexes>, ReadError, DocumentStore> {
  const store = yield* DocumentStore
  return yield* Effect.forEach(
    yield* wantedOf(model, store),
    ([collection, wanted]) =>
      Effect.map(store.listIndexes(collection), (installed) => {
        const known = new Map(installed.map((index) => [index.name, index]))
        const names = new Set(wanted.map(({ name }) => name))
        return {
          collection,
          missing: wanted.filter(({ name }) => !known.has(name)).map(({ name }) => name),
          different: wanted.filter((index) => !isSameIndex(index, known.get(index.name) ?? index)).map(({ name }) =>
            name
          ),
          extra: installed.filter(({ name }) => !names.has(name)).map(({ name }) => name)
        }
      })
  )
})

/**
 * Installs the indexes of a model, and rebuilds those with another definition. Drops those that the model does not have if
 * `drop` is true.
 */
export const applyIndexes = Effect.fn("Inspection.applyIndexes")(function*(model: Model.Any, drop: boolean) {
  const store = yield* DocumentStore
  for (const [collection, wanted] of yield* wantedOf(model, store)) {
    // One that differs only in its name leaves no room for the model's.
    const others = (yield* store.listIndexes(collection)).filter((index) =>
      !drop && !wanted.some((other) => excludeEachOther(index, other))
    )
    yield* store.syncIndexes(collection, [...wanted, ...others])
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * The indexes that a start installs, too: of a model with versions, some wait until all documents are upgraded. Those of earlier
 * versions are wanted until then.
 */
const wantedOf = Effect.fnUntraced(function*(
  model: Model.Any,
  store: DocumentStore["Service"]
): Effect.fn.Return<ReadonlyArray<readonly [string, ReadonlyArray<IndexDescription>]>, ReadError> {
  const declared = indexesOf(model)
  const own = hasVersions(model) ? yield* installableIndexes(model, store, declared) : declared
  const wanted = hasVersions(model) ? [...own, ...yield* keptIndexes(model, store, declared, own)] : own
  const isHistoried = managedField(model, "revision") !== undefined
  return [[model.modelName, wanted], ...isHistoried ? [[historyOf(model.modelName), [historyIndex]] as const] : []]
})
