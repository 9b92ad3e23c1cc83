/**
 * Writes documents of models with file fields together with the records of their files, in one transaction. A document that
 * refers to bytes which are not there is refused. A history holds the files of all of its states until it is purged.
 */
import { conjunctionOf, rejectDuplicateKey } from "@appkernel/document-store/shared"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Service as Files } from "../../Files/FileStore.ts"
import {
  type FileReference,
  filesOf,
  managedField,
  type ModelLike,
  modelTypeId,
  nestedModel
} from "../../Model/internal.ts"
import { Problem, ValidationException } from "../../Model/ModelError.ts"
import { failingOnRejection, insertEach, insertInChunks, isRejection } from "../collection/bulkInserts.ts"
import { targetsOf } from "../collection/documentFields.ts"
import type { CollectionOperation, ModelCollection, Scope, UpdateName } from "../collection/modelCollection.ts"
import { hasVersions, ownerOf } from "../collection/storedCollection.ts"
import type { Document, DocumentStore, Filter, TakeOptions, Update } from "../DocumentStore.ts"
import { storedIfUnreadable } from "../query/unreadable.ts"
import { historyOf, uniqueTextOfId } from "../repository/historyEntry.ts"
import type { ModelWriter } from "../repository/modelWriter.ts"
import { FileQuotaExceeded, type ReadError, type StoreError, type WriteError } from "../RepositoryError.ts"
import { type Change, holderOf, idsWithin, installFileRecords, recordChanges, type Stores } from "./fileRecords.ts"
import { countedFieldsOf, countersOf, quotasIn } from "./quotas.ts"
import { sweep } from "./sweep.ts"

interface Facts {
  readonly all: ModelCollection
  readonly collection: ModelCollection
  /** All documents as the newest version of the model has them. */
  readonly newest: ModelCollection
  readonly store: DocumentStore["Service"]
  readonly files: Files
}

/** What records the files of documents in a store. */
export const makeFileRecording = (stores: Stores) => ({
  install: (model: ModelLike) => installFileRecords(stores, ownerOf(model).modelName),
  sweep: (grace: Duration.Duration, every: Duration.Duration | undefined) => sweep(stores, grace, every),
  recordingFiles: (model: ModelLike, writer: ModelWriter, facts: Omit<Facts, "all" | "files">): ModelWriter =>
    recordingFiles(model, writer, { ...facts, files: stores.files }),
  purgingHistory: (
    model: ModelLike,
    facts: Omit<Facts, "collection" | "files" | "newest">,
    id: unknown,
    purge: Effect.Effect<number, ReadError>
  ) => purgingHistory(model, { ...facts, files: stores.files }, id, purge)
})

// internal

