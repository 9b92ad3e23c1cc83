/**
 * The order of the conditions of a filter. What a caller asks for may fail for a document, and the failure tells of the document. So
 * it is marked, and evaluated only for documents that match the other conditions: those on what the caller sees.
 */
import type { Document, Filter } from "../DocumentStore.ts"
import { asLast, conjunctionOf, isLast, isListOfFilters } from "./filters.ts"

/** A filter in two parts. */
interface FilterOrder {
  readonly first: Filter
  /** What is evaluated only for documents that match `first`; `{}` without such a condition. */
  readonly last: Filter
}

/** The filter, marked by `asLast` if it may fail for some documents. */
export const fallibleLast = (filter: Filter): Filter =>
  mayFail(filter) && !holdsLast(filter) ? asLast({ ...filter }) : filter

/** The pipeline, whose filters are marked if one of them may fail for some documents: a store may move each to the beginning. */
export const fallibleMatchesLast = (pipeline: ReadonlyArray<Document>): ReadonlyArray<Document> => {
  const filters = pipeline.flatMap(matchIn)
  return filters.some(mayFail) && !filters.some(holdsLast)
    ? pipeline.map((stage) =>
      matchIn(stage).reduce<Document>((_, filter) => ({ $match: asLast({ ...filter }) }), stage)
    )
    : pipeline
}

/** Whether the filter is marked, or a part of it is. */
export const holdsLast = (filter: Filter): boolean =>
  isLast(filter) || Object.entries(filter).some(([key, operand]) => branchesOf(key, operand).some(holdsLast))

/** The order of a filter with a marked part beside other ones; `undefined`: any order will do. */
export const filterOrderOf = (filter: Filter): FilterOrder | undefined => {
  if (!holdsLast(filter)) return undefined
  const parts = partsOf(filter, isLast)
  const others = parts.filter((part) => !holdsLast(part))
  if (others.length === 0) return undefined
  const asked = parts.filter(holdsLast).flatMap((part) => partsOf(part))
  return {
    // A text search, and what an index helps with, fails for no document.
    first: conjunctionOf(...others, ...asked.filter((part) => !mayFail(part))),
    last: conjunctionOf(...asked.filter(mayFail))
  }
}

// internal

const fallible: ReadonlySet<string> = new Set(["$expr", "$where"])

const mayFail = (filter: Filter): boolean =>
  Object.entries(filter).some(([key, operand]) => fallible.has(key) || branchesOf(key, operand).some(mayFail))

const branchesOf = (key: string, operand: unknown): ReadonlyArray<Filter> =>
  (key === "$and" || key === "$or" || key === "$nor") && isListOfFilters(operand) ? operand : []

const matchIn = ({ $match }: Document): ReadonlyArray<Filter> => {
  const filters: unknown = [$match]
  return isListOfFilters(filters) ? filters : []
}

/** The conditions that all have to be met, each by itself. */
const partsOf = (filter: Filter, isWhole: (filter: Filter) => boolean = () => false): ReadonlyArray<Filter> =>
  isWhole(filter) ? [filter] : Object.entries(filter).flatMap(([key, operand]) => {
    const branches = key === "$and" ? branchesOf(key, operand) : []
    return branches.length > 0 ? branches.flatMap((branch) => partsOf(branch, isWhole)) : [{ [key]: operand }]
  })
