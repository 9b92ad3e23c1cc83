import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Stream from "effect/Stream"
import { elementOf, unwrapped } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import * as Cursor from "../Cursor.ts"
import type { FindOptions } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import { fieldNamed } from "../query/fieldPath.ts"
import { storedIdOf, textOfId } from "../query/storedIdentifier.ts"
import { type DocumentInvalid, DocumentNotFound, type ReadError } from "../RepositoryError.ts"
import { traced, tracedStream } from "../store/instrumented.ts"
import type { DocumentCodec } from "./documentCodec.ts"
import { both, type ModelCollection } from "./modelCollection.ts"
import type { FindOptions as RepositoryFindOptions, Operations } from "./operations.ts"
import type { Deleted, DeletedOptions } from "./softDeletion.ts"

/** @internal */
export type Reading<M extends Model.Any> = Pick<
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
  | "findDocumentById"
  | "findDocuments"
  | "findAndCountDocuments"
  | "countDocuments"
>

/**
 * The reading half of a repository.
 *
 * @internal
 */
export const makeReading = <M extends Model.Any>(
  model: M,
  documents: ModelCollection,
  { fromDocument }: DocumentCodec<M["Type"]>
): Reading<M> => {
  const collection = model.modelName
  const storedId = storedIdOf(model)

  const findById = Effect.fnUntraced(function*(id: unknown, options?: DeletedOptions<M>) {
    const document = yield* documents.findById(storedId(id), deletedOf(options))
    return document === undefined
      ? yield* new DocumentNotFound({ model: model.modelName, id: textOfId(id) })
      : yield* fromDocument(document)
  })

  const find = Effect.fnUntraced(function*(where: Query.Where<M> | undefined, options: RepositoryFindOptions<M> = {}) {
    const found = yield* documents.find(
      { filter: Query.toFilter(model, where), ...pageOf(model, options) },
      deletedOf(options)
    )
    return yield* Effect.forEach(found, fromDocument)
  })

  const findSelected = Effect.fnUntraced(function*(
    where: Query.Where<M> | undefined,
    options: RepositoryFindOptions<M>,
    select: ReadonlyArray<Query.Path<M>>
  ) {
    const { fromDocument, projection } = Query.select(model, select)
    const found = yield* documents.find(
      { filter: Query.toFilter(model, where), ...pageOf(model, options), projection },
      deletedOf(options)
    )
    return yield* Effect.forEach(found, fromDocument)
  })

  const findPage: Operations<M>["findPage"] = Effect.fnUntraced(function*(where, options) {
    const keyset = yield* Effect.fromResult(Cursor.make(model, sortOf(model, options)))
    const filter = Query.toFilter(model, where)
    const behind = options.cursor === undefined ? {} : yield* Effect.fromResult(keyset.after(options.cursor))
    const found = yield* documents.find({
      filter: options.cursor === undefined ? filter : both(filter, behind),
      sort: keyset.sort,
      limit: options.pageSize + 1,
      timeLimit: options.timeLimit
    }, deletedOf(options))
    const items = yield* Effect.forEach(found.slice(0, options.pageSize), (document) => fromDocument(document))
    const last = found.length > options.pageSize ? found[options.pageSize - 1] : undefined
    return { items, next: last === undefined ? Option.none() : Option.some(keyset.cursor(last)) }
  })

  const decoders = new Map<string, ReturnType<typeof valueDecoder>>()
  const decoderOf = (name: string) => {
    const known = decoders.get(name)
    if (known !== undefined) return known
    const made = valueDecoder(model, name)
    decoders.set(name, made)
    return made
  }

  const distinct = Effect.fnUntraced(function*(
    name: string,
    where: Query.Where<M> | undefined,
    options: DeletedOptions<M> | undefined
  ) {
    const decode = decoderOf(name)
    const values = yield* documents.distinct(
      fieldNamed(model, name)?.path ?? name,
      Query.toFilter(model, where),
      deletedOf(options)
    )
    return yield* Effect.orDie(Effect.forEach(values.filter((value) => value !== null), (value) => decode(value)))
  })

  return {
    findById: traced("findById", collection, findById),
    findOne: traced(
      "findOne",
      collection,
      (where, options) =>
        Effect.map(find(where, { ...options, page: 1, pageSize: 1 }), ([first]) => Option.fromUndefinedOr(first))
    ),
    // The selection decides about the type of the result.
    find: traced(
      "find",
      collection,
      (
        where: Query.Where<M> | undefined,
        options: RepositoryFindOptions<M> & { readonly select?: ReadonlyArray<Query.Path<M>> | undefined } = {}
      ): Effect.Effect<ReadonlyArray<unknown>, DocumentInvalid | ReadError> =>
        options.select === undefined ? find(where, options) : findSelected(where, options, options.select)
    ) as Operations<M>["find"],
    findPage: traced("findPage", collection, findPage),
    stream: tracedStream("stream", collection, (where, options = {}) =>
      Stream.mapEffect(
        documents.stream(
          { filter: Query.toFilter(model, where), ...pageOf(model, options) },
          deletedOf(options)
        ),
        (document) => fromDocument(document)
      )),
    count: traced(
      "count",
      collection,
      (where, options) => documents.count(Query.toFilter(model, where), deletedOf(options))
    ),
    estimatedCount: Effect.suspend(traced("estimatedCount", collection, () => documents.estimatedCount)),
    exists: traced("exists", collection, (where, options) =>
      Effect.map(
        documents.find(
          { filter: Query.toFilter(model, where), limit: 1, projection: { _id: 1 } },
          deletedOf(options)
        ),
        (found) => found.length > 0
      )),
    // The field decides about the type of the values.
    distinct: traced("distinct", collection, distinct) as Operations<M>["distinct"],
    aggregate: tracedStream(
      "aggregate",
      collection,
      (pipeline, options) => documents.aggregate(pipeline, options, deletedOf(options))
    ),
    findDocumentById: traced(
      "findDocumentById",
      collection,
      (id, options) => documents.findById(storedId(id), undefined, options)
    ),
    findDocuments: traced("findDocuments", collection, (options) => documents.find(options)),
    findAndCountDocuments: traced(
      "findAndCountDocuments",
      collection,
      (options) => documents.findAndCount(options)
    ),
    countDocuments: traced(
      "countDocuments",
      collection,
      (filter, options) => documents.count(filter, undefined, options)
    )
  }
}

