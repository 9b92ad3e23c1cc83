/** What a request does with documents, as its audit log has it. */
import type * as Effect from "effect/Effect"
import type { ReadError } from "../RepositoryError.ts"

/** The maximum number of identifiers in an entry. */
export const maxIds = 1_000

/** Documents that an operation is about. */
export interface Touched {
  readonly model: string
  readonly operation: "insert" | "replace" | "update" | "delete" | "read"
  /** As far as the operation knows them. */
  readonly ids: ReadonlyArray<string>
  /** The number of documents; `undefined` if it is not known. */
  readonly count: number | undefined
}

/** The audit log of a request. */
export interface AuditTrail {
  /** Whether entries are documents of this store, which are written in the transaction of a write. */
  readonly isStored: boolean
  /** Whether the store has transactions: a write by a condition is one with the search for what it changes. */
  readonly hasTransactions: boolean
  readonly hasReads: boolean
  /** Adds the entry of a write: in the current transaction, or once it is committed. */
  readonly wrote: (touched: Touched) => Effect.Effect<void, ReadError>
  /** Adds the entry of a write at the end of the request. */
  readonly wroteBefore: (touched: Touched) => void
  readonly read: (touched: Touched) => void
  /** Adds the entries of what was read since the end of the request, while its answer is sent; nothing before. */
  readonly flush: Effect.Effect<void>
  readonly refused: (model: string, operation: Touched["operation"]) => void
}
