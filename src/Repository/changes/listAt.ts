/**
 * The documents of a list at a place in the log of changes: the place is known before the documents are read, which are then
 * compared with the changes since, so that no change is lost or told twice.
 */
import * as Effect from "effect/Effect"
import type { Document, DocumentStore, Position, StoredChange } from "../DocumentStore.ts"
import type { PositionGone, ReadError } from "../RepositoryError.ts"
import { type ChangeView, idKey } from "./changeViews.ts"

/** @internal */
export interface ListAt {
  /** As they were found, and those that came since after them. */
  readonly documents: ReadonlyArray<Document>
  readonly position: Position
  /** How many were found, and whether there were changes since. */
  readonly found: number
  readonly isChanged: boolean
}

/** @internal */
export const listAt = Effect.fnUntraced(function*<E>(
  { changes }: DocumentStore["Service"],
  { find, lifted, modelName, sees }: Pick<ChangeView, "sees"> & {
    readonly modelName: string
    readonly find: Effect.Effect<ReadonlyArray<Document>, E>
    readonly lifted: (change: StoredChange) => StoredChange
  }
): Effect.fn.Return<ListAt, PositionGone | ReadError | E> {
  let position = yield* changes.end
  const found = yield* find
  const byId = new Map(found.map((document) => [idKey(document["_id"]), document]))
  let isChanged = false
  for (let isUpToDate = false; !isUpToDate;) {
    const page = yield* changes.read([modelName], { after: position, limit: pageSize })
    for (const stored of page.changes) {
      const change = lifted(stored)
      const after = change.operation === "delete" || !sees(change.after) ? undefined : change.after
      isChanged = true
      if (after === undefined) byId.delete(idKey(change.id))
      else byId.set(idKey(change.id), after)
    }
    ;({ isUpToDate, position } = page)
  }
  return { documents: [...byId.values()], position, found: found.length, isChanged }
})

const pageSize = 1_000
