/**
 * Indexes that a field asks the database for.
 *
 * @since 0.1.0
 */

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
  readonly direction: 1 | -1
  /** The name in the database. Derived from field and direction (`email_1`) when it is left out. */
  readonly name?: string | undefined
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
