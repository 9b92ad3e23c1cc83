/**
 * How many fields a request may sort by.
 *
 * @internal
 */
export const maxSortFields = 31

/**
 * How many fields a request may select.
 *
 * @internal
 */
export const maxFields = 100

/**
 * How many items one list may have.
 *
 * @internal
 */
export const maxItems = 1_000
