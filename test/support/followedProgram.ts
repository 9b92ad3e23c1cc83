/**
 * A service whose changes are followed, with a clock that goes as it is told. `STORE` is its store, with the data in `FOLDER` or
 * in the database `DB` of `MONGO`; its clock begins at `TIME`. It prints the list's address, and that where it is told what else happens.
 */
import { NodeServices } from "@effect/platform-node"
import { EJSON } from "bson"
import { ConfigProvider, Duration, Effect, Exit, Layer, Redacted, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import {
  DocumentStore,
  EmbeddedStore,
  Index,
  Jwt,
  KernelEngine,
  Keys,
  Model,
  MongoStore,
  Permission,
  type Query,
  Resource
} from "../../src/index.ts"
import * as SignIns from "../../src/Security/SignIns.ts"

/** What grants go by. */
export interface Rights {
  readonly owners: ReadonlyArray<string>
  readonly isOpen: boolean
  readonly hasCosts: boolean
}

type Store = DocumentStore.DocumentStore["Service"]

/** An operation of a store, with its arguments. */
export type Write =
  & { readonly in?: "transaction" | "failing transaction" }
  & { readonly [Name in "operations"]: ReadonlyArray<readonly [name: WriteName, ...args: ReadonlyArray<unknown>]> }

type WriteName = "insertMany" | "updateOne" | "updateMany" | "replaceOne" | "deleteMany" | "aggregate"

/** What happens to a service besides its requests. */
export type Happening =
  | { readonly write: Write }
  /** Time goes by in steps, each with a while for what waits for it. */
  | { readonly millis: number; readonly steps: number }
  | { readonly rights: Rights }
  | { readonly restart: true }
  /** Answers with a token of these roles. */
  | { readonly roles: ReadonlyArray<string> }

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  owner: Schema.String,
  state: Schema.String,
  n: Schema.Int,
  cost: Schema.optionalKey(Schema.Int),
  expires: Model.DateTime.pipe(Model.indexed(Index.expireAfter(0)))
}, { logged: { keep: "3 hours" } }) {}

const { DB = "", FOLDER = "", MONGO = "", STORE = "", TIME = "" } = process.env

let rights: Rights = { owners: ["ann"], isOpen: true, hasCosts: false }

const isGuest = ({ caller }: { readonly caller: { readonly roles: ReadonlyArray<string> } }) =>
  caller.roles.includes("guest")

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const engine = KernelEngine.make("followed").register(
  Resource.make(Order, { methods })
    .grant(Permission.Role("admin"), { methods })
    .grant(Permission.Role("clerk"), {
      methods: ["GET"],
      rows: () => Effect.sync((): Query.Where<typeof Order> => ($) => $.owner.in([...rights.owners])),
      hide: ["cost"]
    })
    .grant(Permission.make("open", {}, (of) => Effect.sync(() => rights.isOpen && isGuest(of))), {
      methods: ["GET"],
      hide: ["cost"]
    })
    .grant(Permission.make("costs", {}, (of) => Effect.sync(() => rights.hasCosts && isGuest(of))), {
      methods: ["GET"],
      rows: () => ($) => $.owner.equals("ann")
    })
).enableSecurity()

const configured = Layer.mergeAll(
  ConfigProvider.layer(ConfigProvider.fromUnknown({ appkernel: { live: { max_streams_per_caller: 100 } } })),
  Jwt.layerWith({ application: "shop", issuers: [Jwt.local] }).pipe(
    Layer.provideMerge(Keys.layerWith({ cfgDir: FOLDER, dataDir: FOLDER, algorithm: "ES256", development: true })),
    Layer.provide(NodeServices.layer)
  ),
  Layer.succeed(SignIns.Lifetimes, {
    accessToken: Duration.hours(10),
    refreshToken: Duration.days(30),
    revocationDelay: Duration.seconds(9)
  })
)

const run = (store: Store, { in: within, operations }: Write): Effect.Effect<unknown, unknown> => {
  const all = Effect.forEach(operations, ([name, ...args]): Effect.Effect<unknown, unknown> => {
    // It is called with the arguments of the operation that it is.
    const operation = store[name] as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>
    return name === "aggregate"
      ? Stream.runDrain(store.aggregate(...args as Parameters<Store["aggregate"]>))
      : operation(...args)
  })
  return within === undefined
    ? all
    : store.transaction(within === "transaction" ? all : Effect.andThen(all, Effect.fail("rolled back")))
}

const program = Effect.gen(function*() {
  yield* TestClock.setTime(Number(TIME))
  const inMemory = yield* EmbeddedStore.makeMemory
  const openStore: Effect.Effect<Store, unknown, Scope.Scope> = STORE === "memory"
    ? Effect.succeed(inMemory)
    : STORE === "embedded"
    ? EmbeddedStore.make({ path: FOLDER })
    : MongoStore.make({ host: MONGO, db: DB, connectTimeout: "60 seconds", serverSelectionTimeout: "60 seconds" })
  let scope = yield* Scope.make()
  const start = Effect.gen(function*() {
    scope = yield* Scope.make()
    return yield* Scope.provide(
      Effect.gen(function*() {
        const store = yield* openStore
        const { baseUrl } = yield* engine.test({ store: Layer.succeed(DocumentStore.DocumentStore, store) })
        return { store, url: `${baseUrl}/orders` }
      }),
      scope
    )
  })
  let service = yield* start
  const jwt = yield* Jwt.Jwt
  const happen = Effect.fnUntraced(function*(happening: Happening) {
    if ("write" in happening) yield* Effect.ignore(run(service.store, happening.write))
    else if ("rights" in happening) ({ rights } = happening)
    else if ("restart" in happening) {
      yield* Scope.close(scope, Exit.void)
      service = yield* start
    } else if ("roles" in happening) {
      return Redacted.value(yield* jwt.sign({ subject: "someone", roles: happening.roles, expiresIn: "5000 days" }))
    } else {
      for (let i = 0; i < happening.steps; i++) {
        yield* TestClock.adjust(happening.millis)
        if (happening.steps > 1) yield* settled
      }
    }
    return service.url
  })
  const context = yield* Effect.context()
  const teller = createServer((request, response) => {
    const answer = Effect.gen(function*() {
      // The test is the only one that tells it something.
      const happening = EJSON.parse(yield* Effect.promise(() => text(request))) as Happening
      response.end(yield* happen(happening))
    })
    void Effect.runPromiseWith(context)(answer)
  })
  teller.listen(0, "127.0.0.1", () => {
    const address = teller.address()
    console.log(`${service.url} http://127.0.0.1:${typeof address === "object" ? address?.port : ""} ready`)
  })
  return yield* Effect.never
})

const settled = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))

await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(Layer.provideMerge(configured, TestClock.layer()))))
