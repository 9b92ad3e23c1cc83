/**
 * Read-modify-write of one document (optimistic concurrency control). The write succeeds only while the stored document has
 * the values that the change was computed from. Otherwise the operation is retried, up to a limit, and then fails with
 * `VersionConflict`.
 */
import { makeRetry } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import { atFirstCall } from "../../internal/atFirstCall.ts"
import { ownValue } from "../../internal/objects.ts"
import {
  applyPatch,
  hasRules,
  inspector,
  modelTypeId,
  patcher,
  replacementGuard,
  replacesWhole,
  shardKeyOf
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import { AccessDecision, type RowFilters, withRowFilters } from "../collection/accessDecision.ts"
import type { DocumentCodec } from "../collection/documentCodec.ts"
import { viewOf } from "../collection/storedCollection.ts"
import type { Document, Filter, Update } from "../DocumentStore.ts"
import { documentEncoder, isStoredIdentically, storedIdOf, textOfId } from "../query/bsonForm.ts"
import type { DocumentInvalid, DocumentNotFound, VersionConflict, WriteError } from "../RepositoryError.ts"
import { changeOf, type DocumentChange } from "./documentChange.ts"
import { type DocumentCheck, type DocumentWrites, storedFieldsOf } from "./documentOperations.ts"
import { withOperands } from "./modelWriter.ts"
import {
  documentNotFound,
  type ModelWriteContext,
  storedVersionOf,
  versionConflict,
  versionOf
} from "./versionedWrites.ts"

export interface ReadModifyWrite<M extends Model.Any> {
  readonly modify: DocumentWrites<M["Type"]>["modify"]
  /** With `isSent`, the changes come from a client, and each value is converted whatever its form. */
  readonly patch: (isSent: boolean) => DocumentWrites<M["Type"]>["patch"]
}

export const makeReadModifyWrite = <M extends Model.Any>(
  model: M,
  context: ModelWriteContext,
  codec: DocumentCodec<M["Type"]>,
  retry: RetryLostUpdates,
  isUnmanaged: boolean
): ReadModifyWrite<M> => {
  const { fromDocument, toDocument } = codec
  const modify = modifier(model, context, codec, retry)
  const inspect = inspector(model)
  const patched = patcher(model)
  const fields = storedFieldsOf(model)
  const ownFields = fields.filter((field) => model[modelTypeId][field]?.managed === undefined)
  // A rule over several fields may break if another write changes any of them after the validation.
  const readByPatch = hasRules(model) ? fields : []

  const plannedPatch = (
    id: unknown,
    changes: { readonly [field: string]: unknown },
    isSent: boolean,
    current: M["Type"],
    stored: Document
  ): Effect.Effect<PlannedChange, VersionConflict | ModelError> => {
    const expected = versionOf(context, changes)
    if (expected !== undefined && expected !== storedVersionOf(context, stored)) {
      return Effect.fail(versionConflict(context, id, expected))
    }
    const { versionField } = context
    const merged = applyPatch(model, Object(current), changes, { mode: "merge", versionField })
    return Effect.mapEager(
      patched({ current: Object(current), merged, changes, isSent }),
      (changed) => ({ after: toDocument(changed), named: Object.keys(changes), read: readByPatch })
    )
  }

  /** Plans a write of the fields that differ, so that new fields of the model stay as they are stored. */
  const plannedChangeOf = (current: M["Type"], changed: M["Type"]): PlannedChange => {
    const [before, after] = [toDocument(current), toDocument(changed)]
    return {
      after,
      named: ownFields.filter((field) => !isStoredIdentically(ownValue(before, field), ownValue(after, field))),
      read: fields
    }
  }

  const replace = isUnmanaged ? replacer(model, context) : undefined

  return {
    patch: (isSent) => (id, changes, check) => {
      const given = { ...changes }
      const changed = () => modify(id, (current, stored) => plannedPatch(id, given, isSent, current, stored), check)
      return replace === undefined || check !== undefined
        ? changed()
        : Effect.flatMapEager(
          replace(id, given),
          (stored) => stored === undefined ? changed() : Effect.succeed(stored)
        )
    },
    modify: (id, change, check) =>
      Effect.flatMapEager(
        modify(id, (current) =>
          Effect.flatMap(
            change(current),
            ({ instance, filters }) =>
              Effect.map(inspect(instance, current), () => ({ ...plannedChangeOf(current, instance), filters }))
          ), check),
        fromDocument
      )
  }
}

/** Occurs when another write has changed the document after it was read. */
export class LostUpdate {
  readonly _tag = "LostUpdate"
}

/** Retries a read and its write while it fails with `LostUpdate`; `VersionConflict` when time is over. */
export type RetryLostUpdates = <A, E, R>(
  id: unknown,
  attempt: Effect.Effect<A, E | LostUpdate, R>
) => Effect.Effect<A, E | VersionConflict, R>

export const makeRetryLostUpdates = (context: ModelWriteContext): RetryLostUpdates => {
  const retry = makeRetry()
  return <A, E, R>(
    id: unknown,
    attempt: Effect.Effect<A, E | LostUpdate, R>
  ): Effect.Effect<A, E | VersionConflict, R> =>
    Effect.catchIf(
      retry(textOfId(id), (error: E | LostUpdate) => isLostUpdate(error), attempt),
      isLostUpdate,
      () => Effect.fail(versionConflict(context, id, 0))
    )
}

// internal

/**
 * Replaces whole fields of a document without reading it, where nothing else depends on them: one update of the store, so that
 * writers of other fields never meet. Succeeds with `undefined` if the document has to be read for it, or is not there.
 */
const replacer = (model: Model.Any, { writer }: ModelWriteContext) => {
  if (hasRules(model) || viewOf(model) !== undefined || shardKeyOf(model).length > 0) return undefined
  const isReplacement = atFirstCall(() => replacementGuard(model))
  const encode = atFirstCall(() => documentEncoder(model))
  return (
    id: unknown,
    changes: { readonly [field: string]: unknown }
  ): Effect.Effect<Document | undefined, WriteError> =>
    Effect.withFiber((fiber) => {
      const names = Object.keys(changes)
      if (names.length === 0 || !names.every((name) => replacesWhole(model, name))) return Effect.undefined
      if (isLimited(fiber.getRef(AccessDecision), model)) return Effect.undefined
      return Effect.flatMapEager(isReplacement(changes), (isReplaced) => {
        const set = isReplaced ? encode(changes) : {}
        // A value may be stored as none.
        if (!names.every((name) => Object.hasOwn(set, name))) return Effect.undefined
        return writer.update("patch", {
          name: "findOneAndUpdate",
          filter: { _id: storedIdOf(model)(id) },
          update: { $set: set },
          options: { returnDocument: "after" }
        })
      })
    })
}

/** Whether not all documents are the caller's to change. */
const isLimited = (decision: AccessDecision | undefined, model: Model.Any): boolean => {
  if (decision === undefined) return false
  if (decision.addressed?.model !== model) return true
  const { check, rows, updateGrants } = decision.addressed.rows
  return rows("update") !== undefined || check("update") !== undefined || updateGrants?.() !== undefined
}

/** A new document: `named` are the fields that may differ, and `read` the fields that it was computed from. */
interface PlannedChange {
  readonly after: Document
  readonly named: ReadonlyArray<string>
  readonly read: ReadonlyArray<string>
  /** The row filters of the write; `undefined` stands for those of the caller. */
  readonly filters?: RowFilters | undefined
}

type ModifyError = DocumentNotFound | DocumentInvalid | VersionConflict | WriteError

type Plan<A, E, R> = (current: A, stored: Document) => Effect.Effect<PlannedChange, E, R>

/** Succeeds with the document as it is stored then. */
type Modify<A> = <E, R, E2>(
  id: unknown,
  plan: Plan<A, E, R>,
  check: DocumentCheck<E2>
) => Effect.Effect<Document, E | E2 | ModifyError, R>

/** The update that was computed from the document; it gives the document as it is then. */
const updateOf = (stored: Document, filter: Filter, update: Update) =>
  ({
    name: "findOneAndUpdate",
    filter,
    update,
    options: { returnDocument: "after" },
    scope: { before: stored }
  }) as const

const modifier = <M extends Model.Any>(
  model: M,
  context: ModelWriteContext,
  { fromDocument }: DocumentCodec<M["Type"]>,
  retry: RetryLostUpdates
): Modify<M["Type"]> => {
  const { documents, auditFields, targets, writer } = context
  const fields = storedFieldsOf(model)

  /** A write that changes nothing is checked as well: otherwise it would confirm a guess of what a caller may not read. */
  const confirmed = (stored: Document): Effect.Effect<Document | undefined, WriteError> =>
    Effect.withFiber((fiber) =>
      fiber.getRef(AccessDecision) === undefined
        ? Effect.succeed(stored)
        // Not by the writer, since a history has no state of it.
        : documents.run(updateOf(stored, targets.one(stored), { $set: { _id: stored["_id"] } }))
    )

  const updated = (stored: Document, { filter, update }: DocumentChange) => {
    const updateBy = (update: Update) => writer.update("patch", updateOf(stored, filter, update))
    return auditFields === undefined
      ? updateBy(update)
      : Effect.withFiber((fiber) => updateBy(withOperands("$set", update, auditFields.updated(fiber))))
  }

  const write = (
    stored: Document,
    { after, filters, named, read }: PlannedChange,
    checked: ReadonlyArray<string>
  ): Effect.Effect<Document, LostUpdate | WriteError> => {
    const change = changeOf(stored, after, { named, read, checked }, context)
    const written = change === undefined ? confirmed(stored) : updated(stored, change)
    return Effect.flatMapEager(
      withRowFilters(written, model, filters),
      (modified) => modified === undefined ? Effect.fail(new LostUpdate()) : Effect.succeed(modified)
    )
  }

  const planned = <E, R>(stored: Document, plan: Plan<M["Type"], E, R>, checked: ReadonlyArray<string>) =>
    Effect.flatMapEager(
      fromDocument(stored),
      (current) => Effect.flatMapEager(plan(current, stored), (planned) => write(stored, planned, checked))
    )

  const attempt = <E, R, E2>(
    id: unknown,
    plan: Plan<M["Type"], E, R>,
    check: DocumentCheck<E2>
  ): Effect.Effect<Document, E | E2 | LostUpdate | DocumentNotFound | DocumentInvalid | WriteError, R> =>
    Effect.flatMapEager(
      documents.findById(storedIdOf(model)(id), { privilege: "update" }),
      (stored): Effect.Effect<Document, E | E2 | LostUpdate | DocumentNotFound | DocumentInvalid | WriteError, R> =>
        stored === undefined
          ? Effect.fail(documentNotFound(context, id))
          : check === undefined
          ? planned(stored, plan, [])
          : Effect.andThen(check(stored), planned(stored, plan, fields))
    )

  return (id, plan, check) => retry(id, attempt(id, plan, check))
}

const isLostUpdate = (error: unknown): error is LostUpdate => error instanceof LostUpdate