/** Reads a value of the field, or of an item of it when it is a list. */
const valueDecoder = (model: Model.Any, name: string) => {
  // Names are those of fields, which are plain codecs.
  const field = unwrapped(model.store.fields[name] as Schema.Top)
  const codec = (elementOf(field) ?? field) as Schema.Codec<unknown>
  return SchemaParser.decodeUnknownEffect(codec, { disableChecks: true })
}

const deletedOf = <M extends Model.Any>(options: DeletedOptions<M> | undefined): Deleted | undefined => options?.deleted

const sortOf = <M extends Model.Any>(
  model: M,
  { sort, sortBy, sortOrder }: Pick<RepositoryFindOptions<M>, "sort" | "sortBy" | "sortOrder">
) => Query.toSort(model, sort ?? (sortBy === undefined ? [] : [{ field: sortBy, order: sortOrder }]))

const pageOf = <M extends Model.Any>(model: M, options: RepositoryFindOptions<M>): FindOptions => {
  const { page = 1, pageSize, sort, sortBy, sortOrder, timeLimit } = options
  return {
    sort: sort === undefined && sortBy === undefined
      ? { _id: sortOrder === "DESC" ? -1 : 1 }
      : sortOf(model, { sort, sortBy, sortOrder }),
    timeLimit,
    ...(pageSize === undefined ? {} : { skip: (page - 1) * pageSize, limit: pageSize })
  }
}
