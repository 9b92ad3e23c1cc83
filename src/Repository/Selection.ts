/**
 * Which fields to read, and in which order to read documents. `Query` exports all of it.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Model from "../Model/Model.ts"
import type { Document, Sort } from "./DocumentStore.ts"
import { fieldNamed } from "./query/fieldPath.ts"
import type { PathOf, Selected } from "./query/fieldTypes.ts"
import { make } from "./query/selection.ts"
import type { DocumentInvalid } from "./RepositoryError.ts"

/**
 * The name of a field of the model `M`, or of one in it behind a dot (`address.city`): at most three in a row.
 *
 * @category models
 * @since 0.1.0
 */
export type Path<M extends Model.Any> = PathOf<M["store"]["fields"]>

/**
 * A field to sort by.
 *
 * @category models
 * @since 0.1.0
 */
export interface SortKey<M extends Model.Any> {
  readonly field: Path<M>
  /** Defaults to `"ASC"`. */
  readonly order?: "ASC" | "DESC" | undefined
}

/**
 * Some fields of a model instead of all of them, with the values `A`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Selection<A> {
  /** What to ask the store for. */
  readonly projection: Document
  /** Between what the store gives, its identifier named `id`, and what was asked for. */
  readonly schema: Schema.Codec<A, unknown>
  /** Reads what the store gives. Validators are not asked, as they are not when whole documents are read. */
  readonly fromDocument: (document: Document) => Effect.Effect<A, DocumentInvalid>
}

/**
 * The order in the store's terms. It ends in the identifier, in the direction of the key before it, so that no two
 * documents have the same place.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toSort = <M extends Model.Any>(model: M, keys: ReadonlyArray<SortKey<M>>): Sort => {
  const sort: { [path: string]: 1 | -1 } = {}
  let direction: 1 | -1 = 1
  for (const { field, order } of keys) {
    const path = fieldNamed(model, field)?.path ?? field
    direction = order === "DESC" ? -1 : 1
    sort[path] ??= direction
    if (path === "_id") return sort
  }
  return { ...sort, _id: direction }
}

/**
 * Some of the fields: how to ask the store for them, and how to read what it gives. Nothing else is part of the result,
 * not even the identifier.
 *
 * **Example** (Two fields)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Model, Query } from "appkernel"
 *
 * class Address extends Model.Class<Address>()("Address", { street: Schema.String, city: Schema.String }) {}
 *
 * class Person extends Model.Class<Person>()("Person", {
 *   id: Model.id(),
 *   name: Schema.String,
 *   address: Address.pipe(Model.optional)
 * }) {}
 *
 * const { fromDocument, projection } = Query.select(Person, ["name", "address.city"])
 *
 * projection // => { _id: 0, name: 1, "address.city": 1 }
 *
 * const person = await Effect.runPromise(fromDocument({ name: "Jane", address: { city: "Bern" } }))
 * person.address?.city // => "Bern"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const select = <M extends Model.Any, const P extends Path<M>>(
  model: M,
  fields: ReadonlyArray<P>
): Selection<Selected<M["Type"], P>> =>
  // The schema is made of the fields that the type picks.
  make(model, fields) as Selection<Selected<M["Type"], P>>
