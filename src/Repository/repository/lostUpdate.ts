/**
 * Optimistic concurrency control of one document: a write succeeds only while the document has the values that were read.
 * Otherwise the document is read and the change computed again.
 */
import { makeRetry } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import { textOfId } from "../query/bsonForm.ts"
import type { VersionConflict } from "../RepositoryError.ts"
import { type ModelWriteContext, versionConflict } from "./versionedWrites.ts"

/** Occurs when another write has changed the document after it was read. */
export class LostUpdate {
  readonly _tag = "LostUpdate"
}

/** Retries a read and its write while it fails with `LostUpdate`; `VersionConflict` when time is over. */
export type RetryLostUpdates = <A, E, R>(
  id: unknown,
  attempt: Effect.Effect<A, E | LostUpdate, R>
) => Effect.Effect<A, E | VersionConflict, R>

export const makeRetryLostUpdates = (context: ModelWriteContext): RetryLostUpdates => {
  const retry = makeRetry()
  return <A, E, R>(
    id: unknown,
    attempt: Effect.Effect<A, E | LostUpdate, R>
  ): Effect.Effect<A, E | VersionConflict, R> =>
    Effect.catchIf(
      retry(textOfId(id), (error: E | LostUpdate) => isLostUpdate(error), attempt),
      isLostUpdate,
      () => Effect.fail(versionConflict(context, id, 0))
    )
}

// internal

const isLostUpdate = (error: unknown): error is LostUpdate => error instanceof LostUpdate
