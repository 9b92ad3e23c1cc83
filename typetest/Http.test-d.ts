import {
  EmbeddedStore,
  type HttpError,
  KernelEngine,
  Model,
  Repository,
  type RepositoryError,
  type Resource
} from "appkernel"
import type { DocumentStore } from "appkernel"
import { type Config, type DateTime, Effect, Layer, Schema } from "effect"
import type { HttpClientError, HttpServer } from "effect/http"
import { type HttpApi, HttpApiClient } from "effect/http-api"
import { describe, expectTypeOf, it } from "vitest"

class Address extends Model.Class<Address>()("Address", { city: Schema.String }) {}

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String,
  password: Schema.String.pipe(Model.omitted),
  address: Address.pipe(Model.optional),
  created: Model.DateTime
}) {}

class Category extends Model.Class<Category>()("Category", { id: Model.id(), name: Schema.String }) {}

const engine = KernelEngine.make("shop")
  .register(User, { methods: ["GET", "POST", "PATCH", "DELETE"], urlBase: "/api/v1" })
  .register(Category)

const makeClient = HttpApiClient.make(engine.api)
type Client = Effect.Success<typeof makeClient>
declare const client: Client

type Always =
  | HttpError.NotImplemented
  | HttpError.ServiceUnavailable
  | HttpError.InternalServerError
  | HttpClientError.HttpClientError
  | Schema.SchemaError

describe("KernelEngine", () => {
  it("has the registered resources and methods, and no others", () => {
    expectTypeOf<keyof Client>().toEqualTypeOf<"users" | "categories">()
    expectTypeOf<keyof Client["users"]>().toEqualTypeOf<
      "list" | "get" | "create" | "patch" | "delete" | "schema" | "meta"
    >()
    // @ts-expect-error a read-only resource has no create
    void client.categories.create
    // @ts-expect-error PUT is not registered
    void client.users.replace
  })

  it("is a real HttpApi", () => {
    expectTypeOf(engine.api).toExtend<HttpApi.Constraint>()
    expectTypeOf(engine.api.identifier).toEqualTypeOf<"shop">()
  })

  it("shows what is on the wire, without omitted fields", () => {
    const get = client.users.get({ params: { id: "U1" } })
    type User = Effect.Success<typeof get>
    expectTypeOf<keyof User>().toEqualTypeOf<"_type" | "_links" | "id" | "name" | "address" | "created">()
    expectTypeOf<User["_type"]>().toEqualTypeOf<"User">()
    expectTypeOf<User["created"]>().toEqualTypeOf<DateTime.Utc>()
    expectTypeOf<NonNullable<User["address"]>>().toEqualTypeOf<{ readonly _type: "Address"; readonly city: string }>()
    const list = client.users.list({ query: { name: "Jane", page: 2, sort_order: "DESC" } })
    expectTypeOf<Effect.Success<typeof list>["_items"][number]>().toEqualTypeOf<User>()
    // @ts-expect-error an omitted field is no filter
    void client.users.list({ query: { password: "x" } })
  })

  it("knows of each call what it can fail with", () => {
    const get = client.users.get({ params: { id: "U1" } })
    expectTypeOf<Effect.Error<typeof get>>().toEqualTypeOf<HttpError.NotFound | Always>()
    const list = client.users.list({ query: {} })
    expectTypeOf<Effect.Error<typeof list>>().toEqualTypeOf<HttpError.BadRequest | Always>()
    const create = client.users.create({ payload: { name: "Jane", password: "secret", created: null! } })
    expectTypeOf<Effect.Error<typeof create>>().toEqualTypeOf<
      | HttpError.BadRequest
      | HttpError.Conflict
      | HttpError.PayloadTooLarge
      | HttpError.UnsupportedMediaType
      | Always
    >()
    const remove = client.users.delete({ params: { id: "U1" } })
    expectTypeOf<Effect.Error<typeof remove>>().toEqualTypeOf<HttpError.NotFound | Always>()
  })

  it("needs a store, and fails to start with what it says", () => {
    expectTypeOf<Layer.Services<typeof engine.layer>>().toEqualTypeOf<DocumentStore.DocumentStore>()
    expectTypeOf<Layer.Error<typeof engine.layer>>().toEqualTypeOf<
      KernelEngine.ListenFailed | KernelEngine.RouteConflict | RepositoryError.StoreError | Config.ConfigError
    >()
    expectTypeOf<Layer.Services<typeof engine.layerServe>>().toEqualTypeOf<
      DocumentStore.DocumentStore | HttpServer.HttpServer
    >()
    expectTypeOf(engine.layer.pipe(Layer.provide(EmbeddedStore.layerMemory), KernelEngine.launch)).toEqualTypeOf<
      Effect.Effect<never, KernelEngine.StartFailed>
    >()
    // Handlers find the repositories of the registered models, and of no others.
    const handler = Effect.all([Repository.for(User), Repository.for(Category)])
    expectTypeOf(Effect.provide(handler, engine.layer)).toExtend<
      Effect.Effect<unknown, unknown, DocumentStore.DocumentStore>
    >()
  })

  it("refuses a method that HTTP resources don't have", () => {
    type Register = ReturnType<typeof KernelEngine.make<"x">>["register"]
    expectTypeOf<"FETCH">().not.toExtend<Resource.Method>()
    // @ts-expect-error there is no such method
    void ((register: Register) => register(User, { methods: ["FETCH"] }))
  })
})
