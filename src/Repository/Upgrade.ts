/**
 * The forms in which the documents of a model are stored, and their upgrade to the newest one while the service runs.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type FieldProblem, keptField, modelVersionField } from "../Model/internal.ts"
import type * as Model from "../Model/Model.ts"
import { Problem } from "../Model/ModelError.ts"
import { documentCodec } from "./collection/documentCodec.ts"
import { unchangedSince } from "./collection/documentFields.ts"
import { type Document, DocumentStore, type Filter } from "./DocumentStore.ts"
import { textOfId } from "./query/bsonForm.ts"
import { unreadableProblems } from "./query/unreadable.ts"
import { indexesOf } from "./repository/modelIndexes.ts"
import type { ReadError, StoreError } from "./RepositoryError.ts"
import {
  excludeTransactions,
  raiseAgreement,
  readAgreement,
  refreshAfter,
  writtenVersion
} from "./versions/agreement.ts"
import { modelVersionOf, type ModelVersions, modelVersionsOf } from "./versions/modelVersions.ts"
import { dropExcluding, retireIndexes } from "./versions/versionIndexes.ts"

/**
 * The forms of a model's stored documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredForms {
  readonly model: string
  readonly collection: string
  /** The number of the newest form; 1 for a model without versions. */
  readonly newest: number
  /** The form in which documents are written now. It is the newest one once {@link finish} has said so. */
  readonly written: number
  /** Whether no document is stored in an earlier form, and none will be: every query is the store's own. */
  readonly isComplete: boolean
  /** How many documents are stored in each form, the earliest first. Forms without documents are left out. */
  readonly stored: ReadonlyArray<{ readonly form: number; readonly documents: number }>
}

/**
 * A stored document that does not fit its model. No value is shown.
 *
 * @category models
 * @since 0.1.0
 */
export interface Misfit {
  readonly model: string
  readonly id: string
  /** The number of the form in which the document is stored. */
  readonly form: number
  readonly problems: ReadonlyArray<Problem>
}

/**
 * How far an upgrade has come.
 *
 * @category models
 * @since 0.1.0
 */
export interface Progress {
  /** The documents that were looked at, of those that were stored in an earlier form. */
  readonly examined: number
  readonly upgraded: number
  /** The documents that have no way up, at most a thousand of them. They stay as they are. */
  readonly misfits: ReadonlyArray<Misfit>
}

/**
 * What the first documents of a collection show.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sample {
  readonly model: string
  readonly newest: number
  /** How many documents were looked at. */
  readonly documents: number
  /** How many of them are stored in an earlier form. */
  readonly earlier: number
  readonly misfits: ReadonlyArray<Misfit>
}

/**
 * Looks at the first documents of a model, by default a hundred.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sample: (model: Model.Any, limit?: number) => Effect.Effect<Sample, ReadError, DocumentStore> = Effect.fn(
  "Upgrade.sample"
)(function*(model, limit = 100) {
  const store = yield* DocumentStore
  const { newest } = modelVersionsOf(model)
  const documents = yield* store.find(model.modelName, { limit })
  const found = yield* Effect.forEach(documents, fitting(model))
  return {
    model: model.modelName,
    newest,
    documents: documents.length,
    earlier: documents.filter((stored) => newest > 1 && modelVersionOf(stored) < newest).length,
    misfits: found.flatMap(Option.toArray)
  }
})

/**
 * Counts the stored documents of each form.
 *
 * @category constructors
 * @since 0.1.0
 */
export const storedForms: (model: Model.Any) => Effect.Effect<StoredForms, ReadError, DocumentStore> = Effect.fn(
  "Upgrade.storedForms"
)(function*(model) {
  const store = yield* DocumentStore
  const versions = modelVersionsOf(model)
  const collection = model.modelName
  const agreement = yield* readAgreement(store, collection)
  const counts = versions.newest === 1
    ? [{ _id: 1, documents: yield* store.count(collection, {}) }]
    : yield* Stream.runCollect(
      store.aggregate(collection, [{
        $group: { _id: { $ifNull: [`$${modelVersionField}`, 1] }, documents: { $sum: 1 } }
      }])
    )
  return {
    model: model.modelName,
    collection,
    newest: versions.newest,
    written: writtenVersion(versions, agreement.understood),
    isComplete: agreement.complete >= versions.newest,
    stored: counts
      .map((count) => ({ form: Number(count["_id"]), documents: Number(count["documents"]) }))
      .filter(({ documents }) => documents > 0)
      .toSorted((one, other) => one.form - other.form)
  }
})

