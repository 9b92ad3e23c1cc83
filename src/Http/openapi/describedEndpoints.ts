/** The endpoints of a service with the schemas that describe them: of values as JSON, and of bodies that are none. */
import * as Context from "effect/Context"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpMethod from "effect/http/HttpMethod"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { file, rawOf } from "../description/raw.ts"
import { withJsonForms } from "./jsonForms.ts"

/**
 * Describes values by what they stand for, and the parameters of paths and queries as in JSON: with numbers, booleans and lists,
 * which a URL writes as texts.
 */
export const withDescribedSchemas = (api: HttpApi.Top): HttpApi.Top =>
  Object.values(api.groups).reduce<HttpApi.Top>(
    (all, group) =>
      all.add(Object.values(group.endpoints).reduce((own, endpoint) => own.add(described(endpoint)), group)),
    api
  )

// internal

const described = (endpoint: HttpApiEndpoint.Top): HttpApiEndpoint.Top => {
  const hasBody = HttpMethod.hasBody(endpoint.method)
  const payload = Array.from(endpoint.payload, ([type, { schemas, ...rest }]) => {
    const all: ReadonlyArray<Schema.Top | undefined> = hasBody
      ? schemas.map((schema) => isBytes(schema) ? bodyOf(type, schema) : withJsonForms(schema))
      : schemas.map(parameters)
    return [type, { ...rest, schemas: all }] as const
  })
  // `annotateMerge` makes a copy, which may be changed here.
  return Object.assign(endpoint.annotateMerge(Context.empty()), {
    params: parameters(endpoint.params),
    query: parameters(endpoint.query),
    payload: new Map(payload),
    success: new Set(Array.from(endpoint.success).flatMap(answersOf)),
    error: new Set(Array.from(endpoint.error, withJsonForms))
  })
}

/** The answers of a schema: a stream of bytes is one of each of its types. */
const answersOf = (schema: Schema.Top): ReadonlyArray<Schema.Top> => {
  if (!isBytes(schema)) return [withJsonForms(schema)]
  const status: unknown = schema.ast.annotations?.["httpApiStatus"]
  return schema.contentTypes.map((type) =>
    typeof status === "number" ? bodyOf(type, schema).annotate({ httpApiStatus: status }) : bodyOf(type, schema)
  )
}

const isBytes = (schema: Schema.Top): schema is HttpApiSchema.StreamUint8Array =>
  "_tag" in schema && schema._tag === "StreamUint8Array"

/** What a raw body of the type is to its callers. */
const bodyOf = (contentType: string, schema: Schema.Top): Schema.Top =>
  contentType === "multipart/form-data"
    ? formOf(rawOf(schema)?.parts).pipe(HttpApiSchema.asMultipart())
    : /^text\/|[/+]xml$/u.test(contentType)
    ? Schema.String.pipe(HttpApiSchema.asText({ contentType }))
    : /[/+]json$/u.test(contentType)
    ? Schema.Unknown.pipe(HttpApiSchema.asJson({ contentType }))
    : Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType }))

/** The schema of a form with the parts; without them, a form of any files. */
const formOf = (parts: Schema.Struct.Fields | undefined): Schema.Top =>
  parts === undefined ? Schema.Record(Schema.String, file) : withJsonForms(Schema.Struct(parts))

/** The parameters of a codec. One that may have values of several types stays the text that a URL has. */
const parameters = (codec: Schema.Top | undefined): Schema.Top | undefined => {
  if (codec === undefined || !("schema" in codec) || !Schema.isSchema(codec.schema)) return codec
  const { ast } = codec.schema
  const { ast: texts } = Schema.toEncoded(codec)
  if (ast._tag !== "Objects" || texts._tag !== "Objects") return codec
  const fields = ast.propertySignatures.map((property, i) =>
    hasOneType(property.type) ? property : texts.propertySignatures[i]!
  )
  return Schema.toCodecJson(withJsonForms(Schema.make<Schema.Top>(new SchemaAST.Objects(fields, []))))
}

const hasOneType = (ast: SchemaAST.AST): boolean => {
  const json = SchemaAST.toEncoded(Schema.toCodecJson(Schema.make<Schema.Top>(ast)).ast)
  return json._tag !== "Union" || json.types.every(SchemaAST.isLiteral)
}
