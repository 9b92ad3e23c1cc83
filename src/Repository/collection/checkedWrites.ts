/**
 * Rejects writes that would leave a document behind which the caller's row filters do not allow. Nothing of such a write is
 * stored.
 *
 * An inserted document and a replacement are tested before they are written. An update is tested in advance when it was
 * computed from a document, and its write then depends on the fields that were tested. Any other update that may change the
 * result of the test runs in a transaction, which is rolled back when an updated document fails the test.
 *
 * Of several grants, one has to allow both the document before an update and the one after it.
 */
import { allOf, anyOf, conjunctionOf, negated, storeOperations } from "@appkernel/document-store/shared"
import { normalise } from "@appkernel/mql/values"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import type { ModelLike } from "../../Model/internal.ts"
import type { Document, DocumentStore, Filter, FindOneAndUpdateOptions, UpdateResult } from "../DocumentStore.ts"
import { AccessDenied, QueryRejected, type ReadError, type WriteError } from "../RepositoryError.ts"
import type { RowFilters, UpdateGrant } from "./accessDecision.ts"
import { chunksOf, insertAdmitted } from "./bulkInserts.ts"
import {
  afterUpdate,
  fieldsOfFilter,
  fieldsOfUpdate,
  type Targets,
  targetsOf,
  unchangedSince
} from "./documentFields.ts"
import { mapInSteps } from "./mapInSteps.ts"
import {
  type CollectionOperation,
  everyHandler,
  everyUpdate,
  type Handlers,
  type InsertManyResult,
  type ModelCollection,
  type Runner,
  type Scope,
  type Updated,
  type UpdateName
} from "./modelCollection.ts"
import { modelMatcher } from "./rowMatcher.ts"

/** The complete collection, the documents in it that match the row filters, and its store. */
interface CheckOptions {
  readonly all: ModelCollection
  readonly permitted: ModelCollection
  readonly store: DocumentStore["Service"]
}

/** Runs operations within the row filters, and checks what writes leave behind. */
export const checkingWrites = (model: ModelLike, options: CheckOptions): Runner["run"] => {
  const context: CheckContext = {
    ...options,
    model,
    targets: targetsOf(model),
    denied: new AccessDenied({ model: model.modelName })
  }
  const { run } = options.permitted
  const handlers: Handlers = {
    ...everyHandler(() => run),
    ...everyUpdate((name) => updateBy(context, name, run)),
    insertOne: ({ document, scope }) => insertOne(context, document, scope),
    insertMany: ({ documents, options, scope }) => insertMany(context, documents, options?.ordered !== false, scope),
    replaceOne: ({ document, filter = {}, options, scope }) =>
      (options?.upsert === true ? upsert : replace)(context, filter, document, scope)
  }
  return (operation) => handlers[operation.name](operation)
}

// internal

interface CheckContext extends CheckOptions {
  readonly model: ModelLike
  readonly targets: Targets
  readonly denied: AccessDenied
}

/** Why a document may not be inserted; `undefined` if it may. */
const rejectionOf = (
  context: CheckContext,
  document: Document,
  scope: Scope | undefined
): AccessDenied | QueryRejected | undefined => {
  const check = scope?.filters?.check("insert")
  if (check === undefined) return undefined
  // The test is made for the values that the store would return.
  const stored = normalise(document)
  return Result.isFailure(stored)
    ? new QueryRejected({ operation: "insert", detail: stored.failure })
    : matches(context, check, stored.success)
    ? undefined
    : context.denied
}

const matches = ({ model }: CheckContext, filter: Filter | undefined, document: Document): boolean =>
  filter === undefined || modelMatcher(model, filter)(document)

type Grants = ReadonlyArray<UpdateGrant>

/** The grants of the caller for updates, of which one has to allow a document before and after the write. */
const grantsOf = (scope: Scope | undefined): Grants => {
  const filters = scope?.privilege === "delete" ? undefined : scope?.filters
  return filters?.updateGrants?.() ?? [{ rows: filters?.rows("update"), check: filters?.check("update") }]
}

/** The grants that allow the document as the write leaves it behind. */
const grantsFor = (context: CheckContext, grants: Grants, document: Document): Result.Result<Grants, QueryRejected> =>
  grants.every(({ check }) => check === undefined)
    ? Result.succeed(grants)
    : Result.match(normalise(document), {
      onFailure: (detail) => Result.fail(new QueryRejected({ operation: "update", detail })),
      onSuccess: (stored) => Result.succeed(grants.filter(({ check }) => matches(context, check, stored)))
    })

/** The documents of a filter that one of the grants allows to update. */
const within = (grants: Grants, filter: Filter): Filter => conjunctionOf(anyOf(grants.map(({ rows }) => rows)), filter)

