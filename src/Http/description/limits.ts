/** The maximum number of fields that a request may sort by. */
export const maxSortFields = 31

/** The maximum number of fields that a request may select. */
export const maxFields = 100

/** The maximum number of items in one list. */
export const maxItems = 1_000
