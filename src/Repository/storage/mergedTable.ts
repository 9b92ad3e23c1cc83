import type { Range, Table, Visit } from "./orderedStore.ts"

/**
 * A value that stands in the place of that of another table, or `undefined` where there is none.
 *
 * @internal
 */
export interface Change<Value> {
  readonly key: string
  readonly value: Value | undefined
}

/**
 * Finds the first change in a range.
 *
 * @internal
 */
export type FirstChange<Value> = (range: Range) => Change<Value> | undefined

/**
 * {@link Table.scan} of a table with changes.
 *
 * @internal
 */
export const scanMerged = <Value>(
  base: Pick<Table<Value>, "scan">,
  first: FirstChange<Value>,
  range: Range,
  visit: Visit<string, Value>
): void =>
  merge(
    range,
    first,
    visit,
    (see) => base.scan(range, (key, value, bytes) => see(key, () => visit(key, value, bytes)))
  )

/**
 * {@link Table.scanKeys} of a table with changes.
 *
 * @internal
 */
export const scanMergedKeys = <Value>(
  base: Pick<Table<Value>, "scanKeys">,
  first: FirstChange<Value>,
  range: Range,
  visit: (key: string) => boolean
): void => merge(range, first, visit, (see) => base.scanKeys(range, (key) => see(key, () => visit(key))))

/** Shows changes between what is there, and in its place. */
const merge = <Value>(
  range: Range,
  first: FirstChange<Value>,
  visit: Visit<string, Value>,
  scanBase: (see: (key: string, visit: () => boolean) => boolean) => void
): void => {
  let change = first(range)
  let isDone = false
  const next = (key: string): void => {
    change = first(range.reverse ? { ...range, end: key } : { ...range, start: `${key}\0` })
  }
  const show = ({ key, value }: Change<Value>): boolean => {
    isDone = value !== undefined && !visit(key, value, 0)
    return !isDone
  }
  scanBase((key, visitBase) => {
    // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- `next` changes it
    while (change !== undefined && (range.reverse ? change.key > key : change.key < key)) {
      if (!show(change)) return false
      next(change.key)
    }
    if (change?.key === key) {
      const isMore = show(change)
      next(key)
      return isMore
    }
    isDone = !visitBase()
    return !isDone
  })
  // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- `show` and `next` change them
  while (!isDone && change !== undefined) {
    if (show(change)) next(change.key)
  }
}
