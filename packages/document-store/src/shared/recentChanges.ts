/**
 * The latest changes of a store, which all of its streams of changes share: each has a place of its own in them and waits here
 * for new ones, so that a change is read once, however many streams there are.
 *
 * Changes have consecutive numbers. They are held while there are readers, and a limited number and size of them: a reader that
 * falls behind has to read from the store.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Position, StoredChange } from "../DocumentStore.ts"
import { StoreUnavailable } from "../StoreError.ts"

interface Waiting {
  readonly collections: ReadonlySet<string>
  readonly resume: (before: Effect.Effect<number, StoreUnavailable>) => void
}

export class RecentChanges {
  #held: Array<StoredChange> = []
  /** The sizes of those that are held, and their sum, in bytes. */
  #sizes: Array<number> = []
  #bytes = 0
  /** The number of the last change. */
  #end: number
  #readers = 0
  #isClosed = false
  readonly #waiting = new Set<Waiting>()

  constructor(end: number) {
    this.#end = end
  }

  /** Registers a reader until the scope closes. */
  readonly reader: Effect.Effect<void, never, Scope.Scope> = Effect.asVoid(Effect.acquireRelease(
    Effect.sync(() => {
      this.#readers += 1
    }),
    () =>
      Effect.sync(() => {
        this.#readers -= 1
        if (this.#readers === 0) this.#keep(0)
      })
  ))

  /** Whether anybody reads: published changes are needed only then. */
  get isRead(): boolean {
    return this.#readers > 0
  }

  /**
   * Adds changes, whose last one has the number `end`, with the size of each in bytes; `undefined` if they have to be read from the
   * store.
   */
  publish(changes: ReadonlyArray<StoredChange> | undefined, end: number, sizes: ReadonlyArray<number>): void {
    const before = this.#end
    this.#end = end
    if (changes === undefined) {
      if (this.#held.length > 0) this.#keep(0)
    } else {
      for (const change of changes) this.#held.push(change)
      for (const size of sizes) {
        this.#sizes.push(size)
        this.#bytes += size
      }
    }
    // Removed in large parts, since each removal moves the others.
    if (this.#held.length > 2 * maxHeld || this.#bytes > 2 * maxHeldBytes) {
      let [kept, bytes] = [0, 0]
      while (kept < maxHeld && kept < this.#held.length) {
        bytes += this.#sizes.at(-kept - 1)!
        if (bytes > maxHeldBytes) break
        kept += 1
      }
      this.#keep(kept)
    }
    if (this.#waiting.size === 0) return
    for (const waiting of this.#waiting) {
      if (changes?.some(({ collection }) => waiting.collections.has(collection)) === false) continue
      this.#waiting.delete(waiting)
      waiting.resume(Effect.succeed(before))
    }
  }

  /** Says that there are no more changes: who waits for one fails. */
  close(): void {
    this.#isClosed = true
    for (const { resume } of this.#waiting) resume(Effect.fail(closed))
    this.#waiting.clear()
  }

  /** Holds the last ones only. */
  #keep(count: number): void {
    this.#held = count === 0 ? [] : this.#held.slice(-count)
    this.#sizes = count === 0 ? [] : this.#sizes.slice(-count)
    this.#bytes = this.#sizes.reduce((sum, size) => sum + size, 0)
  }

  /** The changes after a number; `undefined` if not all of them are held. */
  after(number: number): ReadonlyArray<StoredChange> | undefined {
    const first = this.#held.length - (this.#end - number)
    return first < 0 || number > this.#end ? undefined : this.#held.slice(first, first + maxPage)
  }

  /**
   * The number of the last change up to a place; `undefined` if not all changes after it are held. All of them have been since the
   * place `start`, before the first one.
   */
  numberAt(position: Position, start: Position): number | undefined {
    const index = this.#held.findLastIndex((change) => change.position <= position)
    const number = this.#end - this.#held.length + index + 1
    return index < 0 && (number > 0 || position < start) ? undefined : number
  }

  /**
   * Waits for a change of these collections after a number, which is that of the last change of theirs. Succeeds with the
   * number of a change before which they have no other. Fails once the store is closed.
   */
  readonly wait = (collections: ReadonlySet<string>, number: number): Effect.Effect<number, StoreUnavailable> =>
    Effect.andThen(
      Effect.callback<number, StoreUnavailable>((resume) => {
        if (this.#isClosed || this.#end > number) {
          resume(this.#isClosed ? Effect.fail(closed) : Effect.succeed(number))
          return
        }
        const waiting: Waiting = { collections, resume }
        this.#waiting.add(waiting)
        return Effect.sync(() => {
          this.#waiting.delete(waiting)
        })
      }),
      // A commit resumes all readers, which then run one after the other.
      (before) => Effect.as(Effect.yieldNow, before)
    )
}

// internal

const closed = new StoreUnavailable({ operation: "changes", detail: "the store is closed", retryable: false })

const maxHeld = 2048

// As stored; decoded they take about three times as much.
const maxHeldBytes = 8 * 1024 * 1024

/** The changes of one page at most. */
export const maxPage = 256
