/**
 * lmdb by hand, for this model: what is stored is trusted, and nothing but its three tables is there.
 */
import * as lmdb from "lmdb"
import { type Open, plain } from "./contestant.ts"
import type { StoredProduct } from "./data.ts"

export const open: Open<"plain"> = async (folder) => {
  const root = lmdb.open({ path: folder, noSubdir: false, maxDbs: 3 })
  const documents = root.openDB<StoredProduct, string>({ name: "documents", sharedStructuresKey: Symbol.for("fields") })
  const codes = root.openDB<string, string>({ name: "codes", encoding: "string" })
  const added = root.openDB<string, number>({ name: "added", dupSort: true, encoding: "ordered-binary" })
  // In a transaction.
  const put = (product: StoredProduct) => {
    if (documents.doesExist(product._id) || codes.doesExist(product.code)) throw new Error("duplicate")
    documents.putSync(product._id, product)
    codes.putSync(product.code, product._id)
    added.putSync(product.added.getTime(), product._id)
  }
  const durable = async (write: () => void): Promise<void> => {
    await root.transaction(write)
    await root.flushed
  }
  return {
    products: {
      get: (id) => documents.get(id),
      find: (code) => {
        const id = codes.get(code)
        const found = id === undefined ? undefined : documents.get(id)
        return found === undefined ? [] : [found]
      },
      range: ({ from, limit, to }) => {
        const found: Array<StoredProduct> = []
        for (const { value } of added.getRange({ start: from.getTime(), end: to.getTime(), limit })) {
          found.push(documents.get(value)!)
        }
        return found
      },
      insert: (product) => durable(() => put(product)),
      update: (id, stock) => durable(() => documents.putSync(id, { ...documents.get(id)!, stock })),
      total: () => {
        let sum = 0
        for (const { value } of documents.getRange()) sum += value.price
        return sum
      },
      fill: (products) =>
        durable(() => {
          for (const product of products) put(product)
        }),
      removeFrom: (from) =>
        durable(() => {
          for (const { key, value } of Array.from(added.getRange({ start: from.getTime() }))) {
            codes.removeSync(documents.get(value)!.code)
            documents.removeSync(value)
            added.removeSync(key, value)
          }
        })
    },
    ...plain,
    close: () => root.close()
  }
}
