/**
 * Without a library: what the platform does alone, checking and converting nothing, and what is written by hand.
 */
import { type Contestant, plain } from "./contestant.ts"
import type { OrderDocument } from "./data.ts"
import { bodies, documents, formatDateTime, invalidBodies, toItem, wireObjects, wireTexts } from "./data.ts"

const parse = (text: string): unknown => JSON.parse(text)

/** Neither checks nor converts, so that its outputs aren't the others'; it writes objects that are as the wire has them. */
export const json = (): Contestant => ({
  title: "JSON alone",
  compared: ["text"],
  operations: {
    create: plain(bodies, parse),
    invalid: plain(invalidBodies, parse),
    wire: plain(wireTexts, parse),
    text: plain(wireObjects, (item) => JSON.stringify(item))
  }
})

class Address {
  readonly street: string
  readonly city: string
  readonly zip: string
  constructor({ city, street, zip }: NonNullable<OrderDocument["address"]>) {
    this.street = street
    this.city = city
    this.zip = zip
  }
}

/** An order in a service that has no framework. */
export class Order {
  readonly id: string
  readonly number: string
  readonly customer: string
  readonly quantity: number
  readonly total: number
  readonly express: boolean
  readonly status: OrderDocument["status"]
  readonly placed: Date
  readonly tags: Array<string>
  readonly note: string | undefined
  readonly address: Address | undefined
  constructor(document: OrderDocument) {
    this.id = document._id
    this.number = document.number
    this.customer = document.customer
    this.quantity = document.quantity
    this.total = document.total
    this.express = document.express
    this.status = document.status
    this.placed = document.placed
    this.tags = document.tags
    this.note = document.note
    this.address = document.address && new Address(document.address)
  }
}

export const toDocument = ({ address, id, note, ...order }: Order): OrderDocument => ({
  _id: id,
  ...order,
  ...(note === undefined ? {} : { note }),
  ...(address === undefined ? {} : { address: { street: address.street, city: address.city, zip: address.zip } })
})

/** Trusts what is stored: nothing is checked. */
export const byHand = (): Contestant => ({
  title: "by hand, unchecked",
  operations: {
    instance: plain(documents, (document) => new Order(document)),
    text: plain(documents, (document) => {
      const item = toItem(document)
      return JSON.stringify({ ...item, placed: formatDateTime(item.placed) })
    }),
    stored: plain(documents.map((document) => new Order(document)), toDocument)
  }
})