/** Adds the records of files to a writer. */
const recordingFiles = (
  model: ModelLike,
  writer: ModelWriter,
  { collection, files, newest, store }: Omit<Facts, "all">
): ModelWriter => {
  const stores: Stores = { store, files }
  // Files are held, and counted, by the fields of the newest version, whichever one a writer has.
  const owner = ownerOf(model)
  const isEarlier = owner !== model
  const names = fileFieldsIn(owner)
  const targets = targetsOf(model)
  // A start may say the quotas after this was made.
  const quotas = () => quotasIn(store, model)
  const projected = () => ({
    ...targetsOf(owner).projection,
    ...Object.fromEntries([...names, ...countedFieldsOf(quotas())].map((name) => [name, 1]))
  })
  const idsOf = idsIn(owner)
  const filesIn = (document: Document | undefined) => idsOf(document && storedIfUnreadable(document))
  /** The identifiers of its files. One that can't be read may have them in the fields of another version. */
  const idsHeldBy = (document: Document | undefined): ReadonlySet<string> => {
    const stored = document && storedIfUnreadable(document)
    return new Set(stored === document ? idsOf(document).keys() : idsWithin(stored))
  }
  const hasFiles = (document: Document) => isEarlier || idsIn(model)(document).size > 0
  // A history has what a document was.
  const isKept = managedField(model, "revision") !== undefined
  const changeOf = (id: unknown, before: Document | undefined, after: Document | undefined): Change => {
    const [had, has] = [idsHeldBy(before), idsHeldBy(after)]
    const declared = quotas()
    const countersIn = declared && countersOf(owner, declared)
    const counters = after === undefined ? undefined : countersIn?.(storedIfUnreadable(after))
    const keysOf = (document: Document) =>
      (countersIn?.(storedIfUnreadable(document)) ?? []).map(({ key }) => key).join("\n")
    const isMoved = before !== undefined && after !== undefined && keysOf(before) !== keysOf(after)
    return {
      id,
      counters,
      recounted: isMoved ? [...had].filter((file) => has.has(file)) : [],
      holder: holderOf(owner.modelName, id),
      added: [...filesIn(after).values()].filter((file) => !had.has(file.id)),
      removed: [...had].filter((file) => !has.has(file))
    }
  }

  /** Without the files that recorded states of the document still refer to. */
  const withKept = Effect.fnUntraced(function*(change: Change) {
    if (!isKept || change.removed.length === 0) return change
    const removed = new Set(change.removed)
    yield* Stream.runForEachWhile(idsInHistory(store, model, change.id), (file) =>
      Effect.sync(() => {
        removed.delete(file)
        return removed.size > 0
      }))
    return { ...change, removed: [...removed], kept: change.removed.filter((file) => !removed.has(file)) }
  })

  /** Writes in a transaction, and records what `write` says. */
  const recorded = <A, E>(
    write: Effect.Effect<{ readonly result: A; readonly changes: ReadonlyArray<Change> }, E>
  ): Effect.Effect<A, E | StoreError | ValidationException | FileQuotaExceeded> =>
    store.transaction(Effect.gen(function*() {
      const { changes, result } = yield* write
      const refused = yield* recordChanges(stores, yield* Effect.forEach(changes, withKept))
      if (refused === undefined) return result
      return yield* Effect.fail(
        refused instanceof FileQuotaExceeded ? refused : missingFile(model, fileFieldsIn(model))
      )
    }))

  const find = (
    filter: Filter | undefined,
    scope: Scope,
    options?: Pick<TakeOptions, "limit" | "sort">
  ) =>
    collection.find(
      { filter: filter ?? {}, projection: isEarlier ? targets.projection : projected(), ...options },
      scope
    )

  const statesOf = (documents: ReadonlyArray<Document>) =>
    documents.length === 0
      ? Effect.succeed([])
      : newest.find({ filter: targets.all(documents), projection: projected() }, { deleted: "include" })

  /** Documents of this version as the newest one has them. */
  const newestOf = (documents: ReadonlyArray<Document>) => isEarlier ? statesOf(documents) : Effect.succeed(documents)

  const changesOf = (
    before: ReadonlyArray<Document>,
    after: ReadonlyArray<Document>
  ): ReadonlyArray<Change> => {
    const left = new Map(after.map((document) => [uniqueTextOfId(document["_id"]), document]))
    return before.map((document) => changeOf(document["_id"], document, left.get(uniqueTextOfId(document["_id"]))))
  }

  const additionsOf = (documents: ReadonlyArray<Document>) =>
    Effect.map(
      newestOf(documents),
      (added) => added.map((document) => changeOf(document["_id"], undefined, document))
    )

  const insert = (document: Document): Effect.Effect<Document, WriteError> =>
    !hasFiles(document)
      ? writer.insert(document)
      : recorded(Effect.gen(function*() {
        const result = yield* writer.insert(document)
        return { result, changes: yield* additionsOf([document]) }
      }))

  const insertChunk = (documents: ReadonlyArray<Document>, isOrdered: boolean) => {
    const write = writer.insertMany(documents, { ordered: isOrdered })
    if (!documents.some(hasFiles)) return write
    const whole = recorded(Effect.gen(function*() {
      const result = yield* failingOnRejection(write)
      return { result, changes: yield* additionsOf(documents) }
    }))
    return Effect.catchIf(whole, isRejection, () => insertEach(documents, isOrdered, insert))
  }

  const updateFirst = Effect.fnUntraced(
    function*<N extends UpdateName>(
      change: Parameters<ModelWriter["update"]>[0],
      operation: CollectionOperation<N>
    ) {
      const { filter, scope } = operation
      const { sort } = Object(operation.options)
      const found = yield* find(filter, { privilege: "update", ...scope }, {
        limit: 1,
        ...sort === undefined ? {} : { sort }
      })
      const states = yield* newestOf(found)
      const [before] = found
      // The one that was read, by the original conditions: a positional path selects the item of a list by them.
      const narrowed = before === undefined ? filter : conjunctionOf(filter, targets.one(before))
      const result = yield* writer.update(change, { ...operation, filter: narrowed })
      return { result, changes: changesOf(states, yield* statesOf(found)) }
    }
  )

  return {
    insert,
    insertMany: (documents, options) => insertInChunks(documents, options, insertChunk),
    replace: (filter, document, upsert) =>
      recorded(Effect.gen(function*() {
        const [before] = yield* newestOf(yield* find(filter, { privilege: "update" }, { limit: 1 }))
        const result = yield* writer.replace(filter, document, upsert)
        const [after] = result === undefined ? [] : yield* newestOf([result])
        return { result, changes: after === undefined ? [] : [changeOf(after["_id"], before, after)] }
      })),
    update: (change, operation) => {
      if (!isEarlier && !touches([...names, ...countedFieldsOf(quotas())], operation.update)) {
        return writer.update(change, operation)
      }
      return recorded(
        operation.name === "updateMany"
          ? Effect.gen(function*() {
            const before = yield* newestOf(yield* find(operation.filter, { privilege: "update", ...operation.scope }))
            const result = yield* writer.update(change, operation)
            return { result, changes: changesOf(before, yield* statesOf(before)) }
          })
          : updateFirst(change, operation)
      )
    },
    delete: (change, operation) =>
      isKept
        ? writer.delete(change, operation)
        : removing(recorded(Effect.gen(function*() {
          const { filter, name, scope } = operation
          const before = yield* find(
            filter,
            { privilege: "delete", ...scope },
            name === "deleteOne" ? { limit: 1 } : {}
          )
          const states = yield* newestOf(before)
          const [first] = before
          const narrowed = name === "deleteOne" && first !== undefined
            ? conjunctionOf(filter, targets.one(first))
            : filter
          const result = yield* writer.delete(change, { ...operation, filter: narrowed })
          return { result, changes: changesOf(states, yield* statesOf(before)) }
        })))
  }
}

