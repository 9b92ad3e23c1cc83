import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Stream from "effect/Stream"
import { elementOf, unwrapped } from "../../Model/internal/variants.ts"
import type * as Model from "../../Model/Model.ts"
import * as Cursor from "../Cursor.ts"
import type { DocumentStore, FindOptions } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import type { FindOptions as RepositoryFindOptions, Repository } from "../Repository.ts"
import { DocumentNotFound } from "../RepositoryError.ts"
import type { DocumentCodec } from "./documents.ts"
import { fieldNamed } from "./fieldPath.ts"
import { traced } from "./traced.ts"

/** @internal */
export type Reading<M extends Model.Any> = Pick<
  Repository<M>,
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
  | "countDocuments"
>

/**
 * The reading half of a repository.
 *
 * @internal
 */
export const makeReading = <M extends Model.Any>(
  model: M,
  store: DocumentStore["Service"],
  { fromDocument }: DocumentCodec<M["Type"]>
): Reading<M> => {
  const collection = model.modelName

  const findById = Effect.fnUntraced(function*(id: string) {
    const document = yield* store.findById(collection, id)
    return document === undefined
      ? yield* new DocumentNotFound({ model: model.modelName, id })
      : yield* fromDocument(document)
  })

  const find = Effect.fnUntraced(function*(
    where: Query.Where<M> | undefined,
    options: RepositoryFindOptions<M> & { readonly select?: ReadonlyArray<Query.Path<M>> | undefined } = {}
  ) {
    const selection = options.select === undefined ? undefined : Query.select(model, options.select)
    const documents = yield* store.find(collection, {
      filter: Query.toFilter(model, where),
      ...pageOf(model, options),
      ...(selection === undefined ? {} : { projection: selection.projection })
    })
    return yield* Effect.forEach(documents, selection === undefined ? fromDocument : selection.fromDocument)
  })

  const findPage: Repository<M>["findPage"] = Effect.fnUntraced(function*(where, options) {
    const keyset = yield* Effect.fromResult(Cursor.make(model, sortOf(model, options)))
    const filter = Query.toFilter(model, where)
    const behind = options.cursor === undefined ? {} : yield* Effect.fromResult(keyset.after(options.cursor))
    const documents = yield* store.find(collection, {
      filter: options.cursor === undefined ? filter : { $and: [filter, behind] },
      sort: keyset.sort,
      limit: options.pageSize + 1,
      timeLimit: options.timeLimit
    })
    const items = yield* Effect.forEach(documents.slice(0, options.pageSize), (document) => fromDocument(document))
    const last = documents.length > options.pageSize ? documents[options.pageSize - 1] : undefined
    return { items, next: last === undefined ? Option.none() : Option.some(keyset.cursor(last)) }
  })

  const distinct = Effect.fnUntraced(function*(name: string, where: Query.Where<M> | undefined) {
    // Names are those of fields, which are plain codecs.
    const field = unwrapped(model.store.fields[name] as Schema.Top)
    const codec = (elementOf(field) ?? field) as Schema.Codec<unknown>
    const values = yield* store.distinct(
      collection,
      fieldNamed(model, name)?.path ?? name,
      Query.toFilter(model, where)
    )
    const decode = SchemaParser.decodeUnknownEffect(codec, { disableChecks: true })
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
    find: traced("find", collection, find) as Repository<M>["find"],
    findPage: traced("findPage", collection, findPage),
    stream: (where, options = {}) =>
      store.stream(collection, { filter: Query.toFilter(model, where), ...pageOf(model, options) }).pipe(
        Stream.mapEffect((document) => fromDocument(document)),
        Stream.withSpan("Repository.stream", { attributes: { "db.collection.name": collection } })
      ),
    count: traced("count", collection, (where) => store.count(collection, Query.toFilter(model, where))),
    estimatedCount: Effect.suspend(traced("estimatedCount", collection, () => store.estimatedCount(collection))),
    exists: traced("exists", collection, (where) =>
      Effect.map(
        store.find(collection, { filter: Query.toFilter(model, where), limit: 1, projection: { _id: 1 } }),
        (found) => found.length > 0
      )),
    // The field decides about the type of the values.
    distinct: traced("distinct", collection, distinct) as Repository<M>["distinct"],
    aggregate: (pipeline, options) => store.aggregate(collection, pipeline, options),
    findDocumentById: traced("findDocumentById", collection, (id) => store.findById(collection, id)),
    findDocuments: traced("findDocuments", collection, (options) => store.find(collection, options)),
    countDocuments: traced("countDocuments", collection, (filter) => store.count(collection, filter))
  }
}

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
