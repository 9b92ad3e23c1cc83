/**
 * Keeps documents in MongoDB, through its official driver.
 *
 * **Details**
 *
 * Read preference, read and write concern are the connection string's. Where it says nothing, reads go to the primary,
 * writes are acknowledged by the majority, and the driver repeats both once when a connection breaks. An interrupted
 * read closes its cursor and its connection, which makes the server stop. The credentials never appear in an error, a
 * log or a span.
 *
 * A transaction needs a replica set or a sharded cluster. It has snapshot isolation (read concern `snapshot`, write concern
 * `majority`): it reads one state of the primary, and of two that write the same document one runs again. Two that each
 * write what the other one has only read don't notice (write skew): where that matters, let both write to one document. It
 * runs again, for two minutes at most, when another one has written the same documents, the connection breaks, or another
 * server becomes the primary. When the server does not say whether a commit succeeded, the commit is repeated; when it
 * has not said so in the end, the transaction fails with a `StoreUnavailable` that says that the outcome is unknown, and is
 * not retryable: what was written may be there.
 *
 * **Gotchas**
 *
 * A write that has found no answer in time may have happened, or may happen yet: its `StoreUnavailable` is not
 * `retryable`. To learn what became of it, read; a write that may be done twice can be repeated.
 *
 * A write of very many documents may need a longer {@link Options.socketTimeout}.
 *
 * `undefined` in a stored document leaves its key out; in a filter or a pipeline it means `null`.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { durationConfig } from "../internal/durationConfig.ts"
import { type Document, DocumentStore, type IndexDescription, type ValidatorOptions } from "./DocumentStore.ts"
import { dropIndex, setValidator } from "./mongo/collectionAdmin.ts"
import { connect } from "./mongo/connection.ts"
import { parseAddress } from "./mongo/connectionString.ts"
import * as mongo from "./mongo/driverCall.ts"
import { fromDriverIndex, toDriverIndex } from "./mongo/indexCodec.ts"
import { makeOperations } from "./mongo/operations.ts"
import { makePolicy } from "./mongo/transaction.ts"
import { type ReadError, type StoreError, StoreUnavailable } from "./RepositoryError.ts"
import { missingOf } from "./store/indexDefinition.ts"
import { makeSync } from "./store/indexSync.ts"
import { makeTransactional } from "./store/transactionRunner.ts"

/**
 * Options of {@link make} and {@link layerWith}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * `host`, `host:port`, several of these separated by commas, or a whole `mongodb://` or `mongodb+srv://` URL, whose
   * user and password are percent-encoded. The port defaults to 27017.
   */
  readonly host: string | Redacted.Redacted<string>
  /** The database. Defaults to the one in the URL's path, else `app`. */
  readonly db?: string | undefined
  /**
   * How long a server may take to accept a connection. `connectTimeoutMS` of the URL wins. Defaults to 5 seconds.
   */
  readonly connectTimeout?: Duration.Input | undefined
  /**
   * How long to look for a usable server, at start and before each operation, before it fails with `StoreUnavailable`.
   * `serverSelectionTimeoutMS` of the URL wins, but not at start. Defaults to {@link connectTimeout}.
   */
  readonly serverSelectionTimeout?: Duration.Input | undefined
  /**
   * How long a server may take to answer. An operation without a `timeLimit` fails with `StoreUnavailable` when it takes
   * longer than this and {@link serverSelectionTimeout} together, retries of the driver included; only the building of
   * indexes takes as long as it takes. `socketTimeoutMS` of the URL wins. Defaults to 30 seconds.
   */
  readonly socketTimeout?: Duration.Input | undefined
}

/**
 * The options as configuration: `appkernel.mongo.host` (defaults to `localhost`), `appkernel.mongo.db`,
 * `appkernel.mongo.connect_timeout`, `appkernel.mongo.server_selection_timeout` and `appkernel.mongo.socket_timeout`; in
 * the environment `APPKERNEL_MONGO_HOST` and so on. A time is a number of seconds or a text such as `500 millis`. The
 * host is redacted, since it may carry a password.
 *
 * @category models
 * @since 0.1.0
 */
export const config: Config.Config<Options> = Config.all({
  host: Config.Redacted("HOST").pipe(Config.withDefault(Redacted.make("localhost"))),
  db: Config.option(Config.String("DB")).pipe(Config.map(Option.getOrUndefined)),
  connectTimeout: durationConfig("CONNECT_TIMEOUT"),
  serverSelectionTimeout: durationConfig("SERVER_SELECTION_TIMEOUT"),
  socketTimeout: durationConfig("SOCKET_TIMEOUT")
}).pipe(Config.nested("MONGO"), Config.nested("APPKERNEL"))

