/**
 * Operations on stored documents, for the HTTP server: it encodes documents to JSON without making instances, and validates
 * what it receives itself. A repository has them under a private symbol, so its public interface does not have them.
 */
import { CountsOperations, CurrentStoreOptions, snapshotOf } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { modelTypeId } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import type { ChangeStreams } from "../changes/changeEvents.ts"
import { AccessDecision, type Privilege, type RowFilters } from "../collection/accessDecision.ts"
import type { Deleted } from "../collection/deletedDocuments.ts"
import type { ReadsAtOnce } from "../collection/modelCollection.ts"
import type { Counted, Document, ReadOptions, StreamOptions, TakeOptions } from "../DocumentStore.ts"
import type {
  BulkInsertFailed,
  DeleteError,
  DocumentInvalid,
  DocumentNotFound,
  ReadError,
  VersionConflict,
  WriteError
} from "../RepositoryError.ts"
import type { Operations } from "./operations.ts"

/** Reads of stored documents. In a model with `Model.softDeleted`, they exclude deleted ones, except by `including`. */
export interface DocumentReads {
  /** The document with this identifier, or `undefined`. `privilege` says which row filters apply; defaults to `"read"`. */
  readonly findById: (
    id: unknown,
    options?: ReadOptions & { readonly privilege?: Privilege | undefined }
  ) => Effect.Effect<Document | undefined, ReadError>
  /**
   * Reads without a fiber, for who has no caller, no transaction, no options of the store, and neither a tracer nor metrics.
   * `undefined` where they can't be: the repository adds something to the reads, or the store waits for its documents.
   */
  readonly atOnce: ReadsAtOnce | undefined
  /** Whether the caller has row filters. The answer that an identifier is taken would then reveal hidden documents. */
  readonly isLimited: Effect.Effect<boolean, ReadError>
  readonly estimatedCount: Effect.Effect<number, ReadError>
  readonly find: (options: TakeOptions) => Effect.Effect<ReadonlyArray<Document>, ReadError>
  /** Finds documents, and counts all that match: see `DocumentStore.findAndCount`. */
  readonly findAndCount: (options: TakeOptions) => Effect.Effect<Counted, ReadError>
  /** Streams documents: see `DocumentStore.stream`. */
  readonly stream: (options: StreamOptions) => Stream.Stream<Document, ReadError>
  /** The reads that include deleted documents, or find these only. */
  readonly including: (deleted: Deleted) => DocumentReads
}

/**
 * Writes of values that a client sent. The inserts take validated documents and don't validate them again. The patch takes
 * the changes as they were sent; it converts each value, even one that looks converted, and validates the result. The
 * replacement takes an instance that was computed from a stored document, and validates it.
 */
export interface DocumentWrites<A> {
  /** Succeeds with the document as it was inserted. */
  readonly insert: (document: Document) => Effect.Effect<Document, WriteError>
  readonly insertMany: (documents: ReadonlyArray<Document>) => Effect.Effect<number, BulkInsertFailed | ReadError>
  /** The repository's `modify` with row filters for the write; `undefined` stands for those of the caller. */
  readonly modify: <E, R, E2 = never>(
    id: unknown,
    change: (current: A) => Effect.Effect<{ readonly instance: A; readonly filters?: RowFilters | undefined }, E, R>,
    check?: DocumentCheck<E2>
  ) => Effect.Effect<A, E | E2 | DocumentNotFound | DocumentInvalid | VersionConflict | ModelError | WriteError, R>
  /** Succeeds with the document as it is stored then. */
  readonly patch: <E2 = never>(
    id: unknown,
    changes: object,
    check?: DocumentCheck<E2>
  ) => Effect.Effect<Document, E2 | DocumentNotFound | DocumentInvalid | VersionConflict | ModelError | WriteError>
  /**
   * Fails with `VersionConflict` if the stored document has another version, or another value of a field that the instance was
   * computed from.
   */
  readonly replace: (
    instance: A,
    read: DocumentRead
  ) => Effect.Effect<A, DocumentNotFound | VersionConflict | ModelError | WriteError>
  /** Deletes the document that was read. Fails with `VersionConflict` if one of the fields has another value by now. */
  readonly delete: DeleteRead
  /** What becomes of deleted documents; `undefined` for models without `Model.softDeleted`. */
  readonly ofDeleted: DeletedWrites<A> | undefined
}

