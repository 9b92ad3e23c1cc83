/**
 * The model that every server serves, the documents that it starts with, and the bodies that the load sends.
 */
import { randomUUID } from "node:crypto"

interface Dimensions {
  readonly width: number
  readonly height: number
  readonly depth: number
}

/** What a caller sends to create a product. */
export interface NewProduct {
  /** Not empty. */
  readonly code: string
  /** Not empty. */
  readonly name: string
  readonly description?: string | undefined
  /** From 0. */
  readonly price: number
  readonly currency: "EUR" | "CHF" | "USD"
  /** A whole number from 0. */
  readonly stock: number
  /** Defaults to none. */
  readonly tags?: ReadonlyArray<string> | undefined
  readonly dimensions?: Dimensions | undefined
}

/** A product as it is stored. */
export interface Product extends NewProduct {
  /** "P" and a UUID, generated. */
  readonly id: string
  readonly tags: ReadonlyArray<string>
  /** When it was created, generated. */
  readonly added: Date
}

/** Number of products that a server holds when it starts to listen. The runner tells it to the servers. */
export const count = Number(process.env["BENCH_DOCUMENTS"] ?? 200)

const currencies = ["EUR", "CHF", "USD"] as const
const kinds = ["Desk lamp", "Office chair", "Büroregal", "Standing desk", "Étagère murale"] as const
const tags = ["new", "sale", "furniture", "light"]

const seed = (index: number): Product => ({
  id: `P00000000-0000-4000-8000-${index.toString().padStart(12, "0")}`,
  code: `ART-${1000 + index}`,
  name: `${kinds[index % kinds.length]} no. ${index}`,
  description: index % 3 === 0
    ? undefined
    : `A sturdy piece of batch ${index % 17}, delivered within ${index % 9} days.`,
  price: (index * 1999 % 50_000) / 100,
  currency: currencies[index % currencies.length] ?? "EUR",
  stock: index * 7 % 120,
  tags: tags.slice(0, index % (tags.length + 1)),
  dimensions: index % 2 === 0 ? { width: 40 + index % 60, height: 75.5, depth: 30 + index % 25 } : undefined,
  added: new Date(Date.UTC(2026, 0, 31, 9, 30, 0, 123) + index * 61_007)
})

/** The products at the start, in the order of their ids; the same ones in every process. */
export const seeds: ReadonlyArray<Product> = Array.from({ length: count }, (_, index) => seed(index))

/** What a service that is called answers, as the framework's services write a product. */
export const called: string = JSON.stringify({
  _type: "Product",
  ...seeds[0],
  dimensions: { _type: "Dimensions", ...seeds[0]?.dimensions }
})

/** The body of a create that succeeds. */
export const validBody: NewProduct = {
  code: "ART-9000",
  name: "Bücherschrank mit Glastür",
  description: "Solid oak, oiled, two glazed doors. Delivered to the kerb.",
  price: 849.9,
  currency: "CHF",
  stock: 12,
  tags: ["furniture", "new"],
  dimensions: { width: 90, height: 198.5, depth: 36 }
}

/** The body of a create that fails in three fields: `code` is missing, `price` negative, `currency` unknown. */
export const invalidBody = { ...validBody, code: undefined, price: -1, currency: "XXX" }

/** What a change of a product may have. */
export type Change = Partial<NewProduct>

/** The product to store for a body that passed validation: known fields only, generated ones added. */
export const create = (body: NewProduct): Product => ({
  id: `P${randomUUID()}`,
  code: body.code,
  name: body.name,
  description: body.description,
  price: body.price,
  currency: body.currency,
  stock: body.stock,
  tags: body.tags ?? [],
  dimensions: body.dimensions && {
    width: body.dimensions.width,
    height: body.dimensions.height,
    depth: body.dimensions.depth
  },
  added: new Date()
})
