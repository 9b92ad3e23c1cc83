/**
 * Our embedded store, through its port.
 */
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { type Document, DocumentStore } from "../../src/Repository/DocumentStore.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import type { Open } from "./contestant.ts"
import type { StoredProduct } from "./data.ts"

const collection = "products"

export const open: Open<"effect"> = async (folder) => {
  const runtime = ManagedRuntime.make(EmbeddedStore.layerWith({ path: folder }))
  const store = await runtime.runPromise(DocumentStore)
  await runtime.runPromise(store.createIndexes(collection, [
    { name: "code", key: { code: 1 }, unique: true },
    { name: "added", key: { added: 1 } }
  ]))
  // What is stored is known.
  const asProducts = (documents: ReadonlyArray<Document>) => documents as ReadonlyArray<StoredProduct>
  return {
    products: {
      get: (id) => Effect.map(store.findById(collection, id), (document) => document as StoredProduct | undefined),
      find: (code) => Effect.map(store.find(collection, { filter: { code } }), asProducts),
      range: ({ from, limit, to }) =>
        Effect.map(
          store.find(collection, { filter: { added: { $gte: from, $lt: to } }, sort: { added: 1 }, limit }),
          asProducts
        ),
      insert: (product) => store.insertOne(collection, product),
      update: (id, stock) => store.updateOne(collection, { _id: id }, { $set: { stock } }),
      total: () => Stream.runFold(store.stream(collection, {}), () => 0, (sum, { price }) => sum + Number(price)),
      fill: (products) => store.insertMany(collection, products, { ordered: false }),
      removeFrom: (added) => store.deleteMany(collection, { added: { $gte: added } })
    },
    one: (answer) => runtime.runPromise(answer),
    inTurn: (inputs, act) => {
      let at = 0
      return runtime.runPromise(Effect.whileLoop({
        while: () => at < inputs.length,
        body: () => act(inputs[at++]!),
        step: () => {}
      }))
    },
    close: () => runtime.dispose()
  }
}
