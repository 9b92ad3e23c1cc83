/**
 * Derives the endpoint of an action or operation from its options: the schemas of path, query, body and response, and
 * its errors.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { elementOf, isModelLike, sentForm } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { responses } from "../HttpError.ts"
import { bodyFailures, failures } from "./declaredFailures.ts"
import { byId, collection, representation } from "./documents.ts"
import type { Members, Options, Part } from "./operationOptions.ts"
import { errorList, responsesOf } from "./ownErrors.ts"
import { parametersIn, pathProblem } from "./pathShape.ts"
import { rawOf } from "./raw.ts"
import { Conditions } from "./requests.ts"
import type { Method } from "./standardEndpoints.ts"
import { Tags } from "./tags.ts"

export const schemaOf = (part: Part): Schema.Top => Schema.isSchema(part) ? part : Schema.Struct(part)

export const successOf = ({ success = Schema.Void }: Options): Schema.Top => schemaOf(success)

/** The schema of what callers send for a part of the request: its models in their `create` form. */
export const sentOf = (part: Part): Schema.Top => rawOf(part) === undefined ? sentForm(schemaOf(part)) : schemaOf(part)

export const payloadOf = ({ payload }: Options): Schema.Top | undefined => payload && sentOf(payload)

/** The fields of a part of the request; none if there is no such part, or if its members have no names. */
export const partFields = (part: Part | undefined): Schema.Struct.Fields => {
  const sent = part && sentOf(part)
  // The fields of a struct or a class.
  return sent && "fields" in sent ? sent.fields as Schema.Struct.Fields : {}
}

/** The schema of the parameters with the names. Those without a schema of their own are texts. */
export const paramsOf = (names: ReadonlyArray<string>, declared: Members | undefined): Schema.Top => {
  if (Schema.isSchema(declared)) return sentOf(declared)
  return Schema.Struct({ ...Object.fromEntries(names.map((name) => [name, Schema.String])), ...declared })
}

/** Whether the payload is in the body; otherwise it is in the query. */
export const hasBody = (method: string): boolean => method !== "GET" && method !== "DELETE"

/** A mounted operation or action. */
interface Call {
  readonly name: string
  readonly method: Method
  readonly path: `/${string}`
  readonly options: Options
}

/** The endpoint of an operation, or of an action on documents of the model. */
export const endpointOf = (
  { method, name, options, path }: Call,
  model?: Model.Any
): HttpApiEndpoint.Constraint => {
  // An action of another method may change its document.
  const isConditional = model && method !== "GET"
  const payload = payloadOf(options)
  const parameters = parametersIn(path)
  // A client decodes a response as the first matching error. The application's errors have more fields than the
  // engine's, so they come first.
  const errors: ReadonlyArray<Schema.Top> = [
    ...responsesOf(errorList(options.error ?? [])),
    responses.BadRequest,
    responses.NotFound,
    responses.Conflict,
    ...isConditional ? [responses.PreconditionFailed] : [],
    ...(payload && hasBody(method) ? bodyFailures : failures)
  ]
  // The platform sends the payload of a DELETE in the body. Here it is in the query, as for a GET.
  const isPayloadInQuery = payload && method === "DELETE"
  const query = { ...isPayloadInQuery && partFields(options.payload), ...partFields(options.query) }
  const endpoint = HttpApiEndpoint.make(method)(name, path, {
    params: parameters.length === 0
      ? undefined
      : Schema.Struct({
        ...partFields(paramsOf(parameters, partFields(options.params))),
        ...model && byId(model).fields
      }),
    // The type of a dynamic method does not express whether the schemas are valid for the query, the headers or the payload.
    query: Object.keys(query).length === 0 ? undefined : Schema.Struct(query) as never,
    headers: isConditional ? Conditions as never : undefined,
    payload: isPayloadInQuery ? undefined : payload as never,
    success: HttpApiSchema.status(options.status ?? 200)(answerOf(successOf(options))),
    error: errors
  })
  const { deprecated, description, form, summary, tags = [] } = options
  const transform = form === true ? withFormContent : undefined
  return endpoint.annotate(Tags, tags).annotateMerge(
    OpenApi.annotations({ summary, description, deprecated, transform })
  )
}

/** The media type of forms without files. */
export const formType = "application/x-www-form-urlencoded"

/** Adds the form to the bodies of an operation in an OpenAPI document. */
const withFormContent = (operation: { readonly [key: string]: unknown }) => {
  const body = Object(operation["requestBody"])
  const content = Object(body["content"])
  return {
    ...operation,
    requestBody: { ...body, content: { ...content, [formType]: content["application/json"] } }
  }
}

const answerOf = (success: Schema.Top): Schema.Top => {
  if (rawOf(success) !== undefined) return success
  if (isModelLike(success)) return representation(success)
  const element = elementOf(success)
  if (element === undefined && isObject(success)) return success
  if (element === undefined) return resultOf(success)
  const list = collection(isModelLike(element) ? representation(element) : element)
  return success.ast._tag === "Union" ? Schema.Union([list, resultOf(Schema.Null)]) : list
}

const resultOf = (result: Schema.Top) => Schema.Struct({ _type: Schema.tag("OperationResult"), result })

/** Whether values of the schema are sent without an `OperationResult`, since they are objects. */
export const isObject = (schema: Schema.Top): boolean =>
  "fields" in schema || schema.ast._tag === "Objects" || "members" in schema && Array.isArray(schema.members)
    && schema.members.every((member) => Schema.isSchema(member) && isObject(member))

/** The parts of a `Location` template: literal texts alternating with field names. */
export const templateParts = (template: string): ReadonlyArray<string> => template.split(/\{([^{}]*)\}/u)

/** The fields in the `Location` template that the result does not have. */
export const unknownInLocation = (options: Options): ReadonlyArray<string> => {
  const success = successOf(options)
  const fields = "fields" in success ? Object.keys(Object(success.fields)) : isObject(success) ? undefined : ["result"]
  return templateParts(options.location ?? "").filter((part, i) => i % 2 === 1 && fields?.includes(part) === false)
}

/** What is wrong with the path or the parts of the request, in a sentence. */
export const partProblem = ({ method, name, options, path }: Call): string | undefined => {
  const { params, payload } = options
  const problem = pathProblem(path, name, true)
  if (problem !== undefined) return problem
  if (payload && !hasBody(method) && !("fields" in sentOf(payload))) {
    return `the payload of ${name} is in the query, since its method is ${method}, and has no named members`
  }
  const inAddress = {
    ...partFields(params),
    ...partFields(options.query),
    ...hasBody(method) ? {} : partFields(payload)
  }
  // Fields need no services.
  const textless = Object.keys(inAddress).find((key) =>
    !mayBeText(Schema.toCodecStringTree(inAddress[key] as Schema.Codec<unknown>).ast)
  )
  if (textless !== undefined) {
    return `${textless} of ${name} is in the address, and is an object, which no text of an address is read as`
  }
  const parameters = parametersIn(path)
  const surplus = Object.keys(partFields(params)).find((param) => !parameters.includes(param))
  return surplus && `the path of ${name} has no parameter ${surplus}`
}

/** Whether a value, or a list of values, is written as text. */
const mayBeText = (ast: SchemaAST.AST): boolean => {
  const encoded = SchemaAST.toEncoded(ast)
  switch (encoded._tag) {
    case "Objects":
    case "Undefined":
      return false
    case "Arrays":
      return [...encoded.elements, ...encoded.rest].every(mayBeText)
    case "Union":
      return encoded.types.some(mayBeText)
    default:
      return true
  }
}
