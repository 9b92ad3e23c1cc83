/** What becomes of the value of a field on its way from a request into the store: conversion, `null`, what is kept. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { WebCrypto } from "effect/crypto"
import {
  Converter,
  DocumentStore,
  Generator,
  KernelEngine,
  Model,
  Repository,
  Resource,
  Service,
  Validator
} from "../../../src/index.ts"
import { type Answer, send, serving } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

const password = Schema.String.pipe(
  Validator.min(4),
  Model.converted(Converter.contentHasher({ rounds: 1_000 })),
  Model.omitted
)

class Login extends Model.Class<Login>()("Login", { user: Schema.String, password }) {}

class Member extends Model.Class<Member>()("Member", {
  id: Model.id(),
  name: Schema.String,
  password: password.pipe(Model.optional),
  login: Login.pipe(Model.optional),
  logins: Schema.Array(Login).pipe(Model.optional)
}) {}

class Line extends Model.Class<Line>()("Line", {
  sku: Schema.String,
  code: Schema.String.pipe(Model.generated(Generator.uuid()), Model.readOnly)
}) {}

class Ticket extends Model.Class<Ticket>()("Ticket", {
  id: Model.id(),
  title: Model.field(Schema.String, { validators: [Validator.notEmpty] }),
  created: Model.DateTime.pipe(Model.generated(Generator.dateNow), Validator.past),
  level: Schema.Int.pipe(Model.withDefault(() => 1)),
  due: Model.DateTime.pipe(Validator.past, Model.optional),
  state: Schema.String.pipe(Model.withDefault(() => "new"), Model.readOnly),
  approved_by: Schema.String.pipe(Model.optional, Model.readOnly),
  line: Line.pipe(Model.optional),
  lines: Schema.Array(Line).pipe(Model.withDefault(() => [])),
  ...Model.versioned
}) {}

class Hooked extends Model.Class<Hooked>()("Hooked", { id: Model.id(), name: Schema.String, password }) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const engine = KernelEngine.make("field values")
  .register(Member, { methods })
  .register(Ticket, { methods })
  .register(
    Resource.make(Hooked, { methods })
      .beforePost((hooked) => Effect.succeed(new Hooked({ ...hooked, name: hooked.name.toUpperCase() })))
      .beforePut((hooked) => Effect.succeed(new Hooked({ ...hooked, name: hooked.name.toUpperCase() })))
      .beforePatch((hooked) => Effect.succeed(new Hooked({ ...hooked, name: hooked.name.toUpperCase() })))
  )
  .register(
    Service.make("LoginService").operation(
      "hashed",
      { method: "POST", payload: Login, success: Schema.String },
      ({ payload }) => Effect.succeed(payload.password)
    )
  )

const jsonPatch = { "content-type": "application/json-patch+json" }

const okay = (answer: Answer, status = 200): Answer => {
  assert.strictEqual(answer.status, status, answer.text)
  return answer
}

const created = (path: string, body: unknown) =>
  Effect.map(send("POST", path, body), (answer) => String(okay(answer, 201).body.result))

/** How many hashes are being made, and how many were at most at once. */
const work = { now: 0, most: 0 }

const countingCrypto = Layer.succeed(
  WebCrypto.WebCrypto,
  // The part of the platform's cryptography that hashes are made with.
  {
    getRandomValues: (array) => globalThis.crypto.getRandomValues(array),
    randomUUID: () => globalThis.crypto.randomUUID(),
    subtle: new Proxy(globalThis.crypto.subtle, {
      get: (subtle, name) => {
        const member: unknown = Reflect.get(subtle, name)
        if (typeof member !== "function") return member
        return name !== "deriveBits" ? member.bind(subtle) : (...args: ReadonlyArray<unknown>) => {
          work.most = Math.max(work.most, ++work.now)
          return Reflect.apply(member, subtle, args).finally(() => work.now--)
        }
      }
    })
  }
)

