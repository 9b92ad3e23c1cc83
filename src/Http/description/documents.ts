/** The wire forms of a model's documents: complete, partial, in lists, and their identifiers. */
import { memoize } from "effect/Function"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { embeddedOf, mapParts, type ModelLike, modelOf, wireIdOf, withParts } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { Links, OperationIds, OperationResult } from "../Envelope.ts"

/**
 * The identifier of a document in requests and responses.
 *
 * @category models
 * @since 0.1.0
 */
export type Id<M extends Model.Any> = M["wire"]["fields"] extends { readonly id: infer S extends Schema.Top } ? S
  : Schema.String

/**
 * The path parameter of one document.
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
  // Without a visible identifier, or with one of any text, documents are addressed by text.
  Schema.Struct({ id: wireIdOf(model) ?? Schema.String }) as never

/**
 * The result of a write: the identifier of the written document.
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
  // The schema is that of the type.
  return (id === undefined ? OperationResult : Schema.Struct({ ...OperationResult.fields, result: id })) as never
}

/**
 * The result of a bulk insert: the identifiers of the documents, in order.
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
    // The schema is that of the type, as in `result`.
    id === undefined ? OperationIds : Schema.Struct({ ...OperationIds.fields, result: Schema.Array(id) })
  ) as never
}

/**
 * A document or a change of one in a list of those to write, with the identifier.
 *
 * @category models
 * @since 0.1.0
 */
export interface Items<M extends Model.Any, Form extends "create" | "patch">
  extends Schema.$Array<Schema.Struct<Omit<M[Form]["fields"], "id"> & { readonly id: Id<M> }>>
{}

/**
 * The schema of {@link Items}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const items = <M extends Model.Any, Form extends "create" | "patch">(model: M, form: Form): Items<M, Form> =>
  // The schema is that of the type.
  Schema.Array(Schema.Struct({ ...model[form].fields, ...byId(model).fields })) as never

/**
 * What a write of many documents has written, or would write: how many documents, and their identifiers. `results` has each
 * document with the status of its write, its version, the document itself where the request prefers that, and the body of the error.
 *
 * @category models
 * @since 0.1.0
 */
export interface WrittenMany<M extends Model.Any> extends
  Schema.Struct<{
    readonly _type: Schema.tag<"ManyResult">
    readonly count: Schema.Int
    readonly ids: Schema.$Array<Id<M>>
    readonly results: Schema.optionalKey<
      Schema.$Array<
        Schema.Struct<{
          readonly id: Id<M>
          readonly status: Schema.Int
          readonly version: Schema.optionalKey<Schema.Int>
          readonly document: Schema.optionalKey<Selection<M>>
          readonly error: Schema.optionalKey<Schema.Unknown>
        }>
      >
    >
  }>
{}

/**
 * The schemas of {@link WrittenMany}: of all or none, of each by itself, and of no body.
 *
 * @category schemas
 * @since 0.1.0
 */
export const writtenMany = <M extends Model.Any>(
  model: M
): ReadonlyArray<WrittenMany<M> | HttpApiSchema.NoContent> => {
  const { id } = byId(model).fields
  const schema = Schema.Struct({
    _type: Schema.tag("ManyResult"),
    count: Schema.Int,
    ids: Schema.Array(id),
    results: Schema.optionalKey(Schema.Array(Schema.Struct({
      id,
      status: Schema.Int,
      version: Schema.optionalKey(Schema.Int),
      document: Schema.optionalKey(selection(model)),
      error: Schema.optionalKey(Schema.Unknown)
    })))
  })
  // The schema is that of the type.
  return [schema, schema.pipe(HttpApiSchema.status(207)), HttpApiSchema.NoContent] as never
}

/**
 * The wire form of a document.
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
 * The schema of a document's wire form.
 *
 * @category schemas
 * @since 0.1.0
 */
export const representation: <M extends Model.Any>(model: M) => Representation<M> = memoize((model: Model.Any) =>
  // The fields are those of the model and the links, which the type of an arbitrary model does not express.
  Schema.Struct({
    ...model.wire.fields,
    _links: Schema.optionalKey(Links),
    // What a request expands is in the type of its call.
    ...embedding(model)
  }).annotate(model.wire.ast.annotations ?? {}) as never
)

/** The member that has what `expand` names, if a model has any. Any field may be hidden from the caller. */
const embedding = (model: Model.Any) => {
  // Only models are referred to.
  const embedded = embeddedOf(model, selection as (model: object) => Schema.Codec<unknown>, collection)
  return embedded && { _embedded: Schema.optionalKey(embedded) }
}

