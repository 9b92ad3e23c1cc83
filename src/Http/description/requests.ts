/**
 * What requests to the standard endpoints carry beside a payload: the parameters of their queries, and headers.
 */
import * as Schema from "effect/Schema"
import type * as Model from "../../Model/Model.ts"

const text = Schema.optionalKey(Schema.String)

/** The preconditions that requests about one document take (RFC 9110, section 13). */
const conditions = { "if-match": text, "if-none-match": text }

/** @internal */
export const Conditions = Schema.Struct(conditions)

/** @internal */
export const WriteHeaders = Schema.Struct({
  ...conditions,
  /** RFC 7240: `return=representation` is answered with the document. */
  prefer: text
})

/** @internal */
export const GetQuery = Schema.Struct({
  /** The fields to answer, separated by commas. All without it. */
  fields: text
})

/** @internal */
export const AggregateQuery = Schema.Struct({ pipe: Schema.String })

/** @internal */
export const SchemaQuery = Schema.Struct({
  /** Whether it is for MongoDB's own validation. */
  mongo: Schema.optionalKey(Schema.Literals(["true", "false"])),
  /** Whether properties that are not the model's are accepted; they are, unless it says `false`. */
  additional_properties: Schema.optionalKey(Schema.Literals(["true", "false"]))
})

/** A condition; a list has several on one field. */
const Filter = Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)]))

const pageParameters = {
  logic: Schema.optionalKey(Schema.Literals(["AND", "OR"])),
  query: Schema.optionalKey(Schema.String),
  page: Schema.optionalKey(Schema.Int),
  page_size: Schema.optionalKey(Schema.Int),
  sort_by: Schema.optionalKey(Schema.String),
  sort_order: Schema.optionalKey(Schema.Literals(["ASC", "DESC"]))
}

/** Where the model has a field of such a name, the parameter is a filter. */
const yieldingParameters = {
  fields: Schema.optionalKey(Schema.String),
  cursor: Schema.optionalKey(Schema.String),
  count: Schema.optionalKey(Schema.Literals(["exact", "estimated", "none"]))
}

type FilterName<M extends Model.Any> = Exclude<keyof M["wire"]["fields"], "_type"> & string

type ListParameters<M extends Model.Any> =
  & { readonly [K in Exclude<FilterName<M>, keyof typeof pageParameters>]: typeof Filter }
  & Omit<typeof yieldingParameters, FilterName<M>>
  & typeof pageParameters

/**
 * The parameters of a collection: filters, also by paths into a field (`address.city`), and those of a page.
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

/** @internal */
export const listQuery = <M extends Model.Any>(model: M): ListQuery<M> => {
  const names = Object.keys(model.wire.fields).filter((name) => name !== "_type")
  const filters = Object.fromEntries(names.map((name) => [name, Filter]))
  // What is built of the names of the model's fields has the type that says so of each.
  return Schema.StructWithRest(
    Schema.Struct({ ...yieldingParameters, ...filters, ...pageParameters }),
    [Schema.Record(
      Schema.TemplateLiteral([Schema.Literals(names), ".", Schema.String]),
      Schema.Union([Schema.String, Schema.Array(Schema.String)])
    )]
  ) as never
}
