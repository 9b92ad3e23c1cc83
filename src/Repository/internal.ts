/**
 * What the HTTP server needs of repositories beyond their public modules: the stored form of values and identifiers, and
 * writes that are validated and retried like the repository's own. Users cannot import this module. Other folders import
 * nothing else from the private rooms of `src/Repository`.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ModelLike } from "../Model/internal.ts"
import type { Stores } from "./files/fileRecords.ts"
import type { PictureSizes } from "./files/pictureSizes.ts"
import type { FileQuotas } from "./files/quotas.ts"
import type { makeUnfinishedUploads } from "./files/unfinished.ts"

// How values, identifiers and documents are stored, and which indexes a model has.
export { compare, decodeDocument } from "@appkernel/mql/values"
export { isMarkedDeleted } from "./collection/deletedDocuments.ts"
export { documentCodec } from "./collection/documentCodec.ts"
export { hasVersions, ownerOf } from "./collection/storedCollection.ts"
export { documentEncoder, toBson } from "./query/bsonForm.ts"
export { storedIdOf, textOfId } from "./query/bsonForm.ts"
export { fieldCodecsOf } from "./query/fieldCodec.ts"
export { type Identifier, identifierOf } from "./query/identifier.ts"
export { parseSortTerm, type SortKey, totalOrder } from "./query/sort.ts"
export { uniqueTextOfId } from "./repository/historyEntry.ts"
export { indexesOf } from "./repository/modelIndexes.ts"
export { idsAt } from "./repository/referrers.ts"

// Reads and writes of documents.
export { CountsOperations } from "@appkernel/document-store/shared"
export { makeRetry } from "@appkernel/document-store/shared"
export { withTransactionId } from "@appkernel/document-store/shared"
export type { ModelCollection } from "./collection/modelCollection.ts"
export {
  documentOperationsOf,
  type DocumentReads,
  mayFindAtOnce,
  storedFieldsOf
} from "./repository/documentOperations.ts"
export { collectionsOf } from "./repository/modelOperations.ts"
export { beginVersions } from "./versions/begin.ts"
export { newestNameOf } from "./versions/modelVersions.ts"

// The sizes of pictures, for those who have some.
export type { PictureSizes } from "./files/pictureSizes.ts"
/** The sizes of pictures in the stores, which are made as long as the scope is open. */
export const pictureSizesOf = (stores: Stores): Effect.Effect<PictureSizes, never, Scope.Scope> =>
  Effect.flatMap(
    Effect.promise(() => import("./files/pictureSizes.ts")),
    ({ makePictureSizes }) => makePictureSizes(stores)
  )

// Uploads that come in several requests.
export type { Part, Unfinished } from "./files/unfinished.ts"
/** Keeps such uploads. */
export type UnfinishedUploads = ReturnType<typeof makeUnfinishedUploads>
export const unfinishedUploads = (stores: Stores, keep: Duration.Duration): Effect.Effect<UnfinishedUploads> =>
  Effect.map(
    Effect.promise(() => import("./files/unfinished.ts")),
    ({ makeUnfinishedUploads }) => makeUnfinishedUploads(stores, keep)
  )

// The quotas of files.
export type { Room } from "./files/countedQuotas.ts"
export type { FileQuotas } from "./files/quotas.ts"
/** Says the quotas of the files of a model, and tells the room for those of a document. */
export const declaredQuotas = (stores: Stores, model: ModelLike, quotas: FileQuotas | undefined) =>
  Effect.flatMap(
    Effect.promise(() => import("./files/countedQuotas.ts")),
    ({ countingQuotas }) => countingQuotas(stores, model, quotas)
  )

// What callers may do.
export {
  allOf,
  anyOf,
  conjunctionOf,
  fallibleLast,
  fallibleMatchesLast,
  negated,
  nothing
} from "@appkernel/document-store/shared"
export { afterCommit, nearFields } from "@appkernel/document-store/shared"
export {
  AccessDecision,
  apartFromAddressed,
  type EffectiveGrant,
  hiddenBy,
  type Matcher,
  type ModelDecision,
  type PermittedLinks,
  type Privilege,
  type RowFilters,
  type UpdateGrant,
  withRowFilters
} from "./collection/accessDecision.ts"
export { type AuditTrail, maxIds, type Touched } from "./collection/auditTrail.ts"
export { holdingRowFilters } from "./collection/rowFilterMarks.ts"
