/**
 * What is said of the versions of a store's collections, in a small collection of the store: since when no process needs an
 * earlier version, and since when none is stored.
 *
 * A process reads it before its first operation and again after {@link refreshAfter}, so after that time every process stores
 * what was said.
 */
import { RetryClock } from "@appkernel/document-store/shared"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { DocumentStore } from "../DocumentStore.ts"
import type { ReadError, StoreError } from "../RepositoryError.ts"
import type { ModelVersions } from "./modelVersions.ts"

/** The agreement of a collection. */
export interface Agreement {
  /** Every process understands this version. Version 1 is what a collection begins with. */
  readonly understood: number
  /** No document is stored in an earlier version, and none will be. */
  readonly complete: number
}

export const agreementsCollection = "appkernel.forms"

/** The time after which every process knows what was said. */
export const refreshAfter = Duration.seconds(2)

export const readAgreement = (
  store: DocumentStore["Service"],
  collection: string
): Effect.Effect<Agreement, ReadError> =>
  Effect.map(store.findById(agreementsCollection, collection), (stored) => ({
    understood: Number(stored?.["understood"] ?? 1),
    complete: Number(stored?.["complete"] ?? 1)
  }))

/** Says more of a collection; what was said before stays true. */
export const raiseAgreement = (
  store: DocumentStore["Service"],
  collection: string,
  agreement: Partial<Agreement>
): Effect.Effect<void, StoreError> =>
  Effect.asVoid(store.updateOne(agreementsCollection, { _id: collection }, { $max: agreement }, { upsert: true }))

/** Reads the agreement of a collection, from which follows the version in which this process stores documents. */
export interface AgreementReader {
  readonly current: Effect.Effect<State, ReadError>
  /** A document of this version was seen: it is stored by a process that knows more. */
  readonly saw: (version: number) => void
}

export interface State {
  /** The version in which documents are stored. */
  readonly written: number
  /** The earliest version that may be stored. */
  readonly earliest: number
}

/** The version in which documents are stored while every process understands this one. */
export const writtenVersion = (
  { lowest, newest }: Pick<ModelVersions, "lowest" | "newest">,
  understood: number
): number => Math.max(lowest, Math.min(understood, newest))

export const agreementReader = (
  store: DocumentStore["Service"],
  collection: string,
  versions: ModelVersions
): AgreementReader => {
  let known: State | undefined
  let readAt = 0
  return {
    current: Effect.flatMap(RetryClock, (clock) => {
      const now = clock.currentTimeMillisUnsafe()
      if (
        known !== undefined && (known.earliest === versions.newest || now - readAt < Duration.toMillis(refreshAfter))
      ) {
        return Effect.succeed(known)
      }
      return Effect.map(readAgreement(store, collection), ({ complete, understood }) => {
        readAt = now
        const state = {
          written: writtenVersion(versions, understood),
          earliest: Math.min(complete, versions.newest)
        }
        known = state
        return state
      })
    }),
    saw: (version) => {
      if (known !== undefined && version > known.written) readAt = 0
    }
  }
}
