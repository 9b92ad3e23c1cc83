/**
 * The orders that every contestant reads and writes: as values, as texts on the wire, and as stored documents.
 */

const statuses = ["open", "paid", "sent", "closed"] as const

type Address = {
  readonly street: string
  readonly city: string
  readonly zip: string
}

/** What a caller sends to create an order, its date-time read. */
export type NewOrder = {
  /** Two capital letters, a hyphen, at least four digits. */
  readonly number: string
  /** Not empty. */
  readonly customer: string
  /** A whole number from 1. */
  readonly quantity: number
  /** From 0. */
  readonly total: number
  readonly express: boolean
  readonly status: typeof statuses[number]
  readonly placed: Date
  readonly tags: Array<string>
  readonly note?: string
  readonly address?: Address
}

/** An order as it is stored. */
export type OrderDocument = NewOrder & { readonly _id: string }

/** An order as a caller sees it, its date-time not yet written. */
export type OrderItem = NewOrder & {
  readonly _type: "Order"
  readonly id: string
  readonly address?: { readonly _type: "Address" }
}

/** Several, so that nobody sees one text or one shape only; every third has no note, every second no address. */
const count = 48

const streets = ["Langstrasse", "Quai du Mont-Blanc", "Bäckergasse", "High Street"] as const

/** The members in the order in which callers and stores give them. */
const order = (index: number): NewOrder => ({
  number: `AB-${1000 + index}`,
  customer: `Customer ${index}, ${streets[index % 4]} branch`,
  quantity: 1 + index * 7 % 40,
  total: (index * 1999 % 50_000) / 100,
  express: index % 5 === 0,
  status: statuses[index % statuses.length] ?? "open",
  placed: new Date(Date.UTC(2026, 0, 31, 9, 30, 0, 123) + index * 6_100_700),
  tags: ["gift", "fragile", "heavy", "insured"].slice(0, index % 5),
  ...(index % 3 === 0 ? {} : { note: `Ring twice at the ${index % 2 === 0 ? "front" : "back"} door, please.` }),
  ...(index % 2 === 0
    ? {}
    : { address: { street: `${streets[index % 4]} ${index}`, city: "Zürich", zip: String(8000 + index) } })
})

const idOf = (index: number): string => `O00000000-0000-4000-8000-${index.toString().padStart(12, "0")}`

/** What the bodies say. */
export const orders: ReadonlyArray<NewOrder> = Array.from({ length: count }, (_, index) => order(index))

/** The bodies of creates that succeed. */
export const bodies: ReadonlyArray<string> = orders.map((order) => JSON.stringify(order))

/** Bodies with five faults: two members break a rule, one is none of those allowed, one no date-time, one missing. */
export const invalidBodies: ReadonlyArray<string> = orders.map((order, index) =>
  JSON.stringify({
    ...order,
    total: undefined,
    number: `number ${index}`,
    quantity: 0,
    status: "lost",
    placed: "yesterday",
    address: { street: "Langstrasse 1", city: "Zürich", zip: "8004" }
  })
)

/** Where the faults are, in alphabetical order. */
export const invalidFields: ReadonlyArray<string> = ["number", "placed", "quantity", "status", "total"]

export const documents: ReadonlyArray<OrderDocument> = orders.map((order, index) => ({ _id: idOf(index), ...order }))

/** An order as a caller sees it, but for its date-time; what a service written by hand would do. */
export const toItem = ({ _id, address, ...order }: OrderDocument): OrderItem => ({
  _type: "Order",
  id: _id,
  ...order,
  ...(address === undefined ? {} : { address: { _type: "Address", ...address } })
})

/** A date-time on the wire: UTC without a zone, in microseconds. */
export const formatDateTime = (date: Date): string => `${date.toISOString().slice(0, -1)}000`

/** A date-time in a body or on the wire, which is UTC where it has no zone; its form was checked before. */
export const parseDateTime = (text: string): Date => new Date(text.endsWith("Z") ? text : `${text}Z`)

/** What a caller sees, but for its links. */
export const items: ReadonlyArray<OrderItem> = documents.map(toItem)

/** What `JSON.stringify` writes as the wire has it. */
export const wireObjects = items.map((item) => ({ ...item, placed: formatDateTime(item.placed) }))

/** What a caller is sent. */
export const wireTexts: ReadonlyArray<string> = wireObjects.map(({ _type, ...item }) =>
  JSON.stringify({
    _type,
    _links: {
      self: { href: `/api/v1/orders/${item.id}`, methods: ["GET", "PUT", "PATCH", "DELETE"] },
      collection: { href: "/api/v1/orders", methods: ["GET", "POST"] }
    },
    ...item
  })
)
