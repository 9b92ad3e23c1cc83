/**
 * The query parameters of the standard endpoints: their texts and their values.
 *
 * Each schema is declared once. The `HttpApi`, its clients and the OpenAPI document describe a parameter by it, and the
 * server parses it by the same schema and rejects invalid values with the message declared here.
 */
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { booleanOf } from "../../internal/booleans.ts"
import type * as Model from "../../Model/Model.ts"

/** A parameter. In a URL it is a text, or a list of texts if it is repeated. @internal */
export interface Parameter<A> {
  readonly schema: Schema.Codec<A, string | ReadonlyArray<string>>
  /** The value of a missing parameter. */
  readonly byDefault?: A | undefined
  /** Whether the parameter is required. */
  readonly isRequired?: boolean | undefined
  /** The message for an invalid value: a text, or the key of a translated one. */
  readonly message: string | { readonly key: "errors.query.GivenOnce" }
  /** The type by the metadata's names. Defaults to that of the schema. */
  readonly type?: string | undefined
  /** The largest value, as an argument of translated messages. */
  readonly argument?: number | undefined
}

/** The limits of a page, where they are known. */
export interface PageLimits {
  readonly defaultPageSize: number
  readonly maxPageSize: number
}

/** An integer from 1, in digits. */
const wholeNumber = (maximum: number | undefined): Schema.Codec<number, string> => {
  const number = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))
  return Schema.String.check(Schema.isPattern(/^\d{1,16}$/u)).pipe(
    Schema.decodeTo(
      maximum === undefined ? number : number.check(Schema.isLessThanOrEqualTo(maximum)),
      SchemaTransformation.numberFromString
    )
  )
}

/** One of these words, in upper or lower case. */
const word = <const Words extends ReadonlyArray<string>>(words: Words): Schema.Codec<Words[number], string> =>
  Schema.String.pipe(
    Schema.decodeTo(Schema.Literals(words), {
      // Any other word is rejected.
      decode: SchemaGetter.transform((text) => text.toUpperCase() as Words[number]),
      encode: SchemaGetter.passthroughSupertype()
    })
  )

/** Names separated by commas. The names of a repeated parameter are joined. */
const names: Schema.Codec<string, string | ReadonlyArray<string>> = Schema.Union([
  Schema.String,
  Schema.Array(Schema.String)
]).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((texts) => typeof texts === "string" ? texts : texts.join(",")),
    encode: SchemaGetter.passthroughSubtype()
  })
)

/** A parameter of {@link names} of fields. */
const listed = { schema: names, message: "must be names of fields" } satisfies Parameter<string>

/** A parameter of one text. */
const text = { schema: Schema.String, message: "can be given once" } satisfies Parameter<string>

/** A boolean, which a URL may also write in other words. */
const flag: Schema.Codec<"true" | "false", string> = Schema.String.pipe(
  Schema.decodeTo(Schema.Literals(["true", "false"]), {
    // Any other text is rejected.
    decode: SchemaGetter.transform((text) => String(booleanOf(text) ?? text) as "true" | "false"),
    encode: SchemaGetter.passthroughSupertype()
  })
)

/** A parameter of {@link flag}. */
export const yesOrNo = {
  schema: flag,
  message: "must be true or false",
  type: "bool"
} satisfies Parameter<"true" | "false">

/** The parameters of a page for any model. Without `limits`, the server's limits are unknown. */
export const pageParameters = (limits?: PageLimits) => ({
  page: {
    schema: wholeNumber(undefined),
    byDefault: 1,
    message: "must be a whole number from 1 upwards"
  } satisfies Parameter<number>,
  page_size: {
    schema: wholeNumber(limits?.maxPageSize),
    byDefault: limits?.defaultPageSize,
    message: `must be a whole number from 1 to ${limits?.maxPageSize}`,
    argument: limits?.maxPageSize
  } satisfies Parameter<number>,
  sort_by: listed,
  sort_order: {
    schema: word(["ASC", "DESC"]),
    byDefault: "ASC",
    message: "must be ASC or DESC"
  } satisfies Parameter<"ASC" | "DESC">,
  query: {
    schema: Schema.String,
    message: { key: "errors.query.GivenOnce" }
  } satisfies Parameter<string>,
  logic: {
    schema: word(["AND", "OR"]),
    byDefault: "AND",
    message: "must be AND or OR"
  } satisfies Parameter<"AND" | "OR">
})

/** Further parameters of a page. A field of the model with such a name takes precedence and is filtered. */
export const overridableParameters = {
  fields: listed,
  expand: listed,
  cursor: text,
  count: {
    schema: Schema.Literals(["exact", "estimated", "none"]),
    byDefault: "exact",
    message: "must be exact, estimated or none"
  } satisfies Parameter<"exact" | "estimated" | "none">
}

/** The parameters of one document. @internal */
export const documentParameters = {
  fields: listed,
  expand: listed
}

/** The parameters of a stream of changes besides its filters: those of Durable Streams. @internal */
export const changesParameters = {
  offset: text,
  live: {
    schema: Schema.Literals(["sse", "long-poll"]),
    message: "must be sse or long-poll"
  } satisfies Parameter<"sse" | "long-poll">,
  cursor: text
}

/** The parameters of a page that a stream of changes does not have. @internal */
export const pagingParameters: ReadonlySet<string> = new Set([
  "page",
  "page_size",
  "sort_by",
  "sort_order",
  "count",
  "expand"
])

/** The parameters of an aggregation. @internal */
export const aggregationParameters = {
  pipe: {
    schema: Schema.String,
    isRequired: true,
    message: { key: "errors.query.GivenOnce" }
  } as const satisfies Parameter<string>
}

/** The parameters of the JSON schema. @internal */
export const schemaParameters = { mongo: yesOrNo, additional_properties: yesOrNo }

/** What a write of many documents has beside its filters: whether it is of all, and whether it only tells of which. */
export const manyParameters = { all: yesOrNo, dry_run: yesOrNo }

/** The fields of a model that documents can be filtered by. @internal */
export const filterNamesOf = (model: Model.Any): ReadonlyArray<string> =>
  Object.keys(model.wire.fields).filter((name) => name !== "_type")

/** @internal */
export interface AnyParameters {
  readonly [name: string]: Parameter<unknown>
}

/** @internal */
export type CollectionParameters =
  & ReturnType<typeof pageParameters>
  & Partial<typeof overridableParameters>

/** The parameters of a model's collection, except the filters. @internal */
export const collectionParameters = (model: Model.Any, limits?: PageLimits): CollectionParameters => {
  const fields = new Set(filterNamesOf(model))
  const own = Object.entries(overridableParameters).filter(([name]) => !fields.has(name))
  return { ...pageParameters(limits), ...Object.fromEntries(own) }
}

/** The parameters as optional fields of a struct. @internal */
export const optionalParameters = <P extends { readonly [name: string]: { readonly schema: Schema.Top } }>(
  parameters: P
): Optional<P> =>
  // The names are those of the parameters.
  Record.map(parameters, ({ schema }) => Schema.optionalKey(schema)) as never

export type Optional<P extends { readonly [name: string]: { readonly schema: Schema.Top } }> = {
  readonly [K in keyof P]: Schema.optionalKey<P[K]["schema"]>
}
