/**
 * API keys: long-lived credentials of programs, which have an owner, roles and an expiry, and can be revoked.
 *
 * **Details**
 *
 * A key is `<id>.<secret>`; the secret has 256 random bits. `ApiKeyStore` stores the hash of the secret only, so a key is
 * shown once, when it is made.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Crypto from "effect/crypto/WebCrypto"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { DocumentStore } from "../Repository/DocumentStore.ts"
import type { StoreError } from "../Repository/RepositoryError.ts"
import type { CurrentUser } from "./CurrentUser.ts"
import { hashOf, isSameHash } from "./keys/hash.ts"
import { CredentialsInvalid } from "./SecurityError.ts"

/**
 * What is stored of a key.
 *
 * @category models
 * @since 0.1.0
 */
export interface ApiKey {
  /** The part before the dot. It is no secret. */
  readonly id: string
  /** The SHA-256 of the secret. */
  readonly hash: string
  /** The user's id. */
  readonly owner: string
  readonly roles: ReadonlyArray<string>
  /** Milliseconds since 1970 at which the key ends; never if `undefined`. */
  readonly expires: number | undefined
  readonly revoked: boolean
}

/**
 * Where keys are stored. Its layer may stand beside that of the store of documents, which is needed when keys are used.
 *
 * @effect-expect-leaking DocumentStore
 * @category services
 * @since 0.1.0
 */
export class ApiKeyStore extends Context.Service<ApiKeyStore, {
  /** Adds a key. Its id is new. */
  readonly insert: (key: ApiKey) => Effect.Effect<void, StoreError, DocumentStore>
  /** The key with this id, revoked ones included. */
  readonly find: (id: string) => Effect.Effect<Option.Option<ApiKey>, StoreError, DocumentStore>
  /** Marks a key as revoked; returns whether there is one. */
  readonly revoke: (id: string) => Effect.Effect<boolean, StoreError, DocumentStore>
}>()("appkernel/Security/ApiKeys/ApiKeyStore") {}

/**
 * Options of a new key.
 *
 * @category models
 * @since 0.1.0
 */
export interface NewApiKey {
  /** The id of the user for whom the key stands. With `Accounts`, requests with the key need this account. */
  readonly owner: string
  /** Defaults to none. */
  readonly roles?: ReadonlyArray<string> | undefined
  /** The lifetime. Defaults to no end. */
  readonly expiresIn?: Duration.Input | undefined
}

/**
 * Makes, verifies and revokes keys.
 *
 * @effect-expect-leaking DocumentStore
 * @category services
 * @since 0.1.0
 */
export class ApiKeys extends Context.Service<ApiKeys, {
  /** Makes and stores a key. Only the result has its secret. */
  readonly generate: (
    options: NewApiKey
  ) => Effect.Effect<{ readonly id: string; readonly key: Redacted.Redacted<string> }, StoreError, DocumentStore>
  /** The user for whom a key stands: its owner with its roles. Fails with `CredentialsInvalid`. */
  readonly verify: (
    key: Redacted.Redacted<string>
  ) => Effect.Effect<CurrentUser["Service"], CredentialsInvalid | StoreError, DocumentStore>
  /** Ends a key at once; returns whether there is one with this id. */
  readonly revoke: (id: string) => Effect.Effect<boolean, StoreError, DocumentStore>
}>()("appkernel/Security/ApiKeys") {}

