/**
 * Cursors for keyset pagination. A cursor is a position in an order of documents, from which a read continues.
 *
 * Pages by number skip or repeat documents when documents are inserted or removed between two requests. A cursor holds the
 * sort values of the last document of a page, so the next page begins after these values, even if that document is removed.
 *
 * **Details**
 *
 * A cursor is text that is safe in URLs. Its holder can read the sort values in it, so do not sort by confidential fields.
 * It is only valid for its collection and order. It is signed if {@link Options} have a secret. A forged cursor shows no
 * document that the query itself would not show.
 */
import { anyOf, asStored, conjunctionOf, nothing } from "@appkernel/document-store/shared"
import { isDocument, Rank, rankOf } from "@appkernel/mql/values"
import { Double, EJSON, Int32 } from "bson"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import * as crypto from "node:crypto"
import { fold, jsonLinkOf } from "../Model/internal.ts"
import type * as Model from "../Model/Model.ts"
import type { Document, Filter, Sort } from "./DocumentStore.ts"
import { fieldNamed, valueWithin } from "./query/fieldPath.ts"
import { placeOf } from "./query/unreadable.ts"
import { QueryRejected } from "./RepositoryError.ts"

/**
 * A sort order that cursors refer to. It makes the cursor of a document, and the filter for the documents after or before
 * a cursor.
 */
export interface Keyset {
  /** The order to read in. Its last key is the identifier, so the order is total. */
  readonly sort: Sort
  /** The reversed order, to read backwards from a cursor: the documents nearest to the cursor come first. */
  readonly reversed: Sort
  /** The cursor of a stored document. A projected document needs all fields of the order. */
  readonly cursor: (document: Document) => string
  /** The filter for the documents after the cursor. Fails when the cursor is malformed or of a different collection or order. */
  readonly after: (cursor: string) => Result.Result<Filter, QueryRejected>
  /** The filter for the documents before the cursor. Fails as `after` does. */
  readonly before: (cursor: string) => Result.Result<Filter, QueryRejected>
}

/** The options of {@link make}. */
export interface Options {
  /**
   * The key that cursors are signed with (HMAC-SHA256). Only cursors that were made with the same key are accepted.
   * Defaults to none: cursors are not signed.
   */
  readonly secret?: Redacted.Redacted | undefined
}

/**
 * The keyset of an order of the model's documents, given as a sort of the store. Defaults to the order of the identifiers.
 *
 * Fails when a path is not a field of the model or a part of one, is a list or leads through one without the index of an element,
 * or ends at a nested model, a struct or a value that may be any of these: such a path has no single value to compare.
 */
export const make = (
  model: Model.Any,
  order: Sort = {},
  { secret }: Options = {}
): Result.Result<Keyset, QueryRejected> =>
  Result.gen(function*() {
    const keys: Array<Key> = []
    for (const [path, direction] of withId(order)) keys.push(yield* keyOf(model, path, direction))
    const reversed = keys.map((key): Key => ({ ...key, ascends: !key.ascends }))
    const signature = JSON.stringify([model.modelName, ...keys.map(({ ascends, path }) => [path, ascends])])
    const checksum = checksumOf(signature, secret)
    const valuesOf = (cursor: string) => decodeCursor(checksum, keys.length, cursor)
    return {
      sort: sortOf(keys),
      reversed: sortOf(reversed),
      cursor: (document) => encodeCursor(checksum, keys.map(({ path }) => valueAt(placeOf(document), path))),
      after: (cursor) => Result.map(valuesOf(cursor), (values) => beyond(keys, values)),
      before: (cursor) => Result.map(valuesOf(cursor), (values) => beyond(reversed, values))
    }
  })

/**
 * Whether a store compares all values with each other as values of `one` type, or of `several`, which it orders by type first;
 * `undefined` if some are lists or documents. `null` is no type here.
 */
