/** The audit fields of a document: when it was inserted and last updated, and by which user. */
import { currentUserIdOf } from "@appkernel/document-store/internal"
import { dateOf } from "@appkernel/mql/values"
import * as Clock from "effect/Clock"
import type * as Fiber from "effect/Fiber"
import { managedField, type ModelLike } from "../../Model/internal.ts"
import type { Document } from "../DocumentStore.ts"

/** The fiber that writes; its context has the clock and the current user. */
type WritingFiber = Fiber.Fiber<unknown, unknown>

/** Sets the audit fields of a document. They overwrite values that a caller supplies. */
export interface AuditFields {
  /** The document with the audit fields of an insert. */
  readonly inserted: (fiber: WritingFiber, document: Document) => Document
  /** The document with the audit fields of a replacement: the fields about the insert are copied from `before`. */
  readonly replaced: (fiber: WritingFiber, document: Document, before: Document) => Document
  /** The fields that any other update sets. */
  readonly updated: (fiber: WritingFiber) => Document
}

export const auditFieldsOf = (model: ModelLike): AuditFields | undefined => {
  const [inserted, updated] = [managedField(model, "inserted"), managedField(model, "updated")]
  if (inserted === undefined || updated === undefined) return undefined
  const [createdBy, updatedBy] = [managedField(model, "created_by"), managedField(model, "updated_by")]
  const updateOf = (fiber: WritingFiber): Document => ({
    [updated]: dateOf(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()),
    ...userField(fiber, updatedBy)
  })
  const withoutAudit = (document: Document): Document =>
    Object.fromEntries(
      Object.entries(document).filter(([name]) => name !== inserted && name !== createdBy && name !== updatedBy)
    )
  return {
    updated: updateOf,
    inserted: (fiber, document) => {
      const update = updateOf(fiber)
      return { ...withoutAudit(document), ...update, [inserted]: update[updated], ...userField(fiber, createdBy) }
    },
    replaced: (fiber, document, before) => {
      const copied = [inserted, createdBy, updatedBy].flatMap((name) =>
        name === undefined || before[name] === undefined ? [] : [[name, before[name]]]
      )
      return { ...withoutAudit(document), ...Object.fromEntries(copied), ...updateOf(fiber) }
    }
  }
}

// internal

const userField = (fiber: WritingFiber, name: string | undefined): Document => {
  const user = currentUserIdOf(fiber)
  return name === undefined || user === undefined ? {} : { [name]: user }
}
