/** The content types of lists. */

/** The types of lists: of a page, and of tables, where a registration has them. */
export const listTypes = ["application/json", "text/csv", "application/x-ndjson"] as const

/** The types of a list that is all of its documents, and of one that is created. */
export const tableTypes: ReadonlyArray<TableType> = ["text/csv", "application/x-ndjson"]

/** A type of a list that is all of its documents. */
export type TableType = Exclude<(typeof listTypes)[number], "application/json">
