/**
 * Writes of stored documents, with the changes of the version, the audit fields and the mark of a soft deletion.
 *
 * A write of a versioned document is a compare-and-set on its version: it succeeds only while the stored version is the
 * expected one. A replacement of an audited document is a compare-and-set on its insertion time, too.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { type Targets, targetsOf } from "../collection/documentFields.ts"
import { mapInSteps } from "../collection/mapInSteps.ts"
import type { InsertManyOptions, InsertManyResult, ModelCollection } from "../collection/modelCollection.ts"
import type { Document, Filter } from "../DocumentStore.ts"
import { textOfId } from "../query/bsonForm.ts"
import {
  BulkInsertFailed,
  DocumentNotFound,
  type ReadError,
  VersionConflict,
  type WriteError
} from "../RepositoryError.ts"
import type { AuditFields } from "./auditFields.ts"
import type { ModelWriter } from "./modelWriter.ts"

/** The shared parts of a repository's writes. */
export interface ModelWriteContext {
  readonly modelName: string
  readonly documents: ModelCollection
  readonly targets: Targets
  readonly writer: ModelWriter
  readonly auditFields: AuditFields | undefined
  readonly versionField: string | undefined
  readonly deletedField: string | undefined
  readonly insertedField: string
}

export const writeContextOf = (
  model: Model.Any,
  documents: ModelCollection,
  writer: ModelWriter,
  auditFields: AuditFields | undefined
): ModelWriteContext => ({
  modelName: model.modelName,
  documents,
  targets: targetsOf(model),
  writer,
  auditFields,
  versionField: managedField(model, "version"),
  deletedField: managedField(model, "deleted"),
  insertedField: managedField(model, "inserted") ?? "inserted"
})

export const documentNotFound = ({ modelName }: Pick<ModelWriteContext, "modelName">, id: unknown): DocumentNotFound =>
  new DocumentNotFound({ model: modelName, id: textOfId(id) })

export const versionConflict = ({ modelName }: ModelWriteContext, id: unknown, expected: number): VersionConflict =>
  new VersionConflict({ model: modelName, id: textOfId(id), expected })

/** Reads the stored document for a write that replaces it. */
export const storedOf = ({ documents, targets }: ModelWriteContext, document: Document) =>
  documents.findById(document["_id"], { privilege: "update" }, undefined, targets.shardOf(document))

/** Fails with the reason why a document was not written: its version differs, or it does not exist. */
export const conflictOrNotFound = Effect.fnUntraced(
  function*(context: ModelWriteContext, document: Document, expected: number | undefined) {
    const id = document["_id"]
    const stored = yield* storedOf(context, document)
    return yield* stored === undefined || expected === undefined
      ? documentNotFound(context, id)
      : versionConflict(context, id, expected)
  }
)

export const versionOf = ({ versionField }: ModelWriteContext, document: Document): number | undefined => {
  const version = versionField === undefined ? undefined : document[versionField]
  return typeof version === "number" ? version : undefined
}

/** The version of a stored document: 0 if it was written before its model had versions. */
export const storedVersionOf = (context: ModelWriteContext, document: Document): number =>
  versionOf(context, document) ?? 0

/** Inserts a document as the first version; succeeds with the inserted document. */
export const insertDocument = (context: ModelWriteContext, document: Document): Effect.Effect<Document, WriteError> =>
  context.auditFields === undefined
    ? context.writer.insert(firstVersion(context, document))
    : Effect.withFiber((fiber) => context.writer.insert(insertedNow(context, fiber, document)))

export const insertDocuments = (
  context: ModelWriteContext,
  all: ReadonlyArray<Document>,
  options?: InsertManyOptions
): Effect.Effect<InsertManyResult, ReadError> =>
  Effect.withFiber((fiber) =>
    Effect.flatMap(
      mapInSteps(all, (document) => insertedNow(context, fiber, document)),
      (documents) => context.writer.insertMany(documents, options)
    )
  )

