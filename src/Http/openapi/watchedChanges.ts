/**
 * The changes of several collections, whose lists a service has beside each other: one operation for the streams of each path.
 */
import { watchPathOf } from "../description/pathShape.ts"
import { standardEndpoints } from "../description/standardEndpoints.ts"
import type { Resource } from "./componentSchemas.ts"
import * as Json from "./node.ts"

/** The operations by path, besides those that there are. */
export const watchedChanges = (
  operations: Json.Node,
  resources: ReadonlyArray<Resource>
): Json.Node => {
  const streams = resources.flatMap(({ name, path }) => {
    const changes = `${path}${standardEndpoints.changes.path}`
    const stream = Json.nodeOf(Json.nodeOf(operations[changes])["get"])
    return name === undefined || stream["operationId"] === undefined
      ? []
      : [{ name, path: watchPathOf(changes), stream }]
  })
  const byPath = Map.groupBy(streams, ({ path }) => path)
  return Object.fromEntries(
    [...byPath].flatMap(([path, beside]) =>
      Json.nodeOf(operations[path])["get"] === undefined
        ? [[path, { ...Json.nodeOf(operations[path]), get: watched(path, beside) }]]
        : []
    )
  )
}

// internal

const watched = (
  path: string,
  streams: ReadonlyArray<{ readonly name: string; readonly stream: Json.Node }>
): Json.Node => {
  const names = streams.map(({ name }) => name)
  // Streams have the same answers, but for the documents in them.
  const { parameters, responses, security } = streams[0]!.stream
  const own = Json.listOf(parameters).filter((parameter) => shared.has(String(Json.nodeOf(parameter)["name"])))
  const [, ...segments] = path.split("/")
  return {
    operationId: segments.join("."),
    summary: "Stream the changes of several collections",
    description:
      "The lists of these collections and their changes, in one order; the `type` of a message is the name of its " +
      "collection. Filters, `query`, `logic` and `fields` are those of each collection, or of one whose name is before them: " +
      `\`${names[0]}.fields\`. The caller has to be allowed to read all of them.`,
    tags: ["changes"],
    parameters: [
      {
        name: "watch",
        in: "query",
        required: true,
        description: "The collections to follow, separated by commas",
        style: "form",
        explode: false,
        schema: { type: "array", items: { type: "string", enum: names }, minItems: 1 }
      },
      ...own
    ],
    ...security === undefined ? {} : { security },
    responses: { ...Json.nodeOf(responses), 200: withMessages(Json.nodeOf(Json.nodeOf(responses)["200"]), streams) }
  }
}

/** The parameters of a stream, whatever is in it. */
const shared = new Set(["offset", "live", "cursor", "Last-Event-ID", "If-None-Match"])

const withMessages = (answer: Json.Node, streams: ReadonlyArray<{ readonly stream: Json.Node }>): Json.Node => {
  const content = Json.nodeOf(answer["content"])
  const messages = new Map(
    streams.flatMap(({ stream }) => messagesOf(stream)).map((message) => [JSON.stringify(message), message])
  )
  return {
    ...answer,
    content: { ...content, [json]: { schema: { type: "array", items: { anyOf: [...messages.values()] } } } }
  }
}

const messagesOf = (stream: Json.Node): ReadonlyArray<unknown> => {
  const answer = Json.nodeOf(Json.nodeOf(stream["responses"])["200"])
  const { schema } = Json.nodeOf(Json.nodeOf(answer["content"])[json])
  return Json.listOf(Json.nodeOf(Json.nodeOf(schema)["items"])["anyOf"])
}

const json = "application/json"
