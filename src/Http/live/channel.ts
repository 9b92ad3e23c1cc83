/**
 * The changes of collections for everybody who sees the same of them: each one is read, decided and written once, however many
 * streams there are. The latest are held, within limits; a stream that falls behind them ends, and its client resumes.
 */
import { spend, workDone } from "@appkernel/document-store/internal"
import * as Effect from "effect/Effect"
import type { Position } from "../../Repository/DocumentStore.ts"
import type { Touched } from "../../Repository/internal.ts"
import { controlEvent, cursorAt, dataEvent, offsetOf, type ToldChange, type ToldList } from "./messages.ts"

/** One stream of a channel. */
export interface Subscriber {
  /** Who asks for it. */
  readonly caller: string
  /** The number of the next entry. */
  next: number
  /** Entries up to here are known. */
  after: Position
  /** The heartbeat at which it last took something. */
  seen: number
  resume: (() => void) | undefined
  /** Its last chunk, if it has ended. */
  ended: { readonly last: Uint8Array | undefined } | undefined
  /** Ends a stream whose client takes nothing. */
  readonly interrupt: () => void
}

interface Entry {
  readonly position: Position
  /** Without messages, it only tells where the stream is. */
  readonly messages: ReadonlyArray<string>
  /** The document that they give. */
  readonly read: Touched | undefined
  next: Position
  /** Whether no other entry follows. */
  isUpToDate: boolean
  readonly length: number
  /** How many streams have taken it. */
  taken: number
  /** While other streams have not taken it. */
  chunk: Uint8Array | undefined
}

export class Channel {
  readonly #lists: ReadonlyArray<ToldList>
  readonly #rights: string
  #entries: Array<Entry> = []
  /** The number of the first entry that is held. */
  #first = 0
  #length = 0
  #start: Position
  #end: Position
  #work = Infinity
  #beats = 0
  /** The number of the entry that came first after the last heartbeat. */
  #latest = 0
  #isEnded = false
  readonly #subscribers = new Set<Subscriber>()

  /** Makes a channel for the changes after a position. */
  constructor(lists: ReadonlyArray<ToldList>, rights: string, start: Position) {
    this.#lists = lists
    this.#rights = rights
    this.#start = start
    this.#end = start
  }

  /** The place up to which it has all changes. */
  get place(): Position {
    return this.#end
  }

  /** The work of the decision on the last change, or no limit if there was none yet. */
  get work(): number {
    return this.#work
  }

