/** The header `Idempotency-Key` in the OpenAPI document, and what is answered by it. */
import * as Document from "./node.ts"
import { statusTexts } from "./texts.ts"

/** Adds the key to a write that takes or needs one. */
export const withIdempotencyKey = (
  operation: Document.Node,
  keys: "none" | "accepted" | "required",
  errorMessage: Document.Node
): Document.Node => {
  if (keys === "none") return operation
  const responses = Document.nodeOf(operation["responses"])
  const content = { "application/json": { schema: errorMessage } }
  const error = (status: "400" | "409" | "422"): Document.Node => ({ description: statusTexts[status], content })
  const answers = Document.mapValues(responses, (response, status) =>
    Number(status) >= 400 ? response : {
      ...Document.nodeOf(response),
      headers: { ...Document.nodeOf(Document.nodeOf(response)["headers"]), "Idempotency-Replayed": replayed }
    })
  return {
    ...operation,
    parameters: [
      ...Document.listOf(operation["parameters"]),
      keys === "required" ? takesOthers(operation["requestBody"]) ? keyOfMost : { ...key, required: true } : key
    ],
    responses: {
      400: error("400"),
      422: error("422"),
      ...answers,
      409: {
        ...Document.nodeOf(responses["409"] ?? error("409")),
        headers: { "Retry-After": retryAfter }
      }
    }
  }
}

/** The operation with a form, which takes no key. */
export const withoutNeededKey = (operation: Document.Node): Document.Node => ({
  ...operation,
  parameters: Document.listOf(operation["parameters"]).map((parameter) =>
    Document.nodeOf(parameter)["name"] === key["name"] && Document.nodeOf(parameter)["required"] === true
      ? keyOfMost
      : parameter
  )
})

/** Whether a parameter is the key, and JSON needs it where other bodies take none. */
export const isNeededByJson = (parameter: Document.Node): boolean =>
  parameter["name"] === key["name"] && parameter["description"] === keyOfMost["description"]

// internal

/** Whether there are bodies that take no key: multipart/form-data and tables. */
const takesOthers = (requestBody: unknown): boolean =>
  Object.keys(Document.nodeOf(Document.nodeOf(requestBody)["content"]))
    .some((type) => type !== "application/x-www-form-urlencoded" && !type.endsWith("json"))

const key = Document.header(
  "Idempotency-Key",
  "A text that the client makes for this request, such as a UUID: the same request with it is answered as the first one",
  { type: "string", minLength: 1, maxLength: 255 }
)

const keyOfMost = {
  ...key,
  description: `${String(key["description"])}. JSON needs one. Tables and multipart/form-data take none`
}

const replayed = Document.responseHeader("That this is the answer to an earlier request with the key", {
  type: "string",
  enum: ["true"]
})

const retryAfter = Document.responseHeader("The seconds to wait, where a request with the key still runs", {
  type: "integer"
})
