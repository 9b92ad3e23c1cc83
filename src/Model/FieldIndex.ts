/**
 * Indexes that a model asks the database for: of single fields, by `Model.indexed`, and of several, by a shared name or
 * by {@link compound}.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"

/**
 * What an index keeps of a field: its values from the least to the greatest (1) or back (-1), the words of its text, or
 * its place on Earth.
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
  /** Whether two documents may not hold the same value; a missing value counts as `null`. */
  readonly unique: boolean
  /** 1 ascends, -1 descends. */
  readonly direction: Direction
  /**
   * The name in the database. Derived from field and direction (`email_1`) when it is left out; that of the text index is
   * `text`.
   */
  readonly name?: string | undefined
  /** How long after the field's date a document is removed, in whole seconds (rounded up). Without it, never. */
  readonly expireAfter?: Duration.Duration | undefined
  /** How much a word counts in this field of a text index, from 1 to 99,999. Defaults to 1. */
  readonly weight?: number | undefined
  /** The language of a text index, as MongoDB names it; `none` takes words as they are. Defaults to `english`. */
  readonly language?: string | undefined
}

/**
 * An index over one field or several, declared for the model as a whole: a field may be part of as many as it takes.
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
  /** The name in the database. Derived from the fields (`city_1_age_-1`) when it is left out. */
  readonly name?: string | undefined
  /** Whether two documents may not hold the same values. Defaults to false. */
  readonly unique?: boolean | undefined
  /** Whether documents without any of the fields stay out of the index. Defaults to false. */
  readonly sparse?: boolean | undefined
  /** How long after the only field's date a document is removed, in whole seconds (rounded up). Without it, never. */
  readonly expireAfter?: Duration.Input | undefined
  /**
   * Which documents are in the index, in the store's own terms: paths with values, or with `$eq`, `$in`, `$gt`, `$gte`,
   * `$lt`, `$lte`, `$type` or `$exists: true`. Only queries that ask for no more use it. Defaults to all.
   */
  readonly where?: { readonly [path: string]: unknown } | undefined
}

/**
 * Refuses a second document with the same value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const unique: Index = { unique: true, direction: 1 }

/**
 * Finds documents by value, ranges and order without reading the whole collection.
 *
 * @category constructors
 * @since 0.1.0
 */
export const plain: Index = { unique: false, direction: 1 }

/**
 * Like {@link plain}, from the greatest value to the least.
 *
 * @category constructors
 * @since 0.1.0
 */
export const descending: Index = { unique: false, direction: -1 }

/**
 * Finds documents by the words of a text, or of each text of a list (`$text`). A collection has one text index: all
 * fields with `Index.text` are part of it, those of nested models too.
 *
 * **Gotchas**
 *
 * MongoDB leaves out what the language thinks nothing of (`the`), and takes words of one stem for the same (`painting`
 * for `paint`). The embedded store takes all words as they are, as MongoDB does with `language: "none"`. MongoDB reads a
 * field `language` of a document as the document's language, and refuses one that it doesn't know.
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (
  options?: { readonly weight?: number | undefined; readonly language?: string | undefined }
): Index => ({ unique: false, direction: "text", ...options })

/**
 * Removes documents once their date-time is so long ago: `Index.expireAfter(0)` at the moment that the field holds. They
 * are gone within a minute after they expired. Documents without a date there stay.
 *
 * @category constructors
 * @since 0.1.0
 */
export const expireAfter = (duration: Duration.Input): Index => ({
  ...plain,
  expireAfter: Duration.fromInputUnsafe(duration)
})

/**
 * Finds documents by where on Earth they are: the field holds GeoJSON. MongoDB has it, the embedded store fails with
 * `Unsupported`.
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

/**
 * Where a model keeps the indexes that it declares as a whole.
 *
 * @internal
 */
export const modelIndexesTypeId = "~appkernel/Model/indexes"
