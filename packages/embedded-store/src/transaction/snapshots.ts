/**
 * Snapshots of the embedded store's tables (multi-version concurrency control).
 *
 * A snapshot reads the state of the last commit before it was opened, and knows which keys have been written since. Each
 * write passes the value that it replaces. Replaced values stay in memory until the write is committed and no older
 * snapshot is open. When they exceed a limit, the oldest snapshots expire: their transactions are aborted, and their other
 * reads continue with the last commit.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { DataDamaged } from "@appkernel/document-store/StoreError"
import { memoryOf } from "@appkernel/mql/internal"
import { MemoryTable } from "../storage/memory/memoryTable.ts"
import { scanMerged, scanMergedKeys, type TableChange } from "../storage/mergedTable.ts"
import {
  type Encoded,
  everything,
  keyAtBy,
  type Listener,
  type Range,
  type ReadTable,
  type SteppedKeyValue,
  type Table,
  visitEach,
  type WatchedKeyValue
} from "../storage/orderedStore.ts"

/** A state of the store. Must be closed. */
export interface Snapshot {
  readonly documents: (collection: number) => VersionedTable<Document>
  readonly entries: (index: number) => VersionedTable<string>
  /** Whether replaced values that the snapshot needs were dropped. It then shows the last commit. */
  readonly isExpired: () => boolean
  readonly close: () => void
}

/** A table in the state of a snapshot. */
export interface VersionedTable<Value> extends ReadTable<Value> {
  /** Whether one of these keys or ranges was written since the snapshot, by a committed write or not. */
  readonly isWritten: (keys: ReadonlySet<string>, ranges: Iterable<Range>) => boolean
}

export interface Versions {
  /** The store, which records its writes for snapshots. */
  readonly store: SteppedKeyValue & WatchedKeyValue
  readonly open: () => Snapshot
}

export const makeVersions = (store: SteppedKeyValue): Versions => {
  const log = new Log()
  const documents = new Map<number, Versioned<Document, Encoded>>()
  const entries = new Map<number, Versioned<string>>()
  let listener: Listener | undefined
  store.listen({
    describe: (damage) => listener?.describe(damage) ?? new DataDamaged({ collection: "an unknown collection" }),
    committed: () => {
      log.commit()
      listener?.committed()
    },
    aborted: () => {
      log.abort()
      listener?.aborted()
    }
  })
  const documentsOf = (collection: number) => versionedOf(documents, collection, store.documents, log)
  const entriesOf = (index: number) => versionedOf(entries, index, store.entries, log)
  return {
    store: {
      ...store,
      documents: (collection) => documentsOf(collection).table,
      entries: (index) => entriesOf(index).table,
      watch: (collection) => {
        const state = log.open()
        return {
          written: () => state.isExpired ? undefined : documentsOf(collection).writtenSince(state.commit),
          close: () => log.close(state)
        }
      },
      listen: (given) => {
        listener = given
      }
    },
    open: () => {
      const state = log.open()
      return {
        documents: (collection) => documentsOf(collection).at(state),
        entries: (index) => entriesOf(index).at(state),
        isExpired: () => state.isExpired,
        close: () => log.close(state)
      }
    }
  }
}

// internal

// The memory of replaced values above which the oldest snapshots expire.
const maxBytes = 256 * 1024 * 1024

const forgottenPerCommit = 256

// A key in the table, its version, and the record of the change.
const bytesPerChange = 300

interface State {
  /** The last visible commit. */
  readonly commit: number
  isExpired: boolean
}

interface Version<Value> {
  /** The commit that replaced the value. */
  readonly commit: number
  readonly before: Value | undefined
}

/** {@link ReplacedValues} of any type. */
interface AnyReplacedValues {
  add(key: string, version: Version<unknown>): void
  remove(key: string, commit: number): void
  clear(): void
}

interface Replaced {
  readonly replaced: AnyReplacedValues
  readonly key: string
  readonly before: unknown
  /** The memory that the replaced value takes; 0 until a snapshot may need it. */
  bytes: number
}

