import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, Logger, Redacted, References, Schema } from "effect"
import {
  Authenticated,
  DocumentStore,
  HttpError,
  Jwt,
  KernelEngine,
  Model,
  Repository,
  Resource,
  Role,
  Service
} from "../../../src/index.ts"
import type { FreshStore } from "../../support/mongo.ts"
import { shop } from "../../support/tokens.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  owner: Schema.String,
  text: Schema.String,
  secret: Schema.String.pipe(Model.omitted, Model.withDefault(() => "canary-default")),
  ...Model.versioned
}) {}

class Letter extends Model.Class<Letter>()("Letter", { id: Model.id(), owner: Schema.String }) {}

const note = (id: string, owner: string) => new Note({ id, owner, text: "canary-text", secret: "canary-secret" })

const Notes = Resource.make(Note, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .grant(Role("writer"), {
    rows: (me) => ($) => $.owner.equals(me.subject),
    check: (me) => ($) => $.owner.equals(me.subject)
  })
  .require(Role("admin"))
  .action("lose", { success: Schema.String }, () => Effect.fail(new HttpError.NotFound({ message: "lost" })))

const written = (name: string, ...owners: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const notes = yield* Repository.for(Note)
    yield* Effect.forEach(owners, (owner, i) => notes.insert(note(`${name}-${i}`, owner)), { discard: true })
    yield* notes.updateMany(($) => $.text.equals("canary-text"), ($) => [$.text.set("canary-new")])
    return "done"
  })

const Works = Service.make("WorkService")
  .operation(
    "both",
    { method: "POST", success: Schema.String, require: Role("writer") },
    () => Effect.orDie(Repository.transaction(written("both", "U1", "U1")))
  )
  .operation(
    "undone",
    { method: "POST", success: Schema.String, require: Role("writer") },
    () =>
      Effect.die("undone").pipe(
        Effect.andThen(written("U1")),
        (late) => Effect.orDie(Repository.transaction(Effect.andThen(written("undone", "U1"), late)))
      )
  )
  .operation(
    "refused",
    { method: "POST", success: Schema.String, require: Role("writer") },
    () =>
      Repository.transaction(written("refused", "U1", "U9")).pipe(
        Effect.catchTag("AccessDenied", () => Effect.succeed("refused")),
        Effect.orDie
      )
  )
  .operation(
    "clear",
    { method: "POST", success: Schema.Int, require: Role("writer") },
    () =>
      Effect.gen(function*() {
        const notes = yield* Repository.for(Note)
        yield* notes.bulkInsert(Array.from({ length: 1_001 }, (_, i) => note(`many-${i}`, "U1")))
        return yield* notes.deleteMany(($) => $.text.equals("canary-text"))
      }).pipe(Effect.orDie)
  )
  .operation(
    "first",
    { method: "POST", success: Schema.Int, require: Role("writer") },
    () =>
      Effect.gen(function*() {
        const notes = yield* Repository.for(Note)
        yield* notes.bulkInsert([note("first-0", "U1"), note("first-1", "U1")])
        const changed = yield* notes.updateOne(($) => $.text.equals("canary-text"), ($) => [$.text.set("canary-new")])
        const none = yield* notes.updateOne(($) => $.text.equals("canary-none"), ($) => [$.text.set("canary-new")])
        return changed.modifiedCount + none.modifiedCount
      }).pipe(Effect.orDie)
  )
  .operation(
    "count",
    { success: Schema.Int, require: Authenticated },
    () => Effect.flatMap(Repository.for(Note), (notes) => Effect.orDie(notes.count()))
  )

const engine = KernelEngine.make("shop")
  .register(Notes)
  .register(Resource.make(Letter, { methods: ["GET", "POST"] }).require(Authenticated), { auditLog: "off" })
  .register(Works)
  .enableSecurity()

type Entry = { readonly [name: string]: unknown }

/** What was done, without what differs each time. */
const plain = ({ address, request_id, ...entry }: Entry): Entry => {
  assert.strictEqual(address, "203.0.113.7")
  assert.strictEqual(request_id, "r-1")
  return Object.fromEntries(Object.entries(entry).filter(([name]) => name !== "at" && name !== "_id"))
}

