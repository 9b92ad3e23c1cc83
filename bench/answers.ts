/**
 * What every server has to answer: the shapes on the wire, the measured rows, and the checks that hold a server to them.
 * When the shapes change, change them here.
 */
import * as assert from "node:assert/strict"
import type { Product } from "./data.ts"
import { count, create, invalidBody, seeds, validBody } from "./data.ts"

/** The path of the collection. */
export const root = "/api/v1/products"

/** A date-time on the wire: UTC without a zone, in microseconds. */
const toTimestamp = (date: Date): string => `${date.toISOString().slice(0, -1)}000`

/** A product on the wire, with the methods of its links. Members that are `undefined` don't appear in JSON. */
export const toItem = (product: Product, methods: ReadonlyArray<string> = ["GET", "POST"]) => ({
  _type: "Product",
  _links: {
    self: { href: `${root}/${product.id}`, methods },
    collection: { href: root, methods: "GET" }
  },
  id: product.id,
  code: product.code,
  name: product.name,
  description: product.description,
  price: product.price,
  currency: product.currency,
  stock: product.stock,
  tags: product.tags,
  dimensions: product.dimensions && {
    _type: "Dimensions",
    width: product.dimensions.width,
    height: product.dimensions.height,
    depth: product.dimensions.depth
  },
  added: toTimestamp(product.added)
})

/**
 * One page of a collection of `total` products on the wire; `page` counts from 1, and `filters` are the parameters of the
 * request before `page`, each with a `&` behind it.
 */
export const toPage = (
  products: ReadonlyArray<Product>,
  page: number,
  pageSize: number,
  total: number,
  filters = ""
) => toList(products.map((product) => toItem(product)), page, pageSize, total, filters)

/** Like `toPage`, of products that are on the wire already. */
export const toList = <Item>(
  items: ReadonlyArray<Item>,
  page: number,
  pageSize: number,
  total: number,
  filters = ""
) => {
  const last = Math.max(1, Math.ceil(total / pageSize))
  const link = (page: number) => ({ href: `${root}?${filters}page=${page}&page_size=${pageSize}` })
  return {
    _type: "list",
    _items: items,
    _links: {
      self: link(page),
      first: link(1),
      prev: page > 1 ? link(page - 1) : undefined,
      next: page < last ? link(page + 1) : undefined,
      last: link(last)
    }
  }
}

/** The parameters that filter and sort a page, as they are in its links. */
export const filterParameters = (currency: string, above: number, sortBy: string): string =>
  `currency=${currency}&price=%3E${above}&sort_by=${sortBy}&`

/** The products of one currency above a price, in the order of their prices, those of one price in that of their ids. */
export const filtered = (products: Iterable<Product>, currency: string, above: number): ReadonlyArray<Product> => {
  const found: Array<Product> = []
  for (const product of products) {
    if (product.currency === currency && product.price > above) found.push(product)
  }
  return found.toSorted((a, b) => a.price - b.price || (a.id < b.id ? -1 : 1))
}

/** The answer to a create. */
export const toResult = (id: string) => ({ _type: "OperationResult", result: id })

/** One fault in a body. */
export interface Problem {
  readonly field: string
  readonly validator: string
  readonly message: string
}

/** The answer to a request that failed. */
export const toError = (code: number, message: string, errors?: ReadonlyArray<Problem>) => ({
  _type: "ErrorMessage",
  code,
  message,
  errors
})

interface Headers {
  readonly [name: string]: string
}

/** A request of the load. `body` is JSON text. */
interface LoadRequest {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers?: Headers | undefined
  readonly body?: string | undefined
}

/** An answer; headers that it lacks are empty. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly location: string
  /** `X-Total-Count`. */
  readonly total: string
  readonly text: string
}

/** Asks the same server once more. */
export type Get = (path: string, headers?: Headers) => Promise<Answer>

/** One measured kind of request. */
export interface Row {
  readonly title: string
  readonly request: LoadRequest
  readonly status: number
  /** Rejects with an `AssertionError` when the body or the location is not the one that is expected. */
  readonly check: (body: unknown, answer: Answer, get: Get) => Promise<void>
}

/** `JSON.parse` after `stringify` drops the members that are `undefined`, as the wire does. */
export const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const member = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

// One that has every field.
const example = seeds[104] ?? create(validBody)

/** The rows of the table by their option names. */
export const rows: ReadonlyMap<string, Row> = new Map<string, Row>([
  ["read", {
    title: "read one",
    request: { method: "GET", path: `${root}/${example.id}` },
    status: 200,
    check: async (body) => assert.deepEqual(body, wire(toItem(example)))
  }],
  ["page", {
    title: "page of 50",
    request: { method: "GET", path: `${root}?page=1&page_size=50` },
    status: 200,
    check: async (body) => assert.deepEqual(body, wire(toPage(seeds.slice(0, 50), 1, 50, count)))
  }],
  ["filtered", {
    title: "filtered, sorted",
    request: {
      method: "GET",
      path: `${root}?${filterParameters("EUR", 50, "price")}page=1&page_size=50`
    },
    status: 200,
    check: async (body) => {
      const all = filtered(seeds, "EUR", 50)
      assert.ok(all.length > 50)
      const page = toPage(all.slice(0, 50), 1, 50, all.length, filterParameters("EUR", 50, "price"))
      assert.deepEqual(body, wire(page))
    }
  }],
  ["create", {
    title: "create",
    request: { method: "POST", path: root, body: JSON.stringify(validBody) },
    status: 201,
    check: async (body, answer, get) => {
      const id = String(member(body, "result"))
      assert.match(id, /^P[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
      assert.deepEqual(body, toResult(id))
      assert.equal(answer.location, `${root}/${id}`)
      const stored: unknown = JSON.parse((await get(answer.location)).text)
      const added = new Date(`${String(member(stored, "added")).slice(0, -3)}Z`)
      assert.ok(Math.abs(added.getTime() - Date.now()) < 60_000, "added is the time of creation")
      assert.deepEqual(stored, wire(toItem({ ...create(validBody), id, added })))
    }
  }],
  ["invalid", {
    title: "invalid create",
    request: { method: "POST", path: root, body: JSON.stringify(invalidBody) },
    status: 400,
    check: async (body) => {
      assert.equal(member(body, "_type"), "ErrorMessage")
      assert.equal(member(body, "code"), 400)
      const errors = member(body, "errors")
      assert.ok(Array.isArray(errors), "errors is a list")
      assert.deepEqual(errors.map((error) => String(member(error, "field"))).toSorted((a, b) => a < b ? -1 : 1), [
        "code",
        "currency",
        "price"
      ])
    }
  }]
])

/** Rejects with a message that shows the difference when an answer is not the one that everybody has to give. */
export const check = async (answer: Answer, row: Row, get: Get): Promise<void> => {
  assert.equal(answer.status, row.status, `status ${answer.status}, not ${row.status}: ${answer.text}`)
  assert.match(answer.contentType, /^application\/json(;|$)/)
  await row.check(JSON.parse(answer.text), answer, get)
}
