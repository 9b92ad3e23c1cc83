/** Scans a table merged with changes that replace its values. */
import type { Range, Table, Visit } from "./orderedStore.ts"

/** A value that replaces the one of a table; `undefined` removes it. */
export interface TableChange<Value> {
  readonly key: string
  readonly value: Value | undefined
}

/** Gives the changes in a range, one after the other. */
export type TableChanges<Value> = (range: Range) => () => TableChange<Value> | undefined

/** Implements {@link Table.scan} of a table with changes. */
export const scanMerged = <Value>(
  base: Pick<Table<Value>, "scan">,
  changes: TableChanges<Value>,
  range: Range,
  visit: Visit<string, Value>
): void =>
  merge(
    range,
    changes,
    visit,
    (see) => base.scan(range, (key, value, bytes) => see(key, () => visit(key, value, bytes)))
  )

/** Implements {@link Table.scanKeys} of a table with changes. */
export const scanMergedKeys = <Value>(
  base: Pick<Table<Value>, "scanKeys">,
  changes: TableChanges<Value>,
  range: Range,
  visit: (key: string) => boolean
): void => merge(range, changes, visit, (see) => base.scanKeys(range, (key) => see(key, () => visit(key))))

/** Merges the changes into the scan of the base, in the order of the keys. */
const merge = <Value>(
  range: Range,
  changes: TableChanges<Value>,
  visit: Visit<string, Value>,
  scanBase: (see: (key: string, visit: () => boolean) => boolean) => void
): void => {
  const nextChange = changes(range)
  let change = nextChange()
  let isDone = false
  const next = (): void => {
    change = nextChange()
  }
  const show = ({ key, value }: TableChange<Value>): boolean => {
    isDone = value !== undefined && !visit(key, value, 0)
    return !isDone
  }
  scanBase((key, visitBase) => {
    // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- `next` changes it
    while (change !== undefined && (range.reverse ? change.key > key : change.key < key)) {
      if (!show(change)) return false
      next()
    }
    if (change?.key === key) {
      const isMore = show(change)
      next()
      return isMore
    }
    isDone = !visitBase()
    return !isDone
  })
  // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- `show` and `next` change them
  while (!isDone && change !== undefined) {
    if (show(change)) next()
  }
}
