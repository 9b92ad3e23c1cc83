import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Logger, Schema } from "effect"
import {
  EmbeddedStore,
  KernelEngine,
  Model,
  OpenApi,
  Permission,
  Repository,
  Resource,
  Role,
  Service
} from "../../../src/index.ts"
import { send, serving } from "../../support/rest.ts"

class User extends Model.Class<User>()("User", { id: Model.id({ prefix: "U" }), name: Schema.String }) {}

const Named = Service.make("NamedService")
  .operation(
    "show",
    { path: "./{x}/parts/{y}", success: Schema.String },
    ({ params }) => Effect.succeed(Object.keys(params).join())
  )
  .operation(
    "change",
    { path: "./{a}/parts/{b}", method: "PUT", success: Schema.String },
    ({ params }) => Effect.succeed(Object.keys(params).join())
  )
  .operation(
    "remove",
    { path: "./{p}", method: "DELETE", success: Schema.String },
    ({ params }) => Effect.succeed(Object.keys(params).join())
  )
  .operation(
    "other",
    { path: "./{q}/others", success: Schema.String },
    ({ params }) => Effect.succeed(Object.keys(params).join())
  )

const engine = KernelEngine.make("named").register(Named).enableOpenApi({ title: "Named", version: "1" })

describe("paths whose methods name their parameters differently", () => {
  it.layer(serving(engine, EmbeddedStore.layerMemory))((it) => {
    it.effect("are one path, whose methods are distinguished", () =>
      Effect.gen(function*() {
        const base = "/nameds/1/parts/2"
        assert.deepStrictEqual((yield* send("GET", base)).body.result, "x,y")
        assert.deepStrictEqual((yield* send("PUT", base)).body.result, "a,b")
        assert.deepStrictEqual((yield* send("DELETE", "/nameds/1")).body.result, "p")
        assert.deepStrictEqual((yield* send("GET", "/nameds/1/others")).body.result, "q")
        const refused = yield* send("PATCH", base)
        assert.deepStrictEqual([refused.status, refused.headers["allow"]], [405, "GET, PUT, HEAD, QUERY, OPTIONS"])
        assert.strictEqual((yield* send("OPTIONS", base)).headers["allow"], "GET, PUT, HEAD, QUERY, OPTIONS")
      }))
  })

  it("are one path of the document, by the names of the first", () => {
    const { paths } = OpenApi.make(engine, { title: "Named", version: "1" })
    assert.deepStrictEqual(Object.keys(paths), ["/nameds/{x}/parts/{y}", "/nameds/{p}", "/nameds/{q}/others"])
    const item = paths["/nameds/{x}/parts/{y}"]!
    assert.deepStrictEqual(Object.keys(item), ["get", "put"])
    assert.nestedPropertyVal(item, "put.parameters[0].name", "x")
    assert.nestedPropertyVal(item, "put.parameters[1].name", "y")
  })
})

/** What the start of an engine fails with. */
const refusedAt = (engine: { readonly test: () => Effect.Effect<unknown, { readonly message: string }, never> }) =>
  Effect.map(Effect.flip(Effect.scoped(engine.test())), ({ message }) => message)

/** A call that types refuse, as a program without types makes it. */
const untyped = (value: unknown): never => value as never

