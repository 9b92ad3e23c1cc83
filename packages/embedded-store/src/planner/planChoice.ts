/**
 * Chooses among the plans of a query by the counts of their indexes.
 *
 * The entries of all plans are counted side by side, twice as many each time, until one of them has no more: nothing is counted
 * far beyond the plan with the fewest. A count passes over keys, which takes a small part of the time that the documents would.
 *
 * How much a plan in the order of a sort, or of which some matches are wanted, reads until it has them depends on where they
 * are. So it is tried: its matches are kept until there are enough, and when it has looked at as many documents as another plan
 * has entries, that one is taken. Together they read a few times as much as the better one of the two.
 */
import { isStepDone, spend } from "@appkernel/document-store/internal"
import { type BatchIterator, concat, emptyStep, fromArray } from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import type { Range, ReadTables } from "../storage/orderedStore.ts"
import { behind, type ReadEntries, type StoredDocument } from "./candidates.ts"
import type { Plan, Plans } from "./queryPlan.ts"

/** Reads the matches by a plan. */
export type OpenPlan = (plan: Plan) => {
  readonly source: BatchIterator<StoredDocument>
  /** The number of documents that it has looked at. */
  readonly looked: () => number
}

/** Reads by the plan that reads the least. */
export const byChoice = (
  store: ReadTables,
  plans: Plans,
  open: OpenPlan,
  options: {
    readonly isSorted: boolean
    /** The number of matches that are needed; `Infinity` for all of them. */
    readonly wanted: number
  }
): BatchIterator<StoredDocument> => {
  const all = plans.map((plan) => new CountedPlan(store, plan))
  const isPart = options.wanted <= maxTried && all.some(({ plan }) => plan.isOrdered)
  const choose = isPart ? choosingForSome(all, options.wanted) : choosingForAll(all, options.isSorted)
  let source: BatchIterator<StoredDocument> | undefined
  return () => {
    if (source === undefined) {
      const choice = choose()
      if (choice === undefined) return emptyStep
      source = choice.isTried
        ? tried(choice.counted, all, open, options.wanted)
        : open(choice.counted.plan).source
    }
    return source()
  }
}

// internal

// More matches are not kept while a plan is tried.
const maxTried = 10_000

// So many keys are passed over in less time than it takes to read a document.
const keysPerDocument = 4

// So many entries are counted of each plan in any case.
const fewEntries = 64

// A plan is compared with others again when it has looked at so many times as many documents.
const comparedAfter = 1.5

// The order of a sort is worth so much more reading, since nothing has to be kept for it.
const orderWorth = 2

interface Choice {
  readonly counted: CountedPlan
  readonly isTried: boolean
}

/** Makes a choice, in steps: `undefined` if the step is over. */
type Choose = () => Choice | undefined

/** The plan with the fewest entries, if that is known of one with at most so many; otherwise the likely best. */
const leastOf = (all: ReadonlyArray<CountedPlan>, most: number): CountedPlan | undefined => {
  let least: CountedPlan | undefined
  for (const counted of all) {
    if (counted.isWithin(most) && (least === undefined || counted.count < least.count)) least = counted
  }
  return least ?? all[0]
}

const choosingForAll = (all: ReadonlyArray<CountedPlan>, isSorted: boolean): Choose => {
  const ordered = isSorted ? all.filter(({ plan }) => plan.isOrdered) : []
  let most = fewEntries
  return () => {
    for (;;) {
      if (!countUpTo(all, most)) return undefined
      if (all.some((counted) => counted.isWithin(most))) break
      most *= 2
    }
    const least = leastOf(all, most)
    if (least === undefined) return undefined
    const worth = orderWorth * least.count
    if (!countUpTo(ordered, worth)) return undefined
    const inOrder = leastOf(ordered, worth)
    return { counted: inOrder?.isWithin(worth) === true ? inOrder : least, isTried: false }
  }
}

const choosingForSome = (all: ReadonlyArray<CountedPlan>, wanted: number): Choose => {
  const most = Math.max(fewEntries, 2 * wanted)
  return () => {
    if (!countUpTo(all, most)) return undefined
    const inOrder = leastOf(all.filter(({ plan }) => plan.isOrdered), most)
    const other = leastOf(all.filter(({ plan }) => !plan.isOrdered), most)
    if (inOrder === undefined) return undefined
    const isLess = other?.isWithin(most) === true && !(inOrder.isWithin(most) && inOrder.count <= other.count)
    // It reads so little that nothing has to be tried.
    if (isLess) return { counted: other, isTried: false }
    return { counted: inOrder, isTried: !inOrder.isWithin(most) }
  }
}

/** Whether all have been counted so far, within the step. */
const countUpTo = (all: ReadonlyArray<CountedPlan>, most: number): boolean =>
  all.every((counted) => counted.countUpTo(most))