/**
 * A document with the fields that a caller selects (`fields`) and the identifier.
 *
 * @category models
 * @since 0.1.0
 */
export interface Selection<M extends Model.Any>
  extends Schema.Codec<Selected<Representation<M>["Type"]>, Selected<Representation<M>["Encoded"]>>
{}

/** A value whose objects may lack any field except `_type` and the root document's identifier. */
type Selected<T> =
  & { readonly [K in keyof T]?: Partially<T[K]> }
  & { readonly [K in keyof T & ("_type" | "id")]: T[K] }

/**
 * A value whose objects may lack any field except `_type`.
 *
 * @category models
 * @since 0.1.0
 */
export type Partially<T> = T extends ReadonlyArray<infer Item> ? ReadonlyArray<Partially<Item>>
  : T extends { readonly _type: string } ? { readonly [K in keyof T]?: Partially<T[K]> }
  : T

/**
 * The schema of {@link Selection}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const selection: <M extends Model.Any>(model: M) => Selection<M> = memoize((model: Model.Any) =>
  // The fields are those of `Representation`, all optional but `_type` and `id`. Embedded documents may lack fields anyway.
  partial(representation(model), ["_type", "id", "_embedded"], "Selection") as never
)

/**
 * The wire form of a list.
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
 * The schema of a list's wire form.
 *
 * @category schemas
 * @since 0.1.0
 */
export const collection = <Item extends Schema.Top>(item: Item): Collection<Item> =>
  Schema.Struct({ _type: Schema.tag("list"), _items: Schema.Array(item), _links: Links })

/** The schema of an object with optional fields, except those in `kept`, and models in them alike. It is for decoding only. */
const partial = (
  { ast, fields }: { readonly ast: SchemaAST.AST; readonly fields: Schema.Struct.Fields },
  kept: ReadonlyArray<string>,
  suffix: string
): Schema.Top =>
  Schema.Struct(
    Record.map(fields, (field, name) => {
      if (kept.includes(name)) return field
      // Every struct field is a schema.
      const own = Schema.make<Schema.Top>(withPartialModels((field as Schema.Top).ast))
      return SchemaAST.isOptional(own.ast) ? own : Schema.optionalKey(own)
    })
  ).annotate({ ...ast.annotations, identifier: `${SchemaAST.resolveIdentifier(ast)}${suffix}` })

/** A nested model keeps its `_type`. */
const partOf = memoize((model: ModelLike): Schema.Top => partial(model.wire, ["_type"], "Part"))

// A recursive model has one form.
const withPartialModels = memoize((ast: SchemaAST.AST): SchemaAST.AST => {
  const model = modelOf(ast)
  return model === undefined ? mapParts(ast, withPartialModels) : withParts(partOf(model).ast, { context: ast.context })
})

/**
 * The messages of a stream of changes, by the State Protocol of Durable Streams: of a change of a document, or of the stream.
 *
 * @internal
 */
export const changeMessages = (model: Model.Any) => messages([changeMessage(Schema.String, model)])

/** {@link changeMessages} of several collections, by the names of these. @internal */
export const watchedMessages = (models: ReadonlyMap<string, Model.Any>) =>
  messages(Array.from(models, ([name, model]) => changeMessage(Schema.Literal(name), model)))

const messages = (changes: ReadonlyArray<ReturnType<typeof changeMessage>>) =>
  Schema.Array(Schema.Union([
    ...changes,
    Schema.Struct({
      headers: Schema.Struct({ control: Schema.Literals(["reset", "snapshot-start", "snapshot-end"]) })
    })
  ]))

const shown = (model: Model.Any): Selection<Model.Any> =>
  // A whole document is one with all of its fields, and has its own name in the documentation.
  Schema.Union([representation(model), selection(model)]) as never

const changeMessage = (type: Schema.Codec<string>, model: Model.Any) =>
  Schema.Struct({
    type,
    key: Schema.String,
    value: Schema.optionalKey(shown(model)),
    headers: Schema.Struct({
      operation: Schema.Literals(["insert", "update", "delete"]),
      txid: Schema.optionalKey(Schema.String),
      timestamp: Schema.optionalKey(Schema.String)
    })
  })

/**
 * The body of a stream that does not end. The data of its events are lists of {@link changeMessages}, places and errors.
 *
 * @internal
 */
export const changeEvents = HttpApiSchema.StreamSse({
  events: Schema.Struct({ event: Schema.String, id: Schema.optional(Schema.String), data: Schema.String })
})
