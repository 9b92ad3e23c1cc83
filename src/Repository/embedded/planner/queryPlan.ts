/**
 * Plans which documents are read for a filter and a sort, and by which index.
 *
 * A plan yields a superset of the matches, and the filter is still evaluated for each document, unless the only range of the plan
 * says all of it. Rules choose the plan, without statistics: first a unique index whose paths all have values, then the index with
 * the most equalities, ranges and order.
 */
import type { Collator } from "../../bson/collator.ts"
import { encodeComponent, invert, isWhole, limitedRange, limitLength } from "../../bson/keyEncoding.ts"
import type { Direction } from "../../bson/path.ts"
import { Rank, rankOf } from "../../bson/value.ts"
import { type LazySequence, sequenceOf } from "../../mql/execution/batchIterator.ts"
import type { Constraint } from "../../mql/filter/constraints.ts"
import { everything, type Range } from "../../storage/orderedStore.ts"
import { type Collection, type Index, isGeographic, isSearchable, textIndexOf } from "../catalog/collection.ts"
import { hasUniqueKeys, isIdDescending, wordKey } from "../catalog/indexKeys.ts"
import {
  beginningsAt,
  type Bounds,
  boundsAt,
  exactBoundsAt,
  inverted,
  isRing,
  spansAt,
  valuesAt
} from "./indexBounds.ts"
import { ValueComponents } from "./valueComponents.ts"

export type Plan =
  /** All documents in the order of insertion. */
  | { readonly kind: "all"; readonly isOrdered: boolean }
  /** Single entries of a unique index, with at most one document each. */
  | {
    readonly kind: "entries"
    readonly index: Index
    readonly keys: LazySequence<string>
    readonly prepare?: Prepare
    readonly isOrdered: boolean
  }
  /**
   * Ranges of index entries in the order of the scan; some may be equal. They are computed lazily, since there may be more
   * ranges than documents.
   */
  | {
    readonly kind: "scan"
    readonly index: Index
    readonly ranges: LazySequence<Range>
    readonly prepare?: Prepare
    readonly isOrdered: boolean
    /** The number of constraints that exactly the entries in the only range meet; `undefined` if others may meet them. */
    readonly met?: number | undefined
  }

/** Prepares the keys or ranges, in steps. Returns whether they are ready. */
type Prepare = () => boolean

interface Candidate {
  readonly plan: () => Plan
  readonly worth: number
}

// With more keys, a scan of the index is cheaper than a lookup of each.
const maxKeys = 100_000

const worth = { unique: 1000, equality: 10, range: 5, location: 7, order: 6, ring: 500 }

/** Chooses the plan for constraints and a sort. With `words`, every match contains one of them. */
export const planOf = (
  collection: Collection,
  given: ReadonlyArray<Constraint>,
  sort: ReadonlyArray<Direction>,
  words?: ReadonlyArray<string>,
  collator?: Collator
): Plan => {
  const { traits: { inexact } } = collection.identifiers
  let best = ofIndex(collection.identifiers, constraintsFor(collection.identifiers, given, collator), sort, !inexact)
  if (best !== undefined && best.worth >= worth.unique) return best.plan()
  const texts = words === undefined ? undefined : textIndexOf(collection)
  if (texts !== undefined && words !== undefined) return byWords(texts, words, sort)
  for (const index of collection.indexes) {
    const constraints = constraintsFor(index, given, collator)
    // No plan is better than a single entry.
    const entry = entryOf(index, constraints)
    if (entry !== undefined) return { kind: "entries", index, keys: sequenceOf([entry]), isOrdered: true }
    const candidate = ofIndex(index, constraints, sort, !inexact)
    if (candidate !== undefined && (best === undefined || candidate.worth > best.worth)) best = candidate
  }
  return best?.plan() ?? { kind: "all", isOrdered: sort.length === 0 }
}

/**
 * The constraints that an index can use. Constraints on texts need the collation of the index. Different texts may have equal
 * keys in a collation, so such an index can't order documents and lists, nor find texts by their beginning.
 */
const constraintsFor = (
  index: Index,
  constraints: ReadonlyArray<Constraint>,
  collator: Collator | undefined
): ReadonlyArray<Constraint> => {
  if (index.collator === undefined && collator === undefined) return constraints
  const isSame = index.collator?.name === collator?.name
  return constraints.filter((constraint) => {
    switch (constraint.kind) {
      case "exists":
      case "area":
        return true
      // Patterns compare by code points in every collation.
      case "begins":
        return index.collator === undefined
      case "in":
        return isSame || constraint.values.every(hasNoText)
      default:
        return hasNoText(constraint.value) || (isSame && typeof constraint.value === "string")
    }
  })
}

