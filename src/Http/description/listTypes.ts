/** The content types of lists. */

/** The types of lists: of a page, and of tables, where a registration has them. */
export const listTypes = ["application/json", "text/csv", "application/x-ndjson"] as const

/** A type of a list that is all of its documents. */
export type TableType = Exclude<(typeof listTypes)[number], "application/json">
