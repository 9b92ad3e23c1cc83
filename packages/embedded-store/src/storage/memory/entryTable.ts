/**
 * The entries of an index in memory, with the numbers of records. To make a record id takes less time than to read one that is
 * scattered in memory, and each is an object.
 */
import { numberOfRecord, recordIdOf } from "@appkernel/mql/internal"
import { type Range, type Table, type Visit, visitEach } from "../orderedStore.ts"
import { MemoryTable } from "./memoryTable.ts"

/** A table in memory of record ids. */
export class EntryTable implements Table<string> {
  readonly #numbers = new MemoryTable<number>()

  readonly get = (key: string): string | undefined => {
    const number = this.#numbers.get(key)
    return number === undefined ? undefined : recordIdOf(number)
  }

  readonly visit = (keys: ReadonlyArray<string>, visit: Visit<number, string>): void => visitEach(keys, this.get, visit)

  readonly has = (key: string): boolean => this.#numbers.has(key)

  readonly put = (key: string, recordId: string): void => this.#numbers.put(key, numberOfRecord(recordId))

  readonly remove = (key: string): void => this.#numbers.remove(key)

  readonly scan = (range: Range, visit: Visit<string, string>): void =>
    this.#numbers.scan(range, (key, number, bytes) => visit(key, recordIdOf(number), bytes))

  readonly scanKeys = (range: Range, visit: (key: string) => boolean): void => this.#numbers.scanKeys(range, visit)

  readonly keyAt = (range: Range, place: number): string | undefined => this.#numbers.keyAt(range, place)

  readonly countIn = (range: Range): number => this.#numbers.countIn(range)
}
