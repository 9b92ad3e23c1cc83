/**
 * The collection of a model, through which its repository reads and writes. For a model with `Model.softDeleted`, each
 * operation excludes deleted documents unless its scope includes them.
 */
import * as Effect from "effect/Effect"
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
import type { Privilege, RowFilters } from "./accessDecision.ts"
import type { Touched } from "./auditTrail.ts"
import type { Deleted } from "./softDeletion.ts"

/** What limits an operation, beside its filter. */
export interface Scope {
  /** Defaults to `"exclude"`. */
  readonly deleted?: Deleted | undefined
  /** The row filters of the caller; `undefined` without any. */
  readonly filters?: RowFilters | undefined
  /**
   * The privilege whose row filters apply. Defaults to that of the operation: a read that a write depends on is part of
   * the write.
   */
  readonly privilege?: Privilege | undefined
  /** The document that an update was computed from, which changes none of its fields within. */
  readonly before?: Document | undefined
}

/** The result of an insert of several documents. */
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

/** What each operation takes beside the documents that it is for, and its result. */
interface Operations {
  readonly findById: Takes<{ readonly id: unknown; readonly options?: ReadOptions | undefined }, Document | undefined>
  readonly find: Takes<{ readonly options: Omit<TakeOptions, "filter"> }, ReadonlyArray<Document>>
  readonly findAndCount: Takes<{ readonly options: Omit<TakeOptions, "filter"> }, Counted>
  readonly count: Takes<{ readonly options?: ReadOptions | undefined }, number>
  readonly estimatedCount: Takes<object, number>
  readonly distinct: Takes<{ readonly path: string }, ReadonlyArray<unknown>>
  readonly insertOne: Takes<{ readonly document: Document }, void, WriteError>
  readonly insertMany: Takes<
    { readonly documents: ReadonlyArray<Document>; readonly options?: InsertManyOptions | undefined },
    InsertManyResult
  >
  readonly replaceOne: Takes<
    { readonly document: Document; readonly options?: ReplaceOptions | undefined },
    UpdateResult,
    WriteError
  >
  readonly updateOne: Takes<{ readonly update: Update; readonly options: UpdateManyOptions }, UpdateResult, WriteError>
  readonly updateMany: Takes<{ readonly update: Update; readonly options: UpdateManyOptions }, UpdateResult, WriteError>
  readonly findOneAndUpdate: Takes<
    { readonly update: Update; readonly options: FindOneAndUpdateOptions },
    Document | undefined,
    WriteError
  >
  readonly findOneAndDelete: Takes<object, Document | undefined>
  readonly deleteOne: Takes<object, number>
  readonly deleteMany: Takes<object, number>
}

interface Takes<Input, A, E = ReadError> {
  readonly input: Input
  readonly success: A
  readonly error: E
}

export interface InsertManyOptions {
  readonly ordered?: boolean | undefined
}

interface ReplaceOptions {
  readonly upsert?: boolean | undefined
}

export type Kind = keyof Operations

interface Target {
  readonly filter?: Filter | undefined
  /** What a document has to match as well, for the operation to apply to it. */
  readonly conditions?: ReadonlyArray<Filter> | undefined
  readonly scope?: Scope | undefined
}

/** An operation as data. Whatever restricts a collection adds a condition in one place for all of them. */
export type Operation<K extends Kind> = Target & { readonly kind: K } & Operations[K]["input"]

type Outcome<K extends Kind> = Effect.Effect<Operations[K]["success"], Operations[K]["error"]>

/** What runs each kind of operation. */
export type Handlers = { readonly [K in Kind]: (operation: Operation<K>) => Outcome<K> }

/** A pipeline as data. */
export type Aggregation = Target & {
  readonly kind: "aggregate"
  readonly pipeline: ReadonlyArray<Document>
  readonly options?: ReadOptions | undefined
}

/** An operation whose results are streamed. */
type StreamOperation = Aggregation | Target & { readonly kind: "stream"; readonly options: Omit<FindOptions, "filter"> }

export interface Runner {
  readonly run: <K extends Kind>(operation: Operation<K>) => Outcome<K>
  readonly runStream: (operation: StreamOperation) => Stream.Stream<Document, ReadError>
}

/** What belongs to a caller without an operation on documents: what their row filters say, and their audit log. */
interface Limits {
  /** Adds what was done with documents of any model to the audit log. */
  readonly note?: (touched: Touched) => Effect.Effect<void, ReadError>
  /** Whether a chosen identifier would reveal documents that the caller's row filters hide. */
  readonly isLimited: (scope?: Scope) => Effect.Effect<boolean, ReadError>
  /** A test for recorded states, deleted ones too; `undefined` when the filters exclude the document itself. */
  readonly statesOf: (
    id: unknown,
    scope: Scope & { readonly privilege: Privilege }
  ) => Effect.Effect<StateTest | undefined, ReadError>
}

