/**
 * The collection of a model, through which its repository reads and writes. For a model with `Model.softDeleted`, each
 * operation excludes deleted documents unless its scope includes them.
 */
import {
  type OperationName,
  type OperationsWith,
  storeOperations,
  type StoreOperationTable
} from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ValidationException } from "../../Model/ModelError.ts"
import type {
  Counted,
  Document,
  DocumentStore,
  Filter,
  InsertManyResult as StoredManyResult,
  ReadOptions,
  StreamOptions,
  TakeOptions,
  Update
} from "../DocumentStore.ts"
import type { AccessDenied, DuplicateKey, FileQuotaExceeded, ReadError, WriteError } from "../RepositoryError.ts"
import type { Privilege, RowFilters } from "./accessDecision.ts"
import type { Touched } from "./auditTrail.ts"
import type { Deleted } from "./deletedDocuments.ts"

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
      readonly error:
        | StoredManyResult["failures"][number]["error"]
        | AccessDenied
        | FileQuotaExceeded
        | ValidationException
    }
  >
}

export interface InsertManyOptions {
  readonly ordered?: boolean | undefined
}

type Store = DocumentStore["Service"]

type Streamed = OperationsWith<{ readonly streams: true }>

/** The operations of a collection with one result. No operation of a repository returns what it replaces. */
export type Name = Exclude<OperationName, Streamed | "findOneAndReplace">

/** The operations that take an update. */
export type UpdateName = Extract<Name, OperationsWith<{ readonly kind: "update" }>>

/** What operations take, by the words of the table. Collections update by operators only. */
interface Arguments {
  readonly id: unknown
  readonly path: string
  readonly document: Document
  readonly documents: ReadonlyArray<Document>
  readonly update: Update
  readonly pipeline: ReadonlyArray<Document>
}

type Takes<N extends OperationName> = StoreOperationTable[N]["takes"][number]

type Last<All extends ReadonlyArray<unknown>> = Required<All> extends readonly [...infer _, infer One] ? One : never

/** The options of the store's own operation. Only a replacement may insert, which checks of writes have to know. */
type OptionsOf<N extends OperationName> = Omit<
  NonNullable<Last<Parameters<Store[N]>>>,
  "filter" | (N extends "replaceOne" ? never : "upsert")
>

type Input<N extends OperationName> =
  & Pick<Arguments, Extract<Takes<N>, keyof Arguments>>
  & ("options" extends Takes<N> ? { readonly options?: OptionsOf<N> | undefined } : unknown)

/** What each operation takes and gives. An interface, so that what several operations have is known of any of them. */
interface Operations extends OperationTypes {}

type OperationTypes = {
  readonly [N in Name | Streamed]: {
    readonly input: Input<N>
    readonly success: Success<N>
    readonly error: Failure<N>
  }
}

type Success<N extends OperationName> = N extends "insertMany" ? InsertManyResult : Effect.Success<ReturnType<Store[N]>>

type Failure<N extends OperationName> = DuplicateKey extends Effect.Error<ReturnType<Store[N]>> ? WriteError : ReadError

interface Target {
  readonly filter?: Filter | undefined
  /** What a document has to match as well, for the operation to apply to it. */
  readonly conditions?: ReadonlyArray<Filter> | undefined
  readonly scope?: Scope | undefined
}

/** An operation as data. Whatever restricts a collection adds a condition in one place for all of them. */
export type CollectionOperation<N extends Name | Streamed> = Target & { readonly name: N } & Operations[N]["input"]

export type Outcome<N extends Name> = Effect.Effect<Operations[N]["success"], Operations[N]["error"]>

export type Updated<N extends UpdateName> = Effect.Effect<Operations[N]["success"], WriteError>

/** What runs each operation. */
export type Handlers = { readonly [N in Name]: (operation: CollectionOperation<N>) => Outcome<N> }