  /** Whether all of its streams have ended, so that no other begins with it. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** The callers whose streams have not ended. */
  get callers(): ReadonlySet<string> {
    const callers = new Set<string>()
    for (const { caller, ended } of this.#subscribers) if (ended === undefined) callers.add(caller)
    return callers
  }

  /** Adds a change, and the place up to which no other follows. One with the same view before and after is not in it. */
  publish(change: ToldChange, next: Position): void {
    const before = workDone()
    const { messages, read } = change.toldTo(this.#lists)
    this.#work = workDone() - before
    // What is sent is of the documents' size, and no work of the conditions.
    for (const { length } of messages) spend(length * sendingCost)
    this.#end = next
    if (messages.length === 0) return
    this.#add(messages, change.stored.position, next, false, read)
    this.#wake()
  }

  /** Ends a page of changes. What was added last is the last change up to its end. */
  moveTo(end: Position, isUpToDate: boolean): void {
    this.#end = end
    const last = this.#entries.at(-1)
    if (last === undefined || last.messages.length === 0 || last.isUpToDate || !isUpToDate) return
    last.next = end
    last.isUpToDate = true
    last.chunk = undefined
  }

  /**
   * Tells all streams where they are, and ends those whose clients have taken nothing since the heartbeat before the last. What
   * all have taken is not held for longer than until the next heartbeat.
   */
  beat(): void {
    this.#beats += 1
    let taken = this.#latest
    for (const subscriber of this.#subscribers) {
      const isWaiting = subscriber.resume !== undefined
      if (!isWaiting && subscriber.seen < this.#beats - 2) subscriber.interrupt()
      if (subscriber.next >= this.#first) taken = Math.min(taken, subscriber.next)
    }
    this.#remove(Math.max(0, taken - this.#first))
    this.#latest = this.#first + this.#entries.length
    this.#add([], this.#end, this.#end, true)
    this.#wake()
  }

  /** Whether all changes after a place are held. */
  isHeldAfter(position: Position): boolean {
    return position >= this.#start
  }

  /** Whether all changes after a place are held, and there are none. */
  isAtEnd(position: Position): boolean {
    const last = this.#entries.findLast(({ messages }) => messages.length > 0)
    return this.isHeldAfter(position) && (last === undefined || last.position <= position)
  }

  subscribe(subscriber: Subscriber): void {
    subscriber.seen = this.#beats
    this.#subscribers.add(subscriber)
    if (this.#isEnded) this.end(subscriber)
  }

  unsubscribe(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber)
  }

  /** A stream begins with the changes after a place that is held. */
  join(subscriber: Subscriber, position: Position): void {
    subscriber.after = position
    subscriber.next = this.#first
  }

  /** Says that a stream has taken what it was given. */
  touch(subscriber: Subscriber): void {
    subscriber.seen = this.#beats
  }

  /** The next entries of a stream; `undefined` if the channel has dropped them. */
  take(subscriber: Subscriber, maxLength: number): ReadonlyArray<Entry> | undefined {
    if (subscriber.next < this.#first) return undefined
    const taken: Array<Entry> = []
    let length = 0
    while (length < maxLength) {
      const entry = this.#entries[subscriber.next - this.#first]
      if (entry === undefined) break
      subscriber.next += 1
      // A place may be beyond the entries that there were.
      if (entry.position < subscriber.after || (entry.position === subscriber.after && entry.messages.length > 0)) {
        continue
      }
      entry.taken += 1
      taken.push(entry)
      length += entry.length
    }
    return taken
  }

  /** An entry that a stream has taken as an event, written once for all streams, and held until the last of them has taken it. */
  chunkOf(entry: Entry, now: number): Uint8Array {
    const chunk = entry.chunk ?? this.#chunkOf(entry, now)
    entry.chunk = entry.taken < this.#subscribers.size ? chunk : undefined
    return chunk
  }

  readonly wait = (subscriber: Subscriber): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      if (subscriber.ended !== undefined || subscriber.next < this.#first + this.#entries.length) {
        resume(Effect.void)
        return
      }
      subscriber.resume = () => resume(Effect.void)
      return Effect.sync(() => {
        subscriber.resume = undefined
      })
    })

  /** Ends a stream with a last chunk. */
  end(subscriber: Subscriber, last?: Uint8Array): void {
    subscriber.ended ??= { last }
    wake(subscriber)
  }

  endAll(last?: Uint8Array): void {
    this.#isEnded = true
    for (const subscriber of this.#subscribers) this.end(subscriber, last)
  }

  /** Ends the streams of callers. */
  endOf(callers: ReadonlySet<string>, last: Uint8Array): void {
    for (const subscriber of this.#subscribers) if (callers.has(subscriber.caller)) this.end(subscriber, last)
    this.#isEnded = this.callers.size === 0
  }

  #chunkOf({ isUpToDate, messages, next }: Entry, now: number): Uint8Array {
    const offset = offsetOf(next, this.#rights)
    const control = controlEvent(offset, cursorAt(now, undefined), isUpToDate)
    return messages.length === 0 ? control : Buffer.concat([...dataEvent(messages, offset), control])
  }

  #add(
    messages: ReadonlyArray<string>,
    position: Position,
    next: Position,
    isUpToDate: boolean,
    read?: Touched
  ): void {
    const before = this.#entries.at(-1)
    if (before?.isUpToDate === true && messages.length > 0) {
      before.isUpToDate = false
      // The cached text of the entry says that nothing follows, which is no longer true.
      before.chunk = undefined
    }
    const length = messages.reduce((sum, message) => sum + message.length, entryLength)
    this.#entries.push({ position, messages, read, next, isUpToDate, length, taken: 0, chunk: undefined })
    this.#length += length
    // Removed in large parts, since each removal moves the others.
    if (this.#length <= maxLength && this.#entries.length <= maxEntries) return
    let [removed, rest] = [0, this.#length]
    while (
      removed < this.#entries.length - 1 && (rest > maxLength / 2 || this.#entries.length - removed > maxEntries / 2)
    ) {
      rest -= this.#entries[removed]!.length
      removed += 1
    }
    this.#remove(removed)
  }

  /** Holds the oldest entries no longer. */
  #remove(count: number): void {
    for (const oldest of this.#entries.splice(0, count)) {
      this.#length -= oldest.length
      this.#start = oldest.next
    }
    this.#first += count
  }

  #wake(): void {
    for (const subscriber of this.#subscribers) wake(subscriber)
  }
}

// internal

const wake = (subscriber: Subscriber): void => {
  const { resume } = subscriber
  subscriber.resume = undefined
  resume?.()
}

/** Of a character. */
const sendingCost = 0.5

const maxEntries = 2_048

const maxLength = 4_194_304

/** About what an entry has besides its messages. */
const entryLength = 256
