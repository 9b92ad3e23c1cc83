/**
 * The decision of what the caller of a request may do. `src/Access` makes it, and the handler of a request runs with it.
 * Repositories apply its row filters in every operation; answers follow its field masks and its links.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { ModelLike } from "../../Model/internal.ts"
import type { Document, Filter } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"
import type { AuditTrail } from "./auditTrail.ts"

/** What a grant may allow to do with documents. */
export type Privilege = "read" | "insert" | "update" | "delete"

/** The documents of a model that a caller may read and write. A filter stays one object, parsed once. */
export interface RowFilters {
  /** The documents to which an operation applies; all if `undefined`. For an insert, those that are read after it. */
  readonly rows: (privilege: Privilege) => Filter | undefined
  /** The documents that a write may leave behind; any if `undefined`. */
  readonly check: (privilege: "insert" | "update") => Filter | undefined
  /** The grants of which one has to allow an update both before and after; else `rows` and `check` say it. */
  readonly updateGrants?: (() => ReadonlyArray<UpdateGrant> | undefined) | undefined
}

/** What one grant allows to update, and to leave behind; `undefined`: everything. */
export interface UpdateGrant {
  readonly rows: Filter | undefined
  readonly check: Filter | undefined
}

/** A grant that applies to the caller, with its conditions as filters. */
export interface EffectiveGrant extends UpdateGrant {
  /** The place of the grant in its registration. */
  readonly id: number
  /** The fields that the grant takes away, by their names: `cost`, `address.phone`, `lines.cost`. */
  readonly fields: { readonly hide: ReadonlyArray<string>; readonly readOnly: ReadonlyArray<string> } | undefined
}

export const hiddenBy = ({ fields }: EffectiveGrant): ReadonlyArray<string> => fields?.hide ?? []

/** Whether the caller may use each linked endpoint: for all documents, none, or those of a filter. */
export interface PermittedLinks {
  /** In the order of the links. */
  readonly endpoints: ReadonlyArray<boolean | Filter>
  readonly matcher: Matcher
}

/** Tests documents of a model as its repository finds them. The test of one filter is the same each time. */
export type Matcher = (filter: Filter) => (document: Document) => boolean

/** What a caller may do with the documents of a model. */
export interface ModelDecision {
  readonly read: ReadonlyArray<EffectiveGrant>
  /** The grants for the method of the request; none where the model is not that of the endpoint. */
  readonly write: ReadonlyArray<EffectiveGrant>
  readonly rows: RowFilters
  /** The row filters of a write by some of the grants `write`. */
  readonly rowsBy: (write: ReadonlyArray<EffectiveGrant>) => RowFilters
  /** What links list; `undefined` if the documents have no links. */
  readonly links: PermittedLinks | undefined
  readonly matcher: Matcher
  /** Why a write is refused, for the log. */
  readonly reason: string
}

/** What the caller of a request may do. It is never changed. */
export interface AccessDecision {
  /** For the model of the endpoint; `undefined` if the endpoint has none. */
  readonly endpoint: ModelDecision | undefined
  /** The row filters of one model that come before those of `of`: those for the document that the request addresses. */
  readonly addressed: { readonly model: ModelLike; readonly rows: RowFilters } | undefined
  /** For the documents of any model; `undefined` if it has no registration, and the caller may read and write all. */
  readonly of: (model: ModelLike) => Effect.Effect<ModelDecision | undefined, ReadError>
  /** What links list of the documents of the registration with the path. */
  readonly linksAt: (path: string) => Effect.Effect<PermittedLinks, ReadError>
  /** The endpoint and the subject, for the log. */
  readonly origin: { readonly [name: string]: string }
  /** Who may do this, of which the caller is one: the grants that apply, in words. */
  readonly grants: () => ReadonlyArray<string>
  /** The audit log of the request; `undefined` without one. */
  readonly trail?: AuditTrail | undefined
}

/** The decision for the caller for whom the fiber runs. `undefined`: there is no access control. */
export const AccessDecision = Context.Reference<AccessDecision | undefined>("appkernel/Repository/AccessDecision", {
  defaultValue: () => undefined
})

/** Runs an operation with these row filters for the documents of the model. */
export const withRowFilters = <A, E, R>(
  operation: Effect.Effect<A, E, R>,
  model: ModelLike,
  rows: RowFilters | undefined
): Effect.Effect<A, E, R> =>
  rows === undefined ? operation : Effect.withFiber((fiber) =>
    Effect.provideService(operation, AccessDecision, {
      ...fiber.getRef(AccessDecision) ?? unlimited,
      addressed: { model, rows }
    })
  )

/** Runs an operation that is not about the addressed document: an action, a hook, a search for references. */
export const apartFromAddressed = <A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const decision = fiber.getRef(AccessDecision)
    return decision?.addressed === undefined
      ? operation
      : Effect.provideService(operation, AccessDecision, { ...decision, addressed: undefined })
  })

// internal

const unlimited: AccessDecision = {
  endpoint: undefined,
  addressed: undefined,
  of: () => Effect.undefined,
  linksAt: () => Effect.succeed({ endpoints: [], matcher: () => () => false }),
  origin: {},
  grants: () => []
}