const insertOne = (
  context: CheckContext,
  document: Document,
  scope: Scope | undefined
): Effect.Effect<void, WriteError> => {
  const rejection = rejectionOf(context, document, scope)
  return rejection === undefined ? context.permitted.insertOne(document, scope) : Effect.fail(rejection)
}

const insertMany = Effect.fnUntraced(function*(
  context: CheckContext,
  documents: ReadonlyArray<Document>,
  isOrdered: boolean,
  scope: Scope | undefined
): Effect.fn.Return<InsertManyResult, ReadError> {
  const rejections = yield* mapInSteps(documents, (document) => rejectionOf(context, document, scope))
  return yield* insertAdmitted(
    rejections,
    isOrdered,
    (indexes) => context.permitted.insertMany(indexes.map((i) => documents[i]!), { ordered: isOrdered }, scope)
  )
})

/** A document that does not match the row filters is not found, whatever would replace it. */
const replace = (
  context: CheckContext,
  filter: Filter,
  document: Document,
  scope: Scope | undefined
): Effect.Effect<UpdateResult, WriteError> => {
  const grants = grantsOf(scope)
  const admitting = grantsFor(context, grants, document)
  const admitted = Result.getOrElse(admitting, (): Grants => [])
  if (admitted.length === grants.length) return context.permitted.replaceOne(filter, document, {}, scope)
  const rejection = Result.isFailure(admitting) ? admitting.failure : context.denied
  const written = admitted.length === 0
    ? Effect.succeed(noUpdate)
    : context.permitted.replaceOne(within(admitted, filter), document, {}, scope)
  return Effect.flatMap(written, (result) =>
    result.matchedCount > 0 ? Effect.succeed(result) : Effect.flatMap(
      firstMatch(context, { filter, scope }),
      (match) => match === undefined ? Effect.succeed(noUpdate) : Effect.fail(rejection)
    ))
}

/**
 * Replaces a document that matches the row filters, or inserts one. The identifier of a document that does not match them
 * is a duplicate key. The two are separate steps, because only the replacement is subject to the rows.
 */
const upsert = (
  context: CheckContext,
  filter: Filter,
  document: Document,
  scope: Scope | undefined
): Effect.Effect<UpdateResult, WriteError> => {
  if (isUnlimited(scope?.filters)) return context.permitted.replaceOne(filter, document, { upsert: true }, scope)
  return Effect.flatMap(replace(context, filter, document, scope), (replaced) => {
    if (replaced.matchedCount > 0) return Effect.succeed(replaced)
    const inserted = Effect.as(insertOne(context, document, scope), { ...noUpdate, upsertedId: document["_id"] })
    return Effect.catchTag(inserted, "DuplicateKey", (error) =>
      Effect.flatMap(
        // Of a transaction that has failed by it, nothing is read any more.
        Effect.orElseSucceed(firstMatch(context, { filter, scope }), () => undefined),
        // Another write may have inserted it in between.
        (match) => match === undefined ? Effect.fail(error) : upsert(context, filter, document, scope)
      ))
  })
}

const isUnlimited = (filters: RowFilters | undefined): boolean =>
  filters?.rows("update") === undefined && filters?.check("update") === undefined &&
  filters?.check("insert") === undefined && filters?.updateGrants?.() === undefined

/** The documents that an update is for. */
interface Target {
  readonly filter: Filter
  readonly scope: Scope | undefined
  readonly sort?: FindOneAndUpdateOptions["sort"]
}

/** What addresses the first document that an update is for. */
const firstMatch = (
  { permitted, targets }: CheckContext,
  { filter, scope, sort }: Target
): Effect.Effect<Document | undefined, ReadError> =>
  Effect.map(
    permitted.find({ filter, sort, limit: 1, projection: targets.projection }, { ...scope, privilege: "update" }),
    ([match]) => match
  )

type Write<A> = (filter: Filter) => Effect.Effect<A, WriteError>

/** Runs a write in a transaction, and the check after it. */
type CheckedTransaction<A> = (grants: Grants, target: Target, write: Write<A>) => Effect.Effect<A, WriteError>

/** Runs an update, with the check that its kind needs. */
const updateBy = <N extends UpdateName>(context: CheckContext, name: N, run: Runner["run"]) => {
  const none = storeOperations[name].gives === "document" ? undefined : noUpdate
  const transaction = name === "updateMany" ? updateEach(context) : updateFirst(context, none)
  return (operation: CollectionOperation<N>): Updated<N> =>
    // It gives what the operation gives, which without a document is `none`.
    checkingUpdate(context, operation, run, transaction as unknown as CheckedTransaction<Effect.Success<Updated<N>>>)
}

