/** Documents without a way up that may refer to what is deleted. */
import { isArray, isDocument } from "@appkernel/mql/values"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { keptField, managedField, type ModelLike, modelVersionField } from "../../Model/internal.ts"
import { isMarkedDeleted } from "../collection/deletedDocuments.ts"
import { topFieldOf } from "../collection/documentFields.ts"
import type { DocumentStore } from "../DocumentStore.ts"
import { unreadableProblems } from "../query/unreadable.ts"
import type { ReadError } from "../RepositoryError.ts"
import { agreementReader } from "./agreement.ts"
import { modelVersionOf, modelVersionsOf } from "./modelVersions.ts"

/**
 * Finds the documents that can't be read and may refer to what the predicate says at the path, with the identifiers that they have.
 */
export type UnreadableReferrers = (
  path: string,
  isReferred: (id: unknown) => boolean,
  options: { readonly isWithDeleted: boolean }
) => Effect.Effect<ReadonlyArray<{ readonly id: unknown; readonly target: unknown }>, ReadError>

/**
 * Finds the documents that no version fits, and whose changed fields have one of the identifiers somewhere. Which of these fields
 * the reference was in is not known, nor whether the document would refer to it in the newest version.
 */
export const unreadableReferrers = (model: ModelLike, store: DocumentStore["Service"]): UnreadableReferrers => {
  const { modelName } = model
  const versions = modelVersionsOf(model)
  const { current } = agreementReader(store, modelName, versions)
  const deletedField = managedField(model, "deleted")
  const filter = { $nor: [{ [modelVersionField]: versions.newest, [keptField]: null }] }
  return (path, isReferred, { isWithDeleted }) =>
    Effect.flatMap(current, ({ earliest }) => {
      if (!versions.changedSince(earliest).has(topFieldOf(path))) return Effect.succeed([])
      return Stream.runFold(
        store.stream(modelName, { filter }),
        (): Array<{ readonly id: unknown; readonly target: unknown }> => [],
        (found, stored) => {
          const isHidden = !isWithDeleted && isMarkedDeleted(stored, deletedField)
          if (isHidden || unreadableProblems(versions.upgrade(stored)) === undefined) return found
          const changed = versions.changedSince(modelVersionOf(stored))
          // Nothing is known of the fields of a later version.
          const isCandidate = (field: string) => changed.size === 0 ? field !== "_id" : changed.has(field)
          for (const [field, value] of Object.entries(stored)) {
            const target = isCandidate(field) ? valueIn(value, isReferred) : undefined
            if (target !== undefined) {
              found.push({ id: stored["_id"], target })
              return found
            }
          }
          return found
        }
      )
    })
}

// internal

/** The first value within another one that is as the predicate says. */
const valueIn = (value: unknown, is: (value: unknown) => boolean): unknown => {
  if (value === undefined || value === null) return undefined
  const parts = isArray(value) ? value : isDocument(value) ? Object.values(value) : undefined
  if (parts === undefined) return is(value) ? value : undefined
  for (const part of parts) {
    const found = valueIn(part, is)
    if (found !== undefined) return found
  }
  return undefined
}
