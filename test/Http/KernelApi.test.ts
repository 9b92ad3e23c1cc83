import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  Accounts,
  Converter,
  Credentials,
  CurrentSubject,
  EmbeddedStore,
  Index,
  Jwt,
  KernelApi,
  KernelClient,
  KernelEngine,
  Model,
  OpenApi,
  Resource,
  Service,
  ServiceError,
  Tokens,
  TokensApi
} from "appkernel"
import { Arbitrary, Effect, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import * as calls from "./routes/RestCalls.contract.ts"

class Taken extends ServiceError<Taken>()("Taken", { status: 409, fields: { by: Schema.String } }) {}

class Closed extends ServiceError<Closed>()("Closed", { status: 410 }) {}

class Room extends Model.Class<Room>()("Room", { id: Model.id({ prefix: "R" }), name: Schema.String }) {}

const RoomsApi = Resource.describe(Room, { methods: ["GET", "POST"], errors: { POST: [Taken, Closed], GET: [] } })
  .action("book", { payload: { by: Schema.String }, success: Schema.String, error: Taken })

const ClocksApi = Service.describe("ClockService").operation("zones", { success: Schema.Array(Schema.String) })

const api = KernelApi.make("rooms").register(RoomsApi, { urlBase: "/api/v1" }).register(ClocksApi)

const Rooms = Resource.implement(RoomsApi, {
  book: (room, { payload }) =>
    payload.by === "nobody" ? Effect.fail(new Taken({ by: room.name })) : Effect.succeed(`${room.name} ${payload.by}`)
}).beforePost(({ name }) => name === "taken" ? Effect.fail(new Taken({ by: "Jane" })) : Effect.void)

const Clocks = Service.implement(ClocksApi, { zones: () => Effect.succeed(["UTC"]) })

const infos = { title: "x", version: "1" }

describe("a description apart from its implementation", () => {
  it.effect("is made into that of Effect's API when somebody asks for the document, once", () =>
    Effect.gen(function*() {
      let made = 0
      const counted = new Proxy(api, {
        get: (target, key) => {
          if (key === "api") made++
          return Reflect.get(target, key)
        }
      })
      const service = KernelEngine.fromApi(counted, [Clocks, Rooms])
        .enableOpenApi(infos)
        .enableMcp({ expose: ["rooms.list"] })
        .layerServe.pipe(
          Layer.provide(EmbeddedStore.layerMemory),
          Layer.provideMerge(NodeHttpServer.layerTest)
        )
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* HttpClient.get("/api/v1/rooms")).status, 200)
        assert.strictEqual(made, 0)
        const asked = yield* Effect.all(["/docs", "/openapi.json", "/redoc"].map((path) => HttpClient.get(path)), {
          concurrency: 3
        })
        assert.deepStrictEqual(asked.map(({ status }) => status), [200, 200, 200])
        assert.strictEqual(made, 1)
      }).pipe(Effect.provide(service))
    }))

  it.effect("is served by its implementations, and its client gets their errors as classes", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* KernelEngine.fromApi(api, [Clocks, Rooms]).test()
      const client = yield* KernelClient.make(api, { baseUrl })
      const { result: id } = yield* client.rooms.create({ payload: { name: "Eiger" } })
      assert.strictEqual((yield* client.rooms.book({ params: { id }, payload: { by: "Jane" } })).result, "Eiger Jane")
      assert.deepStrictEqual(
        yield* Effect.flip(client.rooms.book({ params: { id }, payload: { by: "nobody" } })),
        new Taken({ by: "Eiger" })
      )
      assert.deepStrictEqual(
        yield* Effect.flip(client.rooms.create({ payload: { name: "taken" } })),
        new Taken({ by: "Jane" })
      )
      assert.deepStrictEqual((yield* client.clocks.zones())._items, ["UTC"])
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it("has the OpenAPI document of the engine that registers the same", () => {
    assert.deepStrictEqual(OpenApi.make(calls.apart, infos), OpenApi.make(calls.engine, infos))
  })

  /** Some of the values, in any order: those with an even rank, by their ranks. */
  const subset = (values: ReadonlyArray<string>) =>
    Arbitrary.map(
      Arbitrary.all(values.map(() => Arbitrary.schema(Schema.Int))),
      (ranks) =>
        values.map((value, i) => ({ value, rank: ranks[i] ?? 0 }))
          .filter(({ rank }) => rank % 2 === 0)
          .toSorted((a, b) => a.rank - b.rank)
          .map(({ value }) => value)
    )

  it.prop(
    "describes the same as the resource whose hooks and actions are added in one",
    [subset(["GET", "POST", "PUT", "PATCH", "DELETE"]), subset(["Taken", "Closed"]), subset(["a", "b"])],
    ([methods, tags, actions]) => {
      const known = { Taken, Closed }
      const error = tags.map((tag) => Reflect.get(known, tag))
      const options = { payload: { by: Schema.String }, success: Room, error }
      // The methods and the names of hooks are computed.
      // oxlint-disable-next-line typescript/no-explicit-any
      let made: any = Resource.make(Room, { methods: methods as never })
      // oxlint-disable-next-line typescript/no-explicit-any
      let described: any = Resource.describe(Room, {
        methods: methods as never,
        errors: Object.fromEntries(methods.map((method) => [method, error])) as never
      })
      for (const method of methods) {
        made = made[`after${method[0]}${method.slice(1).toLowerCase()}`](() => Effect.void, { error })
      }
      for (const name of actions) {
        made = made.action(name, options, () => Effect.never)
        described = described.action(name, options)
      }
      const short = KernelEngine.make("x").register(made, { urlBase: "/api" })
      const apart = KernelApi.make("x").register(described, { urlBase: "/api" })
      assert.deepStrictEqual(OpenApi.make(apart, infos), OpenApi.make(short, infos))
      const placed = ({ registrations }: Pick<typeof apart, "registrations">) =>
        registrations.map(({ calls, name, path, tags }) => ({
          name,
          path,
          tags,
          calls: calls.map(({ method, name, path }) => `${method} ${path} ${name}`)
        }))
      assert.deepStrictEqual(placed(apart), placed(short))
    }
  )

  it("has models in the plural, and of services those that are not plural already", () => {
    class Address extends Model.Class<Address>()("Address", { id: Model.id() }) {}
    class Sms extends Model.Class<Sms>()("Sms", { id: Model.id() }) {}
    const described = KernelApi.make("names")
      .register(Address)
      .register(Sms)
      .register(Service.describe("SmsService").operation("send", {}))
      .register(Service.describe("UserService").operation("list", {}))
      .register(Service.describe("PaymentsService").operation("pay", {}), { urlBase: "/api" })
      .register(Service.describe("CategoryController").operation("list", {}))
    assert.deepStrictEqual(
      described.registrations.map(({ name, path }) => `${name} ${path}`),
      [
        "addresses /addresses",
        "smses /smses",
        "sms /sms",
        "users /users",
        "payments /api/payments",
        "categories /categories"
      ]
    )
    const client = KernelClient.make(described, { baseUrl: "http://localhost" })
    // The client has the same names.
    type Names = keyof Effect.Success<typeof client>
    const names: ReadonlyArray<Names> = ["addresses", "smses", "sms", "users", "payments", "categories"]
    assert.lengthOf(names, 6)
  })

  it.effect("is served without handlers where it has no actions", () =>
    Effect.gen(function*() {
      const described = Resource.describe(Room, { methods: ["GET", "POST"] })
      const rooms = KernelApi.make("rooms").register(described)
      const { client } = yield* KernelEngine.fromApi(rooms, [Resource.implement(described)]).test()
      const { result: id } = yield* client.rooms.create({ payload: { name: "Aula" } })
      assert.strictEqual((yield* client.rooms.get({ params: { id } })).name, "Aula")
    }))

  it.effect("has the sign-ins and sign-outs of a service, for a client that knows the description alone", () =>
    Effect.gen(function*() {
      class User extends Model.Class<User>()("User", {
        id: Model.id(),
        email: Schema.String.pipe(Model.indexed(Index.unique)),
        password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted)
      }) {}
      const described = Resource.describe(User, { methods: ["GET"] })
      const shop = KernelApi.make("shop")
        .register(described, { urlBase: "/api" })
        .register(TokensApi.description, { urlBase: "/api" })
        .enableSecurity()
      const Users = Resource.implement(described).require(CurrentSubject)
      const { baseUrl, repositories } = yield* KernelEngine.fromApi(shop, [Users, Tokens.service]).test({
        store: Layer.mergeAll(
          EmbeddedStore.layerMemory,
          Jwt.layer,
          Accounts.fromModel(User, { login: "email", secret: "password" })
        )
      })
      const password = Redacted.make("correct horse")
      const { id } = yield* repositories.users.insert(
        yield* Model.finalise(User, { email: "jane@example.com", password: Redacted.value(password) })
      )
      const client = yield* KernelClient.make(shop, { baseUrl })
      const grant = { grant_type: "password", username: "jane@example.com", password }
      const { access_token, refresh_token } = yield* client.tokens.token({ payload: grant })
      const jane = yield* KernelClient.make(shop, { baseUrl, credentials: Credentials.bearer(access_token) })
      assert.strictEqual((yield* jane.users.get({ params: { id } })).email, "jane@example.com")
      const wrong = yield* Effect.flip(client.tokens.token({ payload: { ...grant, password: Redacted.make("no") } }))
      assert.strictEqual(wrong._tag, "invalid_grant")
      const missing = yield* Effect.flip(client.tokens.token({ payload: { grant_type: "password" } }))
      assert.strictEqual(missing._tag === "invalid_request" ? missing.parameter : missing._tag, "username")
      yield* client.tokens.revoke({ payload: { token: refresh_token } })
      const ended = yield* Effect.flip(client.tokens.token({ payload: { grant_type: "refresh_token", refresh_token } }))
      assert.strictEqual(ended._tag, "invalid_grant")
      assert.strictEqual((yield* Effect.flip(jane.users.get({ params: { id } })))._tag, "Unauthorized")
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it.effect("does not start with implementations that do not fit", () =>
    Effect.gen(function*() {
      const OthersApi = Service.describe("OtherService").operation("ping", {})
      const Others = Service.implement(OthersApi, { ping: () => Effect.void })
      for (
        const [implementations, registration, detail] of [
          [[Rooms], "clocks", "zones has no handler"],
          [[Rooms, Service.implement(ClocksApi, {} as never)], "clocks", "zones has no handler"],
          [[Rooms, Clocks, Others], "OtherService", "its description is not registered"],
          [
            [Rooms, Clocks, Service.implement(ClocksApi, { zones: () => Effect.succeed([]) })],
            "clocks",
            "it has two implementations"
          ],
          [
            [
              Rooms,
              Service.implement(ClocksApi, { zones: () => Effect.succeed([]), hands: () => Effect.void } as never)
            ],
            "clocks",
            "the handler hands belongs to nothing that is described"
          ]
        ] as const
      ) {
        const error = yield* Effect.flip(Effect.scoped(KernelEngine.fromApi(api, implementations as never).test()))
        assert.strictEqual(error.message, `The registration "${registration}" can't be served: ${detail}`)
      }
    }))
})
