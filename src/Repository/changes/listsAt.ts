/**
 * The documents of lists at a place in the log of changes: the place is known before the documents are read, which are then
 * compared with the changes since, so that no change is lost or told twice.
 */
import * as Effect from "effect/Effect"
import type { Document, DocumentStore, Position, StoredChange } from "../DocumentStore.ts"
import type { PositionGone, ReadError } from "../RepositoryError.ts"
import { type ChangeView, idKey } from "./changeViews.ts"

export interface FollowedList<E> extends Pick<ChangeView, "sees"> {
  readonly collection: string
  readonly find: Effect.Effect<ReadonlyArray<Document>, E>
  readonly lifted: (change: StoredChange) => StoredChange
}

export interface ListAt {
  /** As they were found, and those that came since after them. */
  readonly documents: ReadonlyArray<Document>
  /** How many were found, and whether there were changes since. */
  readonly found: number
  readonly isChanged: boolean
}

/** Reads lists, all of them at one place. */
export const listsAt = Effect.fnUntraced(function*<E>(
  { changes }: DocumentStore["Service"],
  lists: ReadonlyArray<FollowedList<E>>
): Effect.fn.Return<
  { readonly lists: ReadonlyArray<ListAt>; readonly position: Position },
  PositionGone | ReadError | E
> {
  const collections = lists.map(({ collection }) => collection)
  let position = yield* changes.end
  const all = yield* Effect.forEach(lists, (list) =>
    Effect.map(list.find, (found) => ({
      ...list,
      found: found.length,
      byId: new Map(found.map((document) => [idKey(document["_id"]), document])),
      isChanged: false
    })))
  for (let isUpToDate = false; !isUpToDate;) {
    const page = yield* changes.read(collections, { after: position, limit: pageSize })
    for (const stored of page.changes) {
      for (const list of all) {
        if (list.collection !== stored.collection) continue
        const change = list.lifted(stored)
        const after = change.operation === "delete" || !list.sees(change.after) ? undefined : change.after
        list.isChanged = true
        if (after === undefined) list.byId.delete(idKey(change.id))
        else list.byId.set(idKey(change.id), after)
      }
    }
    ;({ isUpToDate, position } = page)
  }
  return { lists: all.map(({ byId, ...list }) => ({ ...list, documents: [...byId.values()] })), position }
})

const pageSize = 1_000