const hasNoText = (value: unknown): boolean => !textual.has(rankOf(value))

const textual: ReadonlySet<Rank> = new Set([Rank.string, Rank.document, Rank.array])

const byWords = (index: Index, words: ReadonlyArray<string>, sort: ReadonlyArray<Direction>): Plan => ({
  kind: "scan",
  index,
  ranges: sequenceOf(words.map(wordKey).toSorted().map((key) => ({ ...limitedRange(key, key), reverse: false }))),
  isOrdered: sort.length === 0
})

const isSparseMiss = ({ description, paths }: Index, constraints: ReadonlyArray<Constraint>): boolean =>
  description.sparse === true &&
  !constraints.some((constraint) => paths.includes(constraint.path) && isPresent(constraint))

// Whether a constraint is met only by documents that have the field.
const isPresent = (constraint: Constraint): boolean =>
  constraint.kind === "exists"
  || constraint.kind === "begins"
  || constraint.kind === "area"
  || (constraint.kind === "in"
    ? constraint.values.every((value) => value !== null)
    : constraint.value !== null && rankOf(constraint.value) !== Rank.minKey && rankOf(constraint.value) !== Rank.maxKey)

const isUsable = (index: Index, constraints: ReadonlyArray<Constraint>): boolean =>
  isSearchable(index) && !isSparseMiss(index, constraints) && index.part?.isImpliedBy(constraints) !== false

// The only entry that a match can have in a unique index, if the constraints allow one value at each path.
const entryOf = (index: Index, constraints: ReadonlyArray<Constraint>): string | undefined => {
  if (constraints.length === 0 || !hasUniqueKeys(index) || index.traits.multikey) return undefined
  let entry = ""
  for (const [i, path] of index.paths.entries()) {
    const values = valuesAt(constraints, path)
    if (values?.length !== 1) return undefined
    const key = encodeComponent(values[0], { inexact: false })
    entry += index.directions[i]?.descending === true ? invert(key) : key
  }
  return isUsable(index, constraints) ? limitLength(entry, { inexact: false }) : undefined
}

const ofIndex = (
  index: Index,
  constraints: ReadonlyArray<Constraint>,
  sort: ReadonlyArray<Direction>,
  areIdsInOrder: boolean
): Candidate | undefined => {
  const [begins] = index.paths
  if (sort[0]?.path.join(".") !== begins && !constraints.some(({ path }) => path === begins)) return undefined
  const { multikey } = index.traits
  let spans: ReadonlyArray<Bounds> = []
  let isLocated = false
  const constants = new Set<string>()
  const used: Array<string> = []
  const choices: Array<ValueComponents> = []
  for (const [i, path] of index.paths.entries()) {
    // Different items of an array may meet the constraints of two paths into it, so only the first path is used.
    if (multikey && used.some((other) => firstSegment(other) === firstSegment(path))) break
    const descending = index.directions[i]?.descending === true
    const kind = index.kinds[i]
    if (kind !== undefined) {
      spans = spansAt(constraints, path, kind)
      isLocated = spans.length > 0
      break
    }
    const values = valuesAt(constraints, path)
    if (values === undefined) {
      const bounds = exactBoundsAt(constraints, path, index) ?? boundsAt(constraints, path, index)
      const found = bounds === undefined ? beginningsAt(constraints, path) : [bounds]
      spans = descending ? found.map(inverted).toReversed() : found
      break
    }
    used.push(path)
    if (values.length === 1) constants.add(path)
    choices.push(new ValueComponents(values, descending, index.collator))
  }
  // An index for locations lacks documents without a location.
  if (!isLocated && isGeographic(index)) return undefined
  const order = orderOf(index, sort, constants, areIdsInOrder)
  const isUsed = used.length > 0 || spans.length > 0
  if (!isUsed && order === undefined) return undefined
  if (!isUsable(index, constraints)) return undefined
  const isFullKey = hasUniqueKeys(index) && used.length === index.paths.length
  return {
    plan: () => planBy(index, { used, choices, spans }, isFullKey && !multikey, { sort, order }),
    worth: (isFullKey ? worth.unique : 0) + used.length * worth.equality
      + (isLocated ? (constraints.some(isRing) ? worth.ring : worth.location) : spans.length === 0 ? 0 : worth.range)
      + (order === undefined ? 0 : worth.order)
  }
}

interface Places {
  /** The paths of the choices. */
  readonly used: ReadonlyArray<string>
  readonly choices: ReadonlyArray<ValueComponents>
  /** The ranges of the field after the choices. */
  readonly spans: ReadonlyArray<Bounds>
}

