/**
 * Places in an order of documents, from which reading goes on: what is inserted or removed meanwhile moves nothing.
 *
 * Pages by number skip or repeat documents when others come in between. A cursor holds what the last document of a page
 * was sorted by, so that the next page begins behind it, wherever it is by now.
 *
 * **Details**
 *
 * A cursor is text for URLs. It holds the values that the document was sorted by, readable by whoever has it: sort by
 * nothing that they may not know. It is bound to its collection and order; it is not signed, as one that somebody made up
 * shows no documents that the query wouldn't.
 *
 * **Example** (The page behind a document)
 *
 * ```ts
 * import { Result, Schema } from "effect"
 * import { Cursor, Model, Query } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id(), rank: Schema.Int }) {}
 *
 * const keyset = Result.getOrThrow(Cursor.make(Note, Query.toSort(Note, [{ field: "rank", order: "DESC" }])))
 * keyset.sort // => { rank: -1, _id: -1 }
 *
 * const cursor = keyset.cursor({ _id: "N1", rank: 3 })
 * const { $or, rank } = Result.getOrThrow(keyset.after(cursor))
 * rank // => { $lte: 3 }
 * $or // => [{ rank: { $lt: 3 } }, { rank: { $eq: 3 }, _id: { $lt: "N1" } }]
 * ```
 *
 * @since 0.1.0
 */
import { Double, EJSON, Int32 } from "bson"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as crypto from "node:crypto"
import type * as Model from "../Model/Model.ts"
import { isDocument } from "./bson/value.ts"
import type { Document, Filter, Sort } from "./DocumentStore.ts"
import { fieldNamed } from "./query/fieldPath.ts"
import { QueryRejected } from "./RepositoryError.ts"

/**
 * An order of documents, and the places in it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Keyset {
  /** The order to read in. It ends in the identifier, so that no two documents have the same place. */
  readonly sort: Sort
  /** The same the other way round, to read what is before a cursor: the nearest documents come first. */
  readonly reversed: Sort
  /** The place of a document as it is stored; of one that was projected, all fields that are sorted by. */
  readonly cursor: (document: Document) => string
  /** The documents behind the cursor. Fails when it is malformed or of another collection or order. */
  readonly after: (cursor: string) => Result.Result<Filter, QueryRejected>
  /** The documents before the cursor. Fails as `after` does. */
  readonly before: (cursor: string) => Result.Result<Filter, QueryRejected>
}

/**
 * The keyset of an order of the model's documents, in the store's terms; without an order, that of their identifiers.
 *
 * Fails when a path is none of the model's, when it is or leads through a list, and when there is a model at its end:
 * their documents have no one place in the order.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (model: Model.Any, order: Sort = {}): Result.Result<Keyset, QueryRejected> =>
  Result.gen(function*() {
    const keys: Array<Key> = []
    for (const [path, direction] of withId(order)) keys.push(yield* keyOf(model, path, direction))
    const reversed = keys.map((key): Key => ({ ...key, ascends: !key.ascends }))
    const signature = JSON.stringify([model.modelName, ...keys.map(({ ascends, path }) => [path, ascends])])
    const valuesOf = (cursor: string) => read(signature, keys.length, cursor)
    return {
      sort: sortOf(keys),
      reversed: sortOf(reversed),
      cursor: (document) => write(signature, keys.map(({ path }) => valueAt(document, path))),
      after: (cursor) => Result.map(valuesOf(cursor), (values) => beyond(keys, values)),
      before: (cursor) => Result.map(valuesOf(cursor), (values) => beyond(reversed, values))
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Key {
  readonly path: string
  readonly ascends: boolean
  /** The values that come before all that compare as greater or less, in their order: `null`, which nothing is, and NaN. */
  readonly lowest: ReadonlyArray<unknown>
}

const rejected = (detail: string) => new QueryRejected({ operation: "sort", detail })

/** What comes behind the identifier makes no difference. */
const withId = (order: Sort): ReadonlyArray<readonly [string, 1 | -1]> => {
  const entries = Object.entries(order)
  const place = entries.findIndex(([path]) => path === "_id")
  return place < 0 ? [...entries, ["_id", entries.at(-1)?.[1] ?? 1]] : entries.slice(0, place + 1)
}

