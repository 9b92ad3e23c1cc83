/**
 * The operations of a store on documents, as one table. What wraps, records, checks or forwards every operation reads it, so
 * that a new operation is a member of the port, a row here, and its code in each store.
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Counted, Document, DocumentStore, InsertManyResult, UpdateResult } from "../DocumentStore.ts"
import type { ReadError, StoreError } from "../StoreError.ts"

type Store = DocumentStore["Service"]

/** The members of the port that don't take part in transactions. */
type Others =
  | "description"
  | "folder"
  | "isolation"
  | "transaction"
  | "changes"
  | "createIndexes"
  | "syncIndexes"
  | "dropIndexes"
  | "listCollections"
  | "listIndexes"
  | "setValidator"

export type OperationName = Exclude<keyof Store, Others>

/** The operations that take part in transactions. */
export type StoreOperations = Pick<Store, OperationName>

/** What the arguments of operations are, after the name of the collection. */
type Argument = "id" | "path" | "filter" | "document" | "documents" | "update" | "pipeline" | "options"

interface Row<Member extends (...args: never) => unknown> {
  /** What the operation does with documents. */
  readonly kind: "read" | "insert" | "replace" | "update" | "delete"
  /** What a caller has to be allowed to do with the documents. */
  readonly privilege: "read" | "insert" | "update" | "delete"
  readonly streams: ReturnType<Member> extends Stream.Stream<infer _, infer __> ? true : false
  readonly takes: Required<Parameters<Member>> extends [string, ...infer Rest]
    ? { readonly [I in keyof Rest]: Argument }
    : never
  readonly gives: Gives<
    ReturnType<Member> extends Effect.Effect<infer A, infer _> ? A : ReadonlyArray<Document>
  >
}

/** The word for a result. */
type Gives<Result> = [Result] extends [void] ? "nothing"
  : [Result] extends [number] ? "number"
  : [Result] extends [InsertManyResult] ? "insertions"
  : [Result] extends [UpdateResult] ? "update"
  : [Result] extends [Counted] ? "page"
  : [Result] extends [ReadonlyArray<Document>] ? "documents"
  : [Result] extends [ReadonlyArray<unknown>] ? "values"
  : "document"

const read = { kind: "read", privilege: "read", streams: false } as const
const insert = { kind: "insert", privilege: "insert", streams: false } as const
const replace = { kind: "replace", privilege: "update", streams: false } as const
const update = { kind: "update", privilege: "update", streams: false } as const
const remove = { kind: "delete", privilege: "delete", streams: false } as const

export const storeOperations = {
  findById: { ...read, takes: ["id", "options"], gives: "document" },
  find: { ...read, takes: ["options"], gives: "documents" },
  findAndCount: { ...read, takes: ["options"], gives: "page" },
  stream: { ...read, streams: true, takes: ["options"], gives: "documents" },
  count: { ...read, takes: ["filter", "options"], gives: "number" },
  estimatedCount: { ...read, takes: [], gives: "number" },
  distinct: { ...read, takes: ["path", "filter", "options"], gives: "values" },
  aggregate: { ...read, streams: true, takes: ["pipeline", "options"], gives: "documents" },
  insertOne: { ...insert, takes: ["document"], gives: "nothing" },
  insertMany: { ...insert, takes: ["documents", "options"], gives: "insertions" },
  replaceOne: { ...replace, takes: ["filter", "document", "options"], gives: "update" },
  updateOne: { ...update, takes: ["filter", "update", "options"], gives: "update" },
  updateMany: { ...update, takes: ["filter", "update", "options"], gives: "update" },
  findOneAndUpdate: { ...update, takes: ["filter", "update", "options"], gives: "document" },
  findOneAndReplace: { ...replace, takes: ["filter", "document", "options"], gives: "document" },
  findOneAndDelete: { ...remove, takes: ["filter", "options"], gives: "document" },
  deleteOne: { ...remove, takes: ["filter", "options"], gives: "number" },
  deleteMany: { ...remove, takes: ["filter", "options"], gives: "number" }
} as const satisfies { readonly [Name in OperationName]: Row<Store[Name]> }

export type StoreOperationTable = typeof storeOperations

/** The operations whose row has these values. */
export type OperationsWith<Values> = {
  [Name in OperationName]: StoreOperationTable[Name] extends Values ? Name : never
}[OperationName]

/** The operations of a store, each made for its name. */
export const everyOperation = (
  make: <Name extends OperationName>(name: Name) => StoreOperations[Name]
): StoreOperations =>
  // The keys are the names of the rows, and each member is the operation of its name.
  Object.fromEntries(Object.keys(storeOperations).map((name) => [name, make(name as OperationName)])) as never

type Use<Out> = (operations: StoreOperations) => Out

/** Operations that choose at each call which other operations they use. */
export const delegatingOperations = (
  effect: <A, E extends StoreError>(
    use: Use<Effect.Effect<A, E>>,
    name: OperationName
  ) => Effect.Effect<A, E | ReadError>,
  stream: <A>(use: Use<Stream.Stream<A, ReadError>>, name: OperationName) => Stream.Stream<A, ReadError>
): StoreOperations =>
  everyOperation((name) => {
    const delegating: AnyOperation = storeOperations[name].streams
      ? (collection, first, second) => stream((_) => member(_, name)(collection, first, second), name)
      : (collection, first, second, third) => effect((_) => member(_, name)(collection, first, second, third), name)
    // It takes and gives what the operation of the name does.
    return delegating as never
  })

/** Whether a write with this result may have changed a document. */
export const mayHaveChanged = (name: OperationName, result: unknown): boolean => {
  const { gives, kind } = storeOperations[name]
  // An operation that may insert returns no document for an inserted one.
  if (gives === "nothing" || (gives === "document" && kind !== "delete")) return true
  if (typeof result !== "object" || result === null) return result !== undefined && result !== 0
  return gives === "insertions" ? numberIn(result, "insertedCount") > 0 : gives === "document" ||
    numberIn(result, "modifiedCount") > 0 || Reflect.get(result, "upsertedId") !== undefined
}

// internal

const numberIn = (result: object, name: string): number => Number(Reflect.get(result, name))

/** An operation whose arguments and result are only passed on. */
type AnyOperation = (collection: string, first?: unknown, second?: unknown, third?: unknown) => unknown

const member = (operations: StoreOperations, name: OperationName): (...args: Parameters<AnyOperation>) => never =>
  // Whoever passes the arguments on has those of this operation, and its result is the one of this operation.
  operations[name] as never
