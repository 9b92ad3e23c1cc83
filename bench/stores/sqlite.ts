/**
 * The SQLite of Node: documents as JSON, and indexes on what is in it.
 */
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type Open, plain } from "./contestant.ts"
import type { StoredProduct } from "./data.ts"

// As durable as ours: a write is on disk when it is done. Pages are read from the system's cache, as lmdb does.
const prepared = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA mmap_size = 8589934592;
  CREATE TABLE products (id TEXT PRIMARY KEY, document TEXT NOT NULL);
  CREATE UNIQUE INDEX products_code ON products (json_extract(document, '$.code'));
  CREATE INDEX products_added ON products (json_extract(document, '$.added'));
`

// JSON has no dates.
const productOf = (row: { readonly document?: unknown }): StoredProduct => {
  const product = JSON.parse(String(row.document))
  product.added = new Date(product.added)
  return product
}

export const open: Open<"plain"> = async (folder) => {
  const database = new DatabaseSync(path.join(folder, "products.sqlite"))
  database.exec(prepared)
  const get = database.prepare("SELECT document FROM products WHERE id = ?")
  const find = database.prepare("SELECT document FROM products WHERE json_extract(document, '$.code') = ?")
  const range = database.prepare(`
    SELECT document FROM products
    WHERE json_extract(document, '$.added') >= ? AND json_extract(document, '$.added') < ?
    ORDER BY json_extract(document, '$.added') LIMIT ?
  `)
  const all = database.prepare("SELECT document FROM products")
  const insert = database.prepare("INSERT INTO products (id, document) VALUES (?, ?)")
  const update = database.prepare("UPDATE products SET document = json_set(document, '$.stock', ?) WHERE id = ?")
  const remove = database.prepare("DELETE FROM products WHERE json_extract(document, '$.added') >= ?")
  return {
    products: {
      get: (id) => {
        const row = get.get(id)
        return row === undefined ? undefined : productOf(row)
      },
      find: (code) => find.all(code).map(productOf),
      range: ({ from, limit, to }) => range.all(from.toISOString(), to.toISOString(), limit).map(productOf),
      insert: (product) => insert.run(product._id, JSON.stringify(product)),
      update: (id, stock) => update.run(stock, id),
      total: () => {
        let sum = 0
        for (const row of all.iterate()) sum += productOf(row).price
        return sum
      },
      fill: (products) => {
        database.exec("BEGIN")
        for (const product of products) insert.run(product._id, JSON.stringify(product))
        database.exec("COMMIT")
      },
      removeFrom: (added) => remove.run(added.toISOString())
    },
    ...plain,
    close: async () => database.close()
  }
}