/**
 * Whether `appkernel.mongo.host` is given at all: for programs that use MongoDB where there is one, and another store
 * elsewhere.
 *
 * @category models
 * @since 0.1.0
 */
export const configured: Config.Config<boolean> = Config.option(Config.Redacted("HOST")).pipe(
  Config.map(Option.isSome),
  Config.nested("MONGO"),
  Config.nested("APPKERNEL")
)

/**
 * A store over a client of its own, which has answered a `ping` and is closed with the scope. Fails with
 * `StoreUnavailable` when no server answers in time, the credentials are refused, or the host is malformed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options: Options
) => Effect.Effect<DocumentStore["Service"], StoreUnavailable, Scope.Scope> = Effect.fnUntraced(
  function*(options) {
    const address = parseAddress(Redacted.isRedacted(options.host) ? Redacted.value(options.host) : options.host)
    if (address === undefined) {
      return yield* new StoreUnavailable({
        operation: "connect",
        detail: "the host is neither host[:port] nor mongodb://[user:password@]host[:port][/database][?options], "
          + "with special characters of user and password percent-encoded",
        retryable: false
      })
    }
    const database = options.db ?? address.database ?? "app"
    const connectTimeout = Duration.fromInputUnsafe(options.connectTimeout ?? "5 seconds")
    const session = yield* connect(address, database, {
      connect: connectTimeout,
      serverSelection: Duration.fromInputUnsafe(options.serverSelectionTimeout ?? connectTimeout),
      socket: Duration.fromInputUnsafe(options.socketTimeout ?? "30 seconds")
    })
    return makeStore(session, `MongoDB at ${address.hosts}/${database}`)
  }
)

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<DocumentStore, StoreUnavailable> =>
  Layer.effect(DocumentStore, make(options))

/**
 * {@link make} as a layer, with the options of {@link config}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<DocumentStore, StoreUnavailable | Config.ConfigError> = Layer.effect(
  DocumentStore,
  Effect.gen(function*() {
    return yield* make(yield* config)
  })
)

// internal

const makeStore = (session: mongo.MongoSession, description: string): DocumentStore["Service"] => {
  const call = (operation: string, collection: string): mongo.MongoCall => ({ session, operation, collection })

  const listIndexes = (collection: string): Effect.Effect<ReadonlyArray<IndexDescription>, ReadError> =>
    Effect.map(
      mongo.listIndexes(call("listIndexes", collection)),
      (infos) => infos.filter((info) => info.name !== "_id_").map((info) => fromDriverIndex(info))
    )

  const createIndexes = (
    collection: string,
    indexes: ReadonlyArray<IndexDescription>
  ): Effect.Effect<void, StoreError> => {
    const missing = Effect.flatMap(
      listIndexes(collection),
      (installed) => Effect.fromResult(missingOf("createIndexes", collection, indexes, installed))
    )
    return indexes.length === 0 ? Effect.void : Effect.flatMap(missing, (some) =>
      some.length === 0
        ? Effect.void
        // A build may take hours, and asking again is harmless: whoever waits may leave.
        : mongo.runCall(call("createIndexes", collection), (_) => _.createIndexes(some.map(toDriverIndex)), Infinity)
          .pipe(
            Effect.asVoid,
            // Somebody else may have been faster, with another definition.
            Effect.catchTag("QueryRejected", (rejected) => Effect.andThen(missing, Effect.fail(rejected)))
          ))
  }

  const within = (session: mongo.MongoSession) => makeOperations(session, listIndexes)
  const { operations, outside, transaction } = makeTransactional(within(session), makePolicy(session, within))

  return DocumentStore.of({
    description,
    ...operations,
    transaction,
    ...outside({
      createIndexes,
      ...makeSync({
        list: listIndexes,
        create: (collection, index) => createIndexes(collection, [index]),
        drop: (collection, name) => dropIndex(call("dropIndexes", collection), name)
      }),
      setValidator: (
        collection: string,
        jsonSchema: Document | undefined,
        options?: ValidatorOptions
      ) => setValidator(call("setValidator", collection), jsonSchema, options?.action ?? "error"),
      listIndexes
    })
  })
}
