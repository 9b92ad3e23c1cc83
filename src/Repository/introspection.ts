/**
 * What the HTTP server needs of repositories beyond their public modules: the stored form of values and identifiers, and
 * writes that are retried and checked like the repository's own. Users can't import it; nothing else under
 * `src/Repository` is open to other folders.
 *
 * @since 0.1.0
 */

// How values, identifiers and documents are stored, and which indexes a model has.
export { compare } from "./bson/value.ts"
export { documentEncoder, toBson } from "./query/bsonForm.ts"
export { idSchemaOf, instanceIdOf, textOfId } from "./query/storedIdentifier.ts"
export { documentCodec, indexesOf } from "./repository/documentCodec.ts"

// Writes.
export { applyPatch } from "./repository/mergePatch.ts"
export { sentWritesOf } from "./repository/validatedWrites.ts"
export { makeRetry } from "./store/retryOnConflict.ts"