interface Commit {
  readonly number: number
  readonly changes: ReadonlyArray<Replaced>
}

/** The replaced values of a table, for each key from the oldest version to the latest. */
class ReplacedValues<Value> {
  #versions = new MemoryTable<Array<Version<Value>>>()
  #keys = 0

  get isEmpty(): boolean {
    return this.#keys === 0
  }

  clear(): void {
    this.#versions = new MemoryTable()
    this.#keys = 0
  }

  add(key: string, version: Version<Value>): void {
    const versions = this.#versions.get(key)
    if (versions === undefined) {
      this.#keys += 1
      this.#versions.put(key, [version])
    } else if (versions.at(-1)?.commit !== version.commit) versions.push(version)
  }

  /** Removes the version of a key that a commit replaced. */
  remove(key: string, commit: number): void {
    const versions = this.#versions.get(key)
    const place = versions?.findIndex((version) => version.commit === commit) ?? -1
    if (versions === undefined || place < 0) return
    versions.splice(place, 1)
    if (versions.length > 0) return
    this.#keys -= 1
    this.#versions.remove(key)
  }

  /** The version of a key after a commit; `undefined` if the key was not written since. */
  at(key: string, commit: number): Version<Value> | undefined {
    return this.#versions.get(key)?.find((version) => version.commit > commit)
  }

  changesIn(range: Range, commit: number): () => TableChange<Value> | undefined {
    const entry = this.#versions.entriesIn(range)
    return () => {
      while (entry.next()) {
        const version = entry.value.find((version) => version.commit > commit)
        if (version !== undefined) return { key: entry.key, value: version.before }
      }
      return undefined
    }
  }

  since(commit: number): ReadonlyArray<string> {
    return Array.from(this.#versions.entries(), ([key]) => key).filter((key) => this.at(key, commit) !== undefined)
  }

  isWritten(keys: ReadonlySet<string>, ranges: Iterable<Range>, commit: number): boolean {
    if (this.isEmpty) return false
    for (const range of ranges) if (this.changesIn(range, commit)() !== undefined) return true
    if (keys.size <= this.#keys) {
      for (const key of keys) if (this.at(key, commit) !== undefined) return true
      return false
    }
    let isWritten = false
    this.#versions.scanKeys(everything, (key) => {
      isWritten = keys.has(key) && this.at(key, commit) !== undefined
      return !isWritten
    })
    return isWritten
  }
}

/** The values replaced by uncommitted writes, and by commits that are newer than the oldest open snapshot. */
class Log {
  #commit = 0
  #pending: Array<Replaced> = []
  #bytes = 0
  readonly #commits: Array<Commit> = []
  /** The last commit whose replaced values no snapshot needs, and how many changes of the first commit are removed. */
  #forgotten = { to: 0, changes: 0 }
  /** The open snapshots from the oldest to the latest. */
  readonly #states = new Set<State>()
  readonly #tables = new Set<AnyReplacedValues>()