const checkingUpdate = <O extends CollectionOperation<UpdateName>, A>(
  context: CheckContext,
  operation: O,
  run: (operation: O) => Effect.Effect<A, WriteError>,
  transaction: CheckedTransaction<A>
): Effect.Effect<A, WriteError> => {
  const { filter = {}, options = {}, scope, update } = operation
  const write: Write<A> = (filter) => run({ ...operation, filter })
  const sort = "sort" in options ? Object(options).sort : undefined
  const target: Target = { filter, scope, sort }
  const grants = grantsOf(scope)
  if (grants.every(({ check }) => check === undefined)) return write(filter)
  const fieldsOf = new Map(grants.map((grant) => [grant, fieldsOfFilter(grant.check ?? {})]))
  const changed = fieldsOfUpdate(update)
  // The rows are part of the write, so what they require still holds after an update of other fields.
  const isKept = grants.every((grant) => {
    const fields = fieldsOf.get(grant)
    return grant.check === undefined ||
      fields !== undefined && isSameFilter(grant.rows, grant.check) && !changed.some((field) => fields.has(field))
  })
  if (isKept) return write(filter)
  const before = scope?.before
  if (before === undefined || [...fieldsOf.values()].includes(undefined)) return transaction(grants, target, write)
  const admitting = grantsFor(context, grants, afterUpdate(before, update))
  if (Result.isFailure(admitting)) return Effect.fail(admitting.failure)
  // The rows of a single grant are part of the write.
  const admitted = admitting.success.filter(({ rows }) => grants.length === 1 || matches(context, rows, before))
  if (admitted.length === 0) return Effect.fail(context.denied)
  const fields = new Set(admitted.flatMap((grant) => [...fieldsOf.get(grant) ?? []]))
  const reduced = grants.length === 1 ? filter : within(admitted, filter)
  return write(conjunctionOf(reduced, unchangedSince(before, [...fields])))
}

const isSameFilter = (one: Filter | undefined, other: Filter): boolean => one === other || Equal.equals(one, other)

const updateFirst =
  <A>(context: CheckContext, none: A): CheckedTransaction<A> => (grants, { filter, scope, sort }, write) =>
    context.store.transaction(Effect.gen(function*() {
      const match = yield* firstMatch(context, { filter, scope, sort })
      if (match === undefined) return none
      const chunk = context.targets.one(match)
      const check = yield* checkOf(context, grants, chunk, scope)
      const updated = yield* write(conjunctionOf(filter, chunk))
      yield* requireAdmitted(context, check, chunk)
      return updated
    }))

const updateEach = (context: CheckContext): CheckedTransaction<UpdateResult> => (grants, { filter, scope }, write) =>
  context.store.transaction(Effect.gen(function*() {
    const { permitted, targets } = context
    const matches = yield* permitted.find({ filter, projection: targets.projection }, { ...scope, privilege: "update" })
    let [matchedCount, modifiedCount] = [0, 0]
    for (const [, documents] of chunksOf(matches)) {
      const chunk = targets.all(documents)
      const check = yield* checkOf(context, grants, chunk, scope)
      const updated = yield* write(conjunctionOf(filter, chunk))
      yield* requireAdmitted(context, check, chunk)
      matchedCount += updated.matchedCount
      modifiedCount += updated.modifiedCount
    }
    return { matchedCount, modifiedCount }
  }))

/** What the grants that allow to update the documents of the chunk now allow to leave behind of each. */
const checkOf = Effect.fnUntraced(function*(
  { permitted }: CheckContext,
  grants: Grants,
  chunk: Filter,
  scope: Scope | undefined
): Effect.fn.Return<Filter | undefined, ReadError> {
  const [first] = grants
  if (first !== undefined && grants.length === 1) return first.check
  const branches = yield* Effect.forEach(grants, (grant) =>
    Effect.map(
      permitted.find({ filter: within([grant], chunk), projection: { _id: 1 } }, { ...scope, privilege: "update" }),
      (documents) => allOf({ _id: { $in: documents.map(({ _id }) => _id) } }, grant.check)
    ))
  return anyOf(branches)
})

/** Fails if a document of the chunk fails the check. */
const requireAdmitted = Effect.fnUntraced(function*(
  { all, denied }: CheckContext,
  check: Filter | undefined,
  chunk: Filter
) {
  if (check === undefined) return
  const rejected = yield* all.count(conjunctionOf(chunk, negated(check)), { deleted: "include" })
  if (rejected > 0) return yield* denied
})

const noUpdate: UpdateResult = { matchedCount: 0, modifiedCount: 0 }
