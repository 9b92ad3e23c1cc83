/**
 * Which documents to look at for a filter and a sort. An index only ever narrows them down: the filter still decides.
 */
import { Rank, rankOf } from "./bsonValue.ts"
import { type Collection, type Index, isSearchable, textIndexOf } from "./catalog.ts"
import type { Direction } from "./documentPath.ts"
import type { Constraint } from "./filter.ts"
import { isTurned, wordKey } from "./indexEntries.ts"
import type { Range } from "./keyValue.ts"
import { everything } from "./keyValue.ts"
import { beginning, bound, component, fit, fitRange, invert, rankBound } from "./orderedKey.ts"

/** @internal */
export type Plan =
  /** All documents, as they were inserted. */
  | { readonly kind: "all"; readonly isOrdered: boolean }
  /** The documents of these entries of a unique index; there is at most one for each. */
  | {
    readonly kind: "entries"
    readonly index: Index
    readonly keys: ReadonlyArray<string>
    readonly isOrdered: boolean
  }
  /** Entries of an index of these ranges, one after the other. */
  | {
    readonly kind: "scan"
    readonly index: Index
    readonly ranges: ReadonlyArray<Range>
    readonly isOrdered: boolean
  }

interface Candidate {
  readonly plan: Plan
  readonly worth: number
}

// Values times values: beyond this, a scan of their whole span is cheaper.
const maxRanges = 200

const worth = { unique: 1000, equality: 10, range: 5, order: 6 }

/**
 * Of a filter with `words`, every match has one of them.
 *
 * @internal
 */
export const planOf = (
  collection: Collection,
  constraints: ReadonlyArray<Constraint>,
  sort: ReadonlyArray<Direction>,
  words?: ReadonlyArray<string>
): Plan => {
  const { traits: { inexact } } = collection.identifiers
  let best = ofIndex(collection.identifiers, constraints, sort, !inexact)
  if (best?.plan.kind === "entries") return best.plan
  const texts = words === undefined ? undefined : textIndexOf(collection)
  if (texts !== undefined && words !== undefined) return byWords(texts, words, sort)
  for (const index of collection.indexes) {
    // It can't get any better.
    const entry = entryOf(index, constraints)
    if (entry !== undefined) return { kind: "entries", index, keys: [entry], isOrdered: true }
    const candidate = ofIndex(index, constraints, sort, !inexact)
    if (candidate !== undefined && (best === undefined || candidate.worth > best.worth)) best = candidate
  }
  return best?.plan ?? { kind: "all", isOrdered: sort.length === 0 }
}

// The fewest values that a filter lets the path have.
const valuesAt = (constraints: ReadonlyArray<Constraint>, path: string): ReadonlyArray<unknown> | undefined => {
  let fewest: ReadonlyArray<unknown> | undefined
  for (const constraint of constraints) {
    if (constraint.kind !== "in" || constraint.path !== path) continue
    if (fewest === undefined || constraint.values.length < fewest.length) fewest = constraint.values
  }
  return fewest
}

const byWords = (index: Index, words: ReadonlyArray<string>, sort: ReadonlyArray<Direction>): Plan => ({
  kind: "scan",
  index,
  ranges: distinct(
    words.map(wordKey).toSorted().map((key) => ({ ...fitRange(key, key), reverse: false }))
  ),
  isOrdered: sort.length === 0
})

interface Bounds {
  readonly from: string
  readonly to: string
}

// Between the bounds that a filter sets; values of other classes than theirs don't match.
const boundsAt = (constraints: ReadonlyArray<Constraint>, path: string, isMultikey: boolean): Bounds | undefined => {
  const bounds = constraints.flatMap((constraint) => {
    if (constraint.path !== path || (constraint.kind !== "least" && constraint.kind !== "most")) return []
    const rank = rankOf(constraint.value)
    // Those compare with values of all classes.
    if (rank === Rank.minKey || rank === Rank.maxKey) return []
    return constraint.kind === "least"
      ? [{ from: bound(constraint.value), to: rankBound(rank) }]
      : [{ from: rankBound(rank), to: bound(constraint.value) }]
  })
  const [first, ...others] = bounds
  // One item of an array may be above the lower bound, and another one below the upper.
  if (first === undefined || isMultikey) return first
  return others.reduce((all, { from, to }) => ({
    from: from > all.from ? from : all.from,
    // What is a beginning of the other holds more.
    to: all.to.startsWith(to) || (to > all.to && !to.startsWith(all.to)) ? all.to : to
  }), first)
}

// Where a text with a certain beginning is; a regular expression may be looked for by itself, too.
const beginningsAt = (constraints: ReadonlyArray<Constraint>, path: string): ReadonlyArray<Bounds> => {
  const found = constraints.find((constraint) => constraint.kind === "begins" && constraint.path === path)
  if (found?.kind !== "begins") return []
  const from = beginning(found.text)
  const expressions = rankBound(Rank.regularExpression)
  return [{ from, to: from }, { from: expressions, to: expressions }]
}

const isSparseMiss = ({ description, paths }: Index, constraints: ReadonlyArray<Constraint>): boolean =>
  description.sparse === true &&
  !constraints.some((constraint) => paths.includes(constraint.path) && isPresent(constraint))

