import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { type Document, DocumentStore, type Filter, type FindOptions } from "../../src/DocumentStore.ts"

/** The tests of a suite whose layer is a store. */
export type Tests = Vitest.MethodsNonLive<DocumentStore>

export type Store = DocumentStore["Service"]

let collections = 0

/** A collection that no other test uses, with these documents in it. */
export const collectionOf = Effect.fnUntraced(function*(documents: ReadonlyArray<Document>) {
  const store = yield* DocumentStore
  collections += 1
  const name = `things ${collections}`
  const { failures } = yield* store.insertMany(name, documents)
  assert.deepStrictEqual(failures, [])
  return {
    store,
    name,
    all: store.find(name, { sort: { _id: 1 } }),
    find: (options: FindOptions) => store.find(name, options),
    ids: (filter: Filter) => Effect.map(store.find(name, { filter, sort: { _id: 1 } }), idsOf)
  }
})

export const idsOf = (documents: ReadonlyArray<Document>) => documents.map(({ _id }) => _id)

/** What an error says, without its prototype. */
export const factsOf = (error: object): Document => ({ ...error })

export const day = (day: number) => new Date(Date.UTC(2026, 0, day))

/** Values of `bson`'s classes as their texts with their types, so that they compare whatever build they are of. */
export const plain = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(plain)
    : value instanceof Date || typeof value !== "object" || value === null
    ? value
    : "_bsontype" in value
    ? `${String(value._bsontype)} ${JSON.stringify(value)}`
    : Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]))
