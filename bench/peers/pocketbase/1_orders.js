/* global $os, Collection, Record, migrate */
/** The collections of PocketBase and what they begin with: `BENCH_DATA` is a file. */
migrate((app) => {
  const data = JSON.parse(toString($os.readFile($os.getenv("BENCH_DATA"))))
  const make = (name, fields, indexes = []) => {
    const collection = new Collection({ type: "base", name, listRule: "", viewRule: "", fields, indexes })
    app.save(collection)
    return collection
  }
  const insert = (collection, all) =>
    all.map((values) => {
      const record = new Record(collection)
      for (const key in values) record.set(key, values[key])
      app.save(record)
      return record.id
    })
  const text = (name) => ({ type: "text", name })
  const number = (name) => ({ type: "number", name })
  const to = (name, { id }) => ({ type: "relation", name, collectionId: id, maxSelect: 1 })
  const customers = make("customers", ["name", "city", "phone"].map(text))
  const products = make("products", [text("name"), text("description"), number("price")])
  const orders = make("orders", [
    number("number"),
    text("state"),
    to("customer", customers),
    to("product", products),
    number("quantity")
  ], ["CREATE INDEX orders_number ON orders (number)", "CREATE INDEX orders_state ON orders (state, number)"])
  const customerIds = insert(customers, data.customers)
  const productIds = insert(products, data.products)
  insert(
    orders,
    data.orders.map((order) => ({
      ...order,
      customer: customerIds[order.customer],
      product: productIds[order.product]
    }))
  )
})