/** Removes the recorded states of a document by `purge`, and the files that only they hold. */
const purgingHistory = (
  model: ModelLike,
  { all, files, store }: Omit<Facts, "collection" | "newest">,
  id: unknown,
  purge: Effect.Effect<number, ReadError>
): Effect.Effect<number, ReadError> =>
  removing(store.transaction(Effect.gen(function*() {
    const owner = ownerOf(model)
    const held = new Set(
      hasVersions(owner)
        ? idsWithin(yield* store.findById(owner.modelName, id))
        : idsIn(model)(yield* all.findById(id, { deleted: "include" })).keys()
    )
    const recorded = new Set(yield* Stream.runCollect(idsInHistory(store, model, id)))
    const removed = [...recorded].filter((file) => !held.has(file))
    const kept = [...recorded].filter((file) => held.has(file))
    const change = { id, holder: holderOf(owner.modelName, id), added: [], removed, kept }
    yield* recordChanges({ store, files }, [change])
    return yield* purge
  })))

/** The files of the recorded states of a document, of the latest ones first. A file of several states is there several times. */
const idsInHistory = (
  store: DocumentStore["Service"],
  model: ModelLike,
  id: unknown
): Stream.Stream<string, ReadError> => {
  // States are recorded in the version of their writers, and have files in the fields of these.
  const isVersioned = hasVersions(ownerOf(model))
  const idsOf = idsIn(model)
  const projection = isVersioned
    ? { document: 1 }
    : Object.fromEntries(fileFieldsIn(model).map((name) => [`document.${name}`, 1]))
  const states = store.stream(historyOf(model.modelName), {
    filter: { document_id: id },
    sort: { revision: -1 },
    projection
  })
  return Stream.flatMap(
    states,
    ({ document }) => Stream.fromIterable(isVersioned ? idsWithin(document) : idsOf(Object(document)).keys())
  )
}

const idsIn = (model: ModelLike) => {
  const found = filesOf(model)
  return (document: Document | undefined): ReadonlyMap<string, FileReference> =>
    new Map(document === undefined ? [] : found?.(document).map((file) => [file.id, file]))
}

/** The fields that are files, or in which models have some. */
const fileFieldsIn = (model: ModelLike): ReadonlyArray<string> =>
  Object.entries(model.store.fields).flatMap(([name, schema]) => {
    const inner = nestedModel(schema)
    const hasFiles = model[modelTypeId][name]?.file !== undefined || inner !== undefined && filesOf(inner) !== undefined
    return hasFiles ? [name] : []
  })

/** Whether an update may change one of the fields, or something in it. */
const touches = (names: ReadonlyArray<string>, update: Update): boolean =>
  Object.entries(update).some(([operator, operands]) =>
    Object.entries(Object(operands)).some(([path, operand]) =>
      [path, ...operator === "$rename" ? [String(operand)] : []].some((one) => names.includes(one.split(".")[0]!))
    )
  )

/** What removes files only is never refused for a missing one, and adds no key. */
const removing = (write: Effect.Effect<number, WriteError>): Effect.Effect<number, ReadError> =>
  rejectDuplicateKey(
    "delete",
    Effect.catchTag(write, ["AccessDenied", "FileQuotaExceeded", "ValidationException"], Effect.die)
  )

const missingFile = ({ modelName }: ModelLike, [field = ""]: ReadonlyArray<string>): ValidationException => {
  const message = "must be a file that is stored"
  return new ValidationException({
    model: modelName,
    validator: "File",
    field,
    detail: message,
    problems: [new Problem({ field, validator: "File", message })]
  })
}
