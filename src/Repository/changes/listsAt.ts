/**
 * The documents of lists at a place in the log of changes: the place is known before the documents are read, which are then
 * compared with the changes since, so that no change is lost or told twice.
 */
import { beginStep, isStepDone } from "@appkernel/document-store/internal"
import * as Effect from "effect/Effect"
import type { Document, DocumentStore, Position, StoredChange } from "../DocumentStore.ts"
import type { PositionGone, ReadError } from "../RepositoryError.ts"
import { type ChangeView, idKey } from "./changeViews.ts"

export interface FollowedList<A, E> extends Pick<ChangeView, "sees"> {
  readonly collection: string
  /** Passes the documents of the list on, for as long as more are wanted. */
  readonly find: (take: (documents: ReadonlyArray<Document>) => boolean) => Effect.Effect<unknown, E>
  /** The item that a list keeps for a document; `undefined` leaves the document out. */
  readonly kept: (document: Document) => A | undefined
  readonly upgraded: (change: StoredChange) => StoredChange
}

export interface ListAt<A> {
  /** The items of the documents that were found, in their order, and then of the documents that came since. */
  readonly items: ReadonlyArray<A>
  /** How many were found, and whether there were changes since. */
  readonly found: number
  readonly isChanged: boolean
}

/** Reads lists, all of them at one place; `undefined` if `isFull` says that no more can be kept. */
export const listsAt = Effect.fnUntraced(function*<A, E>(
  { changes }: DocumentStore["Service"],
  lists: ReadonlyArray<FollowedList<A, E>>,
  isFull: () => boolean
): Effect.fn.Return<
  { readonly lists: ReadonlyArray<ListAt<A>>; readonly position: Position } | undefined,
  PositionGone | ReadError | E
> {
  const collections = lists.map(({ collection }) => collection)
  let position = yield* changes.end
  const all = yield* Effect.forEach(lists, (list) => {
    const read = { ...list, byId: new Map<string, A>(), found: 0, isChanged: false }
    const take = (documents: ReadonlyArray<Document>): boolean =>
      documents.every((document) => {
        read.found += 1
        keep(read, document["_id"], document)
        return !isFull()
      })
    return isFull() ? Effect.succeed(read) : Effect.as(list.find(take), read)
  })
  for (let isUpToDate = false; !isUpToDate && !isFull();) {
    const page = yield* changes.read(collections, { after: position, limit: pageSize })
    beginStep()
    for (const stored of page.changes) {
      for (const list of all) {
        if (list.collection !== stored.collection) continue
        const change = list.upgraded(stored)
        list.isChanged = true
        keep(list, change.id, change.operation === "delete" || !list.sees(change.after) ? undefined : change.after)
      }
      if (isStepDone()) {
        yield* Effect.yieldNow
        beginStep()
      }
    }
    ;({ isUpToDate, position } = page)
  }
  if (isFull()) return undefined
  return {
    lists: all.map(({ byId, found, isChanged }) => ({ items: [...byId.values()], found, isChanged })),
    position
  }
})

// internal

const keep = <A>(
  { byId, kept }: Pick<FollowedList<A, unknown>, "kept"> & { readonly byId: Map<string, A> },
  id: unknown,
  document: Document | undefined
): void => {
  const item = document === undefined ? undefined : kept(document)
  if (item === undefined) byId.delete(idKey(id))
  else byId.set(idKey(id), item)
}

// Documents may be large, and a page has two of each change.
const pageSize = 64
