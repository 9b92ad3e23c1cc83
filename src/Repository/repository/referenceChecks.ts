/**
 * Checks that the documents that a write refers to exist. The check and the write are one transaction. Only references that
 * the write adds are checked; stored ones are not checked again. References that an earlier version of the model has no
 * reference for are checked in what the newest version has after the write.
 */
import { conjunctionOf } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ModelLike, referencesOf, type ReferringField } from "../../Model/internal.ts"
import { Problem, ValidationException } from "../../Model/ModelError.ts"
import { apartFromAddressed } from "../collection/accessDecision.ts"
import { failingOnRejection, insertEach, insertInChunks, isRejection } from "../collection/bulkInserts.ts"
import { targetsOf } from "../collection/documentFields.ts"
import type { ModelCollection } from "../collection/modelCollection.ts"
import { ownerOf, viewOf } from "../collection/storedCollection.ts"
import type { Document, DocumentStore, Update } from "../DocumentStore.ts"
import type { ReadError, StoreError, WriteError } from "../RepositoryError.ts"
import { modelVersionsOf, pathsInView } from "../versions/modelVersions.ts"
import { uniqueTextOfId } from "./historyEntry.ts"
import type { ModelWriter } from "./modelWriter.ts"
import { installLocks, lockDocuments } from "./referenceLocks.ts"
import { idsAt } from "./referrers.ts"

/** Whether writes of the model may add references that have to exist. */
export const hasCheckedReferences = (model: ModelLike): boolean =>
  checkedReferencesOf(model).length > 0 || madeReferencesOf(model).length > 0

/** Makes the locks that the checks of a model's references need in the store. */
export const installReferences = (store: DocumentStore["Service"], model: ModelLike): Effect.Effect<void, StoreError> =>
  Effect.forEach(
    lockedTargetsOf([...checkedReferencesOf(model), ...madeReferencesOf(model)]),
    (target) => installLocks(store, target),
    { discard: true }
  )

interface CheckOptions {
  readonly collection: ModelCollection
  /** All documents as the newest version of the model has them. */
  readonly newest: ModelCollection
  /** The documents of another model that the caller may refer to. */
  readonly collectionOf: (model: ModelLike) => ModelCollection
  readonly store: DocumentStore["Service"]
}

/** A reference that a write adds. */
interface Added {
  readonly field: ReferringField
  readonly id: unknown
}

/** Adds the checks to a writer: a new reference to a missing document is a `ValidationException`. */
export const checkingReferences = (model: ModelLike, writer: ModelWriter, options: CheckOptions): ModelWriter => {
  const [fields, made] = [checkedReferencesOf(model), madeReferencesOf(model)]
  const whole = made.length === 0 ? writer : checkingNewest(model, made, writer, options)
  return fields.length === 0 ? whole : checkingOwn(model, fields, whole, options)
}

// internal

/** The references whose documents have to exist. */
const checkedReferencesOf = (model: ModelLike): ReadonlyArray<ReferringField> =>
  referencesOf(model).filter(({ isChecked }) => isChecked)

/** The references of the newest version that an earlier one has no checked reference for. */
const madeReferencesOf = (model: ModelLike): ReadonlyArray<ReferringField> => {
  const view = viewOf(model)
  if (view === undefined) return []
  const { pathIn } = modelVersionsOf(view.model)
  const own = new Set(checkedReferencesOf(model).map(({ path }) => path.join(".")))
  return checkedReferencesOf(view.model).filter(({ path }) => {
    const before = pathIn(path.join("."), view.version)
    return before === undefined || !own.has(before)
  })
}

/** Makes the search for references to missing documents. It locks the found ones until the transaction ends. */
const makeMissingOf = (fields: ReadonlyArray<ReferringField>, { collectionOf, store }: CheckOptions) => {
  const targets = new Map(fields.map(({ target }) => [target().modelName, collectionOf(target())]))
  const locked = lockedTargetsOf(fields)

  return Effect.fnUntraced(function*(added: ReadonlyArray<Added>) {
    const missing = new Set<ReferringField>()
    for (const [target, documents] of targets) {
      const own = added.filter(({ field }) => field.target().modelName === target)
      const ids = [...new Map(own.map(({ id }) => [uniqueTextOfId(id), id])).values()]
      if (ids.length === 0) continue
      if (locked.has(target)) yield* lockDocuments(store, target, ids, "deletions")
      const found = yield* apartFromAddressed(
        documents.find({ filter: { _id: { $in: ids } }, projection: { _id: 1 } })
      )
      const known = new Set(found.map(({ _id }) => uniqueTextOfId(_id)))
      for (const { field, id } of own) if (!known.has(uniqueTextOfId(id))) missing.add(field)
    }
    return fields.filter((field) => missing.has(field))
  })
}

