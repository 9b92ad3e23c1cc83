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
export const toItem = (product: Product, methods: ReadonlyArray<string> = ["GET", "POST", "PATCH"]) => ({
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
const filtered = (products: Iterable<Product>, currency: string, above: number): ReadonlyArray<Product> => {
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
export interface LoadRequest {
  readonly method: "GET" | "POST" | "PATCH"
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
  /** The request that is checked, and unless they vary, the one that is sent. */
  readonly request: LoadRequest
  /** Another request each time, by a number from 0 up to 1 that is another one each time. */
  readonly varied?: ((random: () => number) => LoadRequest) | undefined
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

const writes = new Set(["create", "create-any", "invalid", "change-any", "mixed"])

const fixedRows = new Map<string, Row>([
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

const products: ReadonlyMap<string, Product> = new Map(seeds.map((product) => [product.id, product]))

const pageSize = 50

const oneOf = <A>(random: () => number, list: ReadonlyArray<A>): A => list[Math.floor(random() * list.length)]!

const someone = (random: () => number): LoadRequest => ({
  method: "GET",
  path: `${root}/${oneOf(random, seeds).id}`
})

const somePage = (random: () => number): LoadRequest => {
  const page = 1 + Math.floor(random() * Math.ceil(count / pageSize))
  return { method: "GET", path: `${root}?page=${page}&page_size=${pageSize}` }
}

const someFiltered = (random: () => number): LoadRequest => {
  const parameters = filterParameters(oneOf(random, ["EUR", "CHF", "USD"]), Math.floor(random() * 400), "price")
  return { method: "GET", path: `${root}?${parameters}page=${1 + Math.floor(random() * 3)}&page_size=${pageSize}` }
}

const someNew = (random: () => number): LoadRequest => {
  const number = Math.floor(random() * 1e6)
  const body = {
    ...validBody,
    code: `ART-${number}`,
    name: `${validBody.name} no. ${number}`,
    price: number % 50_000 / 100,
    currency: oneOf(random, ["EUR", "CHF", "USD"])
  }
  return { method: "POST", path: root, body: JSON.stringify(body) }
}

const someChange = (random: () => number): LoadRequest => ({
  method: "PATCH",
  path: `${root}/${oneOf(random, seeds).id}`,
  body: JSON.stringify({ price: Math.floor(random() * 50_000) / 100, stock: Math.floor(random() * 100) })
})

/** Of ten requests four read one, three a page, one a filtered page, and two change a document. */
const some = (random: () => number): LoadRequest => {
  const kind = random() * 10
  return kind < 4
    ? someone(random)
    : kind < 7
    ? somePage(random)
    : kind < 8
    ? someFiltered(random)
    : someChange(random)
}

const checkOne = (path: string) => async (body: unknown) => {
  const product = products.get(path.slice(root.length + 1))
  assert.ok(product !== undefined)
  assert.deepEqual(body, wire(toItem(product)))
}

const checkPage = (path: string) => async (body: unknown) => {
  const parameters = new URLSearchParams(path.slice(root.length + 1))
  const page = Number(parameters.get("page"))
  const currency = parameters.get("currency")
  const above = Number(parameters.get("price")?.slice(1))
  const found = currency === null ? seeds : filtered(seeds, currency, above)
  const filters = currency === null ? "" : filterParameters(currency, above, "price")
  const items = found.slice((page - 1) * pageSize, page * pageSize)
  assert.deepEqual(body, wire(toPage(items, page, pageSize, found.length, filters)))
}

const variedRow = (
  title: string,
  varied: (random: () => number) => LoadRequest,
  check: (path: string) => Row["check"],
  status = 200
): Row => {
  const request = varied(() => 0.71)
  return { title, request, varied, status, check: check(request.path) }
}

/** A row with changes, each of which the next read sees. */
const changingRow = (title: string, varied: (random: () => number) => LoadRequest): Row => ({
  title,
  varied,
  status: 200,
  request: { method: "PATCH", path: `${root}/${example.id}`, body: JSON.stringify({ price: 1.25 }) },
  check: async (body, _answer, get) => {
    assert.deepEqual(body, toResult(example.id))
    const path = `${root}/${example.id}`
    assert.deepEqual(JSON.parse((await get(path)).text), wire(toItem({ ...example, price: 1.25 })))
  }
})

/** The rows whose requests vary over all documents. */
const variedRows: ReadonlyMap<string, Row> = new Map([
  ["read-any", variedRow("read any", someone, checkOne)],
  ["page-any", variedRow("any page", somePage, checkPage)],
  ["filtered-any", variedRow("any filtered", someFiltered, checkPage)],
  ["create-any", variedRow("create others", someNew, () => async () => {}, 201)],
  ["change-any", changingRow("change others", someChange)],
  ["mixed", changingRow("mixed 80/20", some)]
])

/** The rows of the table by their option names: those that write are after the checks of those that read. */
export const rows: ReadonlyMap<string, Row> = new Map(
  [...fixedRows, ...variedRows].toSorted(([one], [other]) => Number(writes.has(one)) - Number(writes.has(other)))
)

/** Rejects with a message that shows the difference when an answer is not the one that everybody has to give. */
export const check = async (answer: Answer, row: Row, get: Get): Promise<void> => {
  assert.equal(answer.status, row.status, `status ${answer.status}, not ${row.status}: ${answer.text}`)
  assert.match(answer.contentType, /^application\/json(;|$)/)
  await row.check(JSON.parse(answer.text), answer, get)
}
