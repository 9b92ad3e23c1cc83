/** The records of jobs in the store of documents: their collection, its indexes, and how they are read. */
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { randomUUID } from "node:crypto"
import type { IndexDescription } from "../../Repository/DocumentStore.ts"

/** The name of the collection. */
export const queuedJobs = "QueuedJob"

/**
 * The records that wait or run, since these two states come after `dead` and `done`. Each has the time `due` from which on it can be taken:
 * that of the next attempt, or, while somebody works on it, the end of the lock. A search with this filter uses the partial index of them.
 */
export const pending = { state: { $gte: "running" } } as const

/** A record is in as few indexes as possible, since each of them is written with it. */
export const recordIndexes: ReadonlyArray<IndexDescription> = [
  { name: "pending_1", key: { queue: 1, due: 1 }, partialFilterExpression: pending },
  { name: "ended_1", key: { state: 1, ended: 1 }, partialFilterExpression: { state: { $lte: "done" } } },
  { name: "dead_1", key: { queue: 1 }, partialFilterExpression: { state: "dead" } }
]

/** The indexes of an earlier release, which had every record. */
export const earlierIndexes: ReadonlyArray<string> = ["queue_1_due_1", "queue_1_state_1", "state_1_ended_1"]

/** Of a record in a queue with this key. A colon in the name of a queue would make two of them one. */
export const jobIdOf = (queue: string, key: string): string =>
  `${queue.replaceAll("%", "%25").replaceAll(":", "%3A")}:${key}`

/** This process. Records that another one has taken of a store which only one process has are left over. */
export const thisProcess: string = randomUUID()

/** What whoever takes a record has to know of it. */
export interface JobRecord extends Schema.Schema.Type<typeof StoredRecord> {}

// The element is a JSON text, so that it comes back as it was.
const StoredRecord = Schema.Struct({
  _id: Schema.String,
  queue: Schema.String,
  key: Schema.String,
  element: Schema.String,
  attempts: Schema.Int,
  due: Schema.Date
})

export const decodeRecord = SchemaParser.decodeUnknownResult(StoredRecord)
