/**
 * The history of documents over HTTP, and deleted documents: actions of a resource whose model has `Model.historied` or
 * `Model.softDeleted`. Each is an action like any other, with rules, links and documentation of its own, and a resource has those that
 * are added to it.
 *
 * What callers see of a former state is what they see of the document now, by their rows and fields of today. A state that their
 * rows do not admit does not exist for them, and neither does the history of a document that they can't read or that is deleted.
 *
 * **Example** (Former states of notes)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { History, Model, Resource, Role } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String, ...Model.historied }) {}
 *
 * export const Notes = Resource.make(Note, { methods: ["GET", "POST", "PATCH"] })
 *   .action(History.revisions(Note))
 *   .action(History.revision(Note))
 *   .action(History.restore(Note))
 *   .require(Role("author"), ["GET", "POST", "PATCH"])
 *   .require(Role("auditor"), ["GET", "revisions", "revision"])
 * ```
 *
 * @since 0.1.0
 */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Model from "../Model/Model.ts"
import type { IsHistoried, IsSoftDeleted } from "../Repository/Repository.ts"
import type { Action } from "./Action.ts"
import { type Result, result } from "./description/documents.ts"
import type { Parameter } from "./description/queryParameters.ts"
import * as Raw from "./description/raw.ts"
import { Links } from "./Envelope.ts"

const typeId = "~appkernel/History"

/**
 * A write that made a state of a document: the number of the state, the kind of the write, its time as an RFC 3339 date and time in
 * UTC, and the subject of the writer, if there was one.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Revision = Schema.Struct({
  revision: Schema.Int,
  change: Schema.Literals(["baseline", "insert", "replace", "patch", "update", "delete", "restore", "purge"]),
  time: Schema.String.annotate({ format: "date-time" }),
  by: Schema.optionalKey(Schema.String),
  /** `self` is the state after the change. */
  _links: Schema.optionalKey(Links)
}).annotate({ identifier: "Revision" })

/**
 * The actions, by their names.
 *
 * @category models
 * @since 0.1.0
 */
export type Name = "revisions" | "revision" | "revision_changes" | "restore_revision" | DeletionName

/**
 * The actions on deleted documents, by their names.
 *
 * @category models
 * @since 0.1.0
 */
export type DeletionName = "deleted" | "restore" | "purge"

/**
 * A model with `Model.historied`.
 *
 * @category models
 * @since 0.1.0
 */
export type Historied<M extends Model.Any> =
  & M
  & (IsHistoried<M> extends true ? unknown : "The model lacks Model.historied")

/**
 * A model with `Model.softDeleted`.
 *
 * @category models
 * @since 0.1.0
 */
export type SoftDeleted<M extends Model.Any> =
  & M
  & (IsSoftDeleted<M> extends true ? unknown : "The model lacks Model.softDeleted")

/**
 * `GET …/:id/revisions`: who changed the document when, the latest change first. A page has `page_size` changes, by default 20 and at
 * most 100; the link `next` leads to the page after it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const revisions = <M extends Model.Any>(
  _model: Historied<M>
): Action<M, "revisions", typeof revisionsOptions, never> => action("revisions", revisionsOptions)

/**
 * `GET …/:id/revisions/:revision`: the document as it was after that change. A state of an earlier version of the model is upgraded.
 * With this action, and for those who may call it, `GET …/:id?as_of=2026-11-01T00:00:00Z` answers the document as it was at that time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const revision = <M extends Model.Any>(
  model: Historied<M>
): Action<M, "revision", typeof revisionOptions & { readonly success: M }, never> =>
  action<"revision", typeof revisionOptions & { readonly success: M }>("revision", {
    ...revisionOptions,
    success: model
  })

/**
 * `GET …/:id/revisions/:revision/changes`: what changed, as a JSON Patch (RFC 6902) of the state before. Of a first state, and of one
 * after a state that the caller may not see, the patch adds the whole document.
 *
 * @category constructors
 * @since 0.1.0
 */
export const changes = <M extends Model.Any>(
  _model: Historied<M>
): Action<M, "revision_changes", typeof changesOptions, never> => action("revision_changes", changesOptions)

/**
 * `POST …/:id/revisions/:revision/restore`: writes the fields of that state again. It is a `PATCH` by the caller, and only resources
 * with that method have it: who may not send such a `PATCH` may not restore, hooks and checks run as for any other, `If-Match` counts,
 * and the answer is that of a `PATCH`. What clients can't write stays as it is.
 *
 * @category constructors
 * @since 0.1.0
 */
export const restore = <M extends Model.Any>(
  model: Historied<M>
): Action<M, "restore_revision", typeof restoreOptions & { readonly success: Result<M> }, never> =>
  action("restore_revision", { ...restoreOptions, success: result<M>(model) })

