/**
 * Indexes that a model declares: over single fields, by `Model.indexed`, and over several, by a shared name or by
 * {@link compound}.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"

/**
 * The kind of an index on a field: ascending (1) or descending (-1) values, the words of a text, or a location on
 * Earth.
 *
 * @category models
 * @since 0.1.0
 */
export type Direction = 1 | -1 | "text" | "2dsphere"

/**
 * An index over one field. Several fields that name the same index form one compound index, in the order in which the
 * model declares them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Index {
  /** Whether two documents must not have the same value. A missing value counts as `null`. */
  readonly unique: boolean
  /** 1 for ascending, -1 for descending. */
  readonly direction: Direction
  /** The name in the database. Defaults to field and direction (`email_1`); the text index is named `text`. */
  readonly name?: string | undefined
  /**
   * The age of the field's date at which a document is removed, in whole seconds (rounded up). Without it documents
   * never expire.
   */
  readonly expireAfter?: Duration.Duration | undefined
  /** The weight of the field's words in a text index, from 1 to 99,999. Defaults to 1. */
  readonly weight?: number | undefined
  /** The language of a text index by MongoDB's name; `none` disables stop words and stemming. Defaults to `english`. */
  readonly language?: string | undefined
}

/**
 * An index over one or more fields that is declared on the model. A field may be part of any number of these.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelIndex<Path extends string = string> {
  /** The fields in order; those of nested models by dotted paths. */
  readonly key: ReadonlyArray<readonly [path: Path, direction: Direction]>
  readonly options: Options
}

/**
 * Options of {@link compound}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The name in the database. Defaults to the fields and directions (`city_1_age_-1`). */
  readonly name?: string | undefined
  /**
   * Whether two documents must not have the same values. A missing value counts as `null`, unless the index is `sparse`. Defaults to
   * false.
   */
  readonly unique?: boolean | undefined
  /** Whether documents without any of the fields are excluded from the index. Defaults to false. */
  readonly sparse?: boolean | undefined
  /** How long after the only field's date a document is removed, in whole seconds (rounded up). Without it, never. */
  readonly expireAfter?: Duration.Input | undefined
  /**
   * The condition for documents in the index, in the store's own terms: paths with values, or with `$eq`, `$in`, `$gt`,
   * `$gte`, `$lt`, `$lte`, `$type` or `$exists: true`. Only queries that imply the condition use the index. Defaults to
   * all documents.
   */
  readonly where?: { readonly [path: string]: unknown } | undefined
}

/**
 * How a field of a model's `shardKey` distributes the documents of a cluster: by ranges of its values (1), or by their hashes.
 *
 * @category models
 * @since 0.1.0
 */
export type ShardKind = 1 | "hashed"

/**
 * Rejects a second document with the same value. Documents without a value, which an optional field allows, are not in the index:
 * any number of them may lack it. Where `null` is a value, as in `Schema.NullOr`, one document may have it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const unique: Index = { unique: true, direction: 1 }

/**
 * Finds documents by value, range and order without a collection scan.
 *
 * @category constructors
 * @since 0.1.0
 */
export const plain: Index = { unique: false, direction: 1 }

/**
 * Like {@link plain}, in descending order.
 *
 * @category constructors
 * @since 0.1.0
 */
export const descending: Index = { unique: false, direction: -1 }

/**
 * Finds documents by the words of a text or of a list of texts (`$text`). A collection has one text index: all fields
 * with `Index.text` are part of it, including those of nested models.
 *
 * **Gotchas**
 *
 * MongoDB ignores the language's stop words (`the`) and matches words of the same stem (`painting` for `paint`). The
 * embedded store matches words exactly, as MongoDB does with `language: "none"`. MongoDB reads a field `language` as
 * the document's language, and rejects an unknown one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (
  options?: { readonly weight?: number | undefined; readonly language?: string | undefined }
): Index => ({ unique: false, direction: "text", ...options })

/**
 * Removes documents once their date-time is older than the duration: `Index.expireAfter(0)` at the time in the field.
 * They are removed within a minute after they expire. Documents without a date in the field stay.
 *
 * @category constructors
 * @since 0.1.0
 */
export const expireAfter = (duration: Duration.Input): Index => ({
  ...plain,
  expireAfter: Duration.fromInputUnsafe(duration)
})

/**
 * Finds documents by location: the field holds GeoJSON, or a pair of longitude and latitude. Its values are checked when they are
 * written. `$geoWithin` and `$geoIntersects` use the index, `$near`, `$nearSphere` and `$geoNear` need it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const geo: Index = { unique: false, direction: "2dsphere" }

/**
 * An index over several fields, in the order of the keys.
 *
 * **Example** (No two active members of a club with one number)
 *
 * ```ts
 * import { Index } from "appkernel"
 *
 * const index = Index.compound({ club: 1, number: 1 }, { unique: true, where: { active: true } })
 * index.key // => [["club", 1], ["number", 1]]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const compound = <const Path extends string>(
  key: { readonly [P in Path]: Direction },
  options?: Options
): ModelIndex<Path> => ({
  // The keys of the record are the paths.
  key: Object.entries<Direction>(key) as ReadonlyArray<readonly [string, Direction]> as ModelIndex<Path>["key"],
  options: options ?? {}
})

/** The property of a model that holds its compound indexes. @internal */
export const modelIndexesTypeId = "~appkernel/Model/indexes"
