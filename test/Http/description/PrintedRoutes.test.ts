import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { allStandardEndpoints } from "../../../src/Http/description/standardEndpoints.ts"
import { AccessPolicy, EmbeddedStore, KernelEngine, Model, Resource, Service } from "../../../src/index.ts"
import { type Method, send, serving } from "../../support/rest.ts"

class Customer extends Model.Class<Customer>()("Customer", { id: Model.id(), name: Schema.String }) {}

class Order extends Model.Class<Order>()("Order", { id: Model.id(), name: Schema.String }, { logged: true }) {}

class Note extends Model.Class<Note>()("Note", { id: Model.id(), name: Schema.String }) {}

class Token extends Model.Class<Token>()("Token", { id: Model.id(), name: Schema.String }) {}

const done = () => Effect.void

const engine = KernelEngine.make("printed")
  .register(
    Resource.make(Customer, { methods: ["PATCH"] })
      .action("merge", { payload: { other: Schema.String } }, done)
      .action("note", { method: "PUT", path: "./notes/{number}", payload: { text: Schema.String } }, done)
      .action("forget", { method: "DELETE" }, done),
    { urlBase: "/api/v1" }
  )
  .register(Order, { methods: ["GET", "POST", "PUT", "DELETE"], urlBase: "/api/v1", onKnownId: "error" })
  .register(Note, { methods: ["GET"], describes: false, urlBase: "/api/v1" })
  .register(Resource.make(Token, { methods: [] }).action("use", { method: "POST" }, done), { urlBase: "/api/v1" })
  .register(
    Service.make("PayService")
      .operation("pay", { path: "./", payload: { amount: Schema.Int } }, done)
      .operation("methods", { path: "/methods" }, done)
      .operation("state", { path: ":payment/states/{state}" }, done)
      .operation("end", { method: "DELETE", path: "./{payment}" }, done),
    { urlBase: "/api/v1" }
  )
  .enableOpenApi({ title: "Printed", version: "1" })

/** The routes that the command prints. */
const printed = new Set(
  AccessPolicy.toText(engine.policy).split("\n").slice(1).map((line) => line.split(" ", 2).join(" "))
)

const methods: ReadonlyArray<Method> = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/** Paths at which there are routes, and at which there could be. */
const paths = new Set([
  ...Array.from(printed, (line) => line.split(" ")[1] ?? ""),
  ...engine.registrations.flatMap(({ _tag, path }) =>
    _tag === "Service" ? [path, `${path}/:id/use`] : [path, `${path}/:id`, `${path}/:id/use`]
  ),
  ...allStandardEndpoints.map(({ path }) => `/api/v1/orders${path}`),
  ...allStandardEndpoints.map(({ path }) => `/api/v1/tokens${path}`),
  "/",
  "/api/v1",
  "/health",
  "/metrics"
])

describe("the printed routes", () => {
  it.layer(serving(engine, EmbeddedStore.layerMemory))((it) => {
    it.effect("are those that the service has", () =>
      Effect.gen(function*() {
        const served = yield* Effect.forEach(paths, (path) =>
          Effect.forEach(methods, (method) =>
            Effect.map(
              send(method, path.replaceAll(/:\w+/gu, "X1"), method === "GET" || method === "DELETE" ? undefined : {}),
              ({ body, status }) =>
                status === 405 || status === 404 && String(body?.message).startsWith("There is nothing at ")
                  ? []
                  : [`${method} ${path}`]
            )))
        assert.deepStrictEqual(served.flat(2).toSorted(), [...printed].toSorted())
      }))
  })
})