/**
 * `GET …/:id?deleted=include` and `GET …?deleted=only`: documents that are deleted, too, or these only, with the time of their
 * deletion as `deleted`. They are a `GET` of the document and of the list with a parameter more, for those who may call both.
 *
 * @category constructors
 * @since 0.1.0
 */
export const deleted = <M extends Model.Any>(
  model: SoftDeleted<M>
): Action<M, "deleted", typeof deletedOptions & { readonly success: M }, never> =>
  action<"deleted", typeof deletedOptions & { readonly success: M }>("deleted", { ...deletedOptions, success: model })

/**
 * `POST …/:id/restore`: takes a deletion back. The hooks of `PATCH` run, `If-Match` counts, and the answer is that of a `PATCH`. A
 * unique value that another document has taken since is a 409, and a reference to a document that is gone a 400.
 *
 * @category constructors
 * @since 0.1.0
 */
export const restoreDeleted = <M extends Model.Any>(
  model: SoftDeleted<M>
): Action<M, "restore", typeof restoreDeletedOptions & { readonly success: Result<M> }, never> =>
  action("restore", { ...restoreDeletedOptions, success: result<M>(model) })

/**
 * `DELETE …/:id?purge=true`: removes a document permanently, whether it is deleted or not. It is a `DELETE` with its hooks, for those
 * who may send one and may purge, and only resources with that method have it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const purge = <M extends Model.Any>(
  _model: SoftDeleted<M>
): Action<M, "purge", typeof purgeOptions, never> => action("purge", purgeOptions)

/** The action of this module whose options these are; `undefined` for another one. @internal */
export const nameOf = (options: object): Name | undefined =>
  // Only `action` sets it.
  typeId in options ? options[typeId] as Name : undefined

/**
 * The parameter by which a standard endpoint is asked to be an action; `undefined` for an action with an address of its own.
 *
 * @internal
 */
export const parameterOf = (options: object): "deleted" | "purge" | undefined => {
  const name = nameOf(options)
  return name === "deleted" || name === "purge" ? name : undefined
}

/** Whether an action is one on deleted documents. @internal */
export const isOfDeleted = (name: Name | undefined): name is DeletionName =>
  name === "deleted" || name === "purge" || name === "restore"

/** The parameters of requests for deleted documents. @internal */
export const deletedParameters = {
  deleted: {
    schema: Schema.Literals(["include", "only"]),
    message: "must be include or only",
    isRequired: true
  } satisfies Parameter<"include" | "only">
} as const

/** The parameters of a deletion that removes the document. @internal */
export const purgeParameters = {
  purge: {
    schema: Schema.Literal("true"),
    message: "must be true",
    isRequired: true
  } satisfies Parameter<"true">
} as const

/** The parameters of the `GET` of a document's state at a time. @internal */
export const asOfParameters = {
  as_of: {
    // As the date-times of documents: without a zone it is UTC.
    schema: Schema.String.pipe(Schema.decodeTo(Schema.toCodecJson(Model.DateTime))),
    message: "must be a date with a time, such as 2026-01-31T09:30:00",
    isRequired: true
  } satisfies Parameter<DateTime.Utc>
} as const

/** The number of changes of a page. @internal */
export const defaultPageSize = 20

// internal

/** An action whose handler the engine makes, with what it knows of the resource. */
const action = <const N extends Name, const O>(name: N, options: O) => ({
  name,
  options: { ...options, [typeId]: name },
  handler: () => Effect.die(new Error(`The action ${name} is part of no resource`))
})

const Count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))

const RevisionNumber = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const byRevision = { revision: RevisionNumber }

const revisionsOptions = {
  method: "GET",
  summary: "List who changed the document when, the latest change first",
  query: { before: Schema.optionalKey(RevisionNumber), page_size: Schema.optionalKey(Count) },
  success: Schema.Array(Revision)
} as const

const revisionOptions = {
  method: "GET",
  path: "revisions/:revision",
  summary: "Get the document as it was after a change",
  description: "With `as_of`, the `GET` of the document answers it as it was at a time.",
  params: byRevision
} as const

const changesOptions = {
  method: "GET",
  path: "revisions/:revision/changes",
  summary: "Get what a change changed, as a JSON Patch (RFC 6902)",
  params: byRevision,
  success: Raw.response({ contentType: "application/json-patch+json" })
} as const

const restoreOptions = {
  method: "POST",
  path: "revisions/:revision/restore",
  summary: "Write the fields of a former state again",
  params: byRevision
} as const

const deletedOptions = {
  method: "GET",
  path: "",
  summary: "Get one document, whether it is deleted or not",
  query: { deleted: deletedParameters.deleted.schema }
} as const

const restoreDeletedOptions = {
  method: "POST",
  path: "restore",
  summary: "Take the deletion of a document back"
} as const

const purgeOptions = {
  method: "DELETE",
  path: "",
  summary: "Remove a document permanently",
  query: { purge: purgeParameters.purge.schema },
  success: Schema.Int
} as const
