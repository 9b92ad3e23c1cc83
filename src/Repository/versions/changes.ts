/** What the earlier versions of documents mean for queries. */
import { allOf, holdsLast } from "@appkernel/document-store/shared"
import { isArray, isDocument } from "@appkernel/mql/values"
import { memoize } from "effect/Function"
import { keptField, modelVersionField } from "../../Model/internal.ts"
import { fieldsOfFilter, topFieldOf } from "../collection/documentFields.ts"
import { holdingRowFilters, rowFiltersIn } from "../collection/rowFilterMarks.ts"
import type { Document, Filter, IndexDescription } from "../DocumentStore.ts"
import { unreadableField } from "../query/unreadable.ts"
import type { State } from "./agreement.ts"
import type { ModelVersions } from "./modelVersions.ts"
import { deferredIndexes, fieldsOfIndex } from "./versionIndexes.ts"

/** What differs between the versions that may be stored. */
export interface Changes extends State {
  /** Whether documents of several versions may be stored. */
  readonly isMixed: boolean
  /** Whether fields, or paths in them, may differ. */
  readonly concern: (paths: Iterable<string>) => boolean
  /** Whether a filter depends on fields that may differ. */
  readonly concernFilter: (filter: Filter) => boolean
  /** Whether an update of these paths depends on fields that may differ, or changes what has to be unique with them. */
  readonly concernUpdate: (paths: ReadonlyArray<string>) => boolean
  /** The unique indexes that can't be installed before every document is stored in the newest version. */
  readonly deferred: ReadonlyArray<IndexDescription>
  /**
   * A filter of the store for all documents that may match, and the stages that test them. It is no search in an index for a
   * changed field: a document that is upgraded meanwhile would be missed between two of them. A document that can't be read
   * matches no condition on changed fields.
   */
  readonly searchFor: (filter: Filter) => Search
}

interface Search {
  readonly stored: Filter
  readonly stages: ReadonlyArray<Document>
  readonly isTextSearch?: boolean
  /** Whether row filters of a caller concern changed fields: an identifier does not find a document that can't be read. */
  readonly isReadableOnly: boolean
}

export const changesOf = (
  versions: ModelVersions,
  indexes: ReadonlyArray<IndexDescription>,
  isView = false
): (state: State) => Changes => {
  const textFields = indexes.flatMap(({ key }) =>
    Object.entries(key).flatMap(([path, kind]) => kind === "text" ? [path] : [])
  )
  const make = (state: State): Changes => {
    const changed = versions.changedSince(state.earliest)
    const concern = (paths: Iterable<string>) => {
      for (const path of paths) if (changed.has(topFieldOf(path))) return true
      return false
    }
    const concernFilter = ({ $text, ...filter }: Filter): boolean => {
      if (changed.size === 0) return false
      const fields = fieldsOfFilter(filter)
      return fields === undefined || concern(fields) || $text !== undefined && concern(textFields)
    }
    const deferred = deferredIndexes(versions, indexes, state)
    const unique = new Set(deferred.flatMap(fieldsOfIndex))
    return {
      ...state,
      isMixed: changed.size > 0,
      concern,
      concernFilter,
      concernUpdate: (paths) => concern(paths) || paths.some((path) => unique.has(topFieldOf(path))),
      deferred,
      searchFor: (filter) => {
        if (!concernFilter(filter)) return { stored: filter, stages: [], isReadableOnly: false }
        const rows = rowFiltersIn(filter)
        const conditions = Object.entries(filter).flatMap(([key, operand]) =>
          key === "$and" && isArray(operand) ? operand.filter(isDocument) : [{ [key]: operand }]
        )
        const [different, same] = partition(conditions, concernFilter)
        // Documents of the newest version are tested by the store as well, but for what has to be evaluated after the other conditions.
        const tested = different.filter((condition) => !holdsLast(condition))
        const isTested = { [modelVersionField]: versions.newest, [keptField]: null, $nor: [{ $and: tested }] }
        const together = allOf(...same) ?? {}
        return {
          // A view reads through the collection of the newest version, whose earlier ones may differ in fields that are the same here.
          stored: isView
            ? rows.length === 0 ? together : holdingRowFilters({ $and: [together] }, rows)
            : tested.length === 0
            ? together
            : { $and: [...same, { $nor: [isTested] }] },
          stages: [{ $match: { [unreadableField]: { $exists: false } } }, { $match: { $and: different } }],
          isTextSearch: different.some((condition) => Object.hasOwn(condition, "$text")),
          isReadableOnly: rows.some(concernFilter)
        }
      }
    }
  }
  return memoize(make)
}

// internal

const partition = <A>(items: ReadonlyArray<A>, test: (item: A) => boolean) =>
  [items.filter(test), items.filter((item) => !test(item))] as const
