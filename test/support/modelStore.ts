/**
 * A reference model of a document store: no indexes, no queries, no order of writes. Its documents have a number `a`, a
 * text `s`, a list of numbers `l` and a unique number `u`.
 */
import { isDeepStrictEqual } from "node:util"
import type { Document, Filter, Update } from "../../packages/document-store/src/DocumentStore.ts"

export interface Thing {
  readonly _id: number
  readonly a?: number
  readonly s?: string
  readonly l?: ReadonlyArray<number>
  readonly u?: number
}

export type Content = Omit<Thing, "_id">

/** A filter, and its meaning as a predicate. */
export interface Condition {
  readonly filter: Filter
  readonly holds: (thing: Thing) => boolean
}

/** An update, and its meaning as a function. */
export interface Change {
  readonly update: Update
  readonly apply: (thing: Thing) => Thing
}

export type Things = ReadonlyMap<number, Thing>

/** The outcome of a step. */
export interface Outcome {
  readonly things: Things
  /** The answer, or the tag of the failure. */
  readonly result: unknown
  readonly failed?: boolean
}

const refused = (things: Things, result = "DuplicateKey"): Outcome => ({ things, result, failed: true })

const answered = (things: Things, result: unknown): Outcome => ({ things, result })

const isTaken = (things: Things, { _id, u }: Thing): boolean =>
  u !== undefined && Array.from(things.values()).some((other) => other._id !== _id && other.u === u)

const put = (things: Things, thing: Thing): Things => new Map(things).set(thing._id, thing)

const without = (things: Things, ids: ReadonlyArray<number>): Things => {
  const rest = new Map(things)
  for (const id of ids) rest.delete(id)
  return rest
}

const inOrder = (things: Things): ReadonlyArray<Thing> => Array.from(things.values()).toSorted((a, b) => a._id - b._id)

const isIdentical = (a: Thing, b: Thing): boolean => isDeepStrictEqual(a, b)

export const matching = (things: Things, { holds }: Condition): ReadonlyArray<Thing> =>
  inOrder(things).filter((thing) => holds(thing))

export const insert = (things: Things, thing: Thing): Outcome =>
  things.has(thing._id) || isTaken(things, thing) ? refused(things) : answered(put(things, thing), undefined)

export const insertMany = (things: Things, all: ReadonlyArray<Thing>, ordered: boolean): Outcome => {
  let current = things
  let insertedCount = 0
  const failures: Array<readonly [number, string]> = []
  for (const [index, thing] of all.entries()) {
    if (ordered && failures.length > 0) break
    const { failed, things } = insert(current, thing)
    if (failed === true) failures.push([index, "DuplicateKey"])
    else {
      current = things
      insertedCount += 1
    }
  }
  return answered(current, { insertedCount, failures })
}

interface Written {
  readonly before: Thing | undefined
  readonly after: Thing | undefined
}

const write = (
  things: Things,
  before: Thing | undefined,
  after: Thing | undefined,
  tell: (written: Written) => unknown
): Outcome => {
  if (after === undefined) return answered(things, tell({ before, after }))
  return isTaken(things, after) || (before === undefined && things.has(after._id))
    ? refused(things)
    : answered(put(things, after), tell({ before, after }))
}

const counts = ({ after, before }: Written): Document =>
  before === undefined
    ? { matchedCount: 0, modifiedCount: 0, ...after === undefined ? {} : { upsertedId: after._id } }
    : { matchedCount: 1, modifiedCount: after === undefined || isIdentical(before, after) ? 0 : 1 }

const documentOf = (which: "before" | "after") => (written: Written): unknown => written[which]

/** The document of an identifier, if the condition holds. */
const pick = (things: Things, id: number, { holds }: Condition): Thing | undefined => {
  const thing = things.get(id)
  return thing !== undefined && holds(thing) ? thing : undefined
}

const contentOf = (id: number, content: Content): Thing => ({ _id: id, ...content })

export const replaceOne = (
  things: Things,
  id: number,
  condition: Condition,
  content: Content,
  upsert: boolean
): Outcome => {
  const before = pick(things, id, condition)
  return write(things, before, before !== undefined || upsert ? contentOf(id, content) : undefined, counts)
}

export const updateOne = (things: Things, id: number, condition: Condition, change: Change): Outcome => {
  const before = pick(things, id, condition)
  return write(things, before, before === undefined ? undefined : change.apply(before), counts)
}

export const upsertOne = (things: Things, id: number, change: Change): Outcome => {
  const before = things.get(id)
  return write(things, before, change.apply(before ?? { _id: id }), counts)
}

export const updateMany = (things: Things, condition: Condition, change: Change): Outcome => {
  const found = matching(things, condition)
  const changed = found.map((thing) => change.apply(thing))
  return answered(changed.reduce<Things>((all, thing) => put(all, thing), things), {
    matchedCount: found.length,
    modifiedCount: found.filter((thing, i) => !isIdentical(thing, changed[i] ?? thing)).length
  })
}

/** The first or the last that matches. */
const extreme = (things: Things, condition: Condition, isLast: boolean): Thing | undefined =>
  matching(things, condition).at(isLast ? -1 : 0)

export const findOneAndUpdate = (
  things: Things,
  condition: Condition,
  isLast: boolean,
  change: Change,
  which: "before" | "after"
): Outcome => {
  const before = extreme(things, condition, isLast)
  return write(things, before, before === undefined ? undefined : change.apply(before), documentOf(which))
}

export const findOneAndReplace = (
  things: Things,
  condition: Condition,
  isLast: boolean,
  content: Content,
  which: "before" | "after"
): Outcome => {
  const before = extreme(things, condition, isLast)
  return write(things, before, before && contentOf(before._id, content), documentOf(which))
}

export const findOneAndDelete = (things: Things, condition: Condition, isLast: boolean): Outcome => {
  const found = extreme(things, condition, isLast)
  return answered(found === undefined ? things : without(things, [found._id]), found)
}

export const deleteOne = (things: Things, id: number, condition: Condition): Outcome => {
  const found = pick(things, id, condition)
  return answered(found === undefined ? things : without(things, [id]), found === undefined ? 0 : 1)
}

export const deleteMany = (things: Things, condition: Condition): Outcome => {
  const found = matching(things, condition)
  return answered(without(things, found.map(({ _id }) => _id)), found.length)
}

export const distinct = (things: Things, path: "a" | "s" | "l", condition: Condition): ReadonlyArray<unknown> =>
  Array.from(
    new Set<unknown>(
      matching(things, condition).flatMap((thing) => {
        const value = thing[path]
        return value === undefined ? [] : value
      })
    )
  )

/** Several steps atomically; the result of the first failure. */
export const transaction = (
  things: Things,
  steps: ReadonlyArray<(things: Things) => Outcome>,
  succeeds: boolean
): Outcome => {
  let current = things
  const results: Array<unknown> = []
  for (const step of steps) {
    const outcome = step(current)
    if (outcome.failed === true) return refused(things)
    current = outcome.things
    results.push(outcome.result)
  }
  return succeeds ? answered(current, results) : refused(things, "given up")
}
