/** A model's documents, in their newest version, as the store of an earlier version of it. */
import { everyOperation, type OperationName, storeOperations } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import { ValidationException } from "../../Model/ModelError.ts"
import type {
  CollectionOperation,
  InsertManyResult,
  ModelCollection,
  Name,
  Scope
} from "../collection/modelCollection.ts"
import type { DocumentStore, Filter } from "../DocumentStore.ts"
import { AccessDenied, FileQuotaExceeded, Unsupported, type WriteError } from "../RepositoryError.ts"

export const viewedStore = (store: DocumentStore["Service"], all: ModelCollection): DocumentStore["Service"] => ({
  ...store,
  // An operation of the collection takes and gives what the store's one does, by the table.
  ...everyOperation((name) => (name === "findOneAndReplace" ? unsupported(name) : viewed(all, name)) as never)
})

// internal

/** The earlier version itself leaves out deleted documents. */
const everything: Scope = { deleted: "include" }

type Arguments = ReadonlyArray<unknown>

/** The operation as data: a filter among the options is that of the operation, and a condition beside an identifier. */
const operationOf = (name: OperationName, args: Arguments): CollectionOperation<Name> => {
  const taken = Object.fromEntries(storeOperations[name].takes.map((argument, i) => [argument, args[i]]))
  const { filter, ...options }: { readonly filter?: Filter } = Object(taken["options"])
  const found = filter === undefined ? {} : "id" in taken ? { conditions: [filter] } : { filter }
  // It has what the table says that it takes.
  return { ...taken, options, ...found, name, scope: everything } as unknown as CollectionOperation<Name>
}

const viewed = (all: ModelCollection, name: OperationName) => {
  const { gives, privilege, streams } = storeOperations[name]
  return (_: string, ...args: Arguments) => {
    const operation = operationOf(name, args)
    // The names of operations that stream are those of `runStream`.
    if (streams) return all.runStream(operation as never)
    const result: Effect.Effect<unknown, WriteError> = all.run(operation)
    if (privilege === "read") return result
    const unruled = Effect.catchIf(result, isOfRules, Effect.die)
    // The result is what the table says.
    return gives === "insertions" ? Effect.map(unruled, (inserted) => admitted(inserted as InsertManyResult)) : unruled
  }
}

/** The complete collection has no rules that a write could break. */
const admitted = ({ failures, insertedCount }: InsertManyResult) => ({
  insertedCount,
  failures: failures.filter(({ error }) => !isOfRules(error))
})

const isOfRules = (error: unknown): error is AccessDenied | FileQuotaExceeded | ValidationException =>
  error instanceof AccessDenied || error instanceof FileQuotaExceeded || error instanceof ValidationException

/** Collections have no operation that returns the document that it replaces. */
const unsupported = (operation: OperationName) => () =>
  Effect.fail(new Unsupported({ operation, feature: `${operation} of an earlier version` }))
