/**
 * The collection of a model, through which its repository reads and writes. For a model with `Model.softDeleted`, each
 * operation excludes deleted documents unless its scope includes them.
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ValidationException } from "../../Model/ModelError.ts"
import type {
  Counted,
  Document,
  Filter,
  FindOneAndUpdateOptions,
  FindOptions,
  InsertManyResult as StoredManyResult,
  ReadOptions,
  TakeOptions,
  Update,
  UpdateManyOptions,
  UpdateResult
} from "../DocumentStore.ts"
import type { AccessDenied, ReadError, WriteError } from "../RepositoryError.ts"
import type { Access, RowRules } from "./callerRules.ts"
import type { Deleted } from "./softDeletion.ts"

/**
 * What an operation reaches, beside its filter.
 *
 * @internal
 */
export interface Scope {
  /** Defaults to `"exclude"`. */
  readonly deleted?: Deleted | undefined
  /** The rules of the caller. `undefined`: there are none. */
  readonly rules?: RowRules | undefined
  /** Which of the rules apply. Defaults to what the operation does: a read that a write depends on is part of that write. */
  readonly access?: Access | undefined
  /**
   * The document that an update was computed from. Such an update sets, removes and increments fields of the document
   * itself, and none within them.
   */
  readonly before?: Document | undefined
}

/**
 * The result of an insert of several documents.
 *
 * @internal
 */
export interface InsertManyResult {
  readonly insertedCount: number
  /** The rejected documents, by their index in the input. */
  readonly failures: ReadonlyArray<
    {
      readonly index: number
      readonly error: StoredManyResult["failures"][number]["error"] | AccessDenied | ValidationException
    }
  >
}

/** @internal */
export interface ModelCollection {
  readonly findById: (
    id: unknown,
    scope?: Scope,
    options?: ReadOptions
  ) => Effect.Effect<Document | undefined, ReadError>
  readonly find: (options: TakeOptions, scope?: Scope) => Effect.Effect<ReadonlyArray<Document>, ReadError>
  readonly findAndCount: (options: TakeOptions, scope?: Scope) => Effect.Effect<Counted, ReadError>
  readonly stream: (options: FindOptions, scope?: Scope) => Stream.Stream<Document, ReadError>
  readonly count: (filter: Filter, scope?: Scope, options?: ReadOptions) => Effect.Effect<number, ReadError>
  readonly estimatedCount: (scope?: Scope) => Effect.Effect<number, ReadError>
  readonly distinct: (path: string, filter: Filter, scope?: Scope) => Effect.Effect<ReadonlyArray<unknown>, ReadError>
  readonly aggregate: (
    pipeline: ReadonlyArray<Document>,
    options?: ReadOptions,
    scope?: Scope
  ) => Stream.Stream<Document, ReadError>
  readonly insertOne: (document: Document, scope?: Scope) => Effect.Effect<void, WriteError>
  readonly insertMany: (
    documents: ReadonlyArray<Document>,
    options?: { readonly ordered?: boolean | undefined },
    scope?: Scope
  ) => Effect.Effect<InsertManyResult, ReadError>
  readonly replaceOne: (
    filter: Filter,
    document: Document,
    options?: { readonly upsert?: boolean | undefined },
    scope?: Scope
  ) => Effect.Effect<UpdateResult, WriteError>
  readonly updateOne: UpdateOperation<UpdateManyOptions, UpdateResult>
  readonly updateMany: UpdateOperation<UpdateManyOptions, UpdateResult>
  readonly findOneAndUpdate: UpdateOperation<FindOneAndUpdateOptions, Document | undefined>
  readonly findOneAndDelete: (filter: Filter, scope?: Scope) => Effect.Effect<Document | undefined, ReadError>
  readonly deleteOne: (filter: Filter, scope?: Scope) => Effect.Effect<number, ReadError>
  readonly deleteMany: (filter: Filter, scope?: Scope) => Effect.Effect<number, ReadError>
  /** Whether a chosen identifier would tell of documents that the caller's rules hide. */
  readonly isLimited: (scope?: Scope) => Effect.Effect<boolean, ReadError>
  /**
   * A test for the recorded states of a document, or `undefined` when the document itself is not reached. Deleted documents
   * are included.
   */
  readonly statesOf: (
    id: unknown,
    scope: Scope & { readonly access: Access }
  ) => Effect.Effect<StateTest | undefined, ReadError>
}

type UpdateOperation<Options, A> = (
  filter: Filter,
  update: Update,
  options: Options,
  scope?: Scope
) => Effect.Effect<A, WriteError>

/** @internal */
export type StateTest = (state: Document) => boolean

/**
 * The test that every state passes.
 *
 * @internal
 */
export const everyState: StateTest = () => true

/**
 * The filter that requires two filters. Their conditions stay at the top level where no key is in both, because `$text` has
 * to stand there.
 *
 * @internal
 */
export const conjunctionOf = (first: Filter, second: Filter): Filter =>
  Object.keys(second).some((key) => Object.hasOwn(first, key)) ? { $and: [first, second] } : { ...first, ...second }
