/** The entries of a history: one document for each state of a document, in a collection beside the model's own. */
import { currentUserIdOf } from "@appkernel/document-store/internal"
import { dateOf } from "@appkernel/mql/values"
import * as Clock from "effect/Clock"
import type * as Fiber from "effect/Fiber"
import { isDate } from "../../Model/internal.ts"
import type { Document, IndexDescription } from "../DocumentStore.ts"
import type { Change } from "./history.ts"

/** The name of the collection that holds a collection's history. */
export const historyOf = (collection: string): string => `${collection}.history`

/** The text of an identifier, unique within a model. It has the milliseconds of a date, which `String` omits. */
export const uniqueTextOfId = (id: unknown): string => isDate(id) ? id.toISOString() : String(id)

/** The identifier of the entry of one revision of a document. */
export const entryId = (id: unknown, revision: number): string => `${uniqueTextOfId(id)}@${revision}`

export const historyIndex: IndexDescription = {
  name: "document_id_1_revision_-1",
  key: { document_id: 1, revision: -1 }
}

/** The time and the user of a change. */
export interface ChangeContext {
  readonly at: Date
  readonly by: string | undefined
}

export const changeContextOf = (fiber: Fiber.Fiber<unknown, unknown>): ChangeContext => ({
  at: dateOf(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()),
  by: currentUserIdOf(fiber)
})

export const entryOf = (change: Change, document: Document, revision: number, { at, by }: ChangeContext): Document => ({
  _id: entryId(document["_id"], revision),
  document_id: document["_id"],
  revision,
  change,
  at,
  ...(by === undefined ? {} : { by }),
  document
})
