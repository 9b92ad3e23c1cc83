/**
 * The service on Fastify 5 as its documentation recommends: JSON schemas that validate what comes in and write what
 * goes out, all problems of a body reported.
 */
import type { FastifyError } from "fastify"
import { fastify } from "fastify"
import { filtered, filterParameters, root, toError, toItem, toPage, toResult } from "../answers.ts"
import type { NewProduct } from "../data.ts"
import { create } from "../data.ts"
import * as Products from "./products.ts"

const string = { type: "string" } as const
const text = { type: "string", minLength: 1 } as const
const amount = { type: "number", minimum: 0 } as const
const link = { type: "object", required: ["href"], properties: { href: string } } as const

const fields = {
  code: text,
  name: text,
  description: string,
  price: amount,
  currency: { type: "string", enum: ["EUR", "CHF", "USD"] },
  stock: { type: "integer", minimum: 0 }
} as const

const newProduct = {
  type: "object",
  required: ["code", "name", "price", "currency", "stock"],
  properties: {
    ...fields,
    tags: { type: "array", items: string, default: [] },
    dimensions: {
      type: "object",
      required: ["width", "height", "depth"],
      properties: { width: amount, height: amount, depth: amount }
    }
  }
} as const

const item = {
  type: "object",
  required: ["_type", "_links", "id", "code", "name", "price", "currency", "stock", "tags", "added"],
  properties: {
    _type: string,
    _links: {
      type: "object",
      required: ["self", "collection"],
      properties: {
        self: {
          type: "object",
          required: ["href", "methods"],
          properties: { href: string, methods: { type: "array", items: string } }
        },
        collection: { type: "object", required: ["href", "methods"], properties: { href: string, methods: string } }
      }
    },
    id: string,
    ...fields,
    tags: { type: "array", items: string },
    dimensions: {
      type: "object",
      required: ["_type", "width", "height", "depth"],
      properties: { _type: string, width: amount, height: amount, depth: amount }
    },
    added: string
  }
} as const

const page = {
  type: "object",
  required: ["_type", "_items", "_links"],
  properties: {
    _type: string,
    _items: { type: "array", items: item },
    _links: {
      type: "object",
      required: ["self", "first", "last"],
      properties: { self: link, first: link, prev: link, next: link, last: link }
    }
  }
} as const

const result = {
  type: "object",
  required: ["_type", "result"],
  properties: { _type: string, result: string }
} as const

const failure = {
  type: "object",
  required: ["_type", "code", "message"],
  properties: {
    _type: string,
    code: { type: "integer" },
    message: string,
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["field", "validator", "message"],
        properties: { field: string, validator: string, message: string }
      }
    }
  }
} as const

const app = fastify({ ajv: { customOptions: { allErrors: true } } })

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

app.get<{ Params: { readonly id: string } }>(
  `${root}/:id`,
  { schema: { response: { 200: item, 404: failure } } },
  (request, reply) => {
    const product = Products.get(request.params.id)
    return product === undefined
      ? reply.code(404).send(toError(404, `There is no product ${request.params.id}`))
      : reply.send(toItem(product))
  }
)

interface Query {
  readonly page: number
  readonly page_size: number
  readonly currency?: string | undefined
  readonly price?: string | undefined
  readonly sort_by?: string | undefined
}

app.get<{ Querystring: Query }>(
  root,
  {
    schema: {
      querystring: {
        type: "object",
        properties: {
          page: { type: "integer", minimum: 1, default: 1 },
          page_size: { type: "integer", minimum: 1, maximum: 1000, default: 50 },
          currency: fields.currency,
          price: { type: "string", pattern: "^>\\d+$" },
          sort_by: { type: "string", enum: ["price"] }
        },
        dependencies: { currency: ["price", "sort_by"] }
      },
      response: { 200: page, 400: failure }
    }
  },
  (request, reply) => {
    const { currency, page, page_size: pageSize, price = "", sort_by: sortBy = "" } = request.query
    if (currency !== undefined) {
      const above = Number(price.slice(1))
      const found = filtered(Products.all(), currency, above)
      const items = found.slice((page - 1) * pageSize, page * pageSize)
      return reply.send(toPage(items, page, pageSize, found.length, filterParameters(currency, above, sortBy)))
    }
    return reply.send(toPage(Products.list(page, pageSize), page, pageSize, Products.total()))
  }
)

app.post<{ Body: NewProduct }>(
  root,
  { schema: { body: newProduct, response: { 201: result, 400: failure } } },
  (request, reply) => {
    const product = create(request.body)
    Products.add(product)
    return reply.code(201).header("location", `${root}/${product.id}`).send(toResult(product.id))
  }
)

console.log(`listening ${new URL(await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) })).port}`)