/** Tries a plan, until another one would have less to read. */
const tried = (
  first: CountedPlan,
  all: ReadonlyArray<CountedPlan>,
  open: OpenPlan,
  wanted: number
): BatchIterator<StoredDocument> => {
  const { looked, source } = open(first.plan)
  const others = all.filter((other) => other !== first)
  let found: Array<StoredDocument> = []
  let next: BatchIterator<StoredDocument> | undefined
  let compared = Math.max(fewEntries, 2 * wanted)
  return () => {
    if (next !== undefined) return next()
    return Result.flatMap(source(), (items) => {
      for (const item of items ?? []) found.push(item)
      if (items === undefined || found.length >= wanted) {
        next = concat(fromArray(found), source)
        return next()
      }
      if (looked() < compared || !countUpTo(all, keysPerDocument * looked())) return emptyStep
      compared = comparedAfter * looked()
      const better = others.find(({ count, isCounted, plan }) =>
        isCounted && (looked() >= count || plan.isOrdered && first.count > orderWorth * count)
      )
      if (better !== undefined) {
        found = []
        next = open(better.plan).source
      }
      return emptyStep
    })
  }
}

/** A plan, whose entries are counted a few at a time; the last ones of a single range are estimated. */
class CountedPlan {
  readonly plan: Plan
  /** The entries so far. */
  count = 0
  isCounted = false
  readonly #entries: ReadEntries | undefined
  #at = 0
  /** What is left of the current range. */
  #rest: Range | undefined
  /** How many keys are passed over next: more and more, and fewer when so many are not left. */
  #size = 1
  #isNearEnd = false
  /** A single range has fewer entries. */
  #bound = Infinity

  constructor(store: ReadTables, plan: Plan) {
    this.plan = plan
    this.#entries = plan.kind === "scan" ? store.entries(plan.index.number) : undefined
    if (plan.kind !== "entries") return
    this.count = plan.keys.length
    this.isCounted = true
  }

  /** Whether all entries are counted, and are at most about `most`. */
  isWithin(most: number): boolean {
    return this.isCounted && this.count <= most
  }

  /** Counts more than so many entries, or all; returns whether the step has sufficed. */
  countUpTo(most: number): boolean {
    // Some in any case, however little of the step is left.
    while (!this.isCounted && this.count <= most) {
      this.#countSome(most + 1)
      if (isStepDone()) return this.isCounted || this.count > most
    }
    return true
  }

  #countSome(most: number): void {
    const { plan } = this
    if (plan.kind !== "scan" || this.#entries === undefined) {
      this.count = Infinity
      return
    }
    if (plan.prepare?.() === false) return
    const { ranges } = plan
    if (this.#at === ranges.length || this.#at === maxRanges) {
      this.count = this.#at === 0 ? 0 : Math.ceil(this.count * ranges.length / this.#at)
      this.isCounted = true
      return
    }
    const range = this.#rest ?? { ...ranges.at(this.#at), reverse: false }
    const known = this.#entries.countIn?.(range)
    if (known === undefined) {
      if (ranges.length === 1) this.#countSingle(this.#entries, range, most)
      else this.#countNext(this.#entries, range)
    } else {
      this.count += known
      this.#at += 1
      spend(rangeCost)
    }
  }

  #countSingle(entries: ReadEntries, range: Range, most: number): void {
    const half = Math.max(1, Math.floor((this.#bound - this.count) / 2))
    this.#size = Math.min(most - this.count, maxKeysPassed, half)
    if (!this.#pass(entries, range)) this.#bound = this.count + this.#size
    const left = this.#bound - this.count
    if (left > Math.max(fewEntries + 1, this.count / 2)) return
    this.count += left >> 1
    this.isCounted = true
  }

  #countNext(entries: ReadEntries, range: Range): void {
    this.#isNearEnd = !this.#pass(entries, range) || this.#isNearEnd
    this.#size = this.#isNearEnd ? this.#size >> 1 : Math.min(2 * this.#size, maxKeysPassed)
    if (this.#size > 0) return
    this.#at += 1
    this.#rest = undefined
    this.#size = 1
    this.#isNearEnd = false
  }

  /** Passes over the next keys; returns whether there are so many. */
  #pass(entries: ReadEntries, range: Range): boolean {
    const key = (entries.likelyKeyAt ?? entries.keyAt)(range, this.#size - 1)
    spend(rangeCost + keyCost * this.#size)
    if (key === undefined) return false
    this.count += this.#size
    this.#rest = behind(range, key)
    return true
  }
}

// Of more ranges, these stand for all.
const maxRanges = 1_024

const maxKeysPassed = 4_096

// In units of work.
const [rangeCost, keyCost] = [300, 5]
