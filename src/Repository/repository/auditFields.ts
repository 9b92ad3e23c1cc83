import * as Clock from "effect/Clock"
import type * as Fiber from "effect/Fiber"
import { CurrentUserId } from "../../Model/Generator.ts"
import { managedField, type ModelLike } from "../../Model/introspection.ts"
import { dateOf } from "../bson/normalise.ts"
import type { Document } from "../DocumentStore.ts"

type Running = Fiber.Fiber<unknown, unknown>

/**
 * What an audited model's documents say of when and by whom they were written.
 *
 * @internal
 */
export interface Stamps {
  /** The document as one that is inserted now. */
  readonly inserted: (fiber: Running, document: Document) => Document
  /** The document as one that takes the place of another. */
  readonly replaced: (fiber: Running, document: Document, before: Document) => Document
  /** What every other update sets. */
  readonly updated: (fiber: Running) => Document
}

/** @internal */
export const stampsOf = (model: ModelLike): Stamps | undefined => {
  const [inserted, updated] = [managedField(model, "inserted"), managedField(model, "updated")]
  if (inserted === undefined || updated === undefined) return undefined
  const [createdBy, updatedBy] = [managedField(model, "created_by"), managedField(model, "updated_by")]
  const updateOf = (fiber: Running): Document => ({
    [updated]: dateOf(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()),
    ...by(fiber, updatedBy)
  })
  const without = (document: Document): Document =>
    Object.fromEntries(Object.entries(document).filter(([name]) => name !== createdBy && name !== updatedBy))
  return {
    updated: updateOf,
    inserted: (fiber, document) => {
      const update = updateOf(fiber)
      return { ...without(document), ...update, [inserted]: update[updated], ...by(fiber, createdBy) }
    },
    replaced: (fiber, document, before) => {
      const kept = [inserted, createdBy, updatedBy].flatMap((name) =>
        name === undefined || before[name] === undefined ? [] : [[name, before[name]]]
      )
      return { ...without(document), ...Object.fromEntries(kept), ...updateOf(fiber) }
    }
  }
}

const by = (fiber: Running, name: string | undefined): Document => {
  const user = fiber.getRef(CurrentUserId)
  return name === undefined || user === undefined ? {} : { [name]: user }
}
