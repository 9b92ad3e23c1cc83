/**
 * Copies a store while it is written to, and then follows its log of changes, so that the copy has what the store has, a moment
 * later.
 *
 * The place in the log is known before the first document is read, and is stored in the target after each page of changes. A
 * change that is applied twice, because a process died between the two, does no harm: those after it are applied again as well,
 * in their order. While that goes on, documents of different moments may be side by side. So the target has no unique index, none
 * that removes expired documents, and no validators, until a `StoreCopy.copy` completes it.
 *
 * @since 0.1.0
 */
import type { ChangeLog, Document, DocumentStore, Position } from "@appkernel/document-store/DocumentStore"
import type { PositionGone, ReadError, StoreError } from "@appkernel/document-store/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as StoreCopy from "./storeCopy.ts"

type Store = DocumentStore["Service"]

/** A store that others write to meanwhile. */
export interface Source {
  readonly description: string
  readonly changes: Pick<ChangeLog, "end" | "read">
  /** The names of its collections. */
  readonly collections: Effect.Effect<ReadonlyArray<string>, ReadError>
  /** Opens what it has at some moment after this one, or after this one on. */
  readonly snapshot: Effect.Effect<Store, ReadError, Scope.Scope>
}

/** What is followed, and how far that is. */
export interface Following {
  readonly followed: ReadonlyArray<string>
  /** The collections whose changes are not recorded: they are as they were when they were copied. */
  readonly others: ReadonlyArray<string>
  /** The number of changes that have been applied since the function began. */
  readonly changes: number
  /** The age of the last one in milliseconds, if there are more; 0 if there were none when the log was read. */
  readonly behind: number
}

/** A store that this process has open. */
export const openStore = (store: Store): Source => ({
  description: store.description,
  changes: store.changes,
  collections: Effect.map(StoreCopy.collectionsOf(store), (all) => all.map(({ name }) => name)),
  snapshot: Effect.succeed(store)
})

/**
 * Copies a source and follows it until it is interrupted. Begun again, it goes on at its place in the log. When changes after
 * that are no longer kept, it copies what differs now and goes on from there. Fails with `CopyFailed` if the source records the
 * changes of no collection, or the copy is complete.
 */
export const follow = Effect.fn("StoreFollow.follow")(function*(
  options: {
    readonly from: Source
    readonly to: Store
    readonly onProgress?: ((progress: StoreCopy.CopyProgress) => Effect.Effect<void>) | undefined
    readonly onFollowing?: ((following: Following) => Effect.Effect<void>) | undefined
  }
): Effect.fn.Return<never, StoreError | StoreCopy.CopyFailed> {
  const { from, to } = options
  const known = yield* StoreCopy.begin(from.description, to)
  if (known["state"] === "done") {
    return yield* new StoreCopy.CopyFailed({
      detail: `${to.description} has a complete copy already, which follows nothing any more`
    })
  }
  let place = placeIn(known)
  while (true) {
    const collections = yield* from.collections
    const followed = yield* Effect.filter(collections, (name) => isLogged(from.changes, name))
    if (followed.length === 0) {
      return yield* new StoreCopy.CopyFailed({
        detail: `${from.description} records no changes: no model is logged. Copy it while nobody writes to it`
      })
    }
    if (place?.followed.join("\n") !== followed.join("\n")) place = yield* filled(options, followed)
    const others = collections.filter((name) => !followed.includes(name))
    yield* Effect.catchTag(
      followedFrom(options, place, others),
      "PositionGone",
      () => Effect.logWarning("Changes that have not been copied are no longer kept: what differs now is copied")
    )
    place = undefined
  }
})

/** Whether the changes of a collection are recorded. */
export const isLogged = ({ end, read }: Source["changes"], collection: string): Effect.Effect<boolean, ReadError> =>
  Effect.flatMap(end, (after) => read([collection], { after, limit: 1 })).pipe(
    Effect.as(true),
    Effect.catchTag("PositionGone", () => Effect.succeed(true)),
    Effect.catchTag(["QueryRejected", "Unsupported"], () => Effect.succeed(false))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Options = Parameters<typeof follow>[0]

interface Place {
  readonly position: Position
  readonly followed: ReadonlyArray<string>
}

const placeIn = ({ followed, position }: Document): Place | undefined =>
  typeof position === "string" && Array.isArray(followed) ? { position, followed: followed.map(String) } : undefined

const noteOf = ({ followed, position }: Place) => ({ state: "following", followed: [...followed], position })

/** Brings the target to what the source has at some moment after the returned place. */
const filled = Effect.fnUntraced(function*(
  { from, onProgress = () => Effect.void, to }: Options,
  followed: ReadonlyArray<string>
): Effect.fn.Return<Place, StoreError> {
  const position = yield* from.changes.end
  yield* Effect.scoped(Effect.gen(function*() {
    const store = yield* from.snapshot
    for (const { name } of yield* StoreCopy.collectionsOf(store)) {
      const total = yield* store.estimatedCount(name)
      yield* StoreCopy.loosen(to, name)
      yield* StoreCopy.written({
        from: store,
        to,
        name,
        onProgress: (done) => onProgress({ collection: name, done, total })
      })
      yield* StoreCopy.removed(store, to, name)
      yield* to.syncIndexes(name, (yield* store.listIndexes(name)).filter((index) => !StoreCopy.isStrict(index)))
    }
  }))
  const place = { position, followed }
  yield* StoreCopy.note(to, noteOf(place))
  return place
})

/** Applies the changes after a place, page by page. */
const followedFrom = Effect.fnUntraced(function*(
  { from, onFollowing = () => Effect.void, to }: Options,
  { followed, position: start }: Place,
  others: ReadonlyArray<string>
): Effect.fn.Return<never, StoreError | PositionGone> {
  let [position, changes, noted] = [start, 0, yield* Clock.currentTimeMillis]
  while (true) {
    const page = yield* from.changes.read(followed, { after: position, limit: pageSize })
    for (const name of followed) {
      yield* StoreCopy.applied(to, name, page.changes.filter(({ collection }) => collection === name))
    }
    const now = yield* Clock.currentTimeMillis
    position = page.position
    changes += page.changes.length
    // The place moves on without changes, too, and an old one may no longer be kept.
    if (page.changes.length > 0 || now - noted > maxNoteAge) {
      yield* StoreCopy.note(to, noteOf({ position, followed }))
      noted = now
    }
    const time = page.changes.at(-1)?.time.getTime() ?? now
    yield* onFollowing({ followed, others, changes, behind: page.isUpToDate ? 0 : Math.max(1, now - time) })
    if (page.isUpToDate) yield* Effect.sleep(pause)
  }
})

const pageSize = 256

const pause = "250 millis"

// In milliseconds.
const maxNoteAge = 30_000
