/** Puts the collections and the operations of a repository together: reads, writes, deletes, histories and streams of changes. */
import { instrumentedStream, rejectDuplicateKey } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Stream from "effect/Stream"
import { DeclarationError } from "../../internal/declarationError.ts"
import { folded, type Stage } from "../../internal/stages.ts"
import { loggedTypeId, managedField, type ModelLike } from "../../Model/internal.ts"
import * as JsonSchema from "../../Model/JsonSchema.ts"
import type * as Model from "../../Model/Model.ts"
import type { ChangeStreams } from "../changes/changeEvents.ts"
import type * as Streams from "../changes/changeStreams.ts"
import { makeModelCollection } from "../collection/collectionStages.ts"
import { type DocumentCodec, documentCodec } from "../collection/documentCodec.ts"
import type { ModelCollection } from "../collection/modelCollection.ts"
import { hasDefaults, hasVersions, ownerOf } from "../collection/storedCollection.ts"
import type { DocumentStore, StoredChange, StoreOptions } from "../DocumentStore.ts"
import { operationStage } from "../OperationStages.ts"
import type { ReadError } from "../RepositoryError.ts"
import type { RecordedVersion } from "../versions/earlierCollections.ts"
import { storedSchema } from "../versions/storedSchema.ts"
import { synchronisedIndexes } from "../versions/versionIndexes.ts"
import { auditFieldsOf } from "./auditFields.ts"
import { makeDeletes } from "./deletes.ts"
import { withDocumentOperations } from "./documentOperations.ts"
import { makeHistoryReads } from "./historyReads.ts"
import { makeHistoryWriter } from "./historyWriter.ts"
import { indexesOf } from "./modelIndexes.ts"
import { makeModelWriter, type ModelWriter, withManagedFields } from "./modelWriter.ts"
import type { Operations } from "./operations.ts"
import { makeDocumentReads, makeReads } from "./reads.ts"
import { checkingReferences, hasCheckedReferences } from "./referenceChecks.ts"
import { makeDeleting } from "./referencedDeletes.ts"
import type { Referrer } from "./referrers.ts"
import { makeSoftDeletes, markDeleted, softDeleteContextOf } from "./softDeletes.ts"
import { makeWrites } from "./writes.ts"

interface Collections {
  /** The complete collection, which a history records. */
  readonly all: ModelCollection
  readonly collection: ModelCollection
  /** The complete collection as the newest version has it. */
  readonly newest: ModelCollection
  /** The version of what a history records, of a model with versions. */
  readonly recorded: RecordedVersion | undefined
  /** Records the files of a model that has some. */
  readonly files: FileRecording | undefined
}

/** What records the files of documents. */
interface FileRecording {
  readonly recordingFiles: (
    model: ModelLike,
    writer: ModelWriter,
    facts: Pick<WriterFacts, "collection" | "newest" | "store">
  ) => ModelWriter
  readonly purgingHistory: (
    model: ModelLike,
    facts: Pick<WriterFacts, "all" | "store">,
    id: unknown,
    purge: Effect.Effect<number, ReadError>
  ) => Effect.Effect<number, ReadError>
}

/** What the stages of writes depend on. */
export interface WriterFacts extends Collections {
  readonly model: ModelLike
  readonly store: DocumentStore["Service"]
  /** The documents of another model that the writer may refer to; `undefined` for writes that add no reference. */
  readonly collectionOf: ((model: ModelLike) => ModelCollection) | undefined
}

