/** Checks answers against an OpenAPI document. */
import addFormats from "ajv-formats"
import { Ajv2020 } from "ajv/dist/2020.js"
import type { Answer, Checks } from "./conformance.ts"
import type { Json } from "./jsonValues.ts"

/** What the answers of the document's operations are checked against. */
export const checksOf = (document: Json): Checks => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } })
  // The pattern beside the format defines e-mail addresses, as HTML does. The format is narrower.
  addFormats.default(ajv, ["date", "double", "int64"])
  ajv.addSchema({ $id: "sent:document", components: document.components })
  ajv.addSchema({ $id: "answered:document", components: closed(document.components) })
  const rooted = (schema: Json, root: string): Json =>
    JSON.parse(JSON.stringify(schema).replaceAll("\"#/components/", `"${root}#/components/`))
  const compiled = new Map<Json, ReturnType<typeof ajv.compile>>()
  // Many operations have equal schemas. To compile a schema takes longer than to check all answers against it.
  const byText = new Map<string, ReturnType<typeof ajv.compile>>()
  const validatorOf = (schema: Json, isAnswer: boolean) => {
    const known = compiled.get(schema)
    if (known !== undefined) return known
    const used = isAnswer ? rooted(closedUse(schema), "answered:document") : rooted(schema, "sent:document")
    const text = JSON.stringify(used)
    const validator = byText.get(text) ?? ajv.compile(used)
    compiled.set(schema, validator)
    byText.set(text, validator)
    return validator
  }

  const bodyDifferences = (response: Json, { headers, text }: Answer): ReadonlyArray<string> => {
    const { content } = response
    if (content === undefined) return text === "" ? [] : ["there is a body, and none is documented"]
    const type = headers["content-type"] ?? ""
    const schema = content[type.split(";", 1)[0]!]?.schema
    if (schema === undefined) return [`the content type ${type} is not documented`]
    const body: unknown = /\bjson\b/u.test(type) ? JSON.parse(text) : text
    const validate = validatorOf(schema, true)
    if (validate(body)) return []
    return (validate.errors ?? []).map(({ instancePath, keyword, message, params }) =>
      `${instancePath} ${message} (${keyword} ${JSON.stringify(params)})`
    )
  }

  const headerDifferences = ({ headers: documented = {} }: Json, { headers }: Answer): ReadonlyArray<string> => {
    const byName = new Map(Object.entries<Json>(documented).map(([name, header]) => [name.toLowerCase(), header]))
    const required = [...byName].flatMap(([name, header]) =>
      header.required === true && headers[name] === undefined ? [`the header ${name} is missing`] : []
    )
    return [
      ...required,
      ...checkedHeaders.flatMap((name) => {
        const value = headers[name]
        if (value === undefined) return []
        const header = byName.get(name)
        if (header === undefined) return [`the header ${name} is not documented`]
        return validatorOf(header.schema, false)(value) ? [] : [`the header ${name} is ${String(value)}`]
      })
    ]
  }

  return {
    accepts: ({ operation }, mediaType, value) =>
      validatorOf(operation.requestBody.content[mediaType].schema, false)(value) === true,
    differences: ({ operation }, answer) => {
      const response = operation.responses[answer.status]
      return response === undefined
        ? [`the status ${answer.status} is not documented`]
        : [...bodyDifferences(response, answer), ...headerDifferences(response, answer)]
    }
  }
}

const checkedHeaders = [
  "location",
  "content-location",
  "etag",
  "allow",
  "accept-patch",
  "www-authenticate",
  "preference-applied",
  "retry-after",
  "x-request-id",
  "link"
]

/** Rejects undocumented properties. A schema in an `allOf` stays open, and the schema with the `allOf` is closed. */
const closed = (components: Json): Json => {
  const inAllOf = new Set(
    Object.values<Json>(components.schemas).flatMap(({ allOf = [] }) => allOf.map(({ $ref }: Json) => $ref))
  )
  return {
    schemas: Object.fromEntries(
      Object.entries<Json>(components.schemas).map(([name, schema]) => [
        name,
        inAllOf.has(`#/components/schemas/${name}`) ? schema : closedUse(schema)
      ])
    )
  }
}

const closedUse = (schema: Json): Json => {
  if (typeof schema !== "object" || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(closedUse)
  if (schema.allOf !== undefined) return { ...schema, unevaluatedProperties: false }
  const parts = Object.fromEntries(
    Object.entries<Json>(schema).map(([key, part]) => [
      key,
      key === "properties"
        ? Object.fromEntries(Object.entries<Json>(part).map(([name, inner]) => [name, closedUse(inner)]))
        : key === "enum" || key === "examples" || key === "default"
        ? part
        : closedUse(part)
    ])
  )
  return schema.$ref === "#/components/schemas/ErrorMessage" || schema.properties !== undefined
    ? { unevaluatedProperties: false, ...parts }
    : parts
}
