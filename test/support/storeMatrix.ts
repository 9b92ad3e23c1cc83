/**
 * Contracts that hold on several stores. A suite whose name ends with ` / ` and the name of a store belongs to that store,
 * and each time the layer is built, its store is empty.
 */
import { describe } from "@effect/vitest"
import { Layer } from "effect"
import { type DocumentStore, EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "./folders.ts"
import { type FoundServer, onMongo } from "./mongo.ts"

/** Runs a contract on the stores without a server: in memory, and in a folder. */
export const embeddedStores = (
  contract: (name: "memory" | "embedded", store: Layer.Layer<DocumentStore.DocumentStore>) => void
): void => {
  contract("memory", EmbeddedStore.layerMemory)
  contract("embedded", Layer.orDie(freshFolder(EmbeddedStore.layerWith)))
}

/**
 * Runs a contract of routes in memory and on a server. A folder answers as the memory does: the contracts of stores and of
 * repositories, which run on all three, and those of routes that meet its transactions and its forms of values see to it.
 */
export const routeStores = (
  contract: (name: "memory" | "mongodb", store: Layer.Layer<DocumentStore.DocumentStore>) => void
): void => {
  contract("memory", EmbeddedStore.layerMemory)
  onMongo("on a server", (store) => contract("mongodb", Layer.orDie(store)))
}

/**
 * Runs a contract on the stores that have images of documents before and after a change. Other servers than MongoDB have no
 * images. Their change streams block other work. All tests share their one log, so its end moves at any time.
 */
export const storesWithImages = (
  contract: (name: "memory" | "embedded" | "mongodb", store: Layer.Layer<DocumentStore.DocumentStore>) => void
): void => {
  embeddedStores(contract)
  onMongo("on a server", (store, { name }) => {
    describe.skipIf(!name.startsWith("MongoDB"))("with images", () => contract("mongodb", Layer.orDie(store)))
  })
}

/** Runs a contract on every store: in memory, in a folder, and on a server, where there is one. */
export const storeMatrix = (
  contract: (
    name: "memory" | "embedded" | "mongodb",
    store: Layer.Layer<DocumentStore.DocumentStore>,
    server?: FoundServer
  ) => void
): void => {
  embeddedStores(contract)
  onMongo("on a server", (store, server) => contract("mongodb", Layer.orDie(store), server))
}
