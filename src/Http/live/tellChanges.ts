/**
 * Tells the channels of a log its changes, one after the other, in steps between which other fibers run.
 *
 * The conditions of streams come from callers, so each caller has a budget of work for each change, and all of them together have
 * one. Beyond it, their streams with costly conditions end: those that take little come first, and always go on. The client of a
 * stream that has ended resumes at its place.
 */
import { beginStep, isStepDone } from "@appkernel/document-store/internal"
import * as Effect from "effect/Effect"
import { englishOf, textOfKey } from "../../internal/texts.ts"
import type { ChangePage, Position } from "../../Repository/DocumentStore.ts"
import type { TooManyRequests } from "../HttpError.ts"
import type { LiveOptions } from "../KernelConfig.ts"
import { tooManyRequestsAfter } from "../messages/message.ts"
import type { Channel } from "./channel.ts"
import { errorEvent, ToldChange } from "./messages.ts"

/** The channels of a reader of the log, by their keys. */
export interface Readers<K> {
  readonly channels: Map<K, Channel>
  /** The place up to which they were told all changes. */
  end: Position
}

/** The work that a change may take, in units of about ten nanoseconds. */
export interface WorkLimits {
  /** For the streams of one caller. */
  readonly ofCaller: number
  /** For all streams. */
  readonly ofAll: number
}

export const workLimitsOf = ({ maxStreams, maxStreamsPerCaller }: LiveOptions): WorkLimits => ({
  ofCaller: Math.max(minOfCaller, maxStreamsPerCaller * little),
  ofAll: Math.max(minOfAll, maxStreams * little / 10)
})

/** `end` ends the streams of callers in a channel. */
export const tellChanges = Effect.fnUntraced(function*<K>(
  reader: Readers<K>,
  { changes, isUpToDate, position }: ChangePage,
  limits: WorkLimits,
  end: (key: K, channel: Channel, callers: ReadonlySet<string>) => Effect.Effect<void>
): Effect.fn.Return<void> {
  beginStep()
  for (const [i, stored] of changes.entries()) {
    const place = i === changes.length - 1 ? position : stored.position
    const change = new ToldChange(stored)
    const spent = new Spent(limits)
    for (const isCostly of [false, true]) {
      // Channels that begin meanwhile come last in the map, and begin at the place before this change.
      for (const [key, channel] of reader.channels) {
        if (channel.place === place || channel.work > little !== isCostly) continue
        const overBefore = isCostly ? spent.over(channel) : noCallers
        if (overBefore.size > 0) yield* end(key, channel, overBefore)
        if (channel.isEnded) continue
        channel.publish(change, place)
        if (channel.work > little) {
          spent.add(channel)
          const over = spent.over(channel)
          if (over.size > 0) yield* end(key, channel, over)
        }
        if (isStepDone()) {
          yield* Effect.yieldNow
          beginStep()
        }
      }
    }
    reader.end = place
  }
  for (const channel of reader.channels.values()) channel.moveTo(position, isUpToDate)
  reader.end = position
})

/** Why a stream ends whose condition is too much work. */
export const costly = (wait: number): TooManyRequests => tooManyRequestsAfter("errors.CostlyStreams", wait)

/** {@link costly} in a stream. */
export const costlyEvent: Uint8Array = errorEvent(
  JSON.stringify({ _type: "ErrorMessage", code: 429, message: englishOf(textOfKey("errors.CostlyStreams")) })
)

// internal

/** Work that does not count. */
const little = 10_000

const minOfCaller = 1_000_000

const minOfAll = 10_000_000

/** What a change has taken so far. */
class Spent {
  readonly #limits: WorkLimits
  readonly #byCaller = new Map<string, number>()
  #all = 0

  constructor(limits: WorkLimits) {
    this.#limits = limits
  }

  /** Adds what a channel has taken. Each caller bears all of it, whoever shares the channel. */
  add(channel: Channel): void {
    this.#all += channel.work
    for (const caller of channel.callers) {
      this.#byCaller.set(caller, (this.#byCaller.get(caller) ?? 0) + channel.work)
    }
  }

  /** The callers of a channel whose streams have reached the limit of work. */
  over(channel: Channel): ReadonlySet<string> {
    const { ofAll, ofCaller } = this.#limits
    return this.#all > ofAll
      ? channel.callers
      : new Set([...channel.callers].filter((caller) => (this.#byCaller.get(caller) ?? 0) > ofCaller))
  }
}

const noCallers: ReadonlySet<string> = new Set()
