/** Handlers of requests that write many documents. Services without such a registration don't load them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Result from "effect/Result"
import type { ManyMethod } from "../description/endpoint.ts"
import { readJson } from "../request/body.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import { headersOf, type Responding, withParameters } from "../routes/route.ts"
import { isJsonPatch, patchTypes } from "../routes/writeRequest.ts"
import { choosing, listing, type ManyContext, problemAt, withinBound } from "./items.ts"
import { writing } from "./writes.ts"

export { withinMany } from "./writes.ts"

/** Handlers of writes of many documents. `respond` answers the request for one of them. */
export const manyWrites = (context: ManyContext) => {
  const { limits, registration: { idempotencyKeys = limits.idempotencyKeys }, respondBadRequest } = context
  const forOne = ["if-match", "if-none-match", ...idempotencyKeys === "none" ? [] : ["idempotency-key"]]
  const choose = choosing(context)
  const itemsOf = listing(context)

  /** Reads the request, and writes what it names. */
  return (method: ManyMethod, respond: Responding): ResponseEffect => {
    const write = writing(context, respond)
    return withParameters((parameters, fiber) => {
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const headers = headersOf(request)
      const conditional = forOne.filter((name) => headers[name] !== undefined)
      if (conditional.length > 0) {
        return respondBadRequest(conditional.map((name) => problemAt(name, "is for a single document")))
      }
      const prefer = headers["prefer"]?.toString()
      if (method === "DELETE") return choose(parameters, fiber, undefined, prefer, (chosen) => write(chosen, prefer))
      return Effect.flatMap(
        readJson(request, method === "PATCH" ? patchTypes : ["application/json"], limits.maxBodySize),
        (body) => {
          const isPatch = method === "PATCH" && isJsonPatch(request)
          if (Array.isArray(body) && !isPatch) {
            return withinBound(context, body.length, body, () => {
              const items = Object.keys(parameters).length > 0
                ? Result.fail(Object.keys(parameters).map((name) => problemAt(name, "can't be given with a list")))
                : itemsOf(body, prefer)
              return Result.isFailure(items) ? respondBadRequest(items.failure) : write(items.success, prefer)
            })
          }
          if (method === "PUT") return respondBadRequest([problemAt("", "must be a list of documents", "Type")])
          return choose(parameters, fiber, { body, isPatch }, prefer, (chosen) => write(chosen, prefer))
        }
      )
    })
  }
}
