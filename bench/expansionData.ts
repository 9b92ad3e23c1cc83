/** What the servers of the part `expansion` begin with: orders of customers for products. */
export const counts = { customers: 500, products: 200, orders: 5_000 }

export const states = ["open", "paid", "sent"] as const

const indexes = (count: number) => Array.from({ length: count }, (_, i) => i)

export const customers = indexes(counts.customers).map((i) => ({
  name: `customer ${i}`,
  city: `city ${i % 50}`,
  phone: `${1000 + i}`
}))

export const products = indexes(counts.products).map((i) => ({
  name: `product ${i}`,
  price: i,
  description: `what product ${i} is for`
}))

/** The customer and the product of an order are the numbers of theirs. */
export const orders = indexes(counts.orders).map((i) => ({
  number: i,
  state: states[i % states.length]!,
  customer: i * 7919 % counts.customers,
  product: i * 104_729 % counts.products,
  quantity: i % 9
}))
