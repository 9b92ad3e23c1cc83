/** Entity tags of responses, and the conditions of requests on them (RFC 9110, sections 8.8.3 and 13.1). */
import * as Document from "./node.ts"
import { statusTexts } from "./texts.ts"

type Node = Document.Node

/** `*`, or a list of tags that may have empty elements (RFC 9110, section 5.6.1). */
export const entityTags: Node = {
  type: "string",
  pattern: ((tag) => String.raw`^[ \t]*(?:\*|(?:,[ \t]*)*${tag}(?:[ \t]*,(?:[ \t]*${tag})?)*)[ \t]*$`)(
    String.raw`(?:W\/)?"[!#-~\u0080-\u00ff]*"`
  ),
  examples: ["\"0a4d55a8d778e502\""]
}

export const ifNoneMatch = (description: string): Node => Document.header("If-None-Match", description, entityTags)

/** Adds the tag of the response, and the condition on it. */
export const withEntityTag = (operation: Node): Node => {
  const parameters = Document.listOf(operation["parameters"])
  const responses = Document.nodeOf(operation["responses"])
  const found = Document.nodeOf(responses["200"])
  const hasCondition = parameters.some((parameter) => Document.nodeOf(parameter)["name"] === "If-None-Match")
  return {
    ...operation,
    parameters: hasCondition
      ? parameters
      : [...parameters, ifNoneMatch("Entity tags of responses that the caller has")],
    responses: {
      ...responses,
      200: { ...found, headers: { ...tag, ...Document.nodeOf(found["headers"]) } },
      304: responses["304"] ?? { description: statusTexts["304"], headers: tag }
    }
  }
}

const tag: Node = { ETag: Document.responseHeader("A digest of the response, for `If-None-Match`") }
