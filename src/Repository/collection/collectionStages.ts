/** What every operation on the documents of a model meets between its caller and the store, as a list. */
import { CurrentStoreOptions } from "@appkernel/document-store/shared"
import { isDocument } from "@appkernel/mql/values"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { folded, type Stage } from "../../internal/stages.ts"
import { managedField, type ModelLike, shardKeyOf } from "../../Model/internal.ts"
import type { DocumentStore, Filter, StoreOptions } from "../DocumentStore.ts"
import { operationStage } from "../OperationStages.ts"
import { isStoredIdentically } from "../query/bsonForm.ts"
import { QueryRejected } from "../RepositoryError.ts"
import { deletionConditions } from "./deletedDocuments.ts"
import { fieldsOfUpdate } from "./documentFields.ts"
import {
  collectionOfRunner,
  type CollectionOperation,
  limitedTo,
  type ModelCollection,
  type Name,
  type Runner
} from "./modelCollection.ts"
import { type StoreRunner, storeRunner } from "./storedCollection.ts"

/** What the stages of a collection depend on. */
export interface CollectionFacts {
  readonly model: ModelLike
  /** The options of all operations of the repository. */
  readonly options: StoreOptions | undefined
  /** Makes the newest version of documents; `undefined` for a model with one version. */
  readonly versions: ((stored: StoreRunner) => Runner) | undefined
  readonly stored: StoreRunner
}

/** The first one is outermost. */
export const collectionStages: ReadonlyArray<Stage<CollectionFacts, Runner>> = [
  {
    ...operationStage("deleted documents"),
    wrap: ({ model }) => {
      const field = managedField(model, "deleted")
      return field === undefined ? undefined : (inner) => excludingDeleted(inner, field)
    }
  },
  {
    ...operationStage("options of the repository"),
    wrap: ({ model, options }) => (inner) => withStoreOptions(inner, model, options)
  },
  {
    ...operationStage("shard key"),
    wrap: ({ model }) => {
      const fields = new Set(shardKeyOf(model).map(([field]) => field))
      return fields.size === 0 ? undefined : (inner) => keepingShards(inner, model, fields)
    }
  },
  {
    ...operationStage("versions"),
    wrap: ({ stored, versions }) => versions && ((inner) => versions({ ...stored, runner: inner }))
  }
]

/** Makes the collection. `stored` makes filters for stored documents: see `withDefaults`. */
export const makeModelCollection = (
  model: ModelLike,
  store: DocumentStore["Service"],
  stored: (filter: Filter) => Filter,
  { options, versions }: Partial<Pick<CollectionFacts, "options" | "versions">> = {}
): ModelCollection => {
  const runner = storeRunner(model, store, stored)
  return collectionOfRunner(folded(collectionStages, { model, options, versions, stored: runner }, runner.runner))
}

// internal

/** Rejects writes that change a value of the shard key: a document stays in its shard. */
const keepingShards = (runner: Runner, model: ModelLike, fields: ReadonlySet<string>): Runner => {
  const changedBy = (operation: CollectionOperation<Name>): string | undefined => {
    if ("update" in operation) return fieldsOfUpdate(operation.update).find((field) => fields.has(field))
    if (!("document" in operation)) return undefined
    const { document, filter = {} } = operation
    return [...fields].find((field) => {
      const target = filter[field]
      return isDocument(target) && "$eq" in target && !isStoredIdentically(document[field] ?? null, target["$eq"])
    })
  }
  return {
    ...runner,
    run: (operation) => {
      const changed = changedBy(operation)
      return changed === undefined ? runner.run(operation) : Effect.fail(
        new QueryRejected({
          operation: operation.name,
          detail: `${model.modelName}.${changed} is part of the shard key, and never changes`
        })
      )
    }
  }
}

/** Operations with options, unless the surrounding effect has others. */
const withStoreOptions = (
  runner: Runner,
  { modelName: collection }: ModelLike,
  options: StoreOptions | undefined
): Runner => ({
  atOnce: options === undefined ? runner.atOnce : undefined,
  run: (operation) => {
    const isPartOfWrite = (operation.scope?.privilege ?? "read") !== "read"
    if (options === undefined && !isPartOfWrite) return runner.run(operation)
    return Effect.withFiber((fiber) => {
      const all = fiber.getRef(CurrentStoreOptions)
      if (options === undefined && all[collection] === undefined) return runner.run(operation)
      const own = { ...options, ...all[collection] }
      return Effect.provideService(runner.run(operation), CurrentStoreOptions, {
        ...all,
        // A write that depends on what is outdated would fail, or be lost.
        [collection]: isPartOfWrite ? { writeConcern: own.writeConcern } : own
      })
    })
  },
  runStream: (operation) =>
    options === undefined
      ? runner.runStream(operation)
      : Stream.updateService(runner.runStream(operation), CurrentStoreOptions, (all) => ({
        ...all,
        [collection]: { ...options, ...all[collection] }
      }))
})

const excludingDeleted = (all: Runner, field: string): Runner => {
  const conditions = deletionConditions(field)
  return limitedTo(all, (_, scope) => conditions[scope?.deleted ?? "exclude"])
}