/**
 * The stored documents that do not fit the model, of all, or of `limit` that are looked at.
 *
 * @category constructors
 * @since 0.1.0
 */
export const misfits = (
  model: Model.Any,
  options: { readonly limit?: number | undefined } = {}
): Stream.Stream<Misfit, ReadError, DocumentStore> => {
  const fit = fitting(model)
  return Stream.unwrap(
    Effect.map(DocumentStore, (store) =>
      store.stream(model.modelName, { limit: options.limit }).pipe(
        Stream.mapEffect(fit),
        Stream.flatMap((misfit) => Stream.fromIterable(Option.toArray(misfit)))
      ))
  )
}

/**
 * Says that every process understands the newest form, so that all of them write it from now on. Returns when each has learned
 * it. Say it when no process of an earlier version runs any more; it can't be taken back.
 *
 * @category combinators
 * @since 0.1.0
 */
export const finish: (model: Model.Any) => Effect.Effect<void, StoreError, DocumentStore> = Effect.fn("Upgrade.finish")(
  function*(model) {
    const store = yield* DocumentStore
    const versions = modelVersionsOf(model)
    const { newest } = versions
    const { complete } = yield* readAgreement(store, model.modelName)
    if (complete >= newest) return
    // Another one may have said so a moment ago, and not waited.
    yield* retireIndexes(store, versions, indexesOf(model), { earliest: complete, written: newest })
    yield* raiseAgreement(store, model.modelName, { understood: newest })
    yield* excludeTransactions(store, model.modelName)
    // A write that has begun before then is given as long again.
    yield* Effect.sleep(Duration.times(refreshAfter, 2))
  }
)