type DeleteRead = (
  read: Pick<DocumentRead, "document" | "fields">
) => Effect.Effect<void, DocumentNotFound | VersionConflict | DeleteError>

export interface DeletedWrites<A> {
  /** Removes the document that was read, deleted or not, as `delete` deletes one. */
  readonly purge: DeleteRead
  /**
   * Takes the deletion of the document that was read back, with the fields of the instance that differ from the `previous` one. Fails
   * with `VersionConflict` if one of the fields has another value by now. Succeeds with the document as it is stored then.
   */
  readonly restore: (
    instance: A,
    read: Pick<DocumentRead, "document" | "fields"> & { readonly previous: A }
  ) => Effect.Effect<Document, DocumentNotFound | VersionConflict | WriteError>
}

/** Tests the stored document. The write then succeeds only while all of its fields have the tested values. */
export type DocumentCheck<E> = ((stored: Document) => Effect.Effect<void, E>) | undefined

/** The fields of a model's documents except the identifier. */
export const storedFieldsOf = (model: Model.Any): ReadonlyArray<string> =>
  Object.keys(model.store.fields).filter((field) => model[modelTypeId][field]?.managed !== "id")

/**
 * A document that was read with the row filters of the caller, and the fields whose values an instance was computed from.
 */
export interface DocumentRead {
  readonly document: Document
  readonly fields: ReadonlyArray<string>
  /** The row filters of the write; `undefined` stands for those of the caller. */
  readonly filters: RowFilters | undefined
}

/** Whether nothing around the current fiber has a part in what `atOnce` reads. */
export const mayFindAtOnce: Effect.Effect<boolean> = Effect.withFiber((fiber) =>
  Effect.succeed(
    !fiber.getRef(CountsOperations) && fiber.getRef(Tracer.Tracer) === Tracer.nativeTracer &&
      Object.keys(fiber.getRef(CurrentStoreOptions)).length === 0 && snapshotOf(fiber) === undefined &&
      fiber.getRef(AccessDecision) === undefined
  )
)

export interface DocumentOperations<M extends Model.Any>
  extends DocumentReads, DocumentWrites<M["Type"]>, ChangeStreams<M>
{}

const documentOperationsKey = Symbol.for("~appkernel/Repository/documentOperations")

/** Adds the operations on documents to those of a repository. */
export const withDocumentOperations = <M extends Model.Any>(
  operations: Operations<M>,
  documents: DocumentOperations<M>
): Operations<M> => Object.assign(operations, { [documentOperationsKey]: documents })

const unrestrictedKey = Symbol.for("~appkernel/Repository/unrestricted")

/** Adds a second set of operations, which apply no row filters of callers. It is made when somebody asks for it. */
export const withUnrestricted = <R extends object>(operations: R, make: () => R): R => {
  let made: R | undefined
  return Object.defineProperty(operations, unrestrictedKey, { enumerable: true, get: () => made ??= make() })
}

/** The operations that apply no row filters of callers. A repository without such a set applies none anyway. */
export const unrestrictedOf = <R extends object>(operations: R): R =>
  // `withUnrestricted` adds operations of the same type.
  (Reflect.get(operations, unrestrictedKey) ?? operations) as R

export const documentOperationsOf = <M extends Model.Any>(operations: Operations<M>): DocumentOperations<M> =>
  // `Repository.make` adds them to every repository.
  Reflect.get(operations, documentOperationsKey) as DocumentOperations<M>
