/**
 * BSON values: their order, their stored form, and paths into documents. It loads nothing of the query language.
 *
 * @since 0.1.0
 */
export { decodeDocument } from "./bson/decoder.ts"
export { documentKey, encodeComponent } from "./bson/keyEncoding.ts"
export { dateOf, normalise, normaliseOperand } from "./bson/normalise.ts"
export { toDouble } from "./bson/number.ts"
export { conflictingPath, segmentsOf, valueAt } from "./bson/path.ts"
export { plainStored, plainValue } from "./bson/plainDocument.ts"
export { compare, equals, isArray, isDocument, isIdentical, isNumber, Rank, rankOf, setField } from "./bson/value.ts"