const run = Effect.fnUntraced(function*(
  store: FreshStore,
  env: { readonly [name: string]: string },
  entriesIn: (store: DocumentStore.DocumentStore["Service"]) => Effect.Effect<ReadonlyArray<Entry>, unknown>
) {
  const stored = yield* Layer.build(Layer.fresh(store))
  const { baseUrl } = yield* engine.test({ store: Layer.succeedContext(stored) }).pipe(
    Effect.provide(
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_SERVER_TRUSTED_PROXIES: "127.0.0.1", ...env } }))
    )
  )
  const { sign } = yield* Jwt.Jwt
  const tokenOf = (subject: string, ...roles: ReadonlyArray<string>) =>
    Effect.map(sign({ subject, roles }), Redacted.value)
  const [writer, other, admin] = [
    yield* tokenOf("U1", "writer"),
    yield* tokenOf("U2"),
    yield* tokenOf("U3", "admin")
  ]
  const seen = Context.get(stored, DocumentStore.DocumentStore)
  const known = new Set<unknown>()
  /** Sends a request, and returns its status with the entries that it has left. */
  const send = Effect.fnUntraced(function*(token: string | undefined, method: string, path: string, body?: unknown) {
    const status = yield* Effect.promise(async () => {
      const response = await fetch(baseUrl + path, {
        method,
        headers: {
          "x-forwarded-for": "203.0.113.7",
          "x-request-id": "r-1",
          ...body === undefined ? {} : { "content-type": "application/json" },
          ...token === undefined ? {} : { authorization: `Bearer ${token}` }
        },
        ...body === undefined ? {} : { body: JSON.stringify(body) }
      })
      await response.text()
      return response.status
    })
    const all = yield* entriesIn(seen)
    const entries = all.filter(({ _id }, i) => !known.has(_id ?? i))
    all.forEach(({ _id }, i) => known.add(_id ?? i))
    assert.notMatch(JSON.stringify(entries), /canary|Bearer|eyJ/u)
    return [status, ...entries.map(plain)]
  })
  const textsOf = (...ids: ReadonlyArray<string>) =>
    Effect.map(
      seen.find("Note", { filter: { _id: { $in: [...ids] } } }),
      (documents) => Object.fromEntries(documents.map(({ _id, text }) => [String(_id), text]))
    )
  return { send, textsOf, writer, other, admin }
})

