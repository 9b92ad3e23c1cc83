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
