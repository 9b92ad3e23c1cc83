/** The service on Express with mongoose, on the server of MONGO_URL. */
import express from "express"
import { filterParameters, root, toError, toItem, toPage, toResult } from "../answers.ts"
import { create } from "../data.ts"
import * as Products from "./mongooseProducts.js"

const app = express()
app.use(express.json())

const refuse = (response, code, message, problems) => response.status(code).json(toError(code, message, problems))

app.get(`${root}/:id`, async (request, response) => {
  const { id } = request.params
  const product = await Products.get(id)
  if (product === undefined) refuse(response, 404, `There is no product ${id}`)
  else response.json(toItem(product))
})

app.get(root, async (request, response) => {
  const { currency, page = "1", page_size: size = "50", price = "", sort_by: sortBy = "" } = request.query
  const [number, pageSize] = [Number(page), Number(size)]
  if (!(number >= 1) || !(pageSize >= 1 && pageSize <= 1000)) return refuse(response, 400, "page and page_size")
  if (currency === undefined) {
    const { items, total } = await Products.list(number, pageSize)
    return response.json(toPage(items, number, pageSize, total))
  }
  if (!/^>\d+$/.test(price)) return refuse(response, 400, "price")
  const above = Number(price.slice(1))
  const { items, total } = await Products.filtered(currency, above, number, pageSize)
  return response.json(toPage(items, number, pageSize, total, filterParameters(currency, above, sortBy)))
})

app.post(root, async (request, response) => {
  const problems = await Products.problemsOf(request.body)
  if (problems.length > 0) return refuse(response, 400, `${problems.length} problems`, problems)
  const product = create(request.body)
  await Products.add(product)
  return response.status(201).location(`${root}/${product.id}`).json(toResult(product.id))
})

app.patch(`${root}/:id`, async (request, response) => {
  const { id } = request.params
  if (await Products.change(id, request.body)) response.json(toResult(id))
  else refuse(response, 404, `There is no product ${id}`)
})

const server = app.listen(Number(process.argv[2]), "127.0.0.1", () => console.log(`listening ${server.address().port}`))