const comparedTypesOf = (ast: SchemaAST.AST): "one" | "several" | undefined => {
  const types = new Set(typesOf(ast))
  return types.has(withParts) ? undefined : types.size > 1 ? "several" : "one"
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Key {
  readonly path: string
  readonly ascends: boolean
  /** The values that sort first but do not compare as less than others: `null`, which stands for a missing value, and NaN. */
  readonly lowest: ReadonlyArray<unknown>
  /** Whether the path has the index of an element. There, any list matches `null`, since its elements lack such a key. */
  readonly isIndexed: boolean
  /** Whether values of different types are here, which sort by their types and do not compare with each other. */
  readonly isMixed: boolean
  /** Whether documents may be read with a default here, by which they are not sorted. */
  readonly hasDefault: boolean
}

const rejected = (detail: string) => new QueryRejected({ operation: "sort", detail })

/** The keys of the order up to the identifier. Keys after it have no effect, because identifiers are unique. */
const withId = (order: Sort): ReadonlyArray<readonly [string, 1 | -1]> => {
  const entries = Object.entries(order)
  const idIndex = entries.findIndex(([path]) => path === "_id")
  return idIndex < 0 ? [...entries, ["_id", entries.at(-1)?.[1] ?? 1]] : entries.slice(0, idIndex + 1)
}

const keyOf = (model: Model.Any, path: string, direction: 1 | -1): Result.Result<Key, QueryRejected> => {
  const names = path.split(".")
  const field = fieldNamed(model, path)
  const within = field === undefined ? valueWithin(model, names) : undefined
  if (within === undefined && field?.path !== path) {
    return Result.fail(rejected(`"${path}" is no field of ${model.modelName}`))
  }
  const { codec, list, mayBeMissing } = field ?? {}
  const stored = codec === undefined ? within : Schema.toEncoded(codec.own).ast
  const types = stored === undefined || stored === "several" ? undefined : comparedTypesOf(SchemaAST.toEncoded(stored))
  if (list !== undefined || codec?.isList === true || codec?.model !== undefined || types === undefined) {
    return Result.fail(rejected(`"${path}" has no single value to sort by`))
  }
  // A part of a value may be missing with the value.
  const mayBeNaN = codec === undefined || SchemaParser.is(Schema.toEncoded(codec.own))(Number.NaN)
  const lowest = [...(mayBeMissing === false ? [] : [null]), ...(mayBeNaN ? [Number.NaN] : [])]
  const hasDefault = names.some((_, i) =>
    fieldNamed(model, names.slice(0, i + 1).join("."))?.codec.attributes.absent !== undefined
  )
  const isIndexed = within !== undefined && names.some((name) => /^\d+$/u.test(name))
  return Result.succeed({
    path,
    ascends: direction === 1,
    lowest,
    isIndexed,
    isMixed: types === "several",
    hasDefault
  })
}

const sortOf = (keys: ReadonlyArray<Key>): Sort =>
  Object.fromEntries(keys.map(({ ascends, path }) => [path, ascends ? 1 : -1]))

const valueAt = (document: Document, path: string): unknown =>
  path.split(".").reduce<unknown>(
    (node, key) => isDocument(node) ? node[key] : Array.isArray(node) ? node[Number(key)] : undefined,
    document
  ) ?? null

/** The documents after a position: greater in one key, and equal in the keys before it. */
const beyond = (keys: ReadonlyArray<Key>, values: ReadonlyArray<unknown>): Filter => {
  const branches = keys.flatMap((key, i) => {
    const greater = beyondValue(key, values[i])
    const equal = keys.slice(0, i).map((before, j) =>
      before.isIndexed && values[j] === null ? absent(before.path) : { [before.path]: { $eq: values[j] } }
    )
    return greater === undefined ? [] : [conjunctionOf(...equal, greater)]
  })
  const [first, ...others] = branches
  if (first === undefined) return nothing
  const filter = others.length === 0 ? first : conjunctionOf(bound(keys[0], values[0]), anyOf(branches))
  // The marked filter is one part of the result.
  return keys.some(({ hasDefault }) => hasDefault) ? { $and: [asStored(filter)] } : filter
}

/** The documents whose value sorts after this one, or `undefined` when none can. */
const beyondValue = ({ ascends, isIndexed, isMixed, lowest, path }: Key, value: unknown): Filter | undefined => {
  if (value === null) return ascends ? isIndexed ? { $nor: [absent(path)] } : { [path]: { $ne: null } } : undefined
  const others = isMixed ? typesBeside(value, ascends) : []
  const ofOthers = others.length === 0 ? [] : [{ [path]: { $type: others } }]
  if (ascends) {
    const greater = { [path]: Number.isNaN(value) ? { $gte: Number.NEGATIVE_INFINITY } : { $gt: value } }
    return anyOf([greater, ...ofOthers])
  }
  const rest = Number.isNaN(value) ? lowest.filter((other) => other === null) : lowest
  const less = Number.isNaN(value) ? [] : [{ [path]: { $lt: value } }]
  const values = isIndexed ? rest.filter((other) => other !== null) : rest
  const branches = [
    ...less,
    ...ofOthers,
    ...(values.length === 0 ? [] : [{ [path]: { $in: values } }]),
    ...(isIndexed ? [absent(path)] : [])
  ]
  return branches.length === 0 ? undefined : anyOf(branches)
}

/** The names of the types that sort after that of a value, or before it. */
const typesBeside = (value: unknown, ascends: boolean): ReadonlyArray<string> => {
  const rank = rankOf(value)
  return scalarTypes.flatMap(([other, name]) => (ascends ? other > rank : other < rank) ? [name] : [])
}

const scalarTypes = [
  [Rank.number, "number"],
  [Rank.string, "string"],
  [Rank.binary, "binData"],
  [Rank.objectId, "objectId"],
  [Rank.boolean, "bool"],
  [Rank.date, "date"],
  [Rank.timestamp, "timestamp"],
  [Rank.regularExpression, "regex"]
] as const

/** No value at a path with an index, or `null`. */
const absent = (path: string): Filter => ({ $or: [{ [path]: { $exists: false } }, { [path]: { $type: 10 } }] })

/** A redundant bound of the first key, which gives the planner an index interval. Empty if one condition cannot express it. */
const bound = (key: Key | undefined, value: unknown): Filter =>
  key === undefined || key.isMixed || value === null || Number.isNaN(value) || !key.ascends && key.lowest.length > 0
    ? {}
    : { [key.path]: { [key.ascends ? "$gte" : "$lte"]: value } }

/** Tells the cursors of this order, by what their text begins with. */
interface Checksum {
  readonly length: number
  readonly of: (text: string) => string
}

const checksumOf = (signature: string, secret: Redacted.Redacted | undefined): Checksum => {
  if (secret === undefined) {
    const length = 16
    const of = (text: string) => crypto.hash("sha256", `${signature}\n${text}`, "base64url").slice(0, length)
    return { length, of }
  }
  const key = crypto.createSecretKey(Redacted.value(secret), "utf8")
  return {
    length: 43,
    of: (text) => crypto.createHmac("sha256", key).update(`${signature}\n${text}`).digest("base64url")
  }
}

const encodeCursor = (checksum: Checksum, values: ReadonlyArray<unknown>): string => {
  const text = EJSON.stringify(values, { relaxed: false })
  return checksum.of(text) + Base64Url.encode(text)
}

const decodeCursor = (
  checksum: Checksum,
  length: number,
  cursor: string
): Result.Result<ReadonlyArray<unknown>, QueryRejected> => {
  const rejection = rejected("the cursor is not one of this query")
  const text = Result.getOrElse(Base64Url.decodeString(cursor.slice(checksum.length)), () => "")
  if (!isSameText(checksum.of(text), cursor.slice(0, checksum.length))) return Result.fail(rejection)
  return Result.try({ try: (): unknown => EJSON.parse(text, { relaxed: false }), catch: () => rejection }).pipe(
    // Sort values are scalars, never lists or documents.
    Result.filterOrFail(
      (values): values is ReadonlyArray<unknown> =>
        Array.isArray(values) && values.length === length &&
        values.every((value) => !Array.isArray(value) && !isDocument(value)),
      () => rejection
    ),
    Result.map((values) =>
      values.map((value) => value instanceof Int32 || value instanceof Double ? value.value : value)
    )
  )
}

/** Takes the same time wherever the texts differ. */
const isSameText = (one: string, other: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && crypto.timingSafeEqual(left, right)
}

const isOwnJson = (ast: SchemaAST.Declaration): boolean => {
  const json = jsonLinkOf(ast)
  return json !== undefined && json.link === undefined
}

const withParts: unique symbol = Symbol("withParts")

const typesOf: (ast: SchemaAST.AST) => ReadonlyArray<unknown> = fold<ReadonlyArray<unknown>>({
  Null: () => [],
  Undefined: () => [],
  Never: () => [],
  String: () => ["string"],
  TemplateLiteral: () => ["string"],
  Number: () => ["number"],
  BigInt: () => ["number"],
  Boolean: () => ["boolean"],
  Literal: ({ literal }) => [typeof literal === "bigint" ? "number" : typeof literal],
  Enum: ({ enums }) => enums.map(([, value]) => typeof value),
  Union: ({ types }) => types.flatMap(typesOf),
  // Dates, identifiers and binary values: each class is one type. What is its own JSON may have parts.
  Declaration: (ast) => [isOwnJson(ast) ? withParts : ast],
  // What refers to itself has parts.
  Suspend: () => [withParts],
  otherwise: () => [withParts]
})
