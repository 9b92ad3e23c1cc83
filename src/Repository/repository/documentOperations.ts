/**
 * The operations on stored documents that the HTTP server uses instead of those on instances: it encodes documents to JSON
 * without making instances of them, and validates what it receives before it writes. A repository has them under a private
 * symbol, so they are not part of its public interface.
 */
import type * as Effect from "effect/Effect"
import type * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import type { Counted, Document, ReadOptions, TakeOptions } from "../DocumentStore.ts"
import type {
  BulkInsertFailed,
  DocumentInvalid,
  DocumentNotFound,
  ReadError,
  StoreError,
  VersionConflict
} from "../RepositoryError.ts"
import type { Operations } from "./operations.ts"

/**
 * Reads of stored documents. In a model with `Model.softDeleted`, they exclude deleted ones.
 *
 * @internal
 */
export interface DocumentReads {
  /** The document with this identifier, or `undefined`. */
  readonly findById: (id: unknown, options?: ReadOptions) => Effect.Effect<Document | undefined, ReadError>
  readonly find: (options: TakeOptions) => Effect.Effect<ReadonlyArray<Document>, ReadError>
  /** Finds documents, and counts all that match: see `DocumentStore.findAndCount`. */
  readonly findAndCount: (options: TakeOptions) => Effect.Effect<Counted, ReadError>
}

/**
 * Writes of what a client has sent. The inserts take documents that are already validated, and do not validate them again.
 * The patch takes the changes as they were sent: it converts each value, even one that already looks converted, and
 * validates the result.
 *
 * @internal
 */
export interface DocumentWrites<A> {
  readonly insert: (document: Document) => Effect.Effect<void, StoreError>
  readonly insertMany: (documents: ReadonlyArray<Document>) => Effect.Effect<number, BulkInsertFailed | ReadError>
  readonly patch: (
    id: unknown,
    changes: object
  ) => Effect.Effect<A, DocumentNotFound | DocumentInvalid | VersionConflict | ModelError | StoreError>
}

/** @internal */
export interface DocumentOperations<A> extends DocumentReads, DocumentWrites<A> {}

const documentOperationsKey = Symbol.for("~appkernel/Repository/documentOperations")

/**
 * Adds the operations on documents to those of a repository.
 *
 * @internal
 */
export const withDocumentOperations = <M extends Model.Any>(
  operations: Operations<M>,
  documents: DocumentOperations<M["Type"]>
): Operations<M> => Object.assign(operations, { [documentOperationsKey]: documents })

/** @internal */
export const documentOperationsOf = <M extends Model.Any>(operations: Operations<M>): DocumentOperations<M["Type"]> =>
  // `Repository.make` adds them to every repository.
  Reflect.get(operations, documentOperationsKey) as DocumentOperations<M["Type"]>
