/**
 * Plans which documents are read for a filter and a sort, and by which index.
 *
 * A plan yields a superset of the matches, and the filter is still evaluated for each document, unless the only range of the plan
 * says all of it. Rules leave the plans of which no other one is better for certain, the likely best first: that by a unique index
 * whose paths all have values, then by the index with the most equalities, ranges and order. `planChoice.ts` chooses among them
 * by the indexes' own counts.
 */
import {
  type Collator,
  type Constraint,
  type Direction,
  encodeComponent,
  invert,
  isWhole,
  type LazySequence,
  limitedRange,
  limitLength,
  Rank,
  rankOf,
  sequenceOf
} from "@appkernel/mql/internal"
import { type Collection, type Index, isGeographic, isSearchable, textIndexOf } from "../catalog/collection.ts"
import { hasUniqueKeys, isIdDescending, wordKey } from "../catalog/indexKeys.ts"
import { everything, type Range } from "../storage/orderedStore.ts"
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
  readonly index: Index
  readonly plan: () => Plan
  readonly worth: number
  /** The paths whose constraints limit what is read. */
  readonly limiting: ReadonlyArray<string>
  readonly isInOrder: boolean
}

/** At least one. */
export type Plans = readonly [Plan, ...ReadonlyArray<Plan>]

// With more keys, a scan of the index is cheaper than a lookup of each.
const maxKeys = 100_000

const worth = { unique: 1000, equality: 10, range: 5, location: 7, order: 6, ring: 500 }

/** The plans for constraints and a sort, the likely best first. With `words`, every match contains one of them. */
export const plansOf = (
  collection: Collection,
  given: ReadonlyArray<Constraint>,
  sort: ReadonlyArray<Direction>,
  words?: ReadonlyArray<string>,
  collator?: Collator
): Plans => {
  const { identifiers, indexes } = collection
  const texts = words === undefined ? undefined : textIndexOf(collection)
  // An order by scores is that of no index.
  const wanted = texts === undefined ? sort : []
  const candidates: Array<Candidate> = []
  for (const index of [identifiers, ...indexes]) {
    const constraints = constraintsFor(index, given, collator)
    // No plan is better than a single entry.
    const entry = index === identifiers ? undefined : entryOf(index, constraints)
    if (entry !== undefined) return [{ kind: "entries", index, keys: sequenceOf([entry]), isOrdered: true }]
    const candidate = ofIndex(index, constraints, wanted, !identifiers.traits.inexact)
    if (candidate?.isSingle === true) return [candidate.plan()]
    if (candidate !== undefined && (texts === undefined || candidate.limiting.length > 0)) candidates.push(candidate)
  }
  if (texts !== undefined && words !== undefined) {
    const isOrdered = sort.length === 0
    return [
      { ...byWords(texts, words), isOrdered },
      ...undominated(candidates).map(({ plan }) => ({ ...plan(), isOrdered }))
    ]
  }
  const [best, ...others] = undominated(candidates)
  if (best === undefined) return [{ kind: "all", isOrdered: sort.length === 0 }]
  // What is near is read ring by ring.
  return best.worth >= worth.ring && best.worth < worth.unique
    ? [best.plan()]
    : [best.plan(), ...others.map(({ plan }) => plan())]
}

/** The candidates of which no other one reads less for certain, the one of the most worth first. */
const undominated = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  if (candidates.length < 2) return candidates
  const kept: Array<Candidate> = []
  for (const candidate of candidates.toSorted((one, other) => other.worth - one.worth)) {
    if (!kept.some((other) => isDominated(candidate, other))) kept.push(candidate)
  }
  return kept
}

/** Whether the other candidate reads a part of what this one reads, in its order. */
const isDominated = ({ index, isInOrder, limiting }: Candidate, other: Candidate): boolean =>
  (other.isInOrder || !isInOrder) && (!other.index.traits.multikey || index.traits.multikey) &&
  index.part === undefined && index.description.sparse !== true && limiting.every((path) =>
    other.limiting.includes(path)
  )

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

const byWords = (index: Index, words: ReadonlyArray<string>): Plan => ({
  kind: "scan",
  index,
  ranges: sequenceOf(words.map(wordKey).toSorted().map((key) => ({ ...limitedRange(key, key), reverse: false }))),
  isOrdered: false
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
): Candidate & { readonly isSingle: boolean } | undefined => {
  const [begins] = index.paths
  if (sort[0]?.path.join(".") !== begins && !constraints.some(({ path }) => path === begins)) return undefined
  const { multikey } = index.traits
  let spans: ReadonlyArray<Bounds> = []
  let isLocated = false
  let spanned: string | undefined
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
      spanned = path
      break
    }
    const values = valuesAt(constraints, path)
    if (values === undefined) {
      const bounds = exactBoundsAt(constraints, path, index) ?? boundsAt(constraints, path, index)
      const found = bounds === undefined ? beginningsAt(constraints, path) : [bounds]
      spans = descending ? found.map(inverted).toReversed() : found
      spanned = path
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
    index,
    plan: () => planBy(index, { used, choices, spans }, isFullKey && !multikey, { sort, order }),
    limiting: spanned === undefined || spans.length === 0 ? used : [...used, spanned],
    isInOrder: sort.length > 0 && order !== undefined,
    isSingle: isFullKey && !multikey && choices.every((choice) => choice.length === 1),
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