routeStores((name, store) =>
  it.layer(serving(engine, store).pipe(Layer.provide(countingCrypto)), { excludeTestServices: true })(
    `values of fields / ${name}`,
    (it) => {
      it.effect("a sent value is hashed, even if it looks like a hash", () =>
        Effect.gen(function*() {
          const text = yield* Converter.contentHasher({ rounds: 2_000 })("correct horse")
          const members = yield* Repository.for(Member)
          const hooked = yield* Repository.for(Hooked)
          const isHashed = Effect.fnUntraced(function*(where: string, stored: string | undefined) {
            assert.notStrictEqual(stored, text, where)
            assert.isTrue(yield* Converter.verifyContent(text, stored ?? ""), where)
            assert.isFalse(yield* Converter.verifyContent("correct horse", stored ?? ""), where)
          })
          const posted = yield* created("/members", { name: "A", password: text, login: { user: "a", password: text } })
          const member = yield* members.findById(posted)
          yield* isHashed("POST", member.password)
          yield* isHashed("POST of a part", member.login?.password)
          const all = okay(yield* send("POST", "/members", [{ name: "B", password: text }]), 201).body.result
          yield* isHashed("POST of a list", (yield* members.findById(all[0])).password)
          for (
            const [method, path, body, headers] of [
              ["PUT", `/members/${posted}`, { name: "A", password: text, login: { user: "a", password: text } }, {}],
              ["PATCH", `/members/${posted}`, { password: text, login: { password: text } }, {}],
              ["PATCH", `/members/${posted}`, [
                { op: "replace", path: "/password", value: text },
                { op: "replace", path: "/login/password", value: text }
              ], jsonPatch],
              ["POST", "/members", { id: posted, name: "A", password: text, login: { user: "a", password: text } }, {}]
            ] as const
          ) {
            const before = yield* members.findById(posted)
            okay(yield* send(method, path, body, headers))
            const after = yield* members.findById(posted)
            assert.notStrictEqual(after.password, before.password, method)
            yield* isHashed(method, after.password)
            yield* isHashed(`${method} of a part`, after.login?.password)
          }
          const id = yield* created("/hookeds", { name: "a", password: text })
          yield* isHashed("POST with hooks", (yield* hooked.findById(id)).password)
          okay(yield* send("PUT", `/hookeds/${id}`, { name: "b", password: text }))
          yield* isHashed("PUT with hooks", (yield* hooked.findById(id)).password)
          okay(yield* send("PATCH", `/hookeds/${id}`, { password: text }))
          yield* isHashed("PATCH with hooks", (yield* hooked.findById(id)).password)
          const operated = okay(yield* send("POST", "/logins/hashed", { user: "a", password: text }))
          yield* isHashed("an operation", operated.body.result)
          const { password } = yield* hooked.findById(id)
          okay(yield* send("PATCH", `/hookeds/${id}`, { name: "c" }))
          assert.deepStrictEqual(yield* hooked.findById(id), new Hooked({ id, name: "C", password }))
        }))

      it.effect("a value that is sent twice concurrently is hashed once, also in nested models and lists of them", () =>
        Effect.gen(function*() {
          const members = yield* Repository.for(Member)
          for (let round = 0; round < 10; round++) {
            const id = `twice-${round}`
            const login = { user: "a", password: "secret" }
            const body = { id, name: "A", password: "secret", login, logins: [login] }
            const answers = yield* Effect.all([send("POST", "/members", body), send("POST", "/members", body)], {
              concurrency: "unbounded"
            })
            assert.deepStrictEqual(answers.map(({ status }) => status).toSorted((a, b) => a - b), [200, 201])
            const { login: stored, logins, password } = yield* members.findById(id)
            for (const hash of [password, stored?.password, logins?.[0]?.password]) {
              assert.isTrue(yield* Converter.verifyContent("secret", hash ?? ""))
            }
          }
        }))

      it.effect("null is no value: a field with a default or a generator gets that", () =>
        Effect.gen(function*() {
          const tickets = yield* Repository.for(Ticket)
          const id = yield* created("/tickets", {
            id: null,
            title: "a",
            level: null,
            created: null,
            due: null,
            version: null
          })
          const ticket = yield* tickets.findById(id)
          assert.deepStrictEqual([ticket.level, ticket.due, ticket.version], [1, undefined, 1])
          assert.isAbove(ticket.created.epochMilliseconds, 0)
          const path = `/tickets/${id}`
          for (
            const [body, headers] of [
              [{ level: null }, {}],
              [[{ op: "remove", path: "/level" }], jsonPatch]
            ] as const
          ) {
            okay(yield* send("PATCH", path, { level: 7 }))
            okay(yield* send("PATCH", path, body, headers))
            assert.strictEqual((yield* tickets.findById(id)).level, 1)
          }
          okay(yield* send("PUT", path, { title: "b", level: null, created: null }))
          const replaced = yield* tickets.findById(id)
          assert.deepStrictEqual([replaced.level, replaced.created], [1, ticket.created])
        }))

      it.effect("a field with notEmpty requires a value, however it is omitted", () =>
        Effect.gen(function*() {
          for (const body of [{}, { title: null }, { title: "" }]) {
            const answer = okay(yield* send("POST", "/tickets", body), 400)
            assert.deepStrictEqual(answer.body.errors.map(({ field }: { readonly field: string }) => field), ["title"])
          }
          const id = yield* created("/tickets", { title: "a" })
          okay(yield* send("PATCH", `/tickets/${id}`, { title: null }), 400)
          okay(yield* send("PATCH", `/tickets/${id}`, [{ op: "remove", path: "/title" }], jsonPatch), 400)
        }))

      it.effect("fields that the server sets are ignored in bodies, and keep their values", () =>
        Effect.gen(function*() {
          const tickets = yield* Repository.for(Ticket)
          const lines = [{ sku: "a", code: "mine" }, { sku: "b" }]
          const id = yield* created("/tickets", {
            title: "a",
            state: "mine",
            approved_by: "me",
            line: { sku: "c", code: "mine" },
            lines
          })
          const first = yield* tickets.modify(
            id,
            (ticket) => Effect.succeed(new Ticket({ ...ticket, approved_by: "boss" }))
          )
          assert.deepStrictEqual([first.state, first.lines.map(({ code }) => code === "mine")], ["new", [false, false]])
          const path = `/tickets/${id}`
          const read = okay(yield* send("GET", path)).body
          okay(yield* send("PUT", path, { ...read, state: "mine", approved_by: "me" }))
          assert.deepStrictEqual(yield* tickets.findById(id), new Ticket({ ...first, version: first.version + 1 }))
          okay(yield* send("PUT", path, { title: "b", line: { sku: "d" }, lines: [{ sku: "a" }, { sku: "x" }] }))
          const second = yield* tickets.findById(id)
          assert.deepStrictEqual(
            [second.created, second.state, second.approved_by, second.line?.code, second.lines[0]],
            [first.created, "new", "boss", first.line?.code, first.lines[0]]
          )
          assert.notStrictEqual(second.lines[1]?.code, first.lines[1]?.code)
          okay(yield* send("PATCH", path, { state: "mine", approved_by: null, title: "c" }))
          const third = yield* tickets.findById(id)
          assert.deepStrictEqual([third.title, third.state, third.approved_by], ["c", "new", "boss"])
          const refused = okay(
            yield* send("PATCH", path, [{ op: "replace", path: "/state", value: "mine" }], jsonPatch),
            400
          )
          assert.include(refused.text, "can't be changed")
        }))

      it.effect("a stored moment from a fast clock is not validated again, and one second is allowed", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const ahead = (yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)) + 3_600_000
          yield* store.insertOne("Ticket", { _id: "ahead", title: "a", created: new Date(ahead), version: 1 })
          okay(yield* send("PATCH", "/tickets/ahead", { title: "b" }))
          okay(yield* send("PATCH", "/tickets/ahead", [{ op: "replace", path: "/title", value: "d" }], jsonPatch))
          okay(yield* send("PUT", "/tickets/ahead", { title: "e" }))
          okay(yield* send("PATCH", "/tickets/ahead", { due: new Date(ahead).toISOString() }), 400)
          const now = yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)
          okay(yield* send("POST", "/tickets", { title: "a", due: new Date(now + 900).toISOString() }), 201)
        }))

      it.effect("at most two of a list's hashes are made at a time", () =>
        Effect.gen(function*() {
          work.most = 0
          const items = Array.from({ length: 12 }, (_, i) => ({ name: `${i}`, password: `secret ${i}` }))
          okay(yield* send("POST", "/members", items), 201)
          assert.strictEqual(work.most, 2)
          work.most = 0
          okay(yield* send("POST", "/hookeds", items), 201)
          assert.strictEqual(work.most, 2)
        }))
    }
  )
)