/** Checks the references that are in the documents of the newest version once an earlier one has written. */
const checkingNewest = (
  model: ModelLike,
  fields: ReadonlyArray<ReferringField>,
  writer: ModelWriter,
  options: CheckOptions
): ModelWriter => {
  const { collection, newest, store } = options
  const [owner, targets, missingOf] = [ownerOf(model), targetsOf(model), makeMissingOf(fields, options)]

  const statesOf = (documents: ReadonlyArray<Document>) =>
    documents.length === 0
      ? Effect.succeed([])
      : newest.find({ filter: targets.all(documents) }, { deleted: "include" })

  /** Runs a write in a transaction, which gives the states before it of what it has written. */
  const checked = <A, E>(
    write: Effect.Effect<
      { readonly result: A; readonly before: ReadonlyArray<Document>; readonly written: ReadonlyArray<Document> },
      E
    >
  ): Effect.Effect<A, E | StoreError | ValidationException> =>
    store.transaction(Effect.gen(function*() {
      const { before, result, written } = yield* write
      const had = new Map(before.map((document) => [uniqueTextOfId(document["_id"]), document]))
      const missing = yield* missingOf(
        (yield* statesOf(written)).flatMap((document) =>
          except(ownReferences(owner, fields, document), had.get(uniqueTextOfId(document["_id"])))
        )
      )
      return missing.length === 0 ? result : yield* missingReferences(model, missing)
    }))

  const insert = (document: Document): Effect.Effect<Document, WriteError> =>
    checked(Effect.map(writer.insert(document), (result) => ({ result, before: [], written: [result] })))

  const insertChunk = (documents: ReadonlyArray<Document>, isOrdered: boolean) => {
    const whole = failingOnRejection(writer.insertMany(documents, { ordered: isOrdered }))
    return Effect.catchIf(
      checked(Effect.map(whole, (result) => ({ result, before: [], written: documents }))),
      isRejection,
      () => insertEach(documents, isOrdered, insert)
    )
  }

  const update: ModelWriter["update"] = (change, operation) =>
    checked(Effect.gen(function*() {
      const { filter = {}, name, scope } = operation
      const { sort } = Object(operation.options)
      const found = yield* collection.find({
        filter,
        projection: targets.projection,
        ...name === "updateMany" ? {} : { limit: 1, ...sort === undefined ? {} : { sort } }
      }, { privilege: "update", ...scope })
      // All references of a restored document are checked.
      const before = change === "restore" ? [] : yield* statesOf(found)
      const [first] = found
      const narrowed = name === "updateMany" || first === undefined ? filter : conjunctionOf(filter, targets.one(first))
      return { result: yield* writer.update(change, { ...operation, filter: narrowed }), before, written: found }
    }))

  return {
    ...writer,
    insert,
    insertMany: (documents, options) => insertInChunks(documents, options, insertChunk),
    replace: (filter, document, upsert) =>
      checked(Effect.gen(function*() {
        const before = yield* statesOf([document])
        const result = yield* writer.replace(filter, document, upsert)
        return { result, before, written: result === undefined ? [] : [result] }
      })),
    update
  }
}

