/**
 * Error responses in the OpenAPI document: one shared error schema, problem details, and the headers of each status.
 */
import * as Document from "./node.ts"
import { describeStatus } from "./texts.ts"

const isError = (schema: Document.Node): boolean => {
  const type = Document.nodeOf(Document.nodeOf(schema["properties"])["_type"])
  return Document.listOf(type["enum"])[0] === "ErrorMessage"
}

/** Whether the schema is that of an error without fields of its own. */
export const isErrorWithoutFields = (schema: Document.Node): boolean =>
  isError(schema) && Object.keys(Document.nodeOf(schema["properties"])).every((key) => errorKeys.has(key))

const errorKeys: ReadonlySet<string> = new Set(["_type", "code", "message", "errors"])

/** The schema that all errors share. */
export const errorMessageOf = (schema: unknown, complete: (schema: Document.Node) => Document.Node): Document.Node => {
  const { properties, ...rest } = Document.nodeOf(schema)
  return {
    ...rest,
    description: "What went wrong; `code` is the status, and `errors` names every problem of a 400",
    properties: {
      ...Document.mapValues(Document.nodeOf(properties), (property) => complete(Document.nodeOf(property))),
      code: { type: "integer", minimum: 400, maximum: 599 },
      upstream_service: { type: "string", description: "The service behind this one that failed" }
    }
  }
}

/** An integer, as in every error: tools derive one type for all members of an `allOf`. */
const integerOf = (code: unknown): Document.Node => ({ ...Document.nodeOf(code), type: "integer" })

const isOwn = (key: unknown): boolean => key === "code" || !errorKeys.has(String(key))

/** The schema of an error with fields of its own. */
export const errorSchema = (schema: Document.Node, base: Document.Node): Document.Node => {
  if (!isError(schema)) return schema
  const { properties, required, type, ...rest } = schema
  return {
    ...rest,
    allOf: [base, {
      type,
      properties: Document.mapValues(
        Document.omitBy(Document.nodeOf(properties), (key) => !isOwn(key)),
        (value, key) => key === "code" ? integerOf(value) : value
      ),
      required: Document.listOf(required).filter(isOwn)
    }]
  }
}

/** The errors as problem details (RFC 9457). */
export interface Problems {
  /** The components: one for errors without fields of their own, and one for each other error. */
  readonly components: Document.Node
  /** The problem details of what an operation fails with. */
  readonly problemOf: (schema: Document.Node) => Document.Node
}

/**
 * The problem details of the errors among `components`. They don't declare `_type`, which they have as well: many languages
 * would have one name for it and for `type`.
 */
export const problemSchemas = (components: Document.Node, errorName: string): Problems => {
  const nameOf = (wanted: string) => Object.hasOwn(components, wanted) ? `${wanted}_1` : wanted
  const plain = nameOf("ProblemDetails")
  const { _type: _, ...members } = Document.nodeOf(Document.nodeOf(components[errorName])["properties"])
  const own = Object.entries(components).flatMap(([name, schema]): ReadonlyArray<[string, Document.Node]> => {
    const [base, fields] = Document.listOf(Document.nodeOf(schema)["allOf"])
    return Document.componentOf(base) === errorName
      ? [[name, { ...Document.nodeOf(schema), allOf: [Document.refTo(plain), fields] }]]
      : []
  })
  const names = new Map([[errorName, plain], ...own.map(([name]) => [name, nameOf(`${name}Problem`)] as const)])
  const problemOf = (schema: Document.Node): Document.Node => {
    const { anyOf } = schema
    if (anyOf !== undefined) return { anyOf: Document.listOf(anyOf).map((one) => problemOf(Document.nodeOf(one))) }
    const name = names.get(Document.componentOf(schema) ?? "")
    return name === undefined ? { allOf: [schema, Document.refTo(plain)] } : Document.refTo(name)
  }
  return {
    components: {
      [plain]: { ...problemDetails, properties: { ...problemDetails.properties, ...members } },
      ...Object.fromEntries(own.map(([name, schema]) => [names.get(name), schema]))
    },
    problemOf
  }
}

const problemDetails = {
  type: "object",
  description: "An error as problem details (RFC 9457), with the members of the error",
  required: ["type", "title", "status", "detail", "code", "message"],
  properties: {
    type: { type: "string", format: "uri-reference", description: "The page that describes this kind of error" },
    title: { type: "string", description: "The kind of error" },
    status: { type: "integer" },
    detail: { type: "string", description: "What went wrong" }
  }
}

/** Adds to the errors of an operation that clients may ask for problem details. */
export const withProblems = (operation: Document.Node, problemOf: Problems["problemOf"]): Document.Node => ({
  ...operation,
  responses: Document.mapValues(Document.nodeOf(operation["responses"]), (value, status) => {
    const response = Document.nodeOf(value)
    const content = Document.nodeOf(response["content"])
    const { schema } = Document.nodeOf(content["application/json"])
    return Number(status) < 400 || !Document.isNode(schema) ? response : {
      ...response,
      content: { ...content, "application/problem+json": { schema: problemOf(schema) } }
    }
  })
})

/** Describes each status but those that there are none of, and types a body without a schema as an object. */
export const withErrorSchemas = (
  operation: Document.Node,
  method: string,
  without: ReadonlyArray<string>
): Document.Node => {
  const known = Document.mapBodies(
    operation,
    (schema) => Object.keys(schema).length === 0 ? { type: "object" } : schema
  )
  return {
    ...known,
    responses: Document.mapValues(
      Document.omitBy(Document.nodeOf(known["responses"]), (status) => without.includes(status)),
      (response, status) => {
        const { description, ...rest } = Document.nodeOf(response)
        return {
          description: describeStatus(status, String(description)),
          ...(status === "500" ? { headers: { "X-Request-Id": requestId } } : {}),
          ...(status === "429" ? { headers: { "Retry-After": retryAfter } } : {}),
          ...(status === "415" && method === "patch" ? { headers: { "Accept-Patch": acceptPatch } } : {}),
          ...rest
        }
      }
    )
  }
}

const acceptPatch = Document.responseHeader("The content types of patches (RFC 5789)")

const requestId = Document.responseHeader("Under which a defect is logged")

const retryAfter = Document.responseHeader("The seconds to wait", { type: "integer" })
