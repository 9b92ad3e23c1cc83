/**
 * The read operations of a repository. Each has the consistency of the store's operation: two pages, or two documents of a
 * stream, may show different states of the collection.
 */
import { getOrMake } from "@appkernel/document-store/internal"
import { conjunctionOf, instrumented, instrumentedStream, instrumentedTake } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Stream from "effect/Stream"
import { elementOf, unwrapped } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { DeletedOptions } from "../collection/deletedDocuments.ts"
import type { DocumentCodec } from "../collection/documentCodec.ts"
import type { ModelCollection, Scope } from "../collection/modelCollection.ts"
import * as Cursor from "../Cursor.ts"
import type { FindOptions, Sort } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import { storedIdOf, textOfId } from "../query/bsonForm.ts"
import { fieldNamed } from "../query/fieldPath.ts"
import { type DocumentInvalid, DocumentNotFound, type ReadError } from "../RepositoryError.ts"
import type { DocumentReads } from "./documentOperations.ts"
import type { FindOptions as RepositoryFindOptions, Operations } from "./operations.ts"

export type ModelReads<M extends Model.Any> = Pick<
  Operations<M>,
  | "findById"
  | "findOne"
  | "find"
  | "findPage"
  | "stream"
  | "count"
  | "estimatedCount"
  | "exists"
  | "distinct"
  | "aggregate"
>

export const makeReads = <M extends Model.Any>(
  model: M,
  documents: ModelCollection,
  codec: DocumentCodec<M["Type"]>
): ModelReads<M> => {
  const collection = model.modelName
  const context: ModelReadContext<M> = { model, documents, codec, valueDecoderOf: makeValueDecoders(model) }
  return {
    findById: instrumented("findById", collection, (id, options) => findById(context, id, options)),
    findOne: instrumented("findOne", collection, (where, options) => findOne(context, where, options)),
    // The selection decides the type of the result.
    find: instrumented(
      "find",
      collection,
      (where: Query.Where<M> | undefined, options?: FindSelectedOptions<M>) => find(context, where, options)
    ) as Operations<M>["find"],
    findPage: instrumented("findPage", collection, (where, options) => findPage(context, where, options)),
    stream: instrumentedStream("stream", collection, (where, options = {}) =>
      Stream.mapEffect(
        documents.stream(storeOptionsOf(model, where, options), scopeOf(options)),
        (document) => codec.fromDocument(document)
      )),
    count: instrumented(
      "count",
      collection,
      (where, options) => documents.count(Query.toFilter(model, where), scopeOf(options))
    ),
    estimatedCount: Effect.suspend(instrumented("estimatedCount", collection, () => documents.estimatedCount())),
    exists: instrumented("exists", collection, (where, options) => exists(context, where, options)),
    // The field decides the type of the values.
    distinct: instrumented("distinct", collection, (
      name: string,
      where: Query.Where<M> | undefined,
      options: DeletedOptions<M> | undefined
    ) => distinct(context, name, where, options)) as Operations<M>["distinct"],
    aggregate: instrumentedStream(
      "aggregate",
      collection,
      (pipeline, options) => documents.aggregate(pipeline, options, scopeOf(options))
    )
  }
}

export const makeDocumentReads = (model: Model.Any, documents: ModelCollection, scope?: Scope): DocumentReads => {
  const collection = model.modelName
  const storedId = storedIdOf(model)
  const atOnce = scope === undefined ? documents.atOnce : undefined
  return {
    findById: instrumented(
      "findDocumentById",
      collection,
      (id, options) =>
        documents.findById(storedId(id), scope === undefined ? options : { ...options, ...scope }, options)
    ),
    atOnce: atOnce && { ...atOnce, findById: (id) => atOnce.findById(storedId(id)) },
    isLimited: documents.isLimited(),
    estimatedCount: Effect.suspend(
      instrumented("estimatedCount", collection, () => documents.estimatedCount(scope))
    ),
    find: instrumentedTake("findDocuments", collection, (options) => documents.find(options, scope)),
    findAndCount: instrumentedTake(
      "findAndCountDocuments",
      collection,
      (options) => documents.findAndCount(options, scope)
    ),
    stream: instrumentedStream("streamDocuments", collection, (options) => documents.stream(options, scope)),
    including: (deleted) => makeDocumentReads(model, documents, { deleted })
  }
}

// internal

interface ModelReadContext<M extends Model.Any> {
  readonly model: M
  readonly documents: ModelCollection
  readonly codec: DocumentCodec<M["Type"]>
  readonly valueDecoderOf: (field: string) => ReturnType<typeof valueDecoder>
}

type FindSelectedOptions<M extends Model.Any> = RepositoryFindOptions<M> & {
  readonly select?: ReadonlyArray<Query.Path<M>> | undefined
}

const findById = Effect.fnUntraced(function*<M extends Model.Any>(
  { codec, documents, model }: ModelReadContext<M>,
  id: unknown,
  options: DeletedOptions<M> | undefined
) {
  const document = yield* documents.findById(storedIdOf(model)(id), scopeOf(options))
  return document === undefined
    ? yield* new DocumentNotFound({ model: model.modelName, id: textOfId(id) })
    : yield* codec.fromDocument(document)
})

