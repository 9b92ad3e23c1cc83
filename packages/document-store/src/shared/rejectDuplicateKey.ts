/** Removes `DuplicateKey` from the failures of operations whose own values can't cause it, such as deletions. */
import * as Effect from "effect/Effect"
import { DuplicateKey, QueryRejected } from "../StoreError.ts"

/** Turns `DuplicateKey` into `QueryRejected` where an operation adds no document and no indexed value itself. */
export const rejectDuplicateKey = <A, E>(
  operation: string,
  self: Effect.Effect<A, E | DuplicateKey>
): Effect.Effect<A, E | QueryRejected> =>
  Effect.mapError(
    self,
    (error) => error instanceof DuplicateKey ? new QueryRejected({ operation, detail: error.message }) : error
  )
