/**
 * The maximum number of fields that a request may sort by.
 *
 * @internal
 */
export const maxSortFields = 31

/**
 * The maximum number of fields that a request may select.
 *
 * @internal
 */
export const maxFields = 100

/**
 * The maximum number of items in one list.
 *
 * @internal
 */
export const maxItems = 1_000
