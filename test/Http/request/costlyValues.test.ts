/** Passwords that a request makes a service hash, over a real socket. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema } from "effect"
import {
  Accounts,
  Anonymous,
  Converter,
  EmbeddedStore,
  Index,
  KernelEngine,
  Model,
  Repository,
  Resource,
  Service
} from "../../../src/index.ts"
import { heldHashes } from "../../support/heldHashes.ts"
import { send, serving } from "../../support/rest.ts"

const secret = () => Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted)

class Person extends Model.Class<Person>()("Person", {
  id: Model.id({ prefix: "P" }),
  login: Schema.String.pipe(Model.indexed(Index.unique)),
  password: secret().pipe(Model.optional)
}) {}

class Member extends Model.Class<Member>()("Member", { login: Schema.String, password: secret() }) {}

class Team extends Model.Class<Team>()("Team", {
  id: Model.id({ prefix: "T" }),
  members: Schema.Array(Member)
}) {}

const Teams = Resource.make(Team, { methods: ["GET", "POST", "PUT", "PATCH"] })
  .action(
    "add",
    { payload: { members: Schema.Array(Member) }, success: Schema.Int },
    (_, { payload }) => Effect.succeed(payload.members.length)
  )

const SignIn = Service.make("SignInService").operation("sign_in", {
  payload: { login: Schema.String, password: Schema.Redacted(Schema.String) },
  success: Schema.String,
  require: Anonymous
}, ({ payload }) =>
  Effect.gen(function*() {
    const passwords = yield* Accounts.Passwords
    return (yield* Effect.orDie(passwords.verify(payload.login, payload.password))).subject
  }))

const engine = KernelEngine.make("hashes")
  .register(Person, { methods: ["GET", "POST"], segment: "people" })
  .register(Teams)
  .register(SignIn, { segment: "door" })

const { begun, hold, layer: crypto, release } = heldHashes()

const layer = Layer.effectDiscard(Effect.gen(function*() {
  const people = yield* Repository.for(Person)
  yield* people.insert(yield* Model.finalise(Person, { login: "jane", password: "right" }))
})).pipe(
  Layer.provideMerge(serving(engine, EmbeddedStore.layerMemory)),
  Layer.provide(Accounts.fromModel(Person, { login: "login", secret: "password" })),
  Layer.provide(crypto)
)

const people = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, i) => ({ login: `${prefix}${i}`, password: `${prefix}${i}` }))

describe("values that are costly to convert", () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    it.effect("are at most 50 in a list, and none of more is hashed", () =>
      Effect.gen(function*() {
        const before = begun.length
        const { body, status } = yield* send("POST", "/people", people(1_000, "a"))
        assert.strictEqual(status, 400)
        assert.deepStrictEqual(body.errors, [
          { field: "", validator: "Limit", message: "The body must have at most 50 values to hash" }
        ])
        assert.strictEqual(begun.length, before)
        assert.strictEqual((yield* send("POST", "/people", people(50, "a"))).status, 201)
        assert.strictEqual(begun.length, before + 50)
        const invited = people(1_000, "b").map(({ login }) => ({ login }))
        assert.strictEqual((yield* send("POST", "/people", invited)).status, 201)
      }))

    it.effect("are at most 50 in nested models and payloads, however they are written", () =>
      Effect.gen(function*() {
        const created = yield* send("POST", "/teams", { members: people(50, "c") })
        assert.strictEqual(created.status, 201)
        const path = `/teams/${created.body.result}`
        const merge = { "content-type": "application/merge-patch+json" }
        const jsonPatch = { "content-type": "application/json-patch+json" }
        const written = [
          ["POST", "/teams", { members: people(60, "d") }, {}],
          ["POST", "/teams", [{ members: people(30, "d") }, { members: people(30, "e") }], {}],
          ["PUT", path, { members: people(60, "d") }, {}],
          ["PATCH", path, { members: people(60, "d") }, merge],
          ["PATCH", path, [{ op: "replace", path: "/members", value: people(60, "d") }], jsonPatch],
          ["POST", `${path}/add`, { members: people(60, "d") }, {}]
        ] as const
        for (const [method, path, body, headers] of written) {
          const before = begun.length
          const { body: answer, status } = yield* send(method, path, body, headers)
          assert.strictEqual(status, 400, `${method} ${path}: ${JSON.stringify(answer)}`)
          assert.strictEqual(answer.errors.length, 10)
          assert.strictEqual(answer.errors[0].validator, "Limit")
          assert.strictEqual(begun.length - before, 50)
        }
        assert.strictEqual((yield* send("POST", `${path}/add`, { members: people(50, "f") })).body.result, 50)
      }))

    it.effect("are not hashed if they are longer than what signs in", () =>
      Effect.gen(function*() {
        const longest = "x".repeat(1_024)
        const created = yield* send("POST", "/people", { login: "longest", password: longest })
        assert.strictEqual(created.status, 201)
        assert.strictEqual(
          (yield* send("POST", "/door/sign_in", { login: "longest", password: longest })).body.result,
          created.body.result
        )
        const team = yield* send("POST", "/teams", { members: [] })
        const members = [{ login: "long", password: `${longest}x` }]
        const before = begun.length
        for (
          const [method, path, body, field] of [
            ["POST", "/people", members[0], "password"],
            ["POST", "/teams", { members }, "members.0.password"],
            ["PUT", `/teams/${team.body.result}`, { members }, "members.0.password"],
            ["PATCH", `/teams/${team.body.result}`, { members }, "members.0.password"]
          ] as const
        ) {
          const { body: answer, status } = yield* send(method, path, body)
          assert.deepStrictEqual([status, answer.errors.length], [400, 1], `${method} ${path}`)
          const { field: named, message, validator } = answer.errors[0]
          assert.deepStrictEqual([named, validator], [field, "Limit"])
          assert.include(message, "must have at most 1024 characters")
        }
        assert.strictEqual(begun.length, before)
      }))

    it.effect("wait for the password of somebody who signs in", () =>
      Effect.gen(function*() {
        const before = begun.length
        yield* hold
        const lists = yield* Effect.forEach(["x", "y", "z"], (prefix) =>
          Effect.forkChild(send("POST", "/people", people(20, prefix)), { startImmediately: true }))
        yield* Effect.repeat(Effect.sleep("1 millis"), {
          until: () =>
            begun.length === before + 2
        })
        const signIn = yield* Effect.forkChild(send("POST", "/door/sign_in", { login: "jane", password: "right" }))
        // Each round is answered after what came before it.
        for (let i = 0; i < 3; i++) yield* send("GET", "/people?page_size=1")
        yield* release(Fiber.join(signIn))
        assert.isAtMost(begun.indexOf("right", before) - before, 3)
        yield* release(Fiber.awaitAll(lists))
        assert.strictEqual(begun.length - before, 61)
      }))
  })
})
