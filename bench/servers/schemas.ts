/**
 * The JSON schemas of what comes in and of what goes out.
 */
export const string = { type: "string" } as const
const text = { type: "string", minLength: 1 } as const
const amount = { type: "number", minimum: 0 } as const
const link = { type: "object", required: ["href"], properties: { href: string } } as const

export const fields = {
  code: text,
  name: text,
  description: string,
  price: amount,
  currency: { type: "string", enum: ["EUR", "CHF", "USD"] },
  stock: { type: "integer", minimum: 0 }
} as const

const dimensions = {
  type: "object",
  required: ["width", "height", "depth"],
  properties: { width: amount, height: amount, depth: amount }
} as const

export const newProduct = {
  type: "object",
  required: ["code", "name", "price", "currency", "stock"],
  properties: { ...fields, tags: { type: "array", items: string, default: [] }, dimensions }
} as const

export const change = {
  type: "object",
  properties: { ...fields, tags: { type: "array", items: string }, dimensions }
} as const

/** A product on the wire. */
export const item = {
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

export const pageOf = <Item>(item: Item) => ({
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
} as const)

export const result = {
  type: "object",
  required: ["_type", "result"],
  properties: { _type: string, result: string }
} as const

export const failure = {
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

/** The parameters of a page. */
export const paging = {
  page: { type: "integer", minimum: 1, default: 1 },
  page_size: { type: "integer", minimum: 1, maximum: 1000, default: 50 }
} as const