const keyOf = (model: Model.Any, path: string, direction: 1 | -1): Result.Result<Key, QueryRejected> => {
  const field = fieldNamed(model, path)
  if (field === undefined || field.path !== path) {
    return Result.fail(rejected(`"${path}" is no field of ${model.modelName}`))
  }
  const { list, mayBeMissing, part } = field
  if (list !== undefined || part.isList || part.model !== undefined) {
    return Result.fail(rejected(`"${path}" has no single value to sort by`))
  }
  const mayBeNaN = SchemaParser.is(Schema.toEncoded(part.own))(Number.NaN)
  const lowest = [...(mayBeMissing ? [null] : []), ...(mayBeNaN ? [Number.NaN] : [])]
  return Result.succeed({ path, ascends: direction === 1, lowest })
}

const sortOf = (keys: ReadonlyArray<Key>): Sort =>
  Object.fromEntries(keys.map(({ ascends, path }) => [path, ascends ? 1 : -1]))

const valueAt = (document: Document, path: string): unknown =>
  path.split(".").reduce<unknown>((node, key) => isDocument(node) ? node[key] : undefined, document) ?? null

const beyond = (keys: ReadonlyArray<Key>, values: ReadonlyArray<unknown>): Filter => {
  const branches = keys.flatMap((key, i) => {
    const next = behind(key, values[i])
    const same = keys.slice(0, i).map(({ path }, j) => [path, { $eq: values[j] }])
    return next === undefined ? [] : [{ ...Object.fromEntries(same), ...next }]
  })
  const [first, ...others] = branches
  if (first === undefined) return { _id: { $in: [] } }
  return others.length === 0 ? first : { ...bound(keys[0], values[0]), $or: branches }
}

/** What has a value behind this one; `undefined` when nothing has. */
const behind = ({ ascends, lowest, path }: Key, value: unknown): Filter | undefined => {
  if (value === null) return ascends ? { [path]: { $ne: null } } : undefined
  if (ascends) return { [path]: Number.isNaN(value) ? { $gte: Number.NEGATIVE_INFINITY } : { $gt: value } }
  const rest = Number.isNaN(value) ? lowest.filter((other) => other === null) : lowest
  const less = Number.isNaN(value) ? [] : [{ [path]: { $lt: value } }]
  const [first, ...others] = [...less, ...(rest.length === 0 ? [] : [{ [path]: { $in: rest } }])]
  return others.length === 0 ? first : { $or: [first, ...others] }
}

/** Where an index on the first key begins, if that can be said in one condition. */
const bound = (key: Key | undefined, value: unknown): Filter =>
  key === undefined || value === null || Number.isNaN(value) || !key.ascends && key.lowest.length > 0
    ? {}
    : { [key.path]: { [key.ascends ? "$gte" : "$lte"]: value } }

const checksum = (signature: string, text: string): string =>
  crypto.createHash("sha256").update(signature).update("\n").update(text).digest("base64url").slice(0, checksumLength)

const checksumLength = 16

const write = (signature: string, values: ReadonlyArray<unknown>): string => {
  const text = EJSON.stringify(values, { relaxed: false })
  return checksum(signature, text) + Base64Url.encode(text)
}

const read = (
  signature: string,
  length: number,
  cursor: string
): Result.Result<ReadonlyArray<unknown>, QueryRejected> => {
  const refusal = rejected("the cursor is not one of this query")
  const text = Result.getOrElse(Base64Url.decodeString(cursor.slice(checksumLength)), () => "")
  if (checksum(signature, text) !== cursor.slice(0, checksumLength)) return Result.fail(refusal)
  return Result.try({ try: (): unknown => EJSON.parse(text, { relaxed: false }), catch: () => refusal }).pipe(
    // What can be compared: neither lists nor documents.
    Result.filterOrFail(
      (values): values is ReadonlyArray<unknown> =>
        Array.isArray(values) && values.length === length &&
        values.every((value) => !Array.isArray(value) && !isDocument(value)),
      () => refusal
    ),
    Result.map((values) =>
      values.map((value) => value instanceof Int32 || value instanceof Double ? value.value : value)
    )
  )
}
