/**
 * ajv 8 with the options of Fastify, dates by hand; texts by the serialiser that Fastify compiles.
 */
import type { ErrorObject } from "ajv"
import { Ajv } from "ajv"
import addFormats from "ajv-formats"
import { fastify } from "fastify"
import { accepted, type Contestant, plain, type Problem, refused } from "./contestant.ts"
import { bodies, documents, formatDateTime, invalidBodies, parseDateTime, toItem, wireTexts } from "./data.ts"

const text = { type: "string" }
const notEmpty = { type: "string", minLength: 1 }

const address = (type: object) => ({
  type: "object",
  additionalProperties: false,
  required: [...Object.keys(type), "street", "city", "zip"],
  properties: { ...type, street: notEmpty, city: notEmpty, zip: text }
})

const order = (type: object, addressType: object) => ({
  type: "object",
  additionalProperties: false,
  required: [
    ...Object.keys(type),
    "number",
    "customer",
    "quantity",
    "total",
    "express",
    "status",
    "placed",
    "tags"
  ],
  properties: {
    ...type,
    number: { type: "string", pattern: "^[A-Z]{2}-\\d{4,}$" },
    customer: notEmpty,
    quantity: { type: "integer", minimum: 1 },
    total: { type: "number", minimum: 0 },
    express: { type: "boolean" },
    status: { type: "string", enum: ["open", "paid", "sent", "closed"] },
    placed: { type: "string", format: "iso-date-time" },
    tags: { type: "array", items: text },
    note: text,
    address: address(addressType)
  }
})

const createSchema = order({}, {})
const wireSchema = order({ _type: { const: "Order" }, id: text }, { _type: { const: "Address" } })

const problemOf = ({ instancePath, message = "", params }: ErrorObject): Problem => {
  const missing: unknown = params["missingProperty"]
  const path = instancePath.slice(1).replaceAll("/", ".")
  return {
    field: typeof missing !== "string" ? path : path === "" ? missing : `${path}.${missing}`,
    message
  }
}

/** What Fastify compiles from a schema of a response is to be had where it is used only. */
const serialiserOf = async (schema: object): Promise<(item: { [key: string]: unknown }) => string> => {
  let serialise: ((item: { [key: string]: unknown }) => string) | undefined
  await using app = fastify()
  app.get("/", (_, reply) => {
    serialise = reply.compileSerializationSchema({ ...schema })
    return ""
  })
  await app.inject("/")
  return serialise ?? refused("no serialiser")
}

export const ajv = async (): Promise<Contestant> => {
  const options = { removeAdditional: true, useDefaults: true }
  const first = addFormats.default(new Ajv(options))
  const every = addFormats.default(new Ajv({ ...options, allErrors: true }))
  const reading = (schema: object) => {
    const validate = first.compile<{ placed: unknown }>(schema)
    return (text: string): unknown => {
      const value: unknown = JSON.parse(text)
      if (!validate(value)) return refused(validate.errors)
      value.placed = parseDateTime(String(value.placed))
      return value
    }
  }
  const validateAll = every.compile(createSchema)
  const serialise = await serialiserOf({
    ...wireSchema,
    properties: { ...wireSchema.properties, placed: { type: "string" } }
  })
  return {
    title: "ajv, Fastify",
    operations: {
      create: plain(bodies, reading(createSchema)),
      wire: plain(wireTexts, reading(wireSchema)),
      invalid: plain(
        invalidBodies,
        (text) => validateAll(JSON.parse(text)) ? accepted() : (validateAll.errors ?? []).map(problemOf)
      ),
      text: plain(documents, (document) => {
        const item = toItem(document)
        return serialise({ ...item, placed: formatDateTime(item.placed) })
      })
    }
  }
}
