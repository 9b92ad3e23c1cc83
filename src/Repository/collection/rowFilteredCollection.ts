/**
 * The collection of a model whose operations have the row filters of a caller in their scope. It loads the query language, which
 * a program without access control has no use for.
 */
import { nothing } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Stream from "effect/Stream"
import { isRequiredInput, managedField, type ModelLike } from "../../Model/internal.ts"
import type { DocumentStore } from "../DocumentStore.ts"
import { QueryRejected } from "../RepositoryError.ts"
import type { RowFilters } from "./accessDecision.ts"
import { checkingWrites } from "./checkedWrites.ts"
import { collectionOfRunner, everyState, limitedTo, type ModelCollection } from "./modelCollection.ts"
import { holdingRowFilters } from "./rowFilterMarks.ts"
import { modelMatcher } from "./rowMatcher.ts"

export const makeFiltered = (
  model: ModelLike,
  all: ModelCollection,
  store: DocumentStore["Service"]
): ModelCollection => {
  const permitted = collectionOfRunner(limitedTo(all, (privilege, scope) => {
    const rows = scope?.filters?.rows(privilege)
    return rows && holdingRowFilters(rows, [rows])
  }))
  return collectionOfRunner({
    run: checkingWrites(model, { all, permitted, store }),
    runStream: (operation) => {
      const foreign = operation.name === "aggregate" ? foreignStage(operation.pipeline) : undefined
      return foreign === undefined ? permitted.runStream(operation) : Stream.fail(
        new QueryRejected({
          operation: "aggregate",
          detail: `${foreign} reaches other collections, which the rules of a caller do not allow`
        })
      )
    }
  }, {
    isLimited: (scope) => Effect.succeed(scope?.filters !== undefined && isLimited(model, scope.filters)),
    statesOf: (id, scope) =>
      Effect.map(permitted.findById(id, { ...scope, deleted: "include" }), (document) => {
        const rows = scope.filters?.rows(scope.privilege)
        return document === undefined ? undefined : rows === undefined ? everyState : modelMatcher(model, rows)
      })
  })
}

// internal

/**
 * Whether a chosen identifier would reveal documents that the caller may not read: with a row filter for what is inserted, or
 * for what is replaced unless callers have to send identifiers. A check of the identifier itself says which identifiers are
 * possible, and reveals nothing if the same ones may be replaced.
 */
const isLimited = (model: ModelLike, { check, rows }: RowFilters): boolean => {
  const [inserted, replaced] = [check("insert"), rows("update")]
  if (inserted !== undefined && (inserted === nothing || !Object.hasOwn(inserted, "_id"))) return true
  const id = managedField(model, "id")
  const isGiven = id !== undefined && isRequiredInput(model, id)
  return !isGiven && replaced !== undefined && !Equal.equals(replaced, inserted)
}

/** The first stage, of a nested pipeline too, that reads or writes other collections than the pipeline's own. */
const foreignStage = (value: unknown): string | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, part] of Object.entries(value)) {
    const found = foreignStages.has(key) ? key : foreignStage(part)
    if (found !== undefined) return found
  }
  return undefined
}

const foreignStages: ReadonlySet<string> = new Set(["$lookup", "$graphLookup", "$unionWith", "$out", "$merge"])
