import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import {
  Anonymous,
  CurrentSubject,
  Jwt,
  KernelEngine,
  Model,
  Permission,
  Resource,
  Role,
  Service
} from "../../../src/index.ts"
import { type Answer, bearer, sendTo } from "../../support/rest.ts"
import { shop } from "../../support/tokens.ts"

class Product extends Model.Class<Product>()("Product", {
  id: Model.id(),
  name: Schema.String,
  cost: Schema.Finite
}) {}

class User extends Model.Class<User>()("User", { id: Model.id(), phone: Schema.String }) {}

class Inner extends Model.Class<Inner>()("Inner", { city: Schema.String, cost: Schema.Int }) {}

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  title: Schema.String,
  top: Schema.String,
  inner: Inner,
  inners: Schema.Array(Inner),
  ...Model.versioned,
  ...Model.audited
}, { logged: true }) {}

const isVip = Permission.make(
  "vips",
  { model: User },
  ({ document }) => Effect.map(document, (user) => user._tag === "Some" && user.value.phone === "1")
)

const Products = Resource.make(Product, { methods: ["GET", "POST"] })
  .grant(Anonymous, { methods: "GET", hide: ["cost"] })
  .require(Role("admin"))

const Users = Resource.make(User, { methods: ["GET", "DELETE"] })
  .action("greet", { method: "POST", require: isVip }, () => Effect.void)
  .require(CurrentSubject, "GET")
  .require(Role("admin"))

const Reports = Service.make("ReportService").operation("totals", { require: Role("boss") }, () => Effect.void)

const engine = KernelEngine.make("shop").register(Users).register(Reports).enableSecurity({
  roles: { boss: ["admin"] }
})

const get = (url: string, token?: string) => sendTo(url, "GET", "", undefined, token === undefined ? {} : bearer(token))

const tokenOf = (...roles: ReadonlyArray<string>) =>
  Effect.flatMap(Jwt.Jwt, (jwt) => Effect.map(jwt.sign({ subject: "U1", roles, claims: {} }), Redacted.value))

const operationsOf = ({ body }: Answer): Array<string> =>
  Object.entries<object>(body.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`))

const options = { title: "Shop", version: "1.0.0" }

describe("The documentation of a service with access control", () => {
  it.live("has only what its caller may, by configuration", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.register(Products).enableOpenApi({ ...options, perCaller: true }).test()
      const url = `${baseUrl}/openapi.json`
      const nobody = yield* get(url)
      assert.sameMembers(operationsOf(nobody), [
        "get /products",
        "get /products/{id}",
        "get /products/aggregate",
        "post /products/query",
        "get /products/schema",
        "get /products/meta"
      ])
      assert.notMatch(JSON.stringify(nobody.body), /cost|User|totals|admin/u)
      assert.property(nobody.body.components.securitySchemes, "bearer")

      const user = yield* get(url, yield* tokenOf())
      assert.sameMembers(operationsOf(user).filter((name) => name.includes("users")), [
        "get /users",
        "get /users/{id}",
        "get /users/aggregate",
        "post /users/query",
        "get /users/schema",
        "get /users/meta",
        // It depends on the user.
        "post /users/{id}/greet"
      ])
      assert.notMatch(JSON.stringify(user.body), /cost|totals|admin/u)
      assert.include(String(user.headers["cache-control"]), "private")
      assert.include(String(user.headers["vary"]), "Authorization")

      const admin = yield* get(url, yield* tokenOf("admin"))
      assert.includeMembers(operationsOf(admin), ["delete /users/{id}", "post /products"])
      assert.property(admin.body.components.schemas.Product.properties, "cost")
      assert.notInclude(operationsOf(admin), "get /reports/totals")
      const boss = yield* get(url, yield* tokenOf("boss"))
      assert.sameMembers(operationsOf(boss), [...operationsOf(admin), "get /reports/totals"])
      assert.strictEqual((yield* get(url, "wrong")).status, 401)

      const one = yield* tokenOf("boss")
      const other = yield* tokenOf()
      const many = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, i) => i % 2 === 0 ? one : other),
        (token) => get(url, token),
        { concurrency: 20 }
      )
      for (const [i, answer] of many.entries()) assert.deepStrictEqual(answer.body, (i % 2 === 0 ? boss : user).body)
    }).pipe(Effect.provide(shop("ES256"))))

  it.live("names no field that its caller may not see, at any depth: in streams, bodies, samples and selections", () =>
    Effect.gen(function*() {
      for (const methods of [["GET"], ["GET", "PATCH"], ["GET", "POST", "PUT", "PATCH", "DELETE"]] as const) {
        const notes = Resource.make(Note, { methods })
          .action("show", { success: Note }, (note) => Effect.succeed(note))
          .grant(Role("clerk"), { hide: ["top", "inner.cost", "inners.cost", "updated"] })
          .require(Role("admin"))
        const { baseUrl } = yield* KernelEngine.make("shop")
          .register(notes)
          .enableSecurity()
          .enableOpenApi({ ...options, perCaller: true })
          .test()
        const namesFor = (role: string) =>
          Effect.map(Effect.flatMap(tokenOf(role), (token) => get(`${baseUrl}/openapi.json`, token)), ({ body }) => {
            assert.property(body.paths, "/notes/changes")
            assert.property(body.paths, "/changes")
            return [...new Set(JSON.stringify(body).match(/\b(?:top|cost|updated|city|title)\b/gu))].toSorted()
          })
        assert.deepStrictEqual(yield* namesFor("clerk"), ["city", "title"], methods.join())
        assert.deepStrictEqual(yield* namesFor("admin"), ["city", "cost", "title", "top", "updated"])
      }
    }).pipe(Effect.provide(shop("ES256"))))

  it.live("needs credentials where nobody may do anything", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.enableOpenApi({ ...options, perCaller: true }).test()
      const { headers, status } = yield* get(`${baseUrl}/openapi.json`)
      assert.strictEqual(status, 401)
      assert.include(String(headers["www-authenticate"]), "Bearer")
      assert.strictEqual((yield* get(`${baseUrl}/openapi.json`, yield* tokenOf())).status, 200)
    }).pipe(Effect.provide(shop("ES256"))))

  it.live("is whole and for everybody, unless configured otherwise", () =>
    Effect.gen(function*() {
      const paths = ["/openapi.json", "/docs", "/redoc", "/docs/swagger-ui.css"]
      const open = yield* engine.enableOpenApi(options).test()
      const closed = yield* engine.enableOpenApi({ ...options, require: Role("boss") }).test()
      assert.include(operationsOf(yield* get(`${open.baseUrl}/openapi.json`)), "get /reports/totals")
      for (const path of paths) {
        assert.strictEqual((yield* get(`${open.baseUrl}${path}`)).status, 200, path)
        const statuses = [
          yield* get(`${closed.baseUrl}${path}`),
          yield* get(`${closed.baseUrl}${path}`, yield* tokenOf("admin")),
          yield* get(`${closed.baseUrl}${path}`, yield* tokenOf("boss"))
        ].map(({ status }) => status)
        assert.deepStrictEqual(statuses, [401, 403, 200], path)
      }
    }).pipe(Effect.provide(shop("ES256"))))
})
