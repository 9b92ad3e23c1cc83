/**
 * What callers see of a model's documents: whole, in part, in lists, and by their identifiers.
 */
import * as Schema from "effect/Schema"
import type * as Model from "../../Model/Model.ts"
import { Links, OperationIds, OperationResult } from "../Wire.ts"
import { wireIdOf } from "./identifier.ts"
import { deepPartial } from "./partialFields.ts"

/**
 * The identifier of a model's documents as callers see and send it.
 *
 * @category models
 * @since 0.1.0
 */
export type Id<M extends Model.Any> = M["wire"]["fields"] extends { readonly id: infer S extends Schema.Top } ? S
  : Schema.String

/**
 * The parameter of a path that leads to one document.
 *
 * @category models
 * @since 0.1.0
 */
export interface ById<M extends Model.Any> extends Schema.Struct<{ readonly id: Id<M> }> {}

/**
 * The schema of {@link ById}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const byId = <M extends Model.Any>(model: M): ById<M> =>
  // A model whose identifiers are any text, or can't be seen, is addressed by text.
  Schema.Struct({ id: wireIdOf(model) ?? Schema.String }) as never

/**
 * What a write did: the identifier of the document that was written.
 *
 * @category models
 * @since 0.1.0
 */
export interface Result<M extends Model.Any>
  extends Schema.Struct<{ readonly _type: Schema.tag<"OperationResult">; readonly result: Id<M> }>
{}

/**
 * The schema of {@link Result}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const result = <M extends Model.Any>(model: M): Result<M> => {
  const id = wireIdOf(model)
  // As above.
  return (id === undefined ? OperationResult : Schema.Struct({ ...OperationResult.fields, result: id })) as never
}

/**
 * What the insertion of a list did: the identifiers of the documents, in their order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Results<M extends Model.Any>
  extends Schema.Struct<{ readonly _type: Schema.tag<"OperationResult">; readonly result: Schema.$Array<Id<M>> }>
{}

/**
 * The schema of {@link Results}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const results = <M extends Model.Any>(model: M): Results<M> => {
  const id = wireIdOf(model)
  return (
    // As above.
    id === undefined ? OperationIds : Schema.Struct({ ...OperationIds.fields, result: Schema.Array(id) })
  ) as never
}

/**
 * A document as a caller sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Representation<M extends Model.Any> extends
  Schema.Struct<
    M["wire"]["fields"] & { readonly _links: Schema.optionalKey<typeof Links> }
  >
{}

/**
 * The schema of a document as a caller sees it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const representation = <M extends Model.Any>(model: M): Representation<M> =>
  // The fields are those of the model and the links, which a model of any type can't be seen to have.
  Schema.Struct({ ...model.wire.fields, _links: Schema.optionalKey(Links) }).annotate({
    identifier: model.modelName
  }) as never

/**
 * A document of which a caller sees only the fields that it asks for (`fields`), and the identifier.
 *
 * @category models
 * @since 0.1.0
 */
export interface Selection<M extends Model.Any>
  extends Schema.Codec<Selected<Representation<M>["Type"]>, Selected<Representation<M>["Encoded"]>>
{}

/**
 * Objects within a value that may lack any of their fields, but for `_type` and the identifier of the outermost.
 *
 * @category models
 * @since 0.1.0
 */
export type Selected<T> =
  & { readonly [K in keyof T]?: Partially<T[K]> }
  & { readonly [K in keyof T & ("_type" | "id")]: T[K] }

type Partially<T> = T extends ReadonlyArray<infer Item> ? ReadonlyArray<Partially<Item>>
  : T extends { readonly _type: string } ? { readonly [K in keyof T]?: Partially<T[K]> }
  : T

/**
 * The schema of {@link Selection}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const selection = <M extends Model.Any>(model: M): Selection<M> =>
  // The fields are those of `Representation`, each of them optional.
  deepPartial(representation(model), ["_type", "id"]) as never

/**
 * A list of anything as a caller sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Collection<Item extends Schema.Top> extends
  Schema.Struct<{
    readonly _type: Schema.tag<"list">
    readonly _items: Schema.$Array<Item>
    readonly _links: typeof Links
  }>
{}

/**
 * The schema of a list as a caller sees it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const collection = <Item extends Schema.Top>(item: Item): Collection<Item> =>
  Schema.Struct({ _type: Schema.tag("list"), _items: Schema.Array(item), _links: Links })