const writing = Effect.fnUntraced(
  function*({ admin, other, send, textsOf, writer }: Effect.Success<ReturnType<typeof run>>) {
    const by = { outcome: "allowed", registration: "notes", subject: "U1", grants: ["writer"] }
    const body = { id: "N1", owner: "U1", text: "canary" }
    const one = { model: "Note", ids: ["N1"], count: 1 }
    const byAdmin = { ...by, subject: "U3", grants: ["admin"] }
    assert.sameDeepMembers(yield* send(admin, "POST", "/notes", body), [
      201,
      { ...byAdmin, method: "POST", ...one, operation: "insert" }
    ])
    const [replaced, replacement] = yield* send(writer, "PUT", "/notes/N1", body)
    assert.deepStrictEqual([replaced, replacement], [
      200,
      { ...by, method: "PUT", id: "N1", ...one, operation: "replace" }
    ])
    const [patched, patch] = yield* send(admin, "PATCH", "/notes/N1", { text: "canary-2" })
    assert.deepStrictEqual(patched, 200)
    assert.deepInclude(patch, { subject: "U3", method: "PATCH", ids: ["N1"], grants: ["admin"] })
    assert.sameDeepMembers(
      yield* send(admin, "POST", "/notes", [{ ...body, id: "N2" }, { ...body, id: "N3" }]),
      [201, { ...byAdmin, method: "POST", model: "Note", operation: "insert", ids: ["N2", "N3"], count: 2 }]
    )
    // One that exists already lets none of them be written.
    assert.sameDeepMembers(yield* send(admin, "POST", "/notes", [{ ...body, id: "N4" }, { ...body, id: "N2" }]), [409])

    // Nothing is written where nothing happens.
    assert.sameDeepMembers(yield* send(writer, "DELETE", "/notes/N9"), [404])
    assert.sameDeepMembers(yield* send(writer, "POST", "/notes", { owner: 1 }), [400])
    assert.sameDeepMembers(yield* send(writer, "DELETE", "/notes/N3"), [
      200,
      { ...by, method: "DELETE", id: "N3", model: "Note", operation: "delete", ids: ["N3"], count: 1 }
    ])

    // What is denied.
    const denied = { outcome: "denied", registration: "notes" }
    assert.sameDeepMembers(yield* send(undefined, "DELETE", "/notes/N1"), [
      401,
      { ...denied, method: "DELETE", id: "N1", status: 401 }
    ])
    assert.sameDeepMembers(yield* send("nonsense", "GET", "/notes"), [401, { ...denied, method: "GET", status: 401 }])
    assert.sameDeepMembers(yield* send(other, "GET", "/notes/N1"), [
      403,
      { ...denied, subject: "U2", method: "GET", id: "N1", status: 403 }
    ])
    assert.sameDeepMembers(yield* send(writer, "POST", "/notes", { owner: "U9", text: "canary" }), [
      403,
      { ...denied, subject: "U1", method: "POST", model: "Note", operation: "insert" }
    ])

    // Operations, and what their handlers write.
    const call = { ...by, registration: "works" }
    assert.sameDeepMembers(yield* send(writer, "POST", "/works/both"), [
      200,
      { ...call, call: "both", model: "Note", operation: "insert", ids: ["both-0"], count: 1 },
      { ...call, call: "both", model: "Note", operation: "insert", ids: ["both-1"], count: 1 },
      { ...call, call: "both", model: "Note", operation: "update", ids: ["both-0", "both-1"], count: 2 },
      { ...call, call: "both", operation: "call" }
    ])
    // A transaction that is rolled back has written nothing; what it was refused stays.
    assert.sameDeepMembers(yield* send(writer, "POST", "/works/undone"), [500])
    assert.sameDeepMembers(yield* send(writer, "POST", "/works/refused"), [
      200,
      { outcome: "denied", registration: "works", call: "refused", subject: "U1", model: "Note", operation: "insert" },
      { ...call, call: "refused", operation: "call" }
    ])
    // A write by a condition has at most a thousand of its documents.
    const [cleared, ...entries] = yield* send(writer, "POST", "/works/clear")
    assert.deepStrictEqual([cleared, entries.length], [200, 3])
    for (const operation of ["insert", "delete"]) {
      const { ids, ...others }: Entry = Object(entries.find((entry) => Object(entry).operation === operation))
      assert.deepStrictEqual(others, { ...call, call: "clear", model: "Note", operation, count: 1_001 })
      assert.lengthOf(new Set(Array.isArray(ids) ? ids.filter((id) => /^many-\d+$/u.test(id)) : []), 1_000)
    }

    // An update of the first one that matches has the one that it changed.
    const [first, ...changed] = yield* send(writer, "POST", "/works/first")
    assert.strictEqual(first, 200)
    const { ids, ...update }: Entry = Object(changed.find((entry) => Object(entry).operation === "update"))
    assert.deepStrictEqual(update, { ...call, call: "first", model: "Note", operation: "update", count: 1 })
    const [id] = Array.isArray(ids) && ids.length === 1 ? ids : []
    assert.deepStrictEqual(yield* textsOf("first-0", "first-1"), {
      "first-0": "canary-text",
      "first-1": "canary-text",
      [id]: "canary-new"
    })
    assert.lengthOf(changed, 3)

    // What the rows of the caller hide does not exist for them, but for the audit log.
    yield* send(admin, "POST", "/notes", { ...body, id: "N7", owner: "U3" })
    for (const method of ["GET", "PATCH", "DELETE"]) {
      assert.sameDeepMembers(
        yield* send(writer, method, "/notes/N7", method === "PATCH" ? { text: "canary" } : undefined),
        [
          404,
          { ...denied, subject: "U1", method, id: "N7", status: 404 }
        ]
      )
    }
    assert.sameDeepMembers(yield* send(writer, "GET", "/notes/N7/lose"), [
      404,
      { ...denied, subject: "U1", call: "lose", id: "N7", status: 404 }
    ])
    assert.sameDeepMembers(yield* send(writer, "GET", "/notes/N1/lose"), [404])
    assert.sameDeepMembers(yield* send(writer, "GET", "/notes/none"), [404])

    assert.sameDeepMembers(yield* send(writer, "POST", "/letters", { owner: "U1" }), [201])
    assert.sameDeepMembers(yield* send(undefined, "GET", "/letters"), [401])
  }
)

