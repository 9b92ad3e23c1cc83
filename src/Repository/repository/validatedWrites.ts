/**
 * Writes for the HTTP server, which validates what a caller sends before it calls the repository. They belong to a
 * repository under a private symbol, so they are not part of its public interface.
 */
import type * as Effect from "effect/Effect"
import type * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import type { Document } from "../DocumentStore.ts"
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
 * The inserts take documents that are already validated, and do not validate them again. The patch takes the changes as
 * they were sent: it converts each value, even one that already looks converted, and validates the result.
 *
 * @internal
 */
export interface ValidatedWrites<A> {
  readonly insertDocument: (document: Document) => Effect.Effect<void, StoreError>
  readonly insertDocuments: (documents: ReadonlyArray<Document>) => Effect.Effect<number, BulkInsertFailed | ReadError>
  readonly patch: (
    id: unknown,
    changes: object
  ) => Effect.Effect<A, DocumentNotFound | DocumentInvalid | VersionConflict | ModelError | StoreError>
}

const validatedWritesKey = Symbol.for("~appkernel/Repository/validatedWrites")

/**
 * Adds the writes to the operations of a repository.
 *
 * @internal
 */
export const withValidatedWrites = <M extends Model.Any>(
  operations: Operations<M>,
  writes: ValidatedWrites<M["Type"]>
): Operations<M> => Object.assign(operations, { [validatedWritesKey]: writes })

/** @internal */
export const validatedWritesOf = <M extends Model.Any>(operations: Operations<M>): ValidatedWrites<M["Type"]> =>
  // `Repository.make` adds them to every repository.
  Reflect.get(operations, validatedWritesKey) as ValidatedWrites<M["Type"]>
