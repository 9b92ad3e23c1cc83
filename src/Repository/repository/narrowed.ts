/**
 * Restricts the operations of a collection to the documents that match a condition: those that are not deleted, or those
 * that the caller's rules admit. The condition is part of the store's own operation, so both are one atomic step.
 */
import type { Filter } from "../DocumentStore.ts"
import type { Access } from "./callerRules.ts"
import type { Kind, Runner, Scope, StreamOperation } from "./modelCollection.ts"

/**
 * The operations, which reach a document only if it matches their condition as well. `undefined`: all documents.
 *
 * @internal
 */
export const narrowed = (
  all: Runner,
  conditionOf: (access: Access, scope: Scope | undefined) => Filter | undefined
): Runner => {
  const within = <O extends { readonly kind: AnyKind } & Pick<StreamOperation, "conditions" | "scope">>(
    operation: O
  ): O => {
    const { conditions = [], kind, scope } = operation
    const access = accessOf[kind]
    // An insert reaches no document.
    const condition = access === "insert" ? undefined : conditionOf(scope?.access ?? access, scope)
    return condition === undefined ? operation : { ...operation, conditions: [...conditions, condition] }
  }
  return {
    run: (operation) => all.run(within(operation)),
    runStream: (operation) => all.runStream(within(operation))
  }
}

// internal

type AnyKind = Kind | StreamOperation["kind"]

const accessOf: { readonly [K in AnyKind]: Access } = {
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
