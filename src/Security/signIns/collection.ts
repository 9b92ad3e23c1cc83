/**
 * The sign-ins in the store of documents. Of a refresh token, hashes are stored: that of its first part is the identifier of
 * the sign-in, which tokens name, and that of its second part tells the current one from those before it.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type { DocumentStore, IndexDescription } from "../../Repository/DocumentStore.ts"
import type { ReadError, StoreError } from "../../Repository/RepositoryError.ts"

/** A sign-in that has not ended. */
export interface SignIn {
  readonly id: string
  /** The user's id. */
  readonly subject: string
  /** The hash of the second part of the current refresh token. */
  readonly token: string
  /** The stamp of the account's password; none where accounts were not known. */
  readonly stamp?: string | undefined
  /** The stamps of what its requests have hashed: one of them is about to be the account's password. */
  readonly next: ReadonlyArray<string>
  /** When the current refresh token expires, in milliseconds since 1970. */
  readonly expires: number
  /** When it began, and when its tokens were last renewed, in milliseconds since 1970. */
  readonly began: number
  readonly used: number
}

export interface SignInCollection {
  readonly insert: (signIn: Omit<SignIn, "next">) => Effect.Effect<void, StoreError>
  readonly find: (id: string) => Effect.Effect<SignIn | undefined, ReadError>
  /** The sign-ins of a user whose refresh tokens have not expired, those that were used last first, up to a hundred. */
  readonly list: (subject: string, now: number) => Effect.Effect<ReadonlyArray<SignIn>, ReadError>
  /** Replaces the refresh token if it is still the current one. Returns whether it was. */
  readonly rotate: (
    signIn: SignIn & { readonly stamp: string },
    token: string,
    times: Pick<SignIn, "expires" | "used">
  ) => Effect.Effect<boolean, StoreError>
  /** Goes on with the password of the stamp, and with the next one, beside those that were told before. */
  readonly keep: (id: string, stamp: string, next: string) => Effect.Effect<void, StoreError>
  readonly end: (id: string) => Effect.Effect<void, ReadError>
  /** Ends all sign-ins of a user. Returns their number. */
  readonly endAll: (subject: string) => Effect.Effect<number, ReadError>
}

export const signInsIn = (store: DocumentStore["Service"]): SignInCollection => {
  let isIndexed = false
  // The store installs missing indexes only, so that several fibers and processes may ask for them.
  const indexed = Effect.suspend(() =>
    isIndexed ? Effect.void : Effect.map(store.createIndexes(collection, indexes), () => {
      isIndexed = true
    })
  )
  return {
    insert: ({ began, expires, id, stamp, used, ...signIn }) =>
      Effect.andThen(
        indexed,
        store.insertOne(collection, {
          _id: id,
          ...signIn,
          ...(stamp !== undefined && { stamp }),
          began: dateOf(began),
          used: dateOf(used),
          expires: dateOf(expires)
        })
      ),
    find: (id) => Effect.map(store.findById(collection, id), signInOf),
    list: (subject, now) =>
      Effect.map(
        store.find(collection, {
          filter: { subject, expires: { $gt: dateOf(now) } },
          sort: { used: -1, _id: 1 },
          limit: maxListed
        }),
        // Those that don't say when they were used come last from the store.
        (documents) =>
          documents.flatMap((document) => signInOf(document) ?? []).toSorted((one, other) => other.used - one.used)
      ),
    rotate: ({ id, stamp, token: current }, token, { expires, used }) =>
      Effect.map(
        store.updateOne(collection, { _id: id, token: current }, {
          $set: { token, stamp, expires: dateOf(expires), used: dateOf(used) }
        }),
        ({ matchedCount }) => matchedCount === 1
      ),
    keep: (id, stamp, next) =>
      Effect.asVoid(
        store.updateOne(collection, { _id: id }, {
          $set: { stamp },
          $push: { nextStamps: { $each: [next], $slice: -maxNext } }
        })
      ),
    end: (id) => Effect.asVoid(store.deleteOne(collection, { _id: id })),
    endAll: (subject) => store.deleteMany(collection, { subject })
  }
}

// internal

const collection = "appkernel_sign_ins"

const maxListed = 100

/** As many values as one request may have to hash. */
const maxNext = 50

const signInOf = (document: unknown): SignIn | undefined => {
  const exit = decode(document)
  if (Exit.isFailure(exit)) return undefined
  const { _id, began, expires, next, nextStamps = [], used, ...signIn } = exit.value
  const start = began.getTime()
  // Those that were stored by earlier versions don't say when they were used.
  return {
    id: _id,
    ...signIn,
    next: next === undefined ? nextStamps : [next, ...nextStamps],
    expires: expires.getTime(),
    began: start,
    used: used?.getTime() ?? start
  }
}

const dateOf = (time: number) => DateTime.toDateUtc(DateTime.makeUnsafe(time))

const indexes: ReadonlyArray<IndexDescription> = [
  { name: "subject", key: { subject: 1 } },
  // The store removes expired ones.
  { name: "expires", key: { expires: 1 }, expireAfterSeconds: 0 }
]

const decode = SchemaParser.decodeUnknownExit(Schema.Struct({
  _id: Schema.String,
  subject: Schema.String,
  token: Schema.String,
  stamp: Schema.optional(Schema.String),
  // Earlier versions stored one.
  next: Schema.optional(Schema.String),
  nextStamps: Schema.optional(Schema.Array(Schema.String)),
  expires: Schema.Date,
  began: Schema.Date,
  used: Schema.optional(Schema.Date)
}))
