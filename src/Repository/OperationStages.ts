/**
 * The way of an operation of a repository to the documents, as one list: what it meets, in this order. Its result passes the same
 * stages backwards.
 *
 * Those that wrap others are folded where they are made: `writerStages` around the writes of a model, `callerStages` around the
 * operations of a caller, and `collectionStages` around the operations of a collection. What stands here beside them is part of
 * every operation, or of every store.
 */
import type { StageRow } from "../internal/stages.ts"

const rows = {
  "metrics": {
    does: "Counts and times the operation, and runs it in a span if a tracer is installed.",
    when: "the service counts operations, or has a tracer",
    before: { "row filters": "what is refused counts, too" }
  },
  "references": {
    does: "Refuses a write that adds a reference to a missing document, in a transaction with the write.",
    when: "the model has a checked `Model.reference`",
    before: { history: "a state is recorded of what is written only" }
  },
  "files": {
    does:
      "Writes the document and the records of its files in one transaction, by which a sweep removes the bytes that nobody refers to.",
    when: "the model has `Model.file` fields",
    before: { history: "it reads what the document was" }
  },
  "history": {
    does: "Writes the document and the entries of its history in one transaction.",
    when: "the model has `Model.historied`",
    before: { "row filters": "it finds the documents that the caller may write" }
  },
  "refusals": {
    does:
      "Writes what the row filters refuse to the audit log, and to the log if it is another write than that of the request's own document.",
    when: "the service has access control",
    before: { "row filters": "these refuse" }
  },
  "audit log": {
    does: "Writes what the operation read or wrote to the audit log, in the transaction of a write.",
    when: "the registration has an audit log",
    before: { "row filters": "it records the documents that are left by them" }
  },
  "row filters": {
    does:
      "Limits the operation to the documents that the caller may read or write, and refuses writes that leave others behind.",
    when: "the service has access control"
  },
  "deleted documents": {
    does: "Leaves out deleted documents, unless the operation includes them.",
    when: "the model has `Model.softDeleted`",
    before: { versions: "the condition is about a field of the newest version" }
  },
  "options of the repository": {
    does: "Gives the operation the options of its repository, and those of `Repository.withStoreOptions`.",
    when: "always",
    before: { versions: "what these read and write has the options, too" }
  },
  "shard key": {
    does: "Refuses a write that changes a value of the shard key.",
    when: "the model has a shard key",
    before: { versions: "the shard key is of the newest version" }
  },
  "versions": {
    does:
      "Reads documents of earlier versions as documents of the newest one, and writes the version that all processes know.",
    when: "the model has `versions`",
    before: { "change log": "what is recorded is what is stored" }
  },
  "transaction": {
    does: "Joins the transaction of the fiber, and is refused once that has failed or ended.",
    when: "the operation runs in a transaction"
  },
  "time of the read": {
    does: "Stops a read that has spent its time in the store.",
    when: "the read has a time limit"
  },
  "change log": {
    does: "Records what a write changes, in one commit with it.",
    when: "the collection is recorded"
  }
} satisfies { readonly [name: string]: Omit<StageRow, "name"> }

/** The stages of an operation, outermost first. */
export const operationStages: ReadonlyArray<StageRow> = Object.entries(rows).map(([name, row]) => ({ name, ...row }))

/** The row of a stage. */
export const operationStage = (name: keyof typeof rows): StageRow => ({ name, ...rows[name] })
