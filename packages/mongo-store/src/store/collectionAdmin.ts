/** Administers collections of MongoDB: lists them and their indexes, drops indexes and installs validators. */
import type { CollectionDescription, Document } from "@appkernel/document-store/DocumentStore"
import type { ReadError } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import { type CreateCollectionOptions, type IndexDescriptionInfo, MongoServerError } from "mongodb"
import { limits, type MongoCall, read, remove, withSignal } from "../driver/driverCall.ts"

const namespaceNotFound = 26
const indexNotFound = 27
const namespaceExists = 48

const hasCode = (cause: unknown, ...codes: ReadonlyArray<number>): boolean =>
  cause instanceof MongoServerError && codes.some((code) => cause.code === code)

/** The indexes of a collection; none if it does not exist. */
export const listIndexes = (call: MongoCall): Effect.Effect<ReadonlyArray<IndexDescriptionInfo>, ReadError> =>
  read(
    call,
    (collection, signal) =>
      collection.listIndexes(withSignal(limits(undefined), signal)).toArray().catch((cause: unknown) =>
        hasCode(cause, namespaceNotFound) ? [] : Promise.reject(cause)
      )
  )

/** Drops an index; succeeds with whether it existed. */
export const dropIndex = (call: MongoCall, name: string): Effect.Effect<boolean, ReadError> =>
  remove(call, (collection, signal) =>
    collection.dropIndex(name, withSignal(limits(undefined), signal)).then(
      () => true,
      (cause: unknown) => hasCode(cause, namespaceNotFound, indexNotFound) ? false : Promise.reject(cause)
    ))

/** Installs the validator of a collection, which is created if needed; without a schema, removes it. */
export const setValidator = (
  call: MongoCall,
  jsonSchema: Document | undefined,
  validationAction: "warn" | "error"
): Effect.Effect<void, ReadError> =>
  modify(
    call,
    { validator: jsonSchema === undefined ? {} : { $jsonSchema: jsonSchema }, validationAction },
    jsonSchema !== undefined
  )

/** Lets the server keep images of documents before and after changes, in a collection made if needed. */
export const recordImages = (call: MongoCall): Effect.Effect<void, ReadError> =>
  modify(call, { changeStreamPreAndPostImages: { enabled: true } }, true)

/** Changes the options of a collection, which is made with them if needed. */
const modify = (
  call: MongoCall,
  options: CreateCollectionOptions,
  isNeeded: boolean
): Effect.Effect<void, ReadError> =>
  Effect.asVoid(remove(call, ({ collectionName, db }, signal) => {
    const change = (): Promise<unknown> => db.command({ collMod: collectionName, ...options }, { signal })
    const make = (): Promise<unknown> =>
      db.createCollection(collectionName, options).catch((cause: unknown) =>
        // Another process has created it meanwhile.
        hasCode(cause, namespaceExists) ? change() : Promise.reject(cause)
      )
    return change().catch((cause: unknown) =>
      !hasCode(cause, namespaceNotFound) ? Promise.reject(cause) : isNeeded ? make() : undefined
    )
  }))

/** Whether the server keeps such images. */
export const recordsImages = (call: MongoCall): Effect.Effect<boolean, ReadError> =>
  read(
    call,
    ({ collectionName, db }, signal) =>
      db.listCollections({ name: collectionName }, withSignal({ nameOnly: false as const }, signal)).toArray().then((
        [info]
      ) => info?.options?.["changeStreamPreAndPostImages"]?.enabled === true)
  )

/** The collections that are no views and not the server's own. */
export const listCollections = (call: MongoCall): Effect.Effect<ReadonlyArray<CollectionDescription>, ReadError> =>
  read(
    call,
    ({ db }, signal) =>
      db.listCollections({ type: "collection" }, withSignal({ nameOnly: false as const }, signal)).toArray().then((
        infos
      ) =>
        infos.filter(({ name }) => !name.startsWith("system.")).map(({ name, options }) => {
          const jsonSchema: Document | undefined = options?.["validator"]?.["$jsonSchema"]
          const action = options?.["validationAction"] === "warn" ? "warn" as const : "error" as const
          return { name, ...jsonSchema === undefined ? {} : { jsonSchema, action } }
        }).toSorted((a, b) => a.name < b.name ? -1 : 1)
      )
  )
