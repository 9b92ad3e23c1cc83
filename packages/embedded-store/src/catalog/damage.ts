/** Errors that name damaged documents and indexes. */
import { DataDamaged } from "@appkernel/document-store/StoreError"
import { decodeDocument, documentKey } from "@appkernel/mql/internal"
import { EJSON, ObjectId } from "bson"
import * as Result from "effect/Result"
import type { Damage, ReadTables } from "../storage/orderedStore.ts"

interface Named {
  readonly number: number
  readonly description: { readonly name: string }
}

interface NamedCollection {
  readonly name: string
  readonly identifiers: Named
  readonly indexes: ReadonlyArray<Named>
}

/** The error of a damaged value, named by its identifier if the index of identifiers leads from it to the bytes. */
export const damageOf = (
  { bytes, key, number, table }: Damage,
  collections: Iterable<NamedCollection>,
  recordIdOf: (collection: number, documentKey: string) => string | undefined
): DataDamaged => {
  for (const { identifiers, indexes, name } of collections) {
    if (table === "documents" && identifiers.number === number) {
      const id = bytes && identifierIn(bytes)
      const isKnown = id !== undefined && recordIdOf(number, documentKey(id)) === key
      return new DataDamaged({ collection: name, ...isKnown ? { document: identifierText(id) } : {} })
    }
    const index = table === "entries" && [identifiers, ...indexes].find((index) => index.number === number)
    if (typeof index === "object") return new DataDamaged({ collection: name, index: index.description.name })
  }
  return new DataDamaged({ collection: "of an unknown name" })
}

/** {@link damageOf} for a store that is open. */
export const damageIn = (store: ReadTables, damage: Damage, collections: Iterable<NamedCollection>): DataDamaged =>
  damageOf(
    damage,
    collections,
    (number, key) => Result.getOrUndefined(Result.try(() => store.entries(number).get(key)))
  )

// internal

const identifierText = (id: unknown): string =>
  typeof id === "string" ? id : id instanceof ObjectId ? id.toHexString() : EJSON.stringify(id)

// The identifier is the first field.
const valueAt = "\0\0\0\0\0_id\0".length
const idName = "_id\0"

/** The length of a BSON value by its type, for the common types of identifiers. */
const lengths: { readonly [type: number]: (bytes: Buffer) => number } = {
  0x01: () => 8,
  0x02: (bytes) => 4 + bytes.readInt32LE(valueAt),
  0x05: (bytes) => 5 + bytes.readInt32LE(valueAt),
  0x07: () => 12,
  0x09: () => 8,
  0x10: () => 4,
  0x12: () => 8
}

const identifierIn = (given: Uint8Array): unknown =>
  Result.getOrUndefined(Result.try(() => {
    const bytes = Buffer.from(given)
    const length = lengths[bytes[4] ?? 0]?.(bytes)
    if (length === undefined || length < 0 || bytes.toString("latin1", 5, valueAt) !== idName) return undefined
    const alone = Buffer.alloc(valueAt + length + 1)
    bytes.copy(alone, 4, 4, valueAt + length)
    alone.writeInt32LE(alone.length)
    return decodeDocument(alone)["_id"]
  }))
