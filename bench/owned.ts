/**
 * Products with owners: the documents of the servers with access control, and their forms on the wire. Buyers reach what
 * they own, without its field `cost`; administrators reach everything.
 */
import { toItem } from "./answers.ts"
import type { Product } from "./data.ts"
import { seeds } from "./data.ts"

/** The `iss` and `aud` of the tokens. */
export const application = "bench"

export const buyer = { sub: "U1", roles: ["buyer"] }
export const admin = { sub: "U2", roles: ["admin"] }

/** A product as it is stored. */
export interface OwnedProduct extends Product {
  /** The `sub` of a buyer. */
  readonly owner: string
  readonly cost: number
}

/** The products at the start, in the order of their ids. Each third one is another buyer's. */
export const ownedSeeds: ReadonlyArray<OwnedProduct> = seeds.map((product, index) => ({
  ...product,
  owner: index % 3 === 0 ? "U3" : buyer.sub,
  cost: Math.round(product.price * 60) / 100
}))

/** A product on the wire. */
export const toOwnedItem = (product: OwnedProduct, showsCost: boolean) =>
  // A copy of all members would cost the peer.
  Object.assign(toItem(product, methods), { owner: product.owner, cost: showsCost ? product.cost : undefined })

const methods = ["GET"]
