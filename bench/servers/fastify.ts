/**
 * The service on Fastify 5 as its documentation recommends: JSON schemas that validate what comes in and write what
 * goes out, all problems of a body reported.
 */
import { filterParameters, root, toError, toItem, toPage, toResult } from "../answers.ts"
import type { Change, NewProduct } from "../data.ts"
import { create } from "../data.ts"
import { app } from "./app.ts"
import * as Products from "./products.ts"
import { change, failure, fields, item, newProduct, pageOf, paging, result } from "./schemas.ts"

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
          ...paging,
          currency: fields.currency,
          price: { type: "string", pattern: "^>\\d+$" },
          sort_by: { type: "string", enum: ["price"] }
        },
        dependencies: { currency: ["price", "sort_by"] }
      },
      response: { 200: pageOf(item), 400: failure }
    }
  },
  (request, reply) => {
    const { currency, page, page_size: pageSize, price = "", sort_by: sortBy = "" } = request.query
    if (currency !== undefined) {
      const above = Number(price.slice(1))
      const { items, total } = Products.filtered(currency, above, page, pageSize)
      return reply.send(toPage(items, page, pageSize, total, filterParameters(currency, above, sortBy)))
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

app.patch<{ Params: { readonly id: string }; Body: Change }>(
  `${root}/:id`,
  { schema: { body: change, response: { 200: result, 400: failure, 404: failure } } },
  (request, reply) => {
    const { id } = request.params
    return Products.change(id, request.body)
      ? reply.send(toResult(id))
      : reply.code(404).send(toError(404, `There is no product ${id}`))
  }
)

console.log(`listening ${new URL(await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) })).port}`)
