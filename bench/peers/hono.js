/** The service on Hono, with zod as its documentation recommends. */
import { serve } from "@hono/node-server"
import { Hono } from "hono"
import * as z from "zod"
import { filterParameters, root, toError, toItem, toPage, toResult } from "../answers.ts"
import { create } from "../data.ts"
import * as Products from "../servers/products.ts"

const text = z.string().min(1)
const amount = z.number().min(0)
const newProduct = z.object({
  code: text,
  name: text,
  description: z.string().optional(),
  price: amount,
  currency: z.enum(["EUR", "CHF", "USD"]),
  stock: z.int().min(0),
  tags: z.array(z.string()).optional(),
  dimensions: z.object({ width: amount, height: amount, depth: amount }).optional()
})
const change = newProduct.partial()
const paging = z.object({
  page: z.coerce.number().int().min(1).default(1),
  page_size: z.coerce.number().int().min(1).max(1000).default(50),
  currency: z.enum(["EUR", "CHF", "USD"]).optional(),
  price: z.string().regex(/^>\d+$/).optional(),
  sort_by: z.literal("price").optional()
})

const app = new Hono()

/** The value that fits; otherwise answers with all problems. */
const parsed = (c, schema, value) => {
  const result = schema.safeParse(value)
  if (result.success) return { value: result.data }
  const problems = result.error.issues.map(({ code, message, path }) => ({
    field: path.join("."),
    validator: code,
    message
  }))
  return { refusal: c.json(toError(400, `${problems.length} problems`, problems), 400) }
}

const missing = (c, id) => c.json(toError(404, `There is no product ${id}`), 404)

app.get(`${root}/:id`, (c) => {
  const id = c.req.param("id")
  const product = Products.get(id)
  return product === undefined ? missing(c, id) : c.json(toItem(product))
})

app.get(root, (c) => {
  const { refusal, value } = parsed(c, paging, c.req.query())
  if (refusal !== undefined) return refusal
  const { currency, page, page_size: pageSize, price = "", sort_by: sortBy = "" } = value
  if (currency === undefined) return c.json(toPage(Products.list(page, pageSize), page, pageSize, Products.total()))
  const above = Number(price.slice(1))
  const { items, total } = Products.filtered(currency, above, page, pageSize)
  return c.json(toPage(items, page, pageSize, total, filterParameters(currency, above, sortBy)))
})

app.post(root, async (c) => {
  const { refusal, value } = parsed(c, newProduct, await c.req.json())
  if (refusal !== undefined) return refusal
  const product = create(value)
  Products.add(product)
  c.header("location", `${root}/${product.id}`)
  return c.json(toResult(product.id), 201)
})

app.patch(`${root}/:id`, async (c) => {
  const id = c.req.param("id")
  const { refusal, value } = parsed(c, change, await c.req.json())
  if (refusal !== undefined) return refusal
  return Products.change(id, value) ? c.json(toResult(id)) : missing(c, id)
})

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.argv[2]) }, ({ port }) =>
  console.log(`listening ${port}`)
)