const planBy = (
  index: Index,
  { choices, spans, used }: Places,
  isFullKey: boolean,
  { order, sort }: { readonly sort: ReadonlyArray<Direction>; readonly order: "up" | "down" | undefined }
): Plan => {
  const [choice, ...others] = choices
  if (isFullKey && choice !== undefined && others.length === 0 && order === undefined) {
    const keys = { length: choice.length, at: (i: number) => limitLength(choice.componentAt(i), { inexact: false }) }
    return { kind: "entries", index, keys, isOrdered: sort.length === 0 || keys.length <= 1 }
  }
  const prepare = () => choices.every((choice) => choice.prepare())
  const prefixes = productOf(choices)
  const isOrdered = sort.length === 0 || order !== undefined
  const reverse = order === "down"
  if (isFullKey && prefixes.length <= maxKeys) {
    const keys = inOrder(prefixes, reverse, (prefix) => limitLength(prefix, { inexact: false }))
    return { kind: "entries", index, keys, prepare, isOrdered: isOrdered || keys.length <= 1 }
  }
  const each = Math.max(1, spans.length)
  const places: LazySequence<Range> = {
    length: prefixes.length * each,
    at: (i) => {
      const prefix = prefixes.at(Math.floor(i / each))
      const span = spans[i % each]
      return {
        ...span !== undefined
          ? spannedRange(prefix, span)
          : prefix === ""
          ? everything
          : limitedRange(prefix, prefix),
        reverse
      }
    }
  }
  const ranges = inOrder(places, reverse, (range) => range)
  const plan = { kind: "scan", index, ranges, prepare, isOrdered } as const
  const { inexact, multikey } = index.traits
  if (inexact || multikey || ranges.length !== 1) return plan
  const [span = unbounded] = spans
  return isWhole(prefixes.at(0) + span.from) && isWhole(prefixes.at(0) + span.to) && span.met !== undefined
    ? { ...plan, met: used.length + span.met }
    : plan
}

const unbounded: Bounds = { from: "", to: "", met: 0 }

/** The range of the keys with a prefix within bounds. */
const spannedRange = (prefix: string, { from, isAfterFrom, isBeforeTo, to }: Bounds): Pick<Range, "start" | "end"> => {
  const { end, start } = limitedRange(prefix + from, prefix + to)
  return {
    start: isAfterFrom === true && isWhole(prefix + from) ? limitedRange(prefix + from, prefix + from).end : start,
    end: isBeforeTo === true && isWhole(prefix + to) ? limitedRange(prefix + to, prefix + to).start : end
  }
}

/** The concatenations of one text of each factor. They are in order if each factor is. */
const productOf = (factors: ReadonlyArray<LazySequence<string>>): LazySequence<string> => ({
  length: factors.reduce((product, factor) => product * factor.length, 1),
  at: (i) => {
    let rest = i
    let text = ""
    for (const factor of factors.toReversed()) {
      text = factor.at(rest % factor.length) + text
      rest = Math.floor(rest / factor.length)
    }
    return text
  }
})

const inOrder = <A, B>(items: LazySequence<A>, reverse: boolean, f: (item: A) => B): LazySequence<B> => ({
  length: items.length,
  at: (i) => f(items.at(reverse ? items.length - 1 - i : i))
})

const firstSegment = (path: string): string => path.split(".", 1)[0] ?? path

/** The direction in which a scan of the index has the order of a sort. Paths with a constant value don't matter. */
const orderOf = (
  index: Index,
  sort: ReadonlyArray<Direction>,
  constants: ReadonlySet<string>,
  areIdsInOrder: boolean
): "up" | "down" | undefined => {
  const { description, directions, paths, traits } = index
  if (sort.length === 0 || traits.multikey || traits.inexact || isGeographic(index)) return undefined
  // Keys of texts in a collation are not in the order of the texts.
  if (index.collator !== undefined || sort.some(({ collator }) => collator !== undefined)) return undefined
  let way: "up" | "down" | undefined
  let at = 0
  for (const { descending, path } of sort) {
    const name = path.join(".")
    if (constants.has(name)) continue
    while (at < paths.length && paths[at] !== name && constants.has(paths[at] ?? "")) at += 1
    // Entries with equal values are in the order of the identifiers; a unique index has no equal values.
    const isId = at === paths.length && name === "_id"
    if (isId && description.unique === true) break
    if (isId ? !areIdsInOrder : paths[at] !== name) return undefined
    const step = descending === (isId ? isIdDescending(index) : directions[at]?.descending) ? "up" : "down"
    if (way !== undefined && way !== step) return undefined
    way = step
    at += 1
    if (isId) break
  }
  return way ?? "up"
}