export const auditLogContract = (name: string, store: FreshStore) =>
  describe(`Audit log / ${name}`, () => {
    it.effect("is in a collection: what was written, and what was denied", () =>
      Effect.gen(function*() {
        const service = yield* run(
          store,
          { APPKERNEL_AUDIT_TO: "collection" },
          ({ find }) => find("AuditEntry", { filter: {}, sort: { at: 1 } })
        )
        yield* writing(service)
        assert.sameDeepMembers(yield* service.send(service.writer, "GET", "/notes"), [200])
        assert.sameDeepMembers(yield* service.send(service.writer, "GET", "/works/count"), [200])
      }).pipe(Effect.provide(shop("EdDSA"))))

    it.effect("is in the log, whatever its level, and has reads where they are configured", () =>
      Effect.gen(function*() {
        const lines: Array<Entry> = []
        const logger = Logger.make<unknown, void>(({ fiber, message }) => {
          if (String(message) === "audit") lines.push({ ...fiber.getRef(References.CurrentLogAnnotations) })
        })
        yield* Effect.gen(function*() {
          const service = yield* run(store, { APPKERNEL_AUDIT_TO: "log" }, () => Effect.sync(() => [...lines]))
          yield* writing(service)
        }).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Error"))
        lines.length = 0
        const { admin, send, writer } = yield* run(
          store,
          { APPKERNEL_AUDIT_TO: "log", APPKERNEL_AUDIT_READS: "true" },
          () => Effect.sync(() => [...lines])
        ).pipe(Effect.provide(Logger.layer([logger])))
        const body = { owner: "U1", text: "canary" }
        yield* send(admin, "POST", "/notes", [{ ...body, id: "N1" }, { ...body, id: "N2" }])
        yield* send(admin, "POST", "/notes", { ...body, id: "N3", owner: "U3" })
        const by = { outcome: "allowed", registration: "notes", method: "GET", model: "Note", operation: "read" }
        const own = { ...by, subject: "U1", grants: ["writer"] }
        assert.sameDeepMembers(yield* send(writer, "GET", "/notes"), [200, { ...own, ids: ["N1", "N2"], count: 2 }])
        assert.sameDeepMembers(yield* send(writer, "GET", "/notes/N1"), [
          200,
          { ...own, id: "N1", ids: ["N1"], count: 1 }
        ])
        assert.strictEqual((yield* send(writer, "GET", "/notes/N3")).length, 2)
        const [, all] = yield* send(admin, "GET", "/notes?fields=text&page_size=2&page=2")
        assert.deepInclude(all, { subject: "U3", ids: ["N3"], grants: ["admin"] })
        assert.sameDeepMembers(yield* send(writer, "GET", "/works/count"), [200, {
          outcome: "allowed",
          registration: "works",
          call: "count",
          operation: "call",
          subject: "U1",
          grants: ["everybody signed in"]
        }])
        // What a write reads is part of it.
        const [status, ...entries] = yield* send(writer, "PATCH", "/notes/N1", { text: "canary-2" })
        assert.deepStrictEqual([status, entries.length], [200, 1])
      }).pipe(Effect.provide(shop("EdDSA"))))
  })