/** The number of inserted documents; fails with `BulkInsertFailed` if one was rejected. */
export const insertedAll = Effect.fnUntraced(
  function*<E>({ modelName: collection }: ModelWriteContext, inserting: Effect.Effect<BulkInserted, E>) {
    const { failures, insertedCount } = yield* inserting
    if (failures.length === 0) return insertedCount
    return yield* new BulkInsertFailed({ collection, insertedCount, failures })
  }
)

type BulkInserted = Pick<BulkInsertFailed, "insertedCount" | "failures">

/** Replaces the document of the same identifier (and version); succeeds with the stored one, if there is one. */
export const replaceDocument = (
  context: ModelWriteContext,
  document: Document,
  options: ReplaceOptions = {}
): Effect.Effect<Document | undefined, WriteError> =>
  context.auditFields === undefined
    ? context.writer.replace(
      { ...options.condition, ...targetOf(context, document, options.read) },
      nextVersion(context, document),
      options.upsert === true
    )
    : replaceAudited(context, context.auditFields, document, options)

interface ReplaceOptions {
  /** Whether the document is inserted if none has its identifier. Defaults to false. */
  readonly upsert?: boolean
  /** The stored document, if it has been read. */
  readonly read?: Document
  /** A further condition on the stored document. */
  readonly condition?: Filter
}

// internal

// Keeps the time and the user of the insertion: succeeds only while the stored document has that time.
const replaceAudited: (
  context: ModelWriteContext,
  auditFields: AuditFields,
  document: Document,
  options: ReplaceOptions
) => Effect.Effect<Document | undefined, WriteError> = Effect.fnUntraced(
  function*(context, auditFields, document, options) {
    const { insertedField, writer } = context
    const fiber = yield* Effect.fiber
    const before = yield* storedOf(context, options.read ?? document)
    if (before === undefined) return options.upsert === true ? yield* insertDocument(context, document) : undefined
    const next = auditFields.replaced(fiber, nextVersion(context, document), before)
    const inserted = before[insertedField]
    const replaced = yield* writer.replace(
      {
        ...options.condition,
        ...targetOf(context, document, before),
        [insertedField]: inserted === undefined ? { $exists: false } : inserted
      },
      next,
      false
    )
    if (replaced !== undefined) return replaced
    const now = yield* storedOf(context, before)
    // The document was deleted and inserted again. A write that expects no version replaces the new one.
    const isAnother = now !== undefined && !Object.is(Number(now[insertedField]), Number(inserted))
    return isAnother && versionOf(context, document) === undefined
      ? yield* replaceAudited(context, auditFields, document, options)
      : undefined
  }
)

const withVersion = ({ versionField }: ModelWriteContext, document: Document, version: number): Document =>
  versionField === undefined ? document : { ...document, [versionField]: version }

/** Removes the mark of a soft deletion, which a document may have had when it was read. */
const undeleted = ({ deletedField }: ModelWriteContext, document: Document): Document => {
  if (deletedField === undefined || !Object.hasOwn(document, deletedField)) return document
  const { [deletedField]: _, ...others } = document
  return others
}

const firstVersion = (context: ModelWriteContext, document: Document): Document => {
  const given = undeleted(context, document)
  return versionOf(context, given) === 1 ? given : withVersion(context, given, 1)
}

const insertedNow = (
  context: ModelWriteContext,
  fiber: Fiber.Fiber<unknown, unknown>,
  document: Document
): Document => {
  const first = firstVersion(context, document)
  return context.auditFields === undefined ? first : context.auditFields.inserted(fiber, first)
}

const nextVersion = (context: ModelWriteContext, document: Document): Document => {
  const version = versionOf(context, document)
  const given = undeleted(context, document)
  return version === undefined ? given : withVersion(context, given, version + 1)
}

const targetOf = (context: ModelWriteContext, document: Document, read: Document = document): Filter => {
  const { targets, versionField } = context
  const version = versionOf(context, document)
  const target = targets.one(read)
  return version === undefined || versionField === undefined ? target : { ...target, [versionField]: version }
}
