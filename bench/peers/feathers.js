/** The service on Feathers with Koa, with its own schemas. */
import { feathers } from "@feathersjs/feathers"
import { bodyParser, koa, parseAuthentication, rest } from "@feathersjs/koa"
import { Ajv, getValidator, hooks } from "@feathersjs/schema"
import { once } from "node:events"
import { filterParameters, root, toError, toItem, toPage, toResult } from "../answers.ts"
import { create } from "../data.ts"
import { change, fields, newProduct, paging } from "../servers/schemas.ts"
import * as Products from "../servers/products.ts"

const app = koa(feathers())

app.use(async (context, next) => {
  try {
    await next()
  } catch (error) {
    const code = error.code ?? 500
    const problems = error.data?.map(({ instancePath, keyword, message, params }) => {
      const path = keyword === "required" ? `${instancePath}/${params.missingProperty}` : instancePath
      return { field: path.slice(1).replaceAll("/", "."), validator: keyword, message }
    })
    context.status = code
    context.body = toError(code, error.message, problems)
  }
})
app.use(parseAuthentication())
app.use(bodyParser())
app.configure(rest())

const missing = (id) => Object.assign(new Error(`There is no product ${id}`), { code: 404 })

const service = {
  async get(id) {
    const product = Products.get(id)
    if (product === undefined) throw missing(id)
    return toItem(product)
  },
  async find({ query }) {
    const { currency, page, page_size: pageSize, price = "", sort_by: sortBy = "" } = query
    if (currency === undefined) return toPage(Products.list(page, pageSize), page, pageSize, Products.total())
    const above = Number(price.slice(1))
    const { items, total } = Products.filtered(currency, above, page, pageSize)
    return toPage(items, page, pageSize, total, filterParameters(currency, above, sortBy))
  },
  async create(body) {
    const product = create(body)
    Products.add(product)
    return toResult(product.id)
  },
  async patch(id, body) {
    if (!Products.change(id, body)) throw missing(id)
    return toResult(id)
  }
}

const path = root.slice(1)
const ajv = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true })
// A body is not coerced.
const strict = new Ajv({ allErrors: true, useDefaults: true })
const query = {
  $id: "query",
  type: "object",
  properties: {
    ...paging,
    currency: fields.currency,
    price: { type: "string", pattern: "^>\\d+$" },
    sort_by: { type: "string", enum: ["price"] }
  }
}

app.use(path, service, { methods: ["get", "find", "create", "patch"] })
app.service(path).hooks({
  before: {
    find: [hooks.validateQuery(getValidator(query, ajv))],
    create: [hooks.validateData(getValidator({ $id: "newProduct", ...newProduct }, strict))],
    patch: [hooks.validateData(getValidator({ $id: "change", ...change }, strict))]
  },
  after: {
    create: [(context) => {
      context.http = { ...context.http, headers: { location: `/${path}/${context.result.result}` } }
    }]
  }
})

const server = await app.listen(Number(process.argv[2]), "127.0.0.1")
if (!server.listening) await once(server, "listening")
console.log(`listening ${server.address().port}`)
