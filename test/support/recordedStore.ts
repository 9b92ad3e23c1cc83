/** A store that records how its operations are called, for tests of what forwards, limits or checks each of them. */
import type { Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import {
  everyOperation,
  type OperationName,
  type StoreOperations,
  storeOperations
} from "@appkernel/document-store/shared"
import type { ReadError, StoreError } from "@appkernel/document-store/StoreError"
import { type Effect, Stream } from "effect"

// The keys of the table are the names.
export const names = Object.keys(storeOperations) as ReadonlyArray<OperationName>

const given = {
  id: "A",
  path: "n",
  filter: { _id: "A" },
  document: { _id: "A" },
  documents: [{ _id: "B" }, { _id: "C" }],
  update: { $set: { n: 2 } },
  pipeline: [{ $match: { n: 1 } }],
  options: {}
}

/** What an operation takes after the name of the collection, by the words of the table. */
export const argumentsOf = (name: OperationName): { readonly [argument: string]: unknown } =>
  Object.fromEntries(storeOperations[name].takes.map((argument) => [argument, given[argument]]))

/** Runs an operation of this name. */
export const runOperation = (
  operations: StoreOperations,
  name: OperationName
): Effect.Effect<unknown, StoreError> => {
  const operation = operations[name] as unknown as (...args: ReadonlyArray<unknown>) => unknown
  const result = operation("Thing", ...Object.values(argumentsOf(name)))
  // The table says which of the two it is.
  return storeOperations[name].streams
    ? Stream.runCollect(result as Stream.Stream<Document, ReadError>)
    : result as Effect.Effect<unknown, StoreError>
}

/** The operations of a store, and the names and arguments with which they have been called. */
export const recording = (store: StoreOperations) => {
  const calls: Array<{ readonly name: OperationName; readonly args: ReadonlyArray<unknown> }> = []
  const operations = everyOperation((name) => {
    const operation = store[name] as unknown as (...args: ReadonlyArray<unknown>) => unknown
    return ((...args: ReadonlyArray<unknown>) => {
      calls.push({ name, args: args.slice(0, 1 + storeOperations[name].takes.length) })
      return operation(...args)
    }) as never
  })
  return { calls, operations }
}

/** A recording in the place of the operations of a store. */
export const recordedStore = (store: DocumentStore["Service"]) => {
  const { calls, operations } = recording(store)
  return { calls, store: { ...store, ...operations } }
}
