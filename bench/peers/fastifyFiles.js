/** Files on Fastify, with the packages that its documentation recommends: each is written to a folder, and served from there. */
import multipart from "@fastify/multipart"
import files from "@fastify/static"
import { fastify } from "fastify"
import { createWriteStream, renameSync } from "node:fs"
import { pipeline } from "node:stream/promises"

const folder = process.env["BENCH_FOLDER"]
const app = fastify({ bodyLimit: 4e9 })
await app.register(multipart, { limits: { fileSize: 4e9 } })
await app.register(files, { root: folder, prefix: "/files/" })
let last = 0

app.post("/films", (_request, reply) => reply.code(201).send({ result: String(++last) }))
app.put("/films/:id/film", async (request, reply) => {
  const { id } = request.params
  const data = await request.file()
  await pipeline(data.file, createWriteStream(`${folder}/${id}.part`, { flush: true }))
  renameSync(`${folder}/${id}.part`, `${folder}/${id}`)
  return reply.send({ result: id })
})
app.get("/films/:id/film", (request, reply) => reply.sendFile(request.params.id))

const address = await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) })
console.log(`listening ${new URL(address).port}`)
