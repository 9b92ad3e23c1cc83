/** Calls of tools: each is a request to the route of its operation, by the caller of the tool. */
import * as McpSchema from "effect/ai/McpSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { listOf, type Node, nodeOf } from "../openapi/node.ts"
import { maxDepth } from "../request/body.ts"
import { isDeeperValue } from "../request/depth.ts"
import { innerRequest } from "../request/innerRequest.ts"
import { type InnerAnswer, innerAnswers } from "../routes/innerAnswers.ts"
import type { Responding, Route } from "../routes/route.ts"
import type { Argument, Tool } from "./tools.ts"

/** Asks the route of a tool, in the context of the request that calls the tool; or says what is wrong with the arguments. */
type Ask = (
  context: Context.Context<HttpServerRequest.HttpServerRequest>,
  given: Node
) => Effect.Effect<Result.Result<InnerAnswer, string>>

/** Makes the calls of a tool. `responding` is how its route answers, in its stages. */
export const asking = Effect.fnUntraced(function*(
  tool: Tool,
  { method, path }: Pick<Route, "method" | "path">,
  responding: Responding,
  { maxFields, maxResultSize }: { readonly maxFields: number; readonly maxResultSize: number }
) {
  const answers = yield* innerAnswers({ method, path }, responding, maxResultSize)
  const ask: Ask = (context, given) => {
    const sent = requestOf(tool, given, maxFields)
    if (Result.isFailure(sent)) return Effect.succeed(Result.fail(sent.failure))
    const outer = Context.get(context, HttpServerRequest.HttpServerRequest)
    const request = innerRequest(outer, { ...sent.success, method: tool.method, tool: tool.name })
    return Effect.map(
      answers(Context.add(context, HttpServerRequest.HttpServerRequest, request)),
      (answer) => answer === undefined ? Result.fail("There is no answer") : Result.succeed(answer)
    )
  }
  return ask
})

/** The result of a tool. What went wrong is sentences, for a model to act on. */
export const resultOf = (
  tool: Tool,
  answer: Result.Result<InnerAnswer, string>,
  maxResultSize: number
): McpSchema.CallToolResult => {
  if (Result.isFailure(answer)) return failed(answer.failure)
  const { headers: { etag }, status, text } = answer.success
  if (text === undefined) {
    const larger = `more than ${maxResultSize} bytes`
    const ways = tool.arguments.flatMap(({ name, place }) => place === "query" ? narrowing.get(name) ?? [] : [])
    return status < 400 && !tool.isReading
      ? failed(`It was done. Its result has ${larger}`)
      : failed(
        [`The result has ${larger}`, ...ways.length === 0 ? [] : [`ask for fewer ${ways.join(", or for fewer ")}`]]
          .join(": ")
      )
  }
  const parsed = Option.getOrUndefined(parse(text))
  if (status >= 400) return failed(sentencesOf(parsed, status))
  return new McpSchema.CallToolResult({
    content: [
      { type: "text", text: text === "" ? "Done" : text },
      ...etag === undefined ? [] : [{ type: "text" as const, text: `ETag: ${etag}` }]
    ],
    ...tool.outputSchema === undefined ? {} : { structuredContent: parsed }
  })
}

/** A result that says what went wrong. */
const failed = (text: string): McpSchema.CallToolResult =>
  new McpSchema.CallToolResult({ isError: true, content: [{ type: "text", text }] })

// internal

/** What makes a result smaller, by the arguments that do. */
const narrowing: ReadonlyMap<string, string> = new Map([
  ["page_size", "documents by page_size"],
  ["fields", "fields by fields"]
])

const parse = Schema.decodeOption(Schema.fromJsonString(Schema.Unknown))

/** The message of an error, with the fields that have problems as the arguments name them. */
const sentencesOf = (body: unknown, status: number): string => {
  const { detail, errors, message, title } = nodeOf(body)
  const first = [message, detail, title].find((one) => typeof one === "string") ?? `The service answered ${status}`
  return [first, ...listOf(errors).map((one) => `${String(nodeOf(one)["field"])}: ${String(nodeOf(one)["message"])}`)]
    .join("\n")
}

interface Sent {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: Buffer | undefined
}

/** The request that arguments make, or what is wrong with them. */
const requestOf = (tool: Tool, given: Node, maxFields: number): Result.Result<Sent, string> => {
  const known = new Set(tool.arguments.map(({ name }) => name))
  const unknown = Object.keys(given).filter((name) => !known.has(name))
  const valueOf = ({ name, otherwise }: Argument): unknown => Object.hasOwn(given, name) ? given[name] : otherwise
  const missing = tool.arguments.filter((argument) => {
    const value = valueOf(argument)
    return argument.isRequired && (value === undefined || (argument.place === "path" && !isSegment(value)))
  })
  if (unknown.length + missing.length > 0) {
    return Result.fail([
      ...unknown.map((name) => `${tool.name} has no argument ${name}`),
      ...missing.map(({ name }) => `${tool.name} needs the argument ${name}`)
    ].join("\n"))
  }
  if (isDeeperValue(given, maxDepth)) return Result.fail(`The arguments of ${tool.name} are nested too deeply`)
  const query = new URLSearchParams()
  const headers: { [name: string]: string } = {}
  const path = new Map<string, string>()
  let body: Buffer | undefined
  for (const argument of tool.arguments) {
    const value = valueOf(argument)
    if (value === undefined) continue
    for (const text of textsOf(argument, value)) {
      if (argument.place === "path") {
        path.set(`:${argument.parameter}`, encodeURIComponent(text.toWellFormed()))
      } else if (argument.place === "query") query.append(argument.parameter, text)
      else if (argument.place === "header") {
        if (!sendable.test(text)) return Result.fail(`${argument.name} has characters that it can't have`)
        headers[argument.parameter.toLowerCase()] = text
      } else body = Buffer.from(text)
    }
  }
  const url = tool.path.split("/").map((segment) => path.get(segment) ?? segment).join("/")
  const whole = query.size === 0 ? url : `${url}?${query}`
  return query.size > maxFields || whole.length > maxUrl
    ? Result.fail(`${tool.name} has more or longer arguments than a request may have`)
    : Result.succeed({ url: whole, headers, body })
}

/** That of the head of a request over HTTP. */
const maxUrl = 16_384

/** Whether a value is part of a path. */
const isSegment = (value: unknown): boolean =>
  typeof value === "string" ? value !== "" : typeof value === "number" || typeof value === "boolean"

const sendable = /^[\x20-\x7e]*$/u

/** A value as it is sent: once, or once for each item of a list. */
const textsOf = ({ isJoined, isJson }: Argument, value: unknown): ReadonlyArray<string> => {
  if (isJson) return [JSON.stringify(value)]
  const texts = (Array.isArray(value) ? value : [value]).map((one) =>
    typeof one === "object" ? JSON.stringify(one) : String(one)
  )
  return isJoined ? [texts.join()] : texts
}