describe("registrations that can't be served", () => {
  const engine = KernelEngine.make("wrong")

  class Other extends Model.Class<Other>()("User", { id: Model.id(), title: Schema.String }) {}

  class Nameless extends Model.Class<Nameless>()("Nameless", { title: Schema.String }) {}

  class Hooked extends Model.Class<Hooked>()("Hooked", { id: Model.id() }) {
    static readonly hooks = { beforePost: () => Effect.void }
  }

  class HookedByName extends Model.Class<HookedByName>()("HookedByName", { id: Model.id() }) {
    static readonly beforePost = () => Effect.void
  }

  const idle = untyped(
    // The types say that it would never run.
    Reflect.apply(Resource.make(User, { methods: ["GET", "PUT"] }).beforePost, undefined, [() => Effect.void])
  )

  const cases: ReadonlyArray<readonly [string, Parameters<typeof refusedAt>[0], string]> = [
    [
      "two models of one name",
      untyped(engine.register(User).register(Other, { name: "others", segment: "others" })),
      "The registration \"others\" can't be served: another model is named User, too, and their documents would get mixed up"
    ],
    [
      "a model without an identifier",
      untyped(engine.register(Nameless)),
      "The registration \"namelesses\" can't be served: the model Nameless has no field \"id\""
    ],
    [
      "a hook of a method that is not registered",
      untyped(engine.register(idle)),
      "The registration \"users\" can't be served: beforePost never runs, since POST is not among the methods GET, PUT"
    ],
    [
      "hooks on the model",
      untyped(engine.register(untyped(Hooked), untyped({ methods: ["POST"] }))),
      "The registration \"hookeds\" can't be served: the hooks of the model Hooked never run; they stand on its resource, as in Resource.make(Hooked).beforePost(…)"
    ],
    [
      "a hook on the model",
      untyped(engine.register(untyped(HookedByName), untyped({ methods: ["POST"] }))),
      "The registration \"hookedbynames\" can't be served: the hooks of the model HookedByName never run; they stand on its resource, as in Resource.make(HookedByName).beforePost(…)"
    ],
    [
      "an option of hooks for a model that has none",
      untyped(engine.register(User, untyped({ methods: ["POST"], transactional: true }))),
      "The registration \"users\" can't be served: there is no option transactional"
    ],
    [
      "hooks among the options",
      untyped(engine.register(User, untyped({ methods: ["POST"], hooks: { beforePosst: () => Effect.void } }))),
      "The registration \"users\" can't be served: there is no option hooks; hooks stand on the resource, as in Resource.make(Model).beforePost(…)"
    ],
    [
      "a form for a resource, whose model has one",
      untyped(engine.register(Resource.make(User), untyped({ form: 1 }))),
      "The registration \"users\" can't be served: there is no option form; a resource has the form of its model, as in Resource.make(Model.form(User, 1))"
    ],
    [
      "methods for a resource, which has its own",
      untyped(engine.register(Resource.make(User), untyped({ methods: ["GET", "DELETE"] }))),
      "The registration \"users\" can't be served: there is no option methods; a resource has its own methods, as in Resource.make(User, { methods: [\"GET\"] })"
    ],
    [
      "a rule about a role that the engine does not know",
      untyped(
        KernelEngine.make("named", { roles: ["desk", "admin"] })
          .register(
            Resource.make(User).require(Role("desk")).require(
              Permission.not(Permission.or(Role("admin"), Role("dsek")))
            )
          )
      ),
      "The registration \"users\" can't be served: a rule is about the role dsek, and there is only desk, admin"
    ],
    [
      "roles that include one which the engine does not know",
      untyped(
        KernelEngine.make("named", { roles: ["desk", "admin"] }).register(User)
          .enableSecurity({ roles: { admin: ["desk"], desk: ["dsek"] } })
      ),
      "The registration \"named\" can't be served: enableSecurity is about the role dsek, and there is only desk, admin"
    ],
    [
      "documentation for a role that the engine does not know",
      untyped(
        KernelEngine.make("named", { roles: ["desk"] }).register(User)
          .enableOpenApi({ title: "Named", version: "1", require: Permission.or(Role("desk"), Role("dsek")) })
      ),
      "The registration \"named\" can't be served: enableOpenApi is about the role dsek, and there is only desk"
    ],
    ...[
      ["./{id}:wait", "{id}:wait"],
      ["./{id}.csv", "{id}.csv"],
      ["./a-{id}", "a-{id}"],
      ["./{a}-{b}", "{a}-{b}"],
      ["./{thing-id}", "{thing-id}"],
      ["./{a.b}", "{a.b}"],
      ["./{größe}", "{größe}"],
      ["./:id?", ":id?"],
      ["./all/*", "*"],
      ["./a%20b", "a%20b"]
    ].map(([path = "", segment = ""]) =>
      [
        `the path ${path}`,
        untyped(engine.register(Service.make("PayService").operation("pay", { path }, () => Effect.void))),
        `The registration "pays" can't be served: the path /pays${
          path.slice(1)
        } of pay has the segment ${segment}, which is neither a text nor one parameter, such as {id}, whose name has letters, digits and _`
      ] as const
    ),
    [
      "a parameter that the path has twice",
      untyped(engine.register(Resource.make(User).action("pay", { path: "./{id}" }, () => Effect.void))),
      "The registration \"users\" can't be served: the path /users/:id/:id of pay has the parameter id twice"
    ],
    [
      "a parameter in the place of a registration",
      untyped(engine.register(User, { urlBase: "/{tenant}" })),
      "The registration \"users\" can't be served: the path /:tenant/users of users has the segment :tenant, which is no text"
    ],
    [
      "an option that there is not",
      untyped(engine.register(User, untyped({ urlBsae: "/api" }))),
      "The registration \"users\" can't be served: there is no option urlBsae"
    ],
    [
      "two operations of one name",
      untyped(engine.register(
        Service.make("PayService").operation("pay", {}, () => Effect.void)
          .operation("pay", { path: "./other" }, () => Effect.void)
      )),
      "Two registrations can't be told apart: pay of the service pays (GET /pays/pay) and pay of the service pays (GET /pays/other)"
    ]
  ]

  it.effect.each(cases)("fail the start in one sentence: %s", ([, engine, message]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* refusedAt(engine), message)
    }))

  it.effect("end a program with one line, including those that only a layer reveals", () => {
    const lines: Array<string> = []
    const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))])
    const layers: ReadonlyArray<Layer.Layer<unknown, unknown>> = [
      untyped(engine.register(Nameless).layer.pipe(Layer.provide(EmbeddedStore.layerMemory))),
      untyped(Repository.layer(Nameless).pipe(Layer.provide(EmbeddedStore.layerMemory)))
    ]
    return Effect.gen(function*() {
      for (const layer of layers) {
        const exit = yield* Effect.exit(engine.launch(Layer.provideMerge(layer, logger)))
        assert.isTrue(Exit.isFailure(exit) && !Cause.hasDies(exit.cause))
        assert.include(Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "", "model Nameless has no field")
      }
    })
  })
})

