/**
 * Items of groups whose inserts are streamed, on Fastify 5, with an endpoint for events that is written by hand: each item is
 * written once for all streams of its group, and every 15 seconds they get a sign of life.
 */
import { randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"
import { app } from "./app.ts"

interface Item {
  readonly id: string
  readonly group: string
  readonly text: string
}

const root = "/api/v1/items"
const items = new Map<string, Item>()
const streams = new Map<string, Set<ServerResponse>>()

const text = { type: "string" } as const

app.post<{ Body: Omit<Item, "id"> }>(
  root,
  {
    schema: {
      body: { type: "object", properties: { group: text, text }, required: ["group", "text"] },
      response: { 201: { type: "object", properties: { _type: text, result: text } } }
    }
  },
  (request, reply) => {
    const { group, text } = request.body
    const item = { id: randomUUID(), group, text }
    items.set(item.id, item)
    const message = { type: "items", key: item.id, value: item, headers: { operation: "insert" } }
    const event = `event: data\nid: ${items.size}\ndata: [${JSON.stringify(message)}]\n\n`
    for (const stream of streams.get(group) ?? []) stream.write(event)
    return reply.code(201).send({ _type: "OperationResult", result: item.id })
  }
)

app.get<{ Querystring: { readonly group: string } }>(`${root}/changes`, (request, reply) => {
  const { group } = request.query
  reply.hijack()
  const stream = reply.raw
  stream.writeHead(200, { "content-type": "text/event-stream", "cache-control": "private, no-store" })
  stream.write(`event: control\nid: ${items.size}\ndata: {}\n\n`)
  const beside = streams.get(group) ?? new Set()
  streams.set(group, beside.add(stream))
  request.raw.once("close", () => beside.delete(stream))
})

setInterval(() => {
  for (const beside of streams.values()) for (const stream of beside) stream.write(": alive\n\n")
}, 15_000)

console.log(`listening ${new URL(await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) })).port}`)