/** What a write meets before the stages of its caller. */
export const writerStages: ReadonlyArray<Stage<WriterFacts, ModelWriter>> = [
  {
    ...operationStage("references"),
    wrap: ({ collectionOf, model, ...facts }) =>
      collectionOf === undefined || !hasCheckedReferences(model)
        ? undefined
        : (inner) => checkingReferences(model, inner, { ...facts, collectionOf })
  },
  {
    ...operationStage("files"),
    wrap: ({ files, model, ...facts }) => files && ((inner) => files.recordingFiles(model, inner, facts))
  },
  {
    ...operationStage("history"),
    wrap: ({ model, recorded, ...facts }) => {
      const revisionField = managedField(model, "revision")
      return revisionField === undefined
        ? undefined
        // It writes what the inner one would, and the entries.
        : () => makeHistoryWriter(model, revisionField, { ...facts, modelVersion: recorded?.version })
    }
  }
]

export const writerOf = (facts: WriterFacts): ModelWriter =>
  folded(writerStages, facts, makeModelWriter(facts.collection))

/**
 * Makes the collections of these models and of those whose earlier versions they are. The options are those of the operations
 * on a model's documents. No row filter of a caller applies.
 */
export const collectionsOf = Effect.fnUntraced(function*(
  models: ReadonlyArray<ModelLike>,
  store: DocumentStore["Service"],
  optionsOf: (model: ModelLike) => StoreOptions | undefined = () => undefined
) {
  const all = models.flatMap((one) => [one, ownerOf(one)])
  // They load the query language, which other programs have no use for.
  const versions = all.some(hasVersions)
    ? yield* Effect.promise(() => import("../versions/earlierCollections.ts"))
    : undefined
  const defaulted = all.some((one) => hasDefaults(one))
    ? yield* Effect.promise(() => import("../collection/defaultedFields.ts"))
    : undefined
  const runners = new Map(
    all.filter(hasVersions).map((one) => [one, versions?.versionRunner(one, store, indexesOf(one))])
  )
  const storedOf = (model: ModelLike) => defaulted?.withDefaults(model) ?? Function.identity
  /** The documents of a model that is no earlier version of another one. */
  const ownCollectionOf = (model: ModelLike): ModelCollection =>
    makeModelCollection(model, store, storedOf(model), { versions: runners.get(model), options: optionsOf(model) })
  const collectionOf = (model: ModelLike): ModelCollection =>
    versions === undefined || ownerOf(model) === model
      ? ownCollectionOf(model)
      : versions.viewCollection(model, store, ownCollectionOf(ownerOf(model)), storedOf(model))
  return { collectionOf, ownCollectionOf, versions }
})

/** The schema of stored documents. */
const schemaOf = (model: Model.Any, store: DocumentStore["Service"]) =>
  hasVersions(model)
    ? storedSchema(model, store)
    : Effect.succeed(JsonSchema.make(model, { mongoCompatibility: true }))

const indexesToSync = (model: Model.Any, store: DocumentStore["Service"]) =>
  hasVersions(model)
    ? synchronisedIndexes(model, store, indexesOf(model))
    : Effect.succeed(indexesOf(model))

/** The operations on a collection. `collectionOf` has the documents of another model that it may refer to. */
export const makeOperations = <M extends Model.Any>(
  model: M,
  store: DocumentStore["Service"],
  { all, collection, collectionOf, files, newest, recorded }: Collections & {
    readonly collectionOf: (model: ModelLike) => ModelCollection
  }
): Operations<M> => {
  const name = model.modelName
  const codec = documentCodec(model)
  const auditFields = auditFieldsOf(model)
  const [deletedField, revisionField] = [managedField(model, "deleted"), managedField(model, "revision")]
  const writer = writerOf({ model, store, all, collection, collectionOf, files, newest, recorded })
  const deleting = makeDeleting(model, collection, store)
  const { documentWrites, ...writes } = makeWrites(model, collection, writer, auditFields, codec)
  const { deleteRead, ofDeleted, ...deletes } = deletedField === undefined
    ? {
      ...makeDeletes(
        model,
        collection,
        deleting,
        (filter, isOne) => writer.delete("delete", { name: isOne ? "deleteOne" : "deleteMany", filter })
      ),
      ofDeleted: undefined
    }
    : makeSoftDeletes(model, deletedField, collection, writer, auditFields, codec, deleting)
  const operations: Operations<M> = {
    model,
    collection: name,
    ...makeReads(model, collection, codec),
    ...writes,
    ...deletes,
    ...(revisionField === undefined
      ? {}
      : makeHistoryReads(model, collection, store, codec, {
        upgrade: recorded?.upgrade ?? Function.identity,
        purging: (id, purge) => files === undefined ? purge : files.purgingHistory(model, { all, store }, id, purge)
      })),
    syncIndexes: Effect.flatMap(
      indexesToSync(ownerOf(model), store),
      (indexes) => store.syncIndexes(name, indexes)
    ),
    installValidator: (options) =>
      Effect.flatMap(schemaOf(ownerOf(model), store), (schema) => store.setValidator(name, schema, options))
  }
  return withDocumentOperations(operations, {
    ...makeDocumentReads(model, collection),
    ...documentWrites,
    delete: deleteRead,
    ofDeleted,
    ...makeChangeStreams(model, store, { codec, collection, recorded })
  })
}