  replace(change: Replaced): void {
    this.#pending.push(change)
    if (this.#states.size > 0) this.#add(change)
  }

  #add(change: Replaced): void {
    const { before, key, replaced } = change
    this.#tables.add(replaced)
    replaced.add(key, { commit: this.#commit + 1, before })
    change.bytes = bytesPerChange + memoryOf(before)
    this.#bytes += change.bytes
  }

  commit(): void {
    this.#commit += 1
    const changes = this.#pending
    if (changes.length === 0) return
    this.#pending = []
    if (this.#states.size === 0) return
    this.#commits.push({ number: this.#commit, changes })
    this.#forget(changes.length + forgottenPerCommit)
    // Snapshots expire only when no removable values are left.
    if (this.#bytes > maxBytes && (this.#commits[0]?.number ?? 0) > this.#forgotten.to) this.#expire()
  }

  abort(): void {
    for (const { bytes, key, replaced } of this.#states.size > 0 ? this.#pending : []) {
      replaced.remove(key, this.#commit + 1)
      this.#bytes -= bytes
    }
    this.#pending = []
  }

  open(): State {
    if (this.#states.size === 0) { for (const change of this.#pending) this.#add(change) }
    const state = { commit: this.#commit, isExpired: false }
    this.#states.add(state)
    return state
  }

  close(state: State): void {
    if (!this.#states.delete(state)) return
    const [oldest] = this.#states
    if (oldest === undefined) this.#clear()
    else this.#forgotten.to = oldest.commit
  }

  /** Expires the snapshots that need the oldest values. */
  #expire(): void {
    const [oldest] = this.#states
    for (const state of this.#states) {
      if (state.commit !== oldest?.commit) break
      state.isExpired = true
      this.close(state)
    }
  }

  #clear(): void {
    for (const table of this.#tables) table.clear()
    this.#tables.clear()
    this.#commits.length = 0
    this.#forgotten = { to: 0, changes: 0 }
    this.#bytes = 0
  }

  /** Removes some changes that no snapshot needs: a few with each commit, so that no commit takes long. */
  #forget(count: number): void {
    for (let left = count; left > 0; left--) {
      const [first] = this.#commits
      if (first === undefined || first.number > this.#forgotten.to) return
      const change = first.changes[this.#forgotten.changes]
      if (change === undefined) {
        this.#commits.shift()
        this.#forgotten.changes = 0
      } else {
        change.replaced.remove(change.key, first.number)
        this.#bytes -= change.bytes
        this.#forgotten.changes += 1
      }
    }
  }
}

interface Versioned<Value, Written = Value> {
  /** The table, which records its writes for snapshots. */
  readonly table: Table<Value, Written>
  readonly at: (state: State) => VersionedTable<Value>
  readonly writtenSince: (commit: number) => ReadonlyArray<string>
}

const versionedOf = <Value, Written>(
  known: Map<number, Versioned<Value, Written>>,
  number: number,
  tableOf: (number: number) => Table<Value, Written>,
  log: Log
): Versioned<Value, Written> => {
  const there = known.get(number)
  if (there !== undefined) return there
  const base = tableOf(number)
  const replaced = new ReplacedValues<Value>()
  const made: Versioned<Value, Written> = {
    table: {
      ...base,
      put: (key, value, before) => {
        log.replace({ replaced, key, before, bytes: 0 })
        base.put(key, value, before)
      },
      remove: (key, before) => {
        log.replace({ replaced, key, before, bytes: 0 })
        base.remove(key, before)
      }
    },
    at: (state) => tableAt(base, replaced, state),
    writtenSince: (commit) => replaced.since(commit)
  }
  known.set(number, made)
  return made
}

const tableAt = <Value>(
  base: ReadTable<Value>,
  replaced: ReplacedValues<Value>,
  state: State
): VersionedTable<Value> => {
  const { commit } = state
  const isUnchanged = () => replaced.isEmpty || state.isExpired
  const get = (key: string): Value | undefined => {
    const version = isUnchanged() ? undefined : replaced.at(key, commit)
    return version === undefined ? base.get(key) : version.before
  }
  const changes = (range: Range) => replaced.changesIn(range, commit)
  return {
    get,
    has: (key) => isUnchanged() ? base.has(key) : get(key) !== undefined,
    visit: (keys, visit) => isUnchanged() ? base.visit(keys, visit) : visitEach(keys, get, visit),
    scan: (range, visit) => isUnchanged() ? base.scan(range, visit) : scanMerged(base, changes, range, visit),
    scanKeys: (range, visit) =>
      isUnchanged() ? base.scanKeys(range, visit) : scanMergedKeys(base, changes, range, visit),
    keyAt: (range, place) =>
      isUnchanged()
        ? base.keyAt(range, place)
        : keyAtBy((range, visit) => scanMergedKeys(base, changes, range, visit), range, place),
    isWritten: (keys, ranges) => replaced.isWritten(keys, ranges, commit)
  }
}
