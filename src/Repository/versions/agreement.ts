/**
 * What is said of the forms of a store's collections, in a small collection of the store: since when no process needs an
 * earlier form, and since when none is stored.
 *
 * A process reads it before its first operation and again after {@link refreshAfter}, so after that time every process stores
 * what was said.
 */
import { RetryClock } from "@appkernel/document-store/shared"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { DocumentStore } from "../DocumentStore.ts"
import type { ReadError, StoreError } from "../RepositoryError.ts"
import type { Forms } from "./modelVersions.ts"

/** The marks of a collection. */
export interface Mark {
  /** Every process understands this form. Form 1 is what a collection begins with. */
  readonly understood: number
  /** No document is stored in an earlier form, and none will be. */
  readonly complete: number
}

export const marksCollection = "appkernel.forms"

/** The time after which every process knows what was said. */
export const refreshAfter = Duration.seconds(2)

export const readMark = (
  store: DocumentStore["Service"],
  collection: string
): Effect.Effect<Mark, ReadError> =>
  Effect.map(store.findById(marksCollection, collection), (stored) => ({
    understood: Number(stored?.["understood"] ?? 1),
    complete: Number(stored?.["complete"] ?? 1)
  }))

/** Says more of a collection; what was said before stays true. */
export const raiseMark = (
  store: DocumentStore["Service"],
  collection: string,
  mark: Partial<Mark>
): Effect.Effect<void, StoreError> =>
  Effect.asVoid(store.updateOne(marksCollection, { _id: collection }, { $max: mark }, { upsert: true }))

/** Reads the marks of a collection, from which follows the form in which this process stores documents. */
export interface MarkReader {
  readonly current: Effect.Effect<State, ReadError>
  /** A document of this form was seen: it is stored by a process that knows more. */
  readonly saw: (form: number) => void
}

export interface State {
  /** The form in which documents are stored. */
  readonly written: number
  /** The earliest form that may be stored. */
  readonly earliest: number
}

/** The form in which documents are stored while every process understands this one. */
export const writtenForm = ({ lowest, newest }: Pick<Forms, "lowest" | "newest">, understood: number): number =>
  Math.max(lowest, Math.min(understood, newest))

export const markReader = (store: DocumentStore["Service"], collection: string, forms: Forms): MarkReader => {
  let known: State | undefined
  let readAt = 0
  return {
    current: Effect.flatMap(RetryClock, (clock) => {
      const now = clock.currentTimeMillisUnsafe()
      if (known !== undefined && (known.earliest === forms.newest || now - readAt < Duration.toMillis(refreshAfter))) {
        return Effect.succeed(known)
      }
      return Effect.map(readMark(store, collection), ({ complete, understood }) => {
        readAt = now
        const state = {
          written: writtenForm(forms, understood),
          earliest: Math.min(complete, forms.newest)
        }
        known = state
        return state
      })
    }),
    saw: (form) => {
      if (known !== undefined && form > known.written) readAt = 0
    }
  }
}
