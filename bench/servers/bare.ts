/**
 * The service by hand on `node:http`, without any library: the least that these answers cost.
 */
import * as Http from "node:http"
import type { Problem } from "../answers.ts"
import { filterParameters, root, toError, toItem, toPage, toResult } from "../answers.ts"
import type { NewProduct } from "../data.ts"
import { create } from "../data.ts"
import * as Products from "./products.ts"

const maxBodySize = 1024 * 1024
const maxPageSize = 1000
const currencies: ReadonlySet<unknown> = new Set(["EUR", "CHF", "USD"])

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Adds all problems of a body to `problems`; a body without any is a `NewProduct`, or with `isChange` a part of one. */
const isProduct = (body: unknown, problems: Array<Problem>, isChange: boolean): body is NewProduct => {
  const report = (field: string, validator: string, message: string) => problems.push({ field, validator, message })
  const missing = (field: string) => {
    if (!isChange) report(field, "required", "is required")
  }
  if (!isRecord(body)) {
    report("", "type", "must be an object")
    return false
  }
  const text = (field: string, value: unknown) => {
    if (value === undefined) missing(field)
    else if (typeof value !== "string") report(field, "type", "must be a string")
    else if (value === "") report(field, "minLength", "must not be empty")
  }
  const amount = (field: string, value: unknown) => {
    if (value === undefined) missing(field)
    else if (typeof value !== "number") report(field, "type", "must be a number")
    else if (value < 0) report(field, "minimum", "must be at least 0")
    else return true
    return false
  }
  const { code, currency, description, dimensions, name, price, stock, tags } = body
  text("code", code)
  text("name", name)
  if (description !== undefined && typeof description !== "string") report("description", "type", "must be a string")
  amount("price", price)
  if (currency === undefined) missing("currency")
  else if (!currencies.has(currency)) report("currency", "enum", "must be one of EUR, CHF, USD")
  if (amount("stock", stock) && !Number.isInteger(stock)) report("stock", "type", "must be an integer")
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === "string"))) {
    report("tags", "type", "must be a list of strings")
  }
  if (isRecord(dimensions)) {
    amount("dimensions.width", dimensions["width"])
    amount("dimensions.height", dimensions["height"])
    amount("dimensions.depth", dimensions["depth"])
  } else if (dimensions !== undefined) report("dimensions", "type", "must be an object")
  return problems.length === 0
}

const answer = (response: Http.ServerResponse, status: number, value: unknown, location?: string): void => {
  const body = JSON.stringify(value)
  const headers: Http.OutgoingHttpHeaders = {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body)
  }
  if (location !== undefined) headers["location"] = location
  response.writeHead(status, headers).end(body)
}

const readOne = (response: Http.ServerResponse, id: string): void => {
  const product = Products.get(id)
  if (product === undefined) answer(response, 404, toError(404, `There is no product ${id}`))
  else answer(response, 200, toItem(product))
}

const readPage = (response: Http.ServerResponse, query: string): void => {
  const parameters = new URLSearchParams(query)
  const page = Number(parameters.get("page") ?? 1)
  const pageSize = Number(parameters.get("page_size") ?? 50)
  if (!Number.isInteger(page) || page < 1 || !Number.isInteger(pageSize) || pageSize < 1 || pageSize > maxPageSize) {
    answer(response, 400, toError(400, "page and page_size are positive integers"))
    return
  }
  const currency = parameters.get("currency")
  if (currency !== null) {
    const price = /^>(\d+)$/.exec(parameters.get("price") ?? "")
    const sortBy = parameters.get("sort_by")
    if (!currencies.has(currency) || price === null || sortBy !== "price") {
      answer(response, 400, toError(400, "currency, price and sort_by are not valid"))
      return
    }
    const above = Number(price[1])
    const { items, total } = Products.filtered(currency, above, page, pageSize)
    answer(response, 200, toPage(items, page, pageSize, total, filterParameters(currency, above, sortBy)))
  } else answer(response, 200, toPage(Products.list(page, pageSize), page, pageSize, Products.total()))
}

/** Creates a product or, with `id`, changes one. */
const write = (response: Http.ServerResponse, text: string, id: string | undefined): void => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return answer(response, 400, toError(400, "The body is not JSON"))
  }
  const problems: Array<Problem> = []
  if (!isProduct(body, problems, id !== undefined)) {
    return answer(response, 400, toError(400, `${problems.length} problems`, problems))
  }
  if (id === undefined) {
    const product = create(body)
    Products.add(product)
    return answer(response, 201, toResult(product.id), `${root}/${product.id}`)
  }
  if (Products.change(id, body)) answer(response, 200, toResult(id))
  else answer(response, 404, toError(404, `There is no product ${id}`))
}

const receive = (request: Http.IncomingMessage, response: Http.ServerResponse, id?: string): void => {
  const chunks: Array<Buffer> = []
  let size = 0
  request.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxBodySize) chunks.push(chunk)
  })
  request.on("end", () => {
    if (size > maxBodySize) answer(response, 413, toError(413, "The body is too large"))
    else write(response, (chunks.length === 1 && chunks[0] || Buffer.concat(chunks)).toString(), id)
  })
}

const server = Http.createServer((request, response) => {
  const url = request.url ?? "/"
  const mark = url.indexOf("?")
  const path = mark < 0 ? url : url.slice(0, mark)
  if (path === root) {
    if (request.method === "GET") readPage(response, mark < 0 ? "" : url.slice(mark + 1))
    else if (request.method === "POST") receive(request, response)
    else answer(response, 405, toError(405, "Method not allowed"))
  } else if (path.startsWith(`${root}/`)) {
    const id = path.slice(root.length + 1)
    if (request.method === "GET") readOne(response, id)
    else if (request.method === "PATCH") receive(request, response, id)
    else answer(response, 405, toError(405, "Method not allowed"))
  } else answer(response, 404, toError(404, "Not found"))
})

server.listen(Number(process.argv[2]), "127.0.0.1", () => {
  const address = server.address()
  console.log(`listening ${typeof address === "object" ? address?.port : address}`)
})
