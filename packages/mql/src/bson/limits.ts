/** MongoDB's limits of a document. */

/** How many levels a document may be nested, itself included. */
export const maxNesting = 200

/** How many bytes of BSON a document may have: 16 MiB. */
export const maxDocumentBytes = 16 * 1024 * 1024
