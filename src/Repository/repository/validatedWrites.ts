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
 * Writes of what a caller sent. Documents were validated on their way, and are not validated again; a patch converts its
 * values whatever they look like.
 *
 * @internal
 */
export interface SentWrites<A> {
  readonly insertDocument: (document: Document) => Effect.Effect<void, StoreError>
  readonly insertDocuments: (documents: ReadonlyArray<Document>) => Effect.Effect<number, BulkInsertFailed | ReadError>
  readonly patch: (
    id: unknown,
    changes: object
  ) => Effect.Effect<A, DocumentNotFound | DocumentInvalid | VersionConflict | ModelError | StoreError>
}

const sentWritesKey = Symbol.for("~appkernel/Repository/sentWrites")

/**
 * Gives operations these writes, which only the framework finds.
 *
 * @internal
 */
export const withSentWrites = <M extends Model.Any>(
  operations: Operations<M>,
  writes: SentWrites<M["Type"]>
): Operations<M> => Object.assign(operations, { [sentWritesKey]: writes })

/** @internal */
export const sentWritesOf = <M extends Model.Any>(operations: Operations<M>): SentWrites<M["Type"]> =>
  // Every repository is made with them.
  Reflect.get(operations, sentWritesKey) as SentWrites<M["Type"]>