const findOne = <M extends Model.Any>(
  context: ModelReadContext<M>,
  where: Query.Where<M> | undefined,
  options: RepositoryFindOptions<M> | undefined
): Effect.Effect<Option.Option<M["Type"]>, DocumentInvalid | ReadError> =>
  Effect.map(
    find(context, where, { ...options, page: 1, pageSize: 1 }),
    ([first]) => Option.fromUndefinedOr(first)
  )

const find = Effect.fnUntraced(function*<M extends Model.Any>(
  { codec, documents, model }: ModelReadContext<M>,
  where: Query.Where<M> | undefined,
  options: FindSelectedOptions<M> = {}
): Effect.fn.Return<ReadonlyArray<M["Type"]>, DocumentInvalid | ReadError> {
  const { select } = options
  const storeOptions = storeOptionsOf(model, where, options)
  if (select === undefined) {
    return yield* Effect.forEach(yield* documents.find(storeOptions, scopeOf(options)), codec.fromDocument)
  }
  const { fromDocument, projection } = Query.select(model, select)
  const selected = yield* documents.find({ ...storeOptions, projection }, scopeOf(options))
  return yield* Effect.forEach(selected, fromDocument)
})

const findPage = Effect.fnUntraced(function*<M extends Model.Any>(
  { codec, documents, model }: ModelReadContext<M>,
  ...[where, options]: Parameters<Operations<M>["findPage"]>
) {
  const keyset = yield* Effect.fromResult(Cursor.make(model, sortOf(model, options.sort)))
  const filter = Query.toFilter(model, where)
  const after = options.cursor === undefined ? undefined : yield* Effect.fromResult(keyset.after(options.cursor))
  // A further document after the page tells that a next page exists.
  const matches = yield* documents.find({
    filter: conjunctionOf(filter, after),
    sort: keyset.sort,
    limit: options.pageSize + 1,
    timeLimit: options.timeLimit
  }, scopeOf(options))
  const items = yield* Effect.forEach(
    matches.slice(0, options.pageSize),
    (document) => codec.fromDocument(document)
  )
  const last = matches.length > options.pageSize ? matches[options.pageSize - 1] : undefined
  return { items, next: last === undefined ? Option.none<string>() : Option.some(keyset.cursor(last)) }
})

const exists = <M extends Model.Any>(
  { documents, model }: ModelReadContext<M>,
  where: Query.Where<M> | undefined,
  options: DeletedOptions<M> | undefined
): Effect.Effect<boolean, ReadError> =>
  Effect.map(
    documents.find({ filter: Query.toFilter(model, where), limit: 1, projection: { _id: 1 } }, scopeOf(options)),
    (matches) => matches.length > 0
  )

const distinct = Effect.fnUntraced(function*<M extends Model.Any>(
  { documents, model, valueDecoderOf }: ModelReadContext<M>,
  name: string,
  where: Query.Where<M> | undefined,
  options: DeletedOptions<M> | undefined
) {
  const decode = valueDecoderOf(name)
  const values = yield* documents.distinct(
    fieldNamed(model, name)?.path ?? name,
    Query.toFilter(model, where),
    scopeOf(options)
  )
  return yield* Effect.orDie(Effect.forEach(values.filter((value) => value !== null), (value) => decode(value)))
})

/** Decoders for the values of fields. Each is compiled when it is first used. */
const makeValueDecoders = (model: Model.Any): ModelReadContext<Model.Any>["valueDecoderOf"] => {
  const decoders = new Map<string, ReturnType<typeof valueDecoder>>()
  return (field) => getOrMake(decoders, field, () => valueDecoder(model, field))
}

/** Decodes a value of the field or, of a list, one of its items. */
const valueDecoder = (model: Model.Any, name: string) => {
  // `name` is a field's name, and the schemas of fields are codecs without services.
  const field = unwrapped(model.store.fields[name] as Schema.Top)
  const codec = (elementOf(field) ?? field) as Schema.Codec<unknown>
  return SchemaParser.decodeUnknownEffect(codec, { disableChecks: true })
}

const scopeOf = <M extends Model.Any>(options: DeletedOptions<M> | undefined): Scope | undefined =>
  options?.deleted === undefined ? undefined : { deleted: options.deleted }

const sortOf = <M extends Model.Any>(model: M, sort: Query.Sort<M> | undefined): Sort =>
  sort === undefined ? byIdentifier : Query.toSort(model, sort)

const byIdentifier: Sort = { _id: 1 }

const storeOptionsOf = <M extends Model.Any>(
  model: M,
  where: Query.Where<M> | undefined,
  options: RepositoryFindOptions<M>
): FindOptions => {
  const { page = 1, pageSize, sort, timeLimit } = options
  return {
    filter: Query.toFilter(model, where),
    sort: sortOf(model, sort),
    timeLimit,
    ...(pageSize === undefined ? {} : { skip: (page - 1) * pageSize, limit: pageSize })
  }
}
