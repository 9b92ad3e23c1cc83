import * as Document from "./node.ts"

const isError = (schema: Document.Node): boolean => {
  const type = Document.nodeOf(Document.nodeOf(schema["properties"])["_type"])
  return Document.listOf(type["enum"])[0] === "ErrorMessage"
}

/**
 * An error that says nothing but what every error says.
 *
 * @internal
 */
export const isPlainError = (schema: Document.Node): boolean =>
  isError(schema) && Object.keys(Document.nodeOf(schema["properties"])).every((key) => errorKeys.has(key))

const errorKeys: ReadonlySet<string> = new Set(["_type", "code", "message", "errors"])

/**
 * What every error says.
 *
 * @internal
 */
export const errorMessageOf = (schema: unknown, complete: (schema: Document.Node) => Document.Node): Document.Node => {
  const { properties, ...rest } = Document.nodeOf(schema)
  return {
    ...rest,
    description: "What went wrong; `code` is the status, and `errors` names every problem of a 400",
    properties: {
      ...Document.mapValues(Document.nodeOf(properties), (property) => complete(Document.nodeOf(property))),
      upstream_service: { type: "string", description: "The service behind this one that failed" }
    }
  }
}

/** An integer, as in every error, and not any number: readers of `allOf` take one type for all. */
const integerOf = (code: unknown): Document.Node => ({ ...Document.nodeOf(code), type: "integer" })

const isOwn = (key: unknown): boolean => key === "code" || !errorKeys.has(String(key))

/**
 * An error that says more than every error does.
 *
 * @internal
 */
export const errorOf = (schema: Document.Node, base: Document.Node): Document.Node => {
  if (!isError(schema)) return schema
  const { properties, required, type, ...rest } = schema
  return {
    ...rest,
    allOf: [base, {
      type,
      properties: Object.fromEntries(
        Object.entries(Document.nodeOf(properties)).filter(([key]) => isOwn(key)).map(([key, value]) => [
          key,
          key === "code" ? integerOf(value) : value
        ])
      ),
      required: Document.listOf(required).filter(isOwn)
    }]
  }
}