describe("a registration that refuses lists", () => {
  const single = KernelEngine.make("single").register(User, { methods: ["POST"], lists: false })

  it.effect("inserts one document, answers a list with 400, and describes no list", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* send("POST", "/users", { name: "Ann" })).status, 201)
      const { body, status } = yield* send("POST", "/users", [{ name: "Ann" }])
      assert.deepStrictEqual([status, body.errors[0].field], [400, ""])
      const post = (engine: Parameters<typeof OpenApi.make>[0]) =>
        JSON.stringify(OpenApi.make(engine, { title: "Single", version: "1" }).paths["/users"]?.["post"])
      assert.notInclude(post(single), "\"array\"")
      assert.include(post(KernelEngine.make("many").register(User, { methods: ["POST"] })), "\"array\"")
    }).pipe(Effect.provide(serving(single, EmbeddedStore.layerMemory))))
})

describe("a registration without methods", () => {
  const finished = Resource.make(User, { methods: [] })
    .action("rename", { method: "POST", success: Schema.String }, ({ name }) => Effect.succeed(name))
  const silent = KernelEngine.make("silent").register(finished)

  it.effect("serves its actions, and describes its model only if it is asked to", () =>
    Effect.gen(function*() {
      for (
        const [own, status] of [[silent, 405], [
          KernelEngine.make("x").register(finished, { describes: true }),
          200
        ]] as const
      ) {
        const { baseUrl, repositories } = yield* own.test()
        const { id } = yield* repositories.users.insert(new User({ id: "U1", name: "Ann" }))
        const statusOf = (path: string, method = "GET") =>
          Effect.promise(() => fetch(`${baseUrl}/users${path}`, { method })).pipe(Effect.map((answer) => answer.status))
        assert.deepStrictEqual([yield* statusOf("/schema"), yield* statusOf("/meta")], [status, status])
        assert.deepStrictEqual([yield* statusOf(`/${id}`), yield* statusOf(`/${id}/rename`, "POST")], [405, 200])
        const { paths } = OpenApi.make(own, { title: "", version: "1" })
        assert.strictEqual(Object.hasOwn(paths, "/users/schema"), status === 200)
        const endpoints = own.policy.entries.map(({ endpoint }) => endpoint)
        assert.deepStrictEqual(endpoints, [
          ...status === 200 ? ["GET /users/schema", "GET /users/meta"] : [],
          "POST /users/:id/rename"
        ])
      }
    }))
})