// Whether only documents that have the field fulfil it.
const isPresent = (constraint: Constraint): boolean =>
  constraint.kind === "exists"
  || constraint.kind === "begins"
  || (constraint.kind === "in"
    ? constraint.values.every((value) => value !== null)
    : constraint.value !== null && rankOf(constraint.value) !== Rank.minKey && rankOf(constraint.value) !== Rank.maxKey)

const isUsable = (index: Index, constraints: ReadonlyArray<Constraint>): boolean =>
  isSearchable(index) && !isSparseMiss(index, constraints) && index.part?.isImpliedBy(constraints) !== false

// The only entry of a unique index that a match can have.
const entryOf = (index: Index, constraints: ReadonlyArray<Constraint>): string | undefined => {
  if (constraints.length === 0 || index.description.unique !== true || index.traits.multikey) return undefined
  let entry = ""
  for (const [i, path] of index.paths.entries()) {
    const values = valuesAt(constraints, path)
    if (values?.length !== 1) return undefined
    const key = component(values[0], { inexact: false })
    entry += index.directions[i]?.descending === true ? invert(key) : key
  }
  return isUsable(index, constraints) ? fit(entry, { inexact: false }) : undefined
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
  let prefixes: ReadonlyArray<string> = [""]
  let spans: ReadonlyArray<Bounds> = []
  const constants = new Set<string>()
  const used: Array<string> = []
  for (const [i, path] of index.paths.entries()) {
    // Fields of one array's documents: those of different documents may match.
    if (multikey && used.some((other) => firstSegment(other) === firstSegment(path))) break
    const descending = index.directions[i]?.descending === true
    const values = valuesAt(constraints, path)
    if (values === undefined || values.length * prefixes.length > maxRanges) {
      const bounds = boundsAt(constraints, path, multikey)
      const found = bounds === undefined ? beginningsAt(constraints, path) : [bounds]
      spans = descending ? found.map(({ from, to }) => ({ from: invert(to), to: invert(from) })) : found
      break
    }
    used.push(path)
    if (values.length === 1) constants.add(path)
    const components = values.map((value) => component(value, { inexact: false }))
    prefixes = prefixes.flatMap((prefix) => components.map((text) => prefix + (descending ? invert(text) : text)))
  }
  const order = orderOf(index, sort, constants, areIdsInOrder)
  const isUsed = used.length > 0 || spans.length > 0
  if (!isUsed && order === undefined) return undefined
  if (!isUsable(index, constraints)) return undefined
  const isOrdered = sort.length === 0 || order !== undefined
  const isWhole = index.description.unique === true && used.length === index.paths.length
  const value = (isWhole ? worth.unique : 0) + used.length * worth.equality
    + (spans.length === 0 ? 0 : worth.range)
    + (order === undefined ? 0 : worth.order)
  if (isWhole && !multikey) {
    const keys = Array.from(new Set(prefixes.map((prefix) => fit(prefix, { inexact: false })))).toSorted()
    return {
      plan: {
        kind: "entries",
        index,
        keys: order === "down" ? keys.toReversed() : keys,
        isOrdered: isOrdered || keys.length <= 1
      },
      worth: value
    }
  }
  const ranges = prefixes
    .flatMap((prefix) =>
      spans.length === 0
        ? [prefix === "" ? everything : fitRange(prefix, prefix)]
        : spans.map(({ from, to }) => fitRange(prefix + from, prefix + to))
    )
    .toSorted((a, b) => a.start < b.start ? -1 : a.start > b.start ? 1 : 0)
    .map((range) => ({ ...range, reverse: order === "down" }))
  return {
    plan: { kind: "scan", index, ranges: distinct(order === "down" ? ranges.toReversed() : ranges), isOrdered },
    worth: value
  }
}

// Long keys that begin alike have the same range.
const distinct = (ranges: ReadonlyArray<Range>): ReadonlyArray<Range> =>
  ranges.filter((range, i) => i === 0 || range.start !== ranges[i - 1]?.start)

const firstSegment = (path: string): string => path.split(".", 1)[0] ?? path

/** Which way an index has to be read for its entries to come in the order of a sort. */
const orderOf = (
  index: Index,
  sort: ReadonlyArray<Direction>,
  constants: ReadonlySet<string>,
  areIdsInOrder: boolean
): "up" | "down" | undefined => {
  const { description, directions, paths, traits } = index
  if (sort.length === 0 || traits.multikey || traits.inexact) return undefined
  let way: "up" | "down" | undefined
  let at = 0
  for (const { descending, path } of sort) {
    const name = path.join(".")
    if (constants.has(name)) continue
    while (at < paths.length && paths[at] !== name && constants.has(paths[at] ?? "")) at += 1
    // After all values, entries are in the order of the identifiers; where values are unique, there is none to have.
    const isId = at === paths.length && name === "_id"
    if (isId && description.unique === true) break
    if (isId ? !areIdsInOrder : paths[at] !== name) return undefined
    const step = descending === (isId ? isTurned(index) : directions[at]?.descending) ? "up" : "down"
    if (way !== undefined && way !== step) return undefined
    way = step
    at += 1
    if (isId) break
  }
  return way ?? "up"
}
