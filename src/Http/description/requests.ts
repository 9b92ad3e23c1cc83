/** The query parameters and headers of requests to the standard endpoints. */
import * as Schema from "effect/Schema"
import type * as Model from "../../Model/Model.ts"
import {
  aggregationParameters,
  type AnyParameters,
  changesParameters,
  collectionParameters,
  documentParameters,
  filterNamesOf,
  manyParameters,
  type Optional,
  optionalParameters,
  type overridableParameters,
  type pageParameters,
  pagingParameters,
  schemaParameters
} from "./queryParameters.ts"

const text = Schema.optionalKey(Schema.String)

const conditions = { "if-match": text, "if-none-match": text }

/** The preconditions of a request that addresses one document (RFC 9110, section 13). */
export const Conditions = Schema.Struct(conditions)

/** @internal */
export const PreferHeader = Schema.Struct({
  /** RFC 7240: `handling=lenient` writes each document by itself, `return=minimal` asks for no body. */
  prefer: text
})

/** @internal */
export const WriteHeaders = Schema.Struct({
  ...conditions,
  /** RFC 7240: `return=representation` requests the document in the response. */
  prefer: text
})

/** @internal */
export const GetQuery = Schema.Struct(optionalParameters(documentParameters))

/** What the answer of a write embeds. @internal */
export const WriteQuery = Schema.Struct({ expand: text })

/** @internal */
export const AggregateQuery = Schema.Struct({ pipe: aggregationParameters.pipe.schema })

/** @internal */
export const SchemaQuery = Schema.Struct(optionalParameters(schemaParameters))

/** A filter; a list contains several filters on one field. */
const Filter = Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)]))

type PageParameters = Optional<ReturnType<typeof pageParameters>>

type OverridableParameters = Optional<typeof overridableParameters>

type FilterName<M extends Model.Any> = Exclude<keyof M["wire"]["fields"], "_type"> & string

type ListParameters<M extends Model.Any> =
  & { readonly [K in Exclude<FilterName<M>, keyof PageParameters>]: typeof Filter }
  & Omit<OverridableParameters, FilterName<M>>
  & PageParameters

/**
 * The parameters of a collection: filters, including those by paths into a field (`address.city`), and the parameters
 * of a page.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListQuery<M extends Model.Any> extends
  Schema.Codec<
    Schema.Struct<ListParameters<M>>["Type"] & PathFilters<M>,
    Schema.Struct<ListParameters<M>>["Encoded"] & PathFilters<M>
  >
{}

/** Filters within a field. */
type PathFilters<M extends Model.Any> = {
  readonly [K in `${FilterName<M>}.${string}`]?: string | ReadonlyArray<string>
}

export const listQuery = <M extends Model.Any>(model: M): ListQuery<M> =>
  // A schema built from the names of the model's fields has the declared type.
  filteredQuery(model, collectionParameters(model)) as never

/**
 * The parameters of a list that a stream of its changes has, too: filters and the fields to send.
 *
 * @category models
 * @since 0.1.0
 */
export type ChangesQuery<M extends Model.Any> = Omit<
  ListQuery<M>["Type"],
  Exclude<"page" | "page_size" | "sort_by" | "sort_order" | "count" | "cursor" | "expand", FilterName<M>>
>

/**
 * The parameters of a list that a table of it has, too: all but those of a page.
 *
 * @category models
 * @since 0.1.0
 */
export type TableQuery<M extends Model.Any> = Omit<
  ListQuery<M>["Type"],
  "page" | "page_size" | Exclude<"count" | "cursor" | "expand", FilterName<M>>
>

/** The parameters of a stream of changes: the filters of a list, the fields to send, and where to begin. */
export const changesQuery = (model: Model.Any): Schema.Top => {
  const parameters = Object.entries<AnyParameters[string]>(collectionParameters(model)).filter(([name]) =>
    !pagingParameters.has(name)
  )
  return filteredQuery(model, { ...Object.fromEntries(parameters), ...changesParameters })
}

/**
 * The parameters of a write of many documents: the filters of a list, whether the write is of all, and whether it only tells
 * what it would write.
 *
 * @category models
 * @since 0.1.0
 */
export interface ManyQuery<M extends Model.Any> extends
  Schema.Codec<
    ManyFilters<M> & Schema.Struct<Optional<typeof manyParameters>>["Type"],
    ManyFilters<M> & Schema.Struct<Optional<typeof manyParameters>>["Encoded"]
  >
{}

type ManyFilters<M extends Model.Any> = Omit<
  ListQuery<M>["Type"],
  "page" | "page_size" | "sort_by" | "sort_order" | Exclude<"count" | "cursor" | "expand" | "fields", FilterName<M>>
>

export const manyQuery = <M extends Model.Any>(model: M): ManyQuery<M> => {
  const { logic, query } = collectionParameters(model)
  // A schema built from the names of the model's fields has the declared type.
  return filteredQuery(model, { query, logic, ...manyParameters }) as never
}

const filteredQuery = (model: Model.Any, parameters: AnyParameters) => {
  const names = filterNamesOf(model)
  const filters = Object.fromEntries(names.map((name) => [name, Filter]))
  return Schema.StructWithRest(
    Schema.Struct({ ...filters, ...optionalParameters<AnyParameters>(parameters) }),
    [Schema.Record(
      Schema.TemplateLiteral([Schema.Literals(names), ".", Schema.String]),
      Schema.Union([Schema.String, Schema.Array(Schema.String)])
    )]
  )
}
