/**
 * Payload 3 on SQLite, by its REST handler (`handleEndpoints`) on `node:http`, without Next around it.
 */
import { sqliteAdapter } from "@payloadcms/db-sqlite"
import * as fs from "node:fs"
import { createServer } from "node:http"
import * as os from "node:os"
import * as path from "node:path"
import { buildConfig, getPayload, handleEndpoints } from "payload"
import { customers, orders, products } from "../expansionData.ts"

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bench-"))
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }))

const collection = (slug, fields) => ({
  slug,
  fields,
  access: { read: () => true },
  timestamps: false,
  lockDocuments: false
})
const texts = (...names) => names.map((name) => ({ name, type: "text" }))
const to = (name, relationTo) => ({ name, type: "relationship", relationTo })

const config = buildConfig({
  secret: "bench",
  telemetry: false,
  db: sqliteAdapter({ client: { url: `file:${path.join(folder, "data.db")}` }, push: true }),
  collections: [
    collection("customers", texts("name", "city", "phone")),
    collection("products", [...texts("name", "description"), { name: "price", type: "number" }]),
    collection("orders", [
      { name: "number", type: "number", index: true },
      { name: "state", type: "text", index: true },
      to("customer", "customers"),
      to("product", "products"),
      { name: "quantity", type: "number" }
    ])
  ]
})

// Its schema is pushed only where it is not in production.
process.env.NODE_ENV = "development"
const payload = await getPayload({ config })
process.env.NODE_ENV = "production"

const insert = async (slug, all) => {
  const ids = []
  for (const data of all) ids.push((await payload.db.create({ collection: slug, data })).id)
  return ids
}
const customerIds = await insert("customers", customers)
const productIds = await insert("products", products)
await insert(
  "orders",
  orders.map((order) => ({ ...order, customer: customerIds[order.customer], product: productIds[order.product] }))
)

const server = createServer(async (incoming, outgoing) => {
  const request = new Request(`http://127.0.0.1${incoming.url}`, { headers: incoming.headers })
  const response = await handleEndpoints({ config, request })
  const body = Buffer.from(await response.arrayBuffer())
  outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), "content-length": body.length })
  outgoing.end(body)
})
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log(`listening ${server.address().port}`))
