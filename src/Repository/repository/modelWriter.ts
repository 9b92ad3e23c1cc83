/** The writes to a model's collection. Most take the name of the change, which a history records. */
import * as Effect from "effect/Effect"
import type { CollectionOperation, ModelCollection, Updated, UpdateName } from "../collection/modelCollection.ts"
import type { Document, Filter, Update } from "../DocumentStore.ts"
import type { ReadError, WriteError } from "../RepositoryError.ts"
import type { AuditFields } from "./auditFields.ts"
import type { Change } from "./history.ts"

/** The operations that delete documents, and give their number. */
export type DeleteName = "deleteOne" | "deleteMany"

export interface ModelWriter {
  /** Returns the document as it was inserted. */
  readonly insert: (document: Document) => Effect.Effect<Document, WriteError>
  readonly insertMany: ModelCollection["insertMany"]
  /**
   * Replaces the first match. With `upsert`, inserts the document when none matches. Returns the document as it was
   * written, or `undefined` when nothing was written.
   */
  readonly replace: (
    filter: Filter,
    document: Document,
    upsert: boolean
  ) => Effect.Effect<Document | undefined, WriteError>
  readonly update: <N extends UpdateName>(change: Change, operation: CollectionOperation<N>) => Updated<N>
  readonly delete: (change: Change, operation: CollectionOperation<DeleteName>) => Effect.Effect<number, ReadError>
}

/** A writer for models without a history. It ignores the names of changes. */
export const makeModelWriter = (collection: ModelCollection): ModelWriter => ({
  insert: (document) => Effect.as(collection.insertOne(document), document),
  insertMany: (documents, options) => collection.insertMany(documents, options),
  replace: (filter, document, upsert) =>
    Effect.map(
      collection.replaceOne(filter, document, { upsert }),
      ({ matchedCount, upsertedId }) => matchedCount > 0 || upsertedId !== undefined ? document : undefined
    ),
  update: (_, operation) => collection.run(operation),
  delete: (_, operation) => collection.run(operation)
})

/** Adds operands to an operator of an update. */
export const withOperands = (operator: "$set" | "$inc", update: Update, operands: Document): Update => ({
  ...update,
  [operator]: { ...Object(update[operator]), ...operands }
})

/** The fields that every update of a document changes. */
export interface ManagedFields {
  readonly versionField: string | undefined
  readonly auditFields: AuditFields | undefined
}

/** Adds the increment of the version and the audit fields to an update. */
export const withManagedFields = Effect.fnUntraced(function*(
  { auditFields, versionField }: ManagedFields,
  update: Update
): Effect.fn.Return<Update> {
  const fiber = yield* Effect.fiber
  const counted = versionField === undefined ? update : withOperands("$inc", update, { [versionField]: 1 })
  return auditFields === undefined ? counted : withOperands("$set", counted, auditFields.updated(fiber))
})
