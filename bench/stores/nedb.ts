/**
 * `@seald-io/nedb`: all documents in memory, and a file that writes are appended to.
 */
import nedb from "@seald-io/nedb"
import * as path from "node:path"
import { type Open, plain } from "./contestant.ts"
import type { StoredProduct } from "./data.ts"

// Its declarations have it as a member of what it is.
const Datastore = nedb as unknown as typeof nedb.default

export const open: Open<"plain"> = async (folder) => {
  const store = new Datastore<StoredProduct>({ filename: path.join(folder, "products.db") })
  await store.loadDatabaseAsync()
  await store.ensureIndexAsync({ fieldName: "code", unique: true })
  await store.ensureIndexAsync({ fieldName: "added" })
  // Its declarations take the list for a document.
  const listOf = async (cursor: PromiseLike<unknown>) => await cursor as ReadonlyArray<StoredProduct>
  return {
    products: {
      get: async (id) => await store.findOneAsync<StoredProduct>({ _id: id }) ?? undefined,
      find: (code) => listOf(store.findAsync({ code })),
      range: ({ from, limit, to }) =>
        listOf(store.findAsync({ added: { $gte: from, $lt: to } }).sort({ added: 1 }).limit(limit)),
      insert: (product) => store.insertAsync(product),
      update: (id, stock) => store.updateAsync({ _id: id }, { $set: { stock } }),
      total: async () => {
        let sum = 0
        for (const { price } of await listOf(store.findAsync({}))) sum += price
        return sum
      },
      fill: (products) => store.insertAsync([...products]),
      removeFrom: (added) => store.removeAsync({ added: { $gte: added } }, { multi: true })
    },
    ...plain,
    // Whatever was awaited is with the system.
    close: async () => {}
  }
}
