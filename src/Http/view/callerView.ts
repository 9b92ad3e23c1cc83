import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ModelLike } from "../../Model/introspection.ts"
import type { Filter } from "../../Repository/DocumentStore.ts"
import { nothing, type RowRules } from "../../Repository/introspection.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"

/**
 * The fields that a grant takes away, by their names: `cost`, `address.phone`, `lines.cost`. A hidden field can't be
 * written either, by the grant of a method that writes.
 */
interface FieldRules {
  readonly hide: ReadonlyArray<string>
  readonly readOnly: ReadonlyArray<string>
}

/**
 * A grant that the caller of a request holds.
 *
 * @internal
 */
export interface HeldGrant {
  /** `undefined` if the grant takes no fields away. */
  readonly fields: FieldRules | undefined
  /** The documents that the grant reaches, for this caller; `undefined`: all. */
  readonly rows: Filter | undefined
  /** What a write by the grant may leave behind; `undefined`: anything. */
  readonly check: Filter | undefined
}

/**
 * The grants of a caller for the documents of a model.
 *
 * @internal
 */
export interface CallerView {
  /** The grants for `GET`. */
  readonly read: ReadonlyArray<HeldGrant>
  /** The grants for the method of the request. */
  readonly write: ReadonlyArray<HeldGrant>
  /** The rules for rows of a write by some of these. */
  readonly rowRulesOf: (write: ReadonlyArray<HeldGrant>) => RowRules
}

/**
 * The view of a caller who holds no grant.
 *
 * @internal
 */
export const noGrants: CallerView = {
  read: [],
  write: [],
  rowRulesOf: () => ({ rows: () => nothing, check: () => nothing })
}

/**
 * Whether all grants show and may write all fields.
 *
 * @internal
 */
export const hasAllFields = ({ read, write }: Pick<CallerView, "read" | "write">): boolean =>
  read.every(({ fields }) => fields === undefined) && write.every(({ fields }) => fields === undefined)

/**
 * What identifies the fields of a set of grants, and which of them depend on the document.
 *
 * @internal
 */
export const keyOf = ({ read, write }: CallerView): string => `${keysOf(read)};${keysOf(write)}`

const keysOf = (grants: ReadonlyArray<HeldGrant>): string => {
  let keys = ""
  for (const { check, fields, rows } of grants) {
    keys += fields === undefined ? "," : `${textOf(fields)},`
    if (rows !== undefined) keys += "?"
    if (check !== undefined) keys += "!"
  }
  return keys
}

const textOf = (fields: FieldRules): string => {
  const known = texts.get(fields)
  if (known !== undefined) return known
  const text = JSON.stringify([fields.hide, fields.readOnly])
  texts.set(fields, text)
  return text
}

const texts = new WeakMap<FieldRules, string>()

/**
 * Whether a caller may use each of the endpoints that links list: on every document, on none, or on those that match a
 * filter.
 *
 * @internal
 */
export type Rights = ReadonlyArray<boolean | Filter>

/**
 * What the caller of a request may see of models.
 *
 * @internal
 */
export interface CallerViews {
  /** The grants for the model of the route; `undefined` if the route is not of a resource. */
  readonly own: CallerView | undefined
  /** The grants for any model; `undefined` if it is not registered, and everything is shown. */
  readonly of: (model: ModelLike) => Effect.Effect<CallerView | undefined, ReadError>
  /** What links of the route's own documents list; `undefined` if they have none. */
  readonly rights: Rights | undefined
  /** What links of documents of the registration with the path list. */
  readonly rightsAt: (path: string) => Effect.Effect<Rights, ReadError>
}

/**
 * The views of the caller for whom a fiber runs; `undefined` without access control, where everything is shown.
 *
 * @internal
 */
export const CallerViews: Context.Reference<CallerViews | undefined> = Context.Reference<CallerViews | undefined>(
  "appkernel/Http/view/CallerViews",
  { defaultValue: () => undefined }
)
