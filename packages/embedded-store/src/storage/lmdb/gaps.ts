/**
 * The places of damaged keys. A damaged value may have been anywhere between its neighbours, so that nothing can be said
 * of a key between them.
 */
import { rethrow } from "@appkernel/document-store/internal"
import type { Range, Table } from "../orderedStore.ts"
import { DamagedValue } from "./checksum.ts"

/** The keys after `start` and before `end`. */
export interface Gap {
  readonly start: string
  readonly end: string
}

/** A table that fails where a damaged value may have been. */
export const withGaps = <Value, Written>(
  table: Table<Value, Written>,
  gaps: ReadonlyArray<Gap>,
  kind: DamagedValue["table"],
  number: number
): Table<Value, Written> => {
  if (gaps.length === 0) return table
  const fail = (key: string) => rethrow(new DamagedValue(kind, number, key, undefined))
  const check = (key: string): void => {
    if (gaps.some(({ end, start }) => key > start && key < end)) fail(key)
  }
  const checkRange = (range: Range): void => {
    if (gaps.some(({ end, start }) => range.start < end && range.end > start)) fail(range.start)
  }
  return {
    ...table,
    get: (key) => {
      const value = table.get(key)
      if (value === undefined) check(key)
      return value
    },
    has: (key) => {
      const isThere = table.has(key)
      if (!isThere) check(key)
      return isThere
    },
    visit: (keys, visit) => {
      for (const key of keys) if (!table.has(key)) check(key)
      table.visit(keys, visit)
    },
    // A scan of documents meets the damaged one itself.
    ...kind === "documents" ? {} : {
      scan: (range, visit) => {
        checkRange(range)
        table.scan(range, visit)
      },
      scanKeys: (range, visit) => {
        checkRange(range)
        table.scanKeys(range, visit)
      },
      countLearned: (range) => {
        checkRange(range)
        return table.countLearned?.(range)
      }
    }
  }
}