/** Checks the references that a write names. */
const checkingOwn = (
  model: ModelLike,
  fields: ReadonlyArray<ReferringField>,
  writer: ModelWriter,
  options: CheckOptions
): ModelWriter => {
  const { collection, store } = options
  const missingOf = makeMissingOf(fields, options)

  /** Writes if no document is missing. Fails outside of the transaction, so that a surrounding one goes on. */
  const checked = <A>(
    added: Effect.Effect<ReadonlyArray<Added>, ReadError>,
    write: Effect.Effect<A, WriteError>
  ): Effect.Effect<A, WriteError> =>
    Effect.flatMap(
      store.transaction(Effect.gen(function*() {
        const missing = yield* missingOf(yield* added)
        return missing.length === 0 ? Result.succeed(yield* write) : Result.fail(missingReferences(model, missing))
      })),
      (result) => Effect.fromResult(result)
    )

  const insert = (document: Document): Effect.Effect<Document, WriteError> => {
    const added = ownReferences(model, fields, document)
    return added.length === 0 ? writer.insert(document) : checked(Effect.succeed(added), writer.insert(document))
  }

  const insertChunk = (documents: ReadonlyArray<Document>, isOrdered: boolean) => {
    const before = new Set<string>()
    const added = documents.flatMap((document) => {
      const own = ownReferences(model, fields, document).filter(({ field, id }) =>
        field.target().modelName !== model.modelName || !before.has(uniqueTextOfId(id))
      )
      before.add(uniqueTextOfId(document["_id"]))
      return own
    })
    const write = writer.insertMany(documents, { ordered: isOrdered })
    if (added.length === 0) return write
    const whole = checked(Effect.succeed(added), failingOnRejection(write))
    return Effect.catchIf(whole, isRejection, () => insertEach(documents, isOrdered, insert))
  }

  /** Checks the references that an update sets, and all references of restored documents. */
  const update: ModelWriter["update"] = (change, operation) => {
    const { filter = {}, scope } = operation
    const write = writer.update(change, operation)
    if (change === "restore") {
      const restored = collection.find({ filter }, { ...scope, privilege: "update" })
      return checked(
        Effect.map(restored, (documents) => [
          ...updatedReferences(fields, operation.update),
          ...documents.flatMap((document) => ownReferences(model, fields, document))
        ]),
        write
      )
    }
    const added = except(updatedReferences(fields, operation.update), scope?.before)
    return added.length === 0 ? write : checked(Effect.succeed(added), write)
  }

  return {
    ...writer,
    insert,
    insertMany: (documents, options) => insertInChunks(documents, options, insertChunk),
    replace: (filter, document, upsert) => {
      const added = ownReferences(model, fields, document)
      const write = writer.replace(filter, document, upsert)
      if (added.length === 0) return write
      // Of a document that the caller may not change, nothing tells whether it refers to the same.
      const stored = collection.findById(document["_id"], { deleted: "include", privilege: "update" })
      return checked(Effect.map(stored, (stored) => except(added, stored)), write)
    },
    update
  }
}

/** The models whose documents can't be deleted without regard to these references. */
const lockedTargetsOf = (fields: ReadonlyArray<ReferringField>): ReadonlySet<string> =>
  new Set(fields.flatMap(({ onDelete, target }) => onDelete === undefined ? [] : [target().modelName]))

/** The references of a document, except those to itself. */
const ownReferences = (
  { modelName }: ModelLike,
  fields: ReadonlyArray<ReferringField>,
  document: Document
): ReadonlyArray<Added> =>
  fields.flatMap((field) => {
    const own = field.target().modelName === modelName ? uniqueTextOfId(document["_id"]) : undefined
    return idsAt(document, field.path).flatMap((id) => uniqueTextOfId(id) === own ? [] : [{ field, id }])
  })

/** The references that the stored document does not have in the same field. */
const except = (added: ReadonlyArray<Added>, stored: Document | undefined): ReadonlyArray<Added> =>
  stored === undefined ?
    added :
    added.filter(({ field, id }) =>
      !idsAt(stored, field.path).some((known) => uniqueTextOfId(known) === uniqueTextOfId(id))
    )

const adding: ReadonlySet<string> = new Set(["$set", "$setOnInsert", "$push", "$addToSet", "$min", "$max"])

/** The references that an update sets or adds to lists. */
const updatedReferences = (fields: ReadonlyArray<ReferringField>, update: Update): ReadonlyArray<Added> =>
  Object.entries(update).flatMap(([operator, operands]) =>
    adding.has(operator)
      ? Object.entries(Object(operands)).flatMap(([path, value]) => {
        // The path of a reference has no positions in lists.
        const names = path.split(".").filter((name) => !/^(?:\d+|\$.*)$/u.test(name))
        const given = Object(value)
        const values: unknown = Object.hasOwn(given, "$each") ? given["$each"] : value
        return fields.flatMap((field) =>
          names.every((name, i) => field.path[i] === name)
            ? idsAt(values, field.path.slice(names.length)).map((id) => ({ field, id }))
            : []
        )
      })
      : []
  )

const missingReferences = (model: ModelLike, missing: ReadonlyArray<ReferringField>): ValidationException => {
  const view = viewOf(model)
  const problems = missing.map(({ path, target }) => {
    const made = path.join(".")
    // A reference that is made of other fields is one of the newest version.
    const isOwn = view === undefined || checkedReferencesOf(model).some((field) => field.path.join(".") === made)
    const [field = ""] = isOwn ? [made] : pathsInView(modelVersionsOf(view.model), model, view.version, made)
    return new Problem({
      field,
      validator: "Reference",
      message: `must be the identifier of an existing ${target().modelName}`
    })
  })
  const [{ field, message } = { field: "", message: "" }] = problems
  return new ValidationException({ model: model.modelName, validator: "Reference", field, detail: message, problems })
}
