/** The records of changes as they are stored: what they say, and where they are in the log. */
import type { Document, Position, StoredChange } from "@appkernel/document-store/DocumentStore"
import { dateOf, isArray, isDocument, numberOfRecord, recordIdOf } from "@appkernel/mql/internal"
import { everything, type Range, type ReadTable, type ReadTables } from "../storage/orderedStore.ts"
import { documentsOfRecord, headOf, type RecordHead, storedChange } from "./changeRecord.ts"

/** A stored record. */
export interface NumberedRecord extends RecordHead {
  readonly number: number
  /** Decodes the documents of the change. */
  readonly change: () => StoredChange
}

/** The tables that records are read from. */
export interface RecordTables extends Pick<ReadTables, "documents"> {
  readonly catalog: Pick<ReadTable<Document>, "get">
}

export class ChangeRecords {
  readonly #tables: RecordTables
  /** The log as it is in the catalog, or as the pending jobs leave it there. */
  protected log: Log

  constructor(tables: RecordTables) {
    this.#tables = tables
    this.log = this.load()
  }

  protected load(): Log {
    const { epochs, table } = this.#tables.catalog.get(logKey) ?? {}
    return {
      table: Number(table ?? 0),
      epochs: (isArray(epochs) ? epochs : []).filter(isDocument).map(({ from, id }) => ({
        id: String(id),
        from: Number(from)
      }))
    }
  }

  #records(): ReadTable<Document> {
    return this.#tables.documents(this.log.table)
  }

  /** Whether the log has been made. */
  get exists(): boolean {
    return this.log.table > 0
  }

  /** For reads: the last visible record, of which documents are never newer. */
  get end(): number {
    const last = this.#records().keyAt({ ...everything, reverse: true }, 0)
    return last === undefined ? 0 : numberOfRecord(last)
  }

  /** For reads: the number of the last removed record. */
  get trimmed(): number {
    const first = this.firstAfter(0)
    return first === undefined ? 0 : first - 1
  }

  /** For reads: the number of the first record after a number. */
  firstAfter(number: number): number | undefined {
    const first = this.#records().keyAt({ ...everything, start: recordIdOf(number + 1) }, 0)
    return first === undefined ? undefined : numberOfRecord(first)
  }

  /** For reads: visits the records after a number. */
  scan(after: number, visit: (record: NumberedRecord, bytes: number) => boolean): void {
    const range: Range = { ...everything, start: recordIdOf(after + 1) }
    this.#records().scan(range, (key, record, bytes) => {
      const number = numberOfRecord(key)
      const head = headOf(record)
      const change = () => {
        const { after, before } = documentsOfRecord(record)
        return storedChange(this.factsOf(number, head), before, after)
      }
      return visit({ ...head, number, change }, bytes)
    })
  }

  /** For reads: the number before the first record since a time, of those after a number. Records have the order of their times. */
  before(number: number, time: number): number {
    let [low, high] = [number, this.end]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      let isBefore = false
      this.scan(middle, (record) => {
        isBefore = record.time < time
        return false
      })
      if (isBefore) low = middle + 1
      else high = middle
    }
    return low
  }

  positionOf(number: number): Position {
    return `${paddedNumber(number)}_${this.#epochOf(number)}`
  }

  /** For reads: the number of a position; `undefined` if the position is not of this log. */
  numberOf(position: Position): number | undefined {
    const [, digits, epoch] = /^(\d{16})_([0-9a-f]*)$/u.exec(position) ?? []
    const number = Number(digits)
    return digits !== undefined && number <= this.end && this.#epochOf(number) === epoch ? number : undefined
  }

  transactionOf(number: number): string {
    return paddedNumber(number)
  }

  /** The epoch of a record; an empty text before the first epoch. */
  #epochOf(number: number): string {
    return this.log.epochs.findLast(({ from }) => from <= number)?.id ?? ""
  }

  protected factsOf(number: number, { collection, time, transaction, who }: RecordHead) {
    return {
      position: this.positionOf(number),
      transaction: this.transactionOf(transaction),
      collection,
      time: dateOf(time),
      ...who === undefined ? {} : { who }
    }
  }
}

// internal

export interface Log {
  /** The number of its table; 0 if it has not been made. */
  readonly table: number
  readonly epochs: ReadonlyArray<{ readonly id: string; readonly from: number }>
}

export const logKey = "changes"

/** The number of the table with the records, by the definitions in a folder; `undefined` without a log. */
export const logTableIn = (catalog: ReadonlyMap<string, Document>): number | undefined => {
  const { table } = catalog.get(logKey) ?? {}
  return table === undefined ? undefined : Number(table)
}

// Texts of one length have the order of their numbers.
const paddedNumber = (number: number): string => String(number).padStart(16, "0")
