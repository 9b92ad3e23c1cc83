import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import type { FieldAccess } from "./fieldAccess.ts"

/**
 * What one request may name where documents show different fields, and what it has named.
 *
 * @internal
 */
export interface Naming {
  /** The fields that at least one document shows. */
  readonly access: FieldAccess
  /** The filter for the documents that show all fields that were named so far; `undefined`: all do. */
  readonly condition: () => Filter | undefined
  /** A projection to the fields that all of these documents show. */
  readonly projection: () => Document
}
