/** The tools, resources and prompts that the authors' tests of servers ask for, as a program adds its own. */
import { Context, Effect, Layer, Schema } from "effect"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"

const text = (value: string) => McpSchema.TextContent.make({ text: value })

/** A picture of one pixel. */
const bytes = new Uint8Array(Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64"
))

const image = McpSchema.ImageContent.make({ data: bytes, mimeType: "image/png" })

const audio = McpSchema.AudioContent.make({ data: new TextEncoder().encode("RIFF"), mimeType: "audio/wav" })

const embedded = (uri: string, content: string) =>
  McpSchema.EmbeddedResource.make({
    resource: McpSchema.TextResourceContents.make({ uri, mimeType: "text/plain", text: content })
  })

const toolOf = (name: string, inputSchema: object) =>
  Schema.decodeUnknownSync(McpSchema.Tool)({ name, description: name, inputSchema })

const resource = (
  uri: string,
  mimeType: string,
  content: { readonly text: string } | { readonly blob: Uint8Array }
) =>
  Layer.effectDiscard(Effect.flatMap(McpServer.McpServer, (server) =>
    server.addResource({
      resource: new McpSchema.Resource({ uri, name: uri, description: "A resource", mimeType }),
      annotations: Context.empty(),
      handle: Effect.succeed({ contents: [{ uri, mimeType, ...content }] })
    })))

/** What a program adds to the MCP server of its service. */
export const registrations = Layer.effectDiscard(Effect.gen(function*() {
  const server = yield* McpServer.McpServer
  const notified = server.notifications
  const add = (
    name: string,
    handle: (given: { readonly [name: string]: string }) => Effect.Effect<
      ReadonlyArray<McpSchema.ContentBlock>,
      McpSchema.InvalidParams,
      McpSchema.McpRequestContext
    >,
    inputSchema: object = { type: "object", properties: {} }
  ) =>
    server.addTool({
      tool: toolOf(name, inputSchema),
      annotations: Context.empty(),
      handle: (given) => Effect.map(handle(given), (content) => new McpSchema.CallToolResult({ content: [...content] }))
    })
  yield* add("test_simple_text", () => Effect.succeed([text("This is a simple text response for testing.")]))
  yield* add("test_image_content", () => Effect.succeed([image]))
  yield* add("test_audio_content", () => Effect.succeed([audio]))
  yield* add("test_embedded_resource", () => Effect.succeed([embedded("test://embedded-resource", "Embedded.")]))
  yield* add(
    "test_multiple_content_types",
    () => Effect.succeed([text("Multiple content types test:"), image, embedded("test://mixed-content-resource", "{}")])
  )
  yield* add("test_tool_with_logging", () =>
    Effect.forEach(
      ["Tool execution started", "Tool processing data", "Tool execution completed"],
      (data) => notified["notifications/message"]({ level: "info", data })
    ).pipe(Effect.as([text("logged")])))
  yield* add("test_tool_with_progress", () =>
    Effect.gen(function*() {
      const { requestMetadata } = yield* McpSchema.McpRequestContext
      const { progressToken } = yield* Effect.orDie(Schema.decodeUnknownEffect(Progress)(requestMetadata))
      for (const progress of [0, 50, 100]) {
        yield* notified["notifications/progress"]({ progressToken, progress, total: 100 })
        // The suite's client takes no progress after the result, which it may find in the same chunk.
        yield* Effect.sleep("50 millis")
      }
      return [text("done")]
    }))
  yield* server.addTool({
    tool: toolOf("test_error_handling", { type: "object" }),
    annotations: Context.empty(),
    handle: () => Effect.succeed(new McpSchema.CallToolResult({ isError: true, content: [text("An error.")] }))
  })
  yield* add("test_sampling", ({ prompt = "" }) =>
    Effect.map(
      reverse((client) =>
        client.createMessage(McpSchema.CreateMessage.payloadSchema.make({
          messages: [McpSchema.SamplingMessage.make({ role: "user", content: text(prompt) })],
          maxTokens: 100
        }))
      ),
      (message) => [text(`LLM response: ${JSON.stringify(message.content)}`)]
    ), { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] })
  const elicited = (name: string, properties: object) =>
    add(name, ({ message = "Please answer" }) =>
      Effect.map(
        reverse((client) =>
          client.elicit(
            Schema.decodeUnknownSync(McpSchema.Elicit.payloadSchema)({
              mode: "form",
              message,
              requestedSchema: { type: "object", properties }
            })
          )
        ),
        (answer) => [text(`Elicitation completed: ${JSON.stringify(answer)}`)]
      ), { type: "object", properties: { message: { type: "string" } } })
  yield* elicited("test_elicitation", { username: { type: "string" }, email: { type: "string" } })
  yield* elicited("test_elicitation_sep1034_defaults", {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true }
  })
  const titled = [1, 2, 3].map((number) => ({ const: `value${number}`, title: `Choice ${number}` }))
  const options = ["option1", "option2", "option3"]
  yield* elicited("test_elicitation_sep1330_enums", {
    untitledSingle: { type: "string", enum: options },
    titledSingle: { type: "string", oneOf: titled },
    legacyEnum: { type: "string", enum: options, enumNames: ["Option One", "Option Two", "Option Three"] },
    untitledMulti: { type: "array", items: { type: "string", enum: options } },
    titledMulti: { type: "array", items: { anyOf: titled } }
  })
  yield* add("json_schema_2020_12_tool", () => Effect.succeed([]), {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
    properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
    additionalProperties: false
  })
})).pipe(Layer.merge(Layer.mergeAll(
  resource("test://static-text", "text/plain", { text: "This is the content of the static text resource." }),
  resource("test://watched-resource", "text/plain", { text: "Watched." }),
  resource("test://static-binary", "image/png", { blob: bytes }),
  McpServer.resource`test://template/${McpSchema.param("id", Schema.String)}/data`({
    name: "Template",
    mimeType: "application/json",
    content: (_, id) => Effect.succeed(JSON.stringify({ id }))
  }),
  McpServer.prompt({
    name: "test_simple_prompt",
    description: "A prompt",
    content: () => Effect.succeed("This is a simple prompt for testing.")
  }),
  McpServer.prompt({
    name: "test_prompt_with_arguments",
    description: "A prompt",
    parameters: { arg1: Schema.String, arg2: Schema.String },
    completion: { arg1: (input) => Effect.succeed(["paris", "park"].filter((one) => one.startsWith(input))) },
    content: ({ arg1, arg2 }) => Effect.succeed(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)
  }),
  McpServer.prompt({
    name: "test_prompt_with_embedded_resource",
    description: "A prompt",
    parameters: { resourceUri: Schema.String },
    content: ({ resourceUri }) => Effect.succeed([{ role: "user", content: embedded(resourceUri, "Embedded.") }])
  }),
  McpServer.prompt({
    name: "test_prompt_with_image",
    description: "A prompt",
    content: () => Effect.succeed([{ role: "user", content: image }])
  })
)))

// internal

const Progress = Schema.Struct({ progressToken: Schema.Union([Schema.String, Schema.Finite]) })

/** Asks the client, if it is one of a revision in which servers may. */
const reverse = <A, E>(ask: (client: McpSchema.McpReverseClient) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const client = yield* Effect.serviceOption(McpSchema.McpServerClient)
    if (client._tag === "None") return yield* new McpSchema.InvalidParams({ message: "The client can't be asked" })
    return yield* Effect.orDie(Effect.flatMap(client.value.getClient, ask))
  }).pipe(Effect.scoped)