/** Handlers for all operations with one result, each made for its name. */
export const everyHandler = (
  make: <N extends Name>(name: N) => (operation: CollectionOperation<N>) => Outcome<N>
): Handlers =>
  // The keys are the names, and each handler is the one of its name.
  Object.fromEntries(names.map((name) => [name, make(name)])) as never

/** {@link everyHandler} for updates. */
export const everyUpdate = (
  make: <N extends UpdateName>(name: N) => (operation: CollectionOperation<N>) => Updated<N>
): Pick<Handlers, UpdateName> =>
  // As above.
  Object.fromEntries(names.filter(isUpdate).map((name) => [name, make(name)])) as never

/** A pipeline as data. */
export type Aggregation = CollectionOperation<"aggregate">

/** An operation whose results are streamed. */
export type StreamOperation = Aggregation | CollectionOperation<"stream">

export interface Runner {
  readonly run: <N extends Name>(operation: CollectionOperation<N>) => Outcome<N>
  readonly runStream: (operation: StreamOperation) => Stream.Stream<Document, ReadError>
  /** What the store reads without a fiber, where nothing that the operations meet before it adds anything. */
  readonly atOnce?: ReadsAtOnce | undefined
}

/** `atOnce` of the store's operations. */
export interface ReadsAtOnce {
  readonly findById: (id: unknown) => Document | undefined
  readonly find: (options: TakeOptions, now: number) => ReadonlyArray<Document> | undefined
  readonly findAndCount: (options: TakeOptions, now: number) => Counted | undefined
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

export type ModelCollection = ReturnType<typeof collectionOfRunner>

/** The collection, with methods for reads and inserts. */
export const collectionOfRunner = (
  { atOnce, run, runStream }: Runner,
  { isLimited, note = unnoted, statesOf }: Limits = noLimits
) => ({
  run,
  runStream,
  atOnce,
  note,
  isLimited,
  statesOf,
  /** `shard` is what is known of the document beside its identifier. */
  findById: (id: unknown, scope?: Scope, options?: ReadOptions, shard?: Filter) =>
    run({ name: "findById", id, scope, options, ...shard === undefined ? {} : { conditions: [shard] } }),
  find: ({ filter, ...options }: TakeOptions, scope?: Scope) => run({ name: "find", filter, options, scope }),
  findAndCount: ({ filter, ...options }: TakeOptions, scope?: Scope) =>
    run({ name: "findAndCount", filter, options, scope }),
  stream: ({ filter, ...options }: StreamOptions, scope?: Scope) =>
    runStream({ name: "stream", filter, options, scope }),
  count: (filter: Filter, scope?: Scope, options?: ReadOptions) => run({ name: "count", filter, scope, options }),
  estimatedCount: (scope?: Scope) => run({ name: "estimatedCount", scope }),
  distinct: (path: string, filter: Filter, scope?: Scope) => run({ name: "distinct", path, filter, scope }),
  aggregate: (pipeline: ReadonlyArray<Document>, options?: ReadOptions, scope?: Scope) =>
    runStream({ name: "aggregate", pipeline, options, scope }),
  insertOne: (document: Document, scope?: Scope) => run({ name: "insertOne", document, scope }),
  insertMany: (documents: ReadonlyArray<Document>, options?: InsertManyOptions, scope?: Scope) =>
    run({ name: "insertMany", documents, options, scope }),
  replaceOne: (
    filter: Filter,
    document: Document,
    options?: { readonly upsert?: boolean | undefined },
    scope?: Scope
  ) => run({ name: "replaceOne", filter, document, options, scope })
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
  const limited = <O extends { readonly name: OperationName } & Target>(operation: O): O => {
    const { conditions = [], name, scope } = operation
    const { privilege } = storeOperations[name]
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

const isName = (name: string): name is Name =>
  // The table's keys are its names.
  name !== "findOneAndReplace" && !storeOperations[name as OperationName].streams

const isUpdate = (name: Name): name is UpdateName => storeOperations[name].kind === "update"

const names: ReadonlyArray<Name> = Object.keys(storeOperations).filter(isName)