/**
 * Keys of an `ApiKeyStore`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: Effect.Effect<ApiKeys["Service"], never, ApiKeyStore> = Effect.gen(function*() {
  const store = yield* ApiKeyStore
  return ApiKeys.of({
    generate: Effect.fn("ApiKeys.generate")(function*({ expiresIn, owner, roles = [] }) {
      const crypto = yield* Crypto.WebCrypto
      const random = (bytes: number) => Base64Url.encode(crypto.getRandomValues(new Uint8Array(bytes)))
      const [id, secret] = [random(12), random(32)]
      const expires = expiresIn === undefined
        ? undefined
        : (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(expiresIn))
      yield* store.insert({ id, hash: hashOf(secret), owner, roles, expires, revoked: false })
      return { id, key: Redacted.make(`${id}.${secret}`, { label: "API key" }) }
    }),
    verify: Effect.fn("ApiKeys.verify")(function*(key) {
      const match = form.exec(Redacted.value(key))
      if (match === null) return yield* new CredentialsInvalid({ reason: "malformed" })
      const [, id = "", secret = ""] = match
      const stored = Option.getOrUndefined(yield* store.find(id))
      if (stored === undefined) return yield* new CredentialsInvalid({ reason: "account" })
      if (!isSameHash(hashOf(secret), stored.hash)) return yield* new CredentialsInvalid({ reason: "secret" })
      if (stored.revoked) return yield* new CredentialsInvalid({ reason: "revoked" })
      if (stored.expires !== undefined && (yield* Clock.currentTimeMillis) >= stored.expires) {
        return yield* new CredentialsInvalid({ reason: "expired" })
      }
      return { subject: stored.owner, roles: stored.roles, claims: {} }
    }),
    revoke: (id) => store.revoke(id)
  })
})

/**
 * Keys of a store of the program's own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFromStore: Layer.Layer<ApiKeys, never, ApiKeyStore> = Layer.effect(ApiKeys, make)

/**
 * Keys in the store of documents, in the collection `appkernel_api_keys`. The store is needed when keys are used, not when
 * the layer is built.
 *
 * **Example** (A key for a program)
 *
 * ```ts
 * import { ApiKeys, EmbeddedStore } from "appkernel"
 * import { Effect, Layer } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const keys = yield* ApiKeys.ApiKeys
 *   const { id, key } = yield* keys.generate({ owner: "U1", roles: ["report"], expiresIn: "90 days" })
 *   const user = yield* keys.verify(key)
 *   yield* keys.revoke(id)
 *   const error = yield* Effect.flip(keys.verify(key))
 *   return [user.subject, ...user.roles, error.message]
 * })
 *
 * const layer = Layer.merge(ApiKeys.layer, EmbeddedStore.layerMemory)
 * await Effect.runPromise(Effect.provide(program, layer)) // => ["U1", "report", "The credentials are invalid"]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<ApiKeys> = Layer.provide(
  layerFromStore,
  Layer.sync(ApiKeyStore, () =>
    ApiKeyStore.of({
      insert: ({ expires, id, ...key }) =>
        Effect.flatMap(DocumentStore, (store) =>
          store.insertOne(collection, {
            _id: id,
            ...key,
            expires: expires === undefined ? null : DateTime.toDateUtc(DateTime.makeUnsafe(expires))
          })),
      find: (id) =>
        Effect.flatMap(
          DocumentStore,
          (store) => Effect.map(store.findById(collection, id), (document) => Option.map(decode(document), keyOf))
        ),
      revoke: (id) =>
        Effect.flatMap(DocumentStore, (store) =>
          Effect.map(
            store.updateOne(collection, { _id: id }, { $set: { revoked: true } }),
            ({ matchedCount }) => matchedCount > 0
          ))
    }))
)

/**
 * Keys in memory, for tests: they end with the process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<ApiKeys> = Layer.provide(
  layerFromStore,
  Layer.sync(ApiKeyStore, () => {
    const keys = new Map<string, ApiKey>()
    return ApiKeyStore.of({
      insert: (key) => Effect.sync(() => void keys.set(key.id, key)),
      find: (id) => Effect.sync(() => Option.fromUndefinedOr(keys.get(id))),
      revoke: (id) =>
        Effect.sync(() => {
          const key = keys.get(id)
          if (key !== undefined) keys.set(id, { ...key, revoked: true })
          return key !== undefined
        })
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** 12 and 32 bytes as base64url. */
const form = /^([\w-]{16})\.([\w-]{43})$/u

const collection = "appkernel_api_keys"

const Stored = Schema.Struct({
  _id: Schema.String,
  hash: Schema.String,
  owner: Schema.String,
  roles: Schema.Array(Schema.String),
  expires: Schema.NullOr(Schema.Date),
  revoked: Schema.Boolean
})

const decodeExit = SchemaParser.decodeUnknownExit(Stored)

const decode = (document: unknown) => Exit.getSuccess(decodeExit(document))

const keyOf = ({ _id, expires, ...key }: typeof Stored.Type): ApiKey => ({
  id: _id,
  ...key,
  expires: expires?.getTime()
})
