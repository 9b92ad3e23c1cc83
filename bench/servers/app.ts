/**
 * What both Fastify services have in common: the form of errors.
 */
import type { FastifyError } from "fastify"
import { fastify } from "fastify"
import { toError } from "../answers.ts"

/** An app whose errors have the form that the others' have. */
export const app = fastify({ logger: process.env["BENCH_LOG"] === "true", ajv: { customOptions: { allErrors: true } } })

app.setErrorHandler((error: FastifyError, _request, reply) => {
  const status = error.statusCode ?? 500
  const problems = error.validation?.map(({ instancePath, keyword, message = "is invalid", params }) => {
    // A missing member is reported on the object that lacks it.
    const path = keyword === "required" ? `${instancePath}/${String(params["missingProperty"])}` : instancePath
    return { field: path.slice(1).replaceAll("/", "."), validator: keyword, message }
  })
  return reply.code(status).send(toError(status, status < 500 ? error.message : "Internal server error", problems))
})

app.setNotFoundHandler((_request, reply) => reply.code(404).send(toError(404, "Not found")))
