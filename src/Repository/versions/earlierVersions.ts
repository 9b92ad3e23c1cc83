/** The collections of earlier forms of a model, and the forms of what histories record. */
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Result from "effect/Result"
import { aheadField, formField, type ModelLike } from "../../Model/internal.ts"
import type { ModelCollection } from "../collection/modelCollection.ts"
import { makeModelCollection } from "../collection/stages.ts"
import { viewOf } from "../collection/storedCollection.ts"
import { unreadable, unreadableProblems } from "../collection/unreadable.ts"
import type { Document, DocumentStore, Filter } from "../DocumentStore.ts"
import { admission } from "./admission.ts"
import { changesOf } from "./changes.ts"
import { formsOf } from "./modelVersions.ts"
import { runnerBy } from "./versionRunner.ts"
import { viewedStore } from "./viewedStore.ts"

// Repositories of models with versions load both.
export { preparedIndexes } from "./versionIndexes.ts"
export { formRunner } from "./versionRunner.ts"

/** A model's earlier form on the collection of its newest. What it does not have stays in replacements. */
export const viewCollection = (
  view: ModelLike,
  store: DocumentStore["Service"],
  all: ModelCollection,
  storedFilter: (filter: Filter) => Filter
): ModelCollection => {
  const { form, forms, lift } = viewWays(view)
  const admit = admission(view, forms, form)
  const shown = new Set(Object.keys(view.store.fields))
  const viewed = viewedStore(store, all)
  const runner = runnerBy(view, viewed, {
    fields: forms.fields.filter((field) => field !== formField && field !== aheadField),
    changesIn: changesOf(forms, [], true),
    current: Effect.succeed({ written: form, earliest: form }),
    formOf: () => form,
    lift,
    lower: (_, document, __, stored) => admit(document, stored),
    placesOf: () => [],
    keeping: (before, document) => ({
      ...Object.fromEntries(Object.entries(before).filter(([field]) => !shown.has(field))),
      ...document
    })
  })
  return makeModelCollection(view, viewed, storedFilter, { versions: runner })
}

/** The form of the documents that a history records, and how a recorded one is read. */
export interface RecordedForm {
  readonly form: number
  readonly lift: (document: Document) => Document
}

export const recordedFormOf = (model: ModelLike): RecordedForm => {
  if (viewOf(model) === undefined) {
    const { lift, newest } = formsOf(model)
    return { form: newest, lift }
  }
  const { form, forms, lift } = viewWays(model)
  return { form, lift: (document) => lift(forms.lift(document)) }
}

// internal

/** How documents of the newest form are seen in an earlier one. */
const viewWays = (view: ModelLike) => {
  const { form = 1, model = view } = viewOf(view) ?? {}
  const forms = formsOf(model)
  const lower = (document: Document): Document =>
    unreadableProblems(document) !== undefined ? document : Result.match(forms.lower(document, form), {
      onFailure: (message) => unreadable(view, document, [{ field: formField, validator: "Form", message }]),
      onSuccess: (lowered) => ({ ...lowered, [formField]: form })
    })
  return { form, forms, lift: memoize(lower) }
}
