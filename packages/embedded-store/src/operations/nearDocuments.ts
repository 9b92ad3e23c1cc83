/**
 * Finds documents in the order of their distance from a point, by an index.
 *
 * The search goes outwards in rings. It reads each ring by the cells of the index that cover it, and sorts its documents. So a
 * search for the nearest few documents reads few. A document that moves during the search is returned at most once.
 */
import {
  type BatchIterator,
  beginEvaluation,
  type Direction,
  emptyStep,
  ended,
  type Filter,
  mapEach,
  type Memory,
  type Near,
  type Nearest,
  type Problem,
  queryProblem,
  sorted
} from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import { type Collection, isSearchable } from "../catalog/collection.ts"
import { RecordSet, type StoredDocument } from "../planner/candidates.ts"

export interface NearbyDocument extends StoredDocument {
  readonly nearest: Nearest
}

export type ReadMatches = (filter: Filter) => BatchIterator<StoredDocument>

/** The problem of a search by distance in a collection without an index for it. */
export const nearProblem = (collection: Collection | undefined, { kinds, path }: Near): Problem | undefined =>
  // A missing collection has no index, but a search finds nothing in it and succeeds.
  collection === undefined || collection.indexes.some((index) =>
      isSearchable(index) && index.paths.some((other, i) =>
        other === path && kinds.some((kind) => kind === index.kinds[i])
      )
    )
    ? undefined
    : queryProblem(`a search by distance needs an index of kind ${
      kinds.map((kind) => `"${kind}"`).join(" or ")
    } of "${path}"`)

/** The documents that match a filter with `near`, the nearest one first. */
export const nearbyDocuments = (
  filter: Filter,
  near: Near,
  read: ReadMatches,
  wanted: number,
  memory: Memory
): BatchIterator<NearbyDocument> => {
  const end = Math.min(near.most, near.farthest)
  const visited = new RecordSet()
  let from = near.least
  let width = near.farthest * firstWidth
  let count = 0
  let ring: BatchIterator<NearbyDocument> | undefined
  let isLast = false
  return () => {
    if (ring === undefined) {
      if (isLast || from > near.most) return ended
      const to = Math.min(from + width, end)
      isLast = to >= end
      ring = ringOf({ filter, near, read, wanted, memory }, { from, to, isLast })
      from = to
    }
    const found = ring()
    if (Result.isFailure(found)) return found
    if (found.success === undefined) {
      ring = undefined
      width *= growthAfter(count)
      count = 0
      return emptyStep
    }
    count += found.success.length
    return Result.succeed(found.success.filter(({ recordId }) => visited.add(recordId)))
  }
}

// internal

// The width of the first ring, as a part of the farthest distance: about 200 metres on the Earth.
const firstWidth = 1e-5

// The factor between rings. Few rings are read, since their cells overlap; but a wide ring takes much memory.
const growthAfter = (count: number): number => count < 100 ? 4 : count < 10_000 ? 2 : 1

interface Search {
  readonly filter: Filter
  readonly near: Near
  readonly read: ReadMatches
  readonly wanted: number
  readonly memory: Memory
}

interface Ring {
  readonly from: number
  readonly to: number
  /** Whether the ring includes its outer end. */
  readonly isLast: boolean
}

const ringOf = (
  { filter, memory, near, read, wanted }: Search,
  { from, isLast, to }: Ring
): BatchIterator<NearbyDocument> => {
  const area = near.areaBetween(from, to)
  const ofRing: Filter = {
    ...filter,
    constraints: [{ kind: "area", path: near.path, area, isRing: true }, ...filter.constraints]
  }
  const nearby = mapEach(read(ofRing), (found): NearbyDocument | undefined => {
    beginEvaluation()
    const nearest = near.nearest(found.document)
    return nearest !== undefined && nearest.distance >= from &&
        (nearest.distance < to || (isLast && nearest.distance <= to))
      ? { ...found, nearest }
      : undefined
  })
  return sorted(nearby, ({ nearest: { distance } }) => ({ distance }), byDistance, wanted, memory, sizeOf)
}

const byDistance: ReadonlyArray<Direction> = [{ path: ["distance"], descending: false }]

// A document takes more bytes in memory than on disk. A cached document only takes a slot in the list.
const sizeOf = ({ bytes = 0 }: NearbyDocument): number => 150 + 2 * bytes
