/**
 * What an operation of a repository meets on its way to the documents, in this order. Writes, operations of a caller and
 * operations of a collection run the folds of their own lists; a row without `wrap` is what each operation, or the store, does
 * at that place.
 *
 * @since 0.1.0
 */
import { storeStages } from "@appkernel/document-store/shared"
import type { StageRow } from "../internal/stages.ts"
import { callerStages } from "./collection/authorizedCollection.ts"
import { collectionStages } from "./collection/stages.ts"
import { writerStages } from "./repository/modelOperations.ts"

/** The stages of an operation, outermost first. */
export const operationStages: ReadonlyArray<StageRow> = [
  {
    name: "metrics",
    does: "Counts and times the operation, and runs it in a span if a tracer is installed.",
    when: "the service counts operations, or has a tracer"
  },
  ...writerStages,
  ...callerStages,
  ...collectionStages,
  ...storeStages
]