/**
 * Rewrites the documents that are stored in an earlier form in the one that is written now, while the service runs. Each is
 * replaced while it is as it was read, so no write is lost. Stopped and run again, it goes on where it was. Emits its progress
 * after each batch.
 *
 * After {@link finish} this is the newest form. When no earlier one is left, it installs the unique indexes that had to wait for
 * it, and queries of changed fields are the store's own from then on. It fails with `DuplicateKey` if documents have the same
 * unique value.
 *
 * **Example** (Every document in the newest form)
 *
 * ```ts
 * import { Effect, Schema, Stream } from "effect"
 * import { EmbeddedStore, Model, Upgrade } from "appkernel"
 *
 * class Person extends Model.Class<Person>()("Person", { id: Model.id(), fullName: Schema.String }, {
 *   versions: [Model.was.renamed("name", "fullName")]
 * }) {}
 *
 * export const upgraded = Effect.gen(function*() {
 *   yield* Upgrade.finish(Person)
 *   yield* Stream.runDrain(Upgrade.upgrade(Person))
 *   return (yield* Upgrade.storedForms(Person)).isComplete
 * }).pipe(Effect.provide(EmbeddedStore.layerMemory))
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const upgrade = (
  model: Model.Any,
  options: {
    /** The number of documents in a batch. Defaults to 500. */
    readonly batch?: number | undefined
    /** The most documents in a second. Defaults to no limit. */
    readonly perSecond?: number | undefined
  } = {}
): Stream.Stream<Progress, StoreError, DocumentStore> =>
  Stream.unwrap(Effect.gen(function*() {
    const store = yield* DocumentStore
    const versions = modelVersionsOf(model)
    const { batch = 500, perSecond } = options
    const { complete, understood } = yield* readAgreement(store, model.modelName)
    const target = writtenVersion(versions, understood)
    // A complete one is looked through again: an earlier version may have written since.
    if (target === 1) return Stream.empty
    let progress: Progress = { examined: 0, upgraded: 0, misfits: [] }
    const pending = pendingFor(target)
    const state = { earliest: Math.min(complete, versions.newest), written: target }
    // A start that came between may have installed what an earlier version declares.
    if (state.earliest < target) yield* retireIndexes(store, versions, indexesOf(model), state)
    const pass = store.stream(model.modelName, { filter: pending }).pipe(
      Stream.grouped(batch),
      Stream.mapEffect(Effect.fnUntraced(function*(documents) {
        const results = yield* Effect.forEach(documents, (stored) => rewrite(store, versions, stored, target), {
          concurrency: 32
        })
        const found = results.flatMap((result) => Option.toArray(result))
        progress = {
          examined: progress.examined + documents.length,
          upgraded: progress.upgraded + documents.length - found.length,
          misfits: [...progress.misfits, ...found].slice(0, maxMisfits)
        }
        if (perSecond !== undefined) yield* Effect.sleep(Duration.seconds(documents.length / perSecond))
        return progress
      }))
    )
    const end = Stream.fromEffectDrain(Effect.gen(function*() {
      if (understood < versions.newest || (yield* store.count(model.modelName, pending)) > 0) return
      yield* dropExcluding(store, versions, indexesOf(model), state)
      yield* store.createIndexes(model.modelName, indexesOf(model))
      yield* raiseAgreement(store, model.modelName, { complete: versions.newest })
      // It loads the query language, which other programs have no use for.
      const { removeLookups } = yield* Effect.promise(() => import("./versions/uniqueValues.ts"))
      yield* removeLookups(store, model.modelName, indexesOf(model))
    }))
    return Stream.concat(pass, end)
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxMisfits = 1000

/** The misfit, if the document is one. */
function fitting(model: Model.Any): (stored: Document) => Effect.Effect<Option.Option<Misfit>> {
  const { fromDocument } = documentCodec(model)
  const { upgrade } = modelVersionsOf(model)
  return (stored) =>
    Effect.match(fromDocument(upgrade(stored)), {
      onSuccess: () => Option.none(),
      onFailure: ({ problems }) => Option.some(misfitOf(model, stored, problems))
    })
}

/** The documents that are stored in a form before this one, or keep something for this one or an earlier one. */
function pendingFor(target: number): Filter {
  const earlier = { [modelVersionField]: { $not: { $gte: target } } }
  const steps = Array.from({ length: target - 1 }, (_, i) => ({ [`${keptField}.${i + 1}`]: { $exists: true } }))
  return { $or: [earlier, ...steps] }
}

function misfitOf(model: Model.Any, stored: Document, problems: ReadonlyArray<FieldProblem>): Misfit {
  return {
    model: model.modelName,
    id: textOfId(stored["_id"]),
    form: modelVersionOf(stored),
    problems: problems.map((problem) => new Problem(problem))
  }
}

/** Rewrites a document; the misfit if it has no way up. */
function rewrite(
  store: DocumentStore["Service"],
  versions: ModelVersions,
  stored: Document,
  target: number
): Effect.Effect<Option.Option<Misfit>, StoreError> {
  const { fields, upgrade, downgrade, model } = versions
  const upgraded = upgrade(stored)
  const problems = unreadableProblems(upgraded)
  if (problems !== undefined) return Effect.succeedSome(misfitOf(model, stored, problems))
  const next = downgrade(upgraded, target)
  if (Result.isFailure(next)) {
    const problem = { field: modelVersionField, validator: "Form", message: next.failure }
    return Effect.succeedSome(misfitOf(model, stored, [problem]))
  }
  const isAsRead = { ...unchangedSince(stored, fields), _id: stored["_id"] }
  return Effect.flatMap(store.replaceOne(model.modelName, isAsRead, next.success), ({ matchedCount }) => {
    if (matchedCount > 0) return Effect.succeedNone
    const pending = { filter: pendingFor(target) }
    return Effect.flatMap(
      store.findById(model.modelName, stored["_id"], pending),
      // Another write came first: it has removed or upgraded the document, or it is read again.
      (now) => now === undefined ? Effect.succeedNone : rewrite(store, versions, now, target)
    )
  })
}