export type ModelCollection = ReturnType<typeof makeCollection>

/** The collection with a method for each operation of the runner. */
export const makeCollection = (
  { run, runStream }: Runner,
  { isLimited, note = unnoted, statesOf }: Limits = noLimits
) => ({
  run,
  runStream,
  note,
  isLimited,
  statesOf,
  /** `shard` is what is known of the document beside its identifier. */
  findById: (id: unknown, scope?: Scope, options?: ReadOptions, shard?: Filter) =>
    run({ kind: "findById", id, scope, options, ...shard === undefined ? {} : { conditions: [shard] } }),
  find: ({ filter, ...options }: TakeOptions, scope?: Scope) => run({ kind: "find", filter, options, scope }),
  findAndCount: ({ filter, ...options }: TakeOptions, scope?: Scope) =>
    run({ kind: "findAndCount", filter, options, scope }),
  stream: ({ filter, ...options }: FindOptions, scope?: Scope) => runStream({ kind: "stream", filter, options, scope }),
  count: (filter: Filter, scope?: Scope, options?: ReadOptions) => run({ kind: "count", filter, scope, options }),
  estimatedCount: (scope?: Scope) => run({ kind: "estimatedCount", scope }),
  distinct: (path: string, filter: Filter, scope?: Scope) => run({ kind: "distinct", path, filter, scope }),
  aggregate: (pipeline: ReadonlyArray<Document>, options?: ReadOptions, scope?: Scope) =>
    runStream({ kind: "aggregate", pipeline, options, scope }),
  insertOne: (document: Document, scope?: Scope) => run({ kind: "insertOne", document, scope }),
  insertMany: (documents: ReadonlyArray<Document>, options?: InsertManyOptions, scope?: Scope) =>
    run({ kind: "insertMany", documents, options, scope }),
  replaceOne: (filter: Filter, document: Document, options?: ReplaceOptions, scope?: Scope) =>
    run({ kind: "replaceOne", filter, document, options, scope }),
  updateOne: (filter: Filter, update: Update, options: UpdateManyOptions, scope?: Scope) =>
    run({ kind: "updateOne", filter, update, options, scope }),
  updateMany: (filter: Filter, update: Update, options: UpdateManyOptions, scope?: Scope) =>
    run({ kind: "updateMany", filter, update, options, scope }),
  findOneAndUpdate: (filter: Filter, update: Update, options: FindOneAndUpdateOptions, scope?: Scope) =>
    run({ kind: "findOneAndUpdate", filter, update, options, scope }),
  findOneAndDelete: (filter: Filter, scope?: Scope) => run({ kind: "findOneAndDelete", filter, scope }),
  deleteOne: (filter: Filter, scope?: Scope) => run({ kind: "deleteOne", filter, scope }),
  deleteMany: (filter: Filter, scope?: Scope) => run({ kind: "deleteMany", filter, scope })
})

export type StateTest = (state: Document) => boolean

/** The test that every state passes. */
export const everyState: StateTest = () => true

const noLimits: Limits = { isLimited: () => Effect.succeed(false), statesOf: () => Effect.succeed(everyState) }

const unnoted: NonNullable<Limits["note"]> = () => Effect.void

/**
 * The operations, which apply only to documents that match their condition as well: those that are not deleted, or those that
 * the caller's row filters match. The condition is part of the store's own operation, so both are one atomic step.
 * `undefined`: all documents.
 */
export const limitedTo = (
  all: Runner,
  conditionOf: (privilege: Privilege, scope: Scope | undefined) => Filter | undefined
): Runner => {
  const limited = <O extends { readonly kind: AnyKind } & Pick<StreamOperation, "conditions" | "scope">>(
    operation: O
  ): O => {
    const { conditions = [], kind, scope } = operation
    const privilege = privilegeOf[kind]
    // An insert applies to no stored document.
    const condition = privilege === "insert" ? undefined : conditionOf(scope?.privilege ?? privilege, scope)
    return condition === undefined ? operation : { ...operation, conditions: [...conditions, condition] }
  }
  return {
    run: (operation) => all.run(limited(operation)),
    runStream: (operation) => all.runStream(limited(operation))
  }
}

// internal

type AnyKind = Kind | StreamOperation["kind"]

/** The privilege that an operation needs. */
export const privilegeOf: { readonly [K in AnyKind]: Privilege } = {
  findById: "read",
  find: "read",
  findAndCount: "read",
  stream: "read",
  count: "read",
  estimatedCount: "read",
  distinct: "read",
  aggregate: "read",
  insertOne: "insert",
  insertMany: "insert",
  replaceOne: "update",
  updateOne: "update",
  updateMany: "update",
  findOneAndUpdate: "update",
  findOneAndDelete: "delete",
  deleteOne: "delete",
  deleteMany: "delete"
}
