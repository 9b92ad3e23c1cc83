/** The collections of earlier versions of a model, and the versions of what histories record. */
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Result from "effect/Result"
import { keptField, type ModelLike, modelVersionField } from "../../Model/internal.ts"
import { makeModelCollection } from "../collection/collectionStages.ts"
import type { ModelCollection } from "../collection/modelCollection.ts"
import { viewOf } from "../collection/storedCollection.ts"
import type { Document, DocumentStore, Filter } from "../DocumentStore.ts"
import { unreadable, unreadableProblems } from "../query/unreadable.ts"
import { admission } from "./admission.ts"
import { changesOf } from "./changes.ts"
import { viewedStore } from "./earlierVersionStore.ts"
import { modelVersionsOf } from "./modelVersions.ts"
import { runnerBy } from "./newestVersionRunner.ts"

// Repositories of models with versions load both.
export { versionRunner } from "./newestVersionRunner.ts"
export { unreadableReferrers } from "./unreadableReferrers.ts"
export { preparedIndexes } from "./versionIndexes.ts"

/** A model's earlier version on the collection of its newest. What it does not have stays in replacements. */
export const viewCollection = (
  view: ModelLike,
  store: DocumentStore["Service"],
  all: ModelCollection,
  storedFilter: (filter: Filter) => Filter
): ModelCollection => {
  const { version, versions, upgrade } = viewConversions(view)
  const admit = admission(view, versions, version)
  const shown = new Set(Object.keys(view.store.fields))
  const viewed = viewedStore(store, all)
  const runner = runnerBy(view, viewed, {
    fields: versions.fields.filter((field) => field !== modelVersionField && field !== keptField),
    changesIn: changesOf(versions, [], true),
    current: Effect.succeed({ written: version, earliest: version }),
    modelVersionOf: () => version,
    upgrade,
    downgrade: (_, document, __, stored) => admit(document, stored),
    storing: () => Effect.void,
    placesOf: () => [],
    keeping: (before, document) => ({
      ...Object.fromEntries(Object.entries(before).filter(([field]) => !shown.has(field))),
      ...document
    })
  })
  return makeModelCollection(view, viewed, storedFilter, { versions: runner })
}

/** The version of the documents that a history records, and how a recorded one is read. */
export interface RecordedVersion {
  readonly version: number
  readonly upgrade: (document: Document) => Document
}

export const recordedVersionOf = (model: ModelLike): RecordedVersion => {
  if (viewOf(model) === undefined) {
    const { upgrade, newest } = modelVersionsOf(model)
    return { version: newest, upgrade: (document) => withoutKept(upgrade(document)) }
  }
  const { version, versions, upgrade } = viewConversions(model)
  return { version, upgrade: (document) => withoutKept(upgrade(versions.upgrade(document))) }
}

// internal

/** The document without what it keeps for other versions: no reader of this one sees a change of it. */
const withoutKept = (document: Document): Document => {
  if (document[keptField] === undefined) return document
  const { [keptField]: _, ...fields } = document
  return fields
}

/** How documents of the newest version are seen in an earlier one. */
const viewConversions = (view: ModelLike) => {
  const { version = 1, model = view } = viewOf(view) ?? {}
  const versions = modelVersionsOf(model)
  const downgrade = (document: Document): Document =>
    unreadableProblems(document) !== undefined ? document : Result.match(versions.downgrade(document, version), {
      onFailure: (message) =>
        unreadable(
          view,
          document,
          [{ field: modelVersionField, validator: "Form", message }],
          versions.changedSince(version)
        ),
      onSuccess: (downgraded) => ({ ...downgraded, [modelVersionField]: version })
    })
  return { version, versions, upgrade: memoize(downgrade) }
}
