/**
 * Suites that need a server which speaks MongoDB's protocol: they run when there is one, and are skipped when not.
 */
import { describe, inject, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { MongoClient } from "mongodb"
import { randomUUID } from "node:crypto"
import type { DocumentStore } from "../../packages/document-store/src/DocumentStore.ts"
import * as MongoStore from "../../src/Repository/MongoStore.ts"
import type { StoreUnavailable } from "../../src/Repository/RepositoryError.ts"
import type { MongoServer } from "./mongoGlobalSetup.ts"

/** A server that the global setup has found. */
export type FoundServer = Extract<MongoServer, { readonly found: true }>

/** A store on a database of its own, which is dropped when the layer's scope closes. */
export type FreshStore = Layer.Layer<DocumentStore, StoreUnavailable>

/**
 * Describes a suite that runs on MongoDB; end its name with ` / mongodb`. Each time the layer is built, by `it.layer`
 * for example, it gets a new database.
 */
export const onMongo = (name: string, suite: (layer: FreshStore, server: FoundServer) => void): void => {
  const server = inject("mongo")
  if (server.found) describe(name, () => suite(freshStore(server), server))
  else describe.skip(name, () => it("needs a MongoDB server", () => {}))
}

/** {@link FreshStore}; `options` are added to the connection string: `appName=mine`. */
export const freshStore = (server: FoundServer, options = ""): FreshStore =>
  Layer.unwrap(
    Effect.map(freshDatabase(server), (db) =>
      MongoStore.layerWith({
        host: withOptions(server, options),
        db,
        // The server may be busy with other tests: the driver's own look at it may take as long, and so may a read.
        connectTimeout: "60 seconds",
        serverSelectionTimeout: options === "" ? "60 seconds" : "5 seconds"
      }))
  )

/**
 * The store, with the test's clock at a time that the server has not reached: a server deletes expired documents by its
 * own clock.
 */
export const inFuture = (store: FreshStore): FreshStore =>
  Layer.provide(store, Layer.effectDiscard(TestClock.setTime(Date.UTC(2100, 0))))

/** The name of a new database, which is dropped when the scope closes. */
export const freshDatabase = (server: FoundServer) =>
  Effect.acquireRelease(
    Effect.sync(() => `appkernel_test_${randomUUID().slice(0, 13)}`),
    (db) => withClient(server, (client) => client.db(db).dropDatabase())
  )

/** Runs a function with a client of the test's own. */
export const withClient = <A>(server: FoundServer, use: (client: MongoClient) => Promise<A>): Effect.Effect<A> =>
  Effect.acquireUseRelease(
    Effect.sync(() => new MongoClient(server.url, { serverSelectionTimeoutMS: 60_000 })),
    (client) => Effect.promise(() => use(client)),
    (client) => Effect.promise(() => client.close())
  )

/** The server's connection string with more options. */
const withOptions = (server: FoundServer, options: string): string => {
  if (options === "") return server.url
  const [address = "", query] = server.url.split("?")
  const slash = address.indexOf("/", address.indexOf("//") + 2) < 0 ? "/" : ""
  return `${address}${slash}?${query === undefined ? "" : `${query}&`}${options}`
}

/**
 * Makes commands of clients with this `appName` fail until the scope closes. The server has one such fail point, so
 * only one test at a time may use it: keep those in one file.
 */
export const failCommand = (
  server: FoundServer,
  mode: "alwaysOn" | { readonly times: number },
  data: { readonly appName: string; readonly failCommands: ReadonlyArray<string>; readonly [key: string]: unknown }
) =>
  Effect.acquireRelease(
    withClient(server, (client) => client.db("admin").command({ configureFailPoint: "failCommand", mode, data })),
    () => withClient(server, (client) => client.db("admin").command({ configureFailPoint: "failCommand", mode: "off" }))
  )