/** How the changes of the model are recorded; `undefined` if they are not. */
export const loggedOf = (model: ModelLike): Model.Model.Logged | undefined =>
  // Only the options of a model set this property.
  Reflect.get(ownerOf(model), loggedTypeId) as Model.Model.Logged | undefined

const makeChangeStreams = <M extends Model.Any>(
  model: M,
  store: DocumentStore["Service"],
  { codec, collection, recorded }: Pick<Collections, "collection" | "recorded"> & {
    readonly codec: DocumentCodec<M["Type"]>
  }
): ChangeStreams<M> => {
  const { modelName } = model
  const upgrade = recorded?.upgrade
  const upgraded = (change: StoredChange): StoredChange =>
    upgrade === undefined ? change : {
      ...change,
      ...change.operation === "insert" ? {} : { before: upgrade(change.before) },
      ...change.operation === "delete" ? {} : { after: upgrade(change.after) }
    }
  const context = { model, documents: collection, store, codec, upgraded }
  const streamed = <A, E>(use: (module: typeof Streams) => Stream.Stream<A, E>) =>
    loggedOf(model) === undefined
      ? Stream.die(new DeclarationError(`${modelName} needs the option logged`))
      : Stream.unwrap(Effect.map(Effect.promise(() => import("../changes/changeStreams.ts")), use))
  return {
    upgraded,
    changes: instrumentedStream("changes", modelName, (options) => streamed((_) => _.changes(context, options))),
    live: instrumentedStream(
      "live",
      modelName,
      (where, options) => streamed((_) => _.liveChanges(context, where, options))
    )
  }
}

/** What deletions of other documents write to a model's documents, without row filters of callers. */
export const referrerOf = (
  model: Model.Any,
  documents: ModelCollection,
  writer: ModelWriter,
  unreadable: Referrer["unreadable"]
): Referrer => {
  const auditFields = auditFieldsOf(model)
  const deletedField = managedField(model, "deleted")
  const managed = { auditFields, versionField: managedField(model, "version") }
  return {
    model,
    documents,
    unreadable,
    update: (filter, change) =>
      Effect.flatMap(withManagedFields(managed, change), (update) =>
        rejectDuplicateKey(
          "delete",
          // No row filter denies the update, and it adds no reference to check.
          Effect.catchTag(
            writer.update("update", { name: "updateOne", filter, update, scope: { deleted: "include" } }),
            ["AccessDenied", "FileQuotaExceeded", "ValidationException"],
            Effect.die
          )
        )),
    remove: (filter, isPurge) =>
      deletedField === undefined || isPurge
        ? writer.delete(isPurge ? "purge" : "delete", { name: "deleteMany", filter, scope: { deleted: "include" } })
        : markDeleted(softDeleteContextOf(model, deletedField, writer, auditFields), filter, "updateMany")
  }
}
