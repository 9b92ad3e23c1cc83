/**
 * The states of documents, as they are stored in the collection beside the model's own.
 */
import * as Clock from "effect/Clock"
import type * as Fiber from "effect/Fiber"
import { CurrentUserId } from "../../Model/Generator.ts"
import { isDate } from "../../Model/introspection.ts"
import { dateOf } from "../bson/normalise.ts"
import type { Document, IndexDescription } from "../DocumentStore.ts"
import type { Change } from "./history.ts"

/**
 * The collection of the states of a collection's documents.
 *
 * @internal
 */
export const historyOf = (collection: string): string => `${collection}.history`

/**
 * A text that no two identifiers of one model share: that of a date has its milliseconds.
 *
 * @internal
 */
export const textOfId = (id: unknown): string => isDate(id) ? id.toISOString() : String(id)

/**
 * The identifier of a state, by which no two are the same.
 *
 * @internal
 */
export const entryId = (id: unknown, revision: number): string => `${textOfId(id)}@${revision}`

/** @internal */
export const historyIndex: IndexDescription = {
  name: "document_id_1_revision_-1",
  key: { document_id: 1, revision: -1 }
}

/**
 * When something happens, and by whom.
 *
 * @internal
 */
export interface Occasion {
  readonly at: Date
  readonly by: string | undefined
}

/** @internal */
export const occasionOf = (fiber: Fiber.Fiber<unknown, unknown>): Occasion => ({
  at: dateOf(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()),
  by: fiber.getRef(CurrentUserId)
})

/** @internal */
export const entryOf = (change: Change, document: Document, revision: number, { at, by }: Occasion): Document => ({
  _id: entryId(document["_id"], revision),
  document_id: document["_id"],
  revision,
  change,
  at,
  ...(by === undefined ? {} : { by }),
  document
})
