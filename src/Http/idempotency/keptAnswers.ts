/**
 * The answers that are kept for requests with an `Idempotency-Key`, in one collection. A record is inserted and completed in the
 * transaction of its request: of two that run at once, in one process or in several, one is rolled back.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { StoreError } from "../../Repository/RepositoryError.ts"
import type { IdempotencyOptions } from "../config/serviceOptions.ts"

/** The name of the collection. */
const keptAnswers = "appkernel_idempotency"

/** A request, by digests: the records have no key and no body. */
export interface Repeatable {
  /** The caller, the endpoint and the key. */
  readonly id: string
  /** What is asked, with the key: nobody can try bodies without it. */
  readonly request: string
}

/** What there is for a key. */
export type Kept =
  /** It was used for something else. */
  | { readonly _tag: "Reused" }
  /** The text of the answer; `undefined` if that was too large. */
  | { readonly _tag: "Answered"; readonly answer: string | undefined }

export interface KeptAnswers {
  readonly find: (request: Repeatable) => Effect.Effect<Kept | undefined, StoreError>
  /** In a transaction: begins a record, which other transactions conflict with. */
  readonly begin: (request: Repeatable) => Effect.Effect<void, StoreError>
  /** In the transaction that began it: keeps the answer. */
  readonly complete: (id: string, answer: string | undefined) => Effect.Effect<void, StoreError>
  /** In the transaction that began it: keeps nothing. */
  readonly discard: (id: string) => Effect.Effect<void, StoreError>
}

/** Prepares the collection. */
export const makeKeptAnswers = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  { keep }: Pick<IdempotencyOptions, "keep">
): Effect.fn.Return<KeptAnswers, StoreError> {
  yield* store.createIndexes(keptAnswers, [{ name: "expires_1", key: { expires: 1 }, expireAfterSeconds: 0 }])
  return {
    find: Effect.fnUntraced(function*({ id, request }: Repeatable): Effect.fn.Return<Kept | undefined, StoreError> {
      const record = yield* store.findById(keptAnswers, id)
      const expires = record?.["expires"]
      // The store removes it a while later.
      if (!(expires instanceof Date) || expires.getTime() <= (yield* Clock.currentTimeMillis)) return undefined
      const answer = record?.["answer"]
      return record?.["request"] === request
        ? { _tag: "Answered", answer: typeof answer === "string" ? answer : undefined }
        : { _tag: "Reused" }
    }),
    begin: ({ id, request }) =>
      Effect.flatMap(DateTime.now, (now) => {
        const expires = DateTime.toDateUtc(DateTime.addDuration(now, keep))
        return store.replaceOne(keptAnswers, { _id: id }, { _id: id, request, expires }, { upsert: true })
      }),
    complete: (id, answer) =>
      answer === undefined
        ? Effect.void
        : Effect.asVoid(store.updateOne(keptAnswers, { _id: id }, { $set: { answer } })),
    discard: (id) => Effect.asVoid(store.deleteOne(keptAnswers, { _id: id }))
  }
})
