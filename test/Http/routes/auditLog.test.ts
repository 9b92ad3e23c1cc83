import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Logger, Redacted, References, Schema } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
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
import { nextData, nextMessages, openedStream } from "../../support/eventStream.ts"
import type { FreshStore } from "../../support/mongo.ts"
import { bearer, type Headers, sendTo } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
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
    const { status } = yield* sendTo(baseUrl, method, path, body, {
      "x-forwarded-for": "203.0.113.7",
      "x-request-id": "r-1",
      ...token !== undefined && bearer(token)
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

class Rack extends Model.Class<Rack>()("Rack", { id: Model.id() }, { logged: true }) {}

class Book extends Model.Class<Book>()("Book", {
  id: Model.id(),
  rack: Model.reference(() => Rack, { onDelete: "cascade" }),
  text: Schema.String,
  ...Model.historied
}, { logged: true }) {}

class Review extends Model.Class<Review>()("Review", {
  id: Model.id(),
  book: Model.reference(() => Book, { onDelete: "cascade" }),
  ...Model.softDeleted
}) {}

class Loan extends Model.Class<Loan>()("Loan", {
  id: Model.id(),
  book: Model.reference(() => Book, { onDelete: "null" }).pipe(Model.optional),
  rack: Model.reference(() => Rack, { onDelete: "null" }).pipe(Model.optional)
}) {}

const methods = ["GET", "POST", "PATCH", "DELETE"] as const

const library = KernelEngine.make("library")
  .register(Resource.make(Rack, { methods }).require(Role("admin")))
  .register(Resource.make(Book, { methods }).require(Role("admin")))
  .register(Resource.make(Review, { methods }).require(Role("admin")))
  .register(Resource.make(Loan, { methods }).require(Role("admin")))
  .register(
    Service.make("Past")
      .operation("states", { success: Schema.Int, require: Role("admin") }, () =>
        Effect.gen(function*() {
          const books = yield* Repository.for(Book)
          const states = yield* books.history("B1")
          yield* books.history.at("B2", { revision: 1 })
          return states.length
        }).pipe(Effect.orDie))
      .operation(
        "clear",
        { method: "POST", success: Schema.Int, require: Role("admin") },
        () => Effect.flatMap(Repository.unrestricted(Rack), (racks) => Effect.orDie(racks.deleteAll))
      )
  )
  .enableSecurity()

/** The library, whose entries are what differs between them. */
const reading = Effect.fnUntraced(function*(store: FreshStore) {
  const stored = yield* Layer.build(Layer.fresh(store))
  const { baseUrl } = yield* library.test({ store: Layer.succeedContext(stored) }).pipe(
    Effect.provide(
      ConfigProvider.layer(
        ConfigProvider.fromEnv({ env: { APPKERNEL_AUDIT_TO: "collection", APPKERNEL_AUDIT_READS: "true" } })
      )
    )
  )
  const { sign } = yield* Jwt.Jwt
  const token = Redacted.value(yield* sign({ subject: "U3", roles: ["admin"] }))
  const admin = { authorization: `Bearer ${token}` }
  const { find } = Context.get(stored, DocumentStore.DocumentStore)
  const known = new Set<unknown>()
  const entries = Effect.gen(function*() {
    const all = yield* find("AuditEntry", { filter: {}, sort: { at: 1 } })
    const added = all.filter(({ _id }) => !known.has(_id))
    added.forEach(({ _id }) => known.add(_id))
    return added.map((entry) => {
      const own: Entry = entry
      if (own["outcome"] === "allowed") assert.deepStrictEqual([own["subject"], own["grants"]], ["U3", ["admin"]])
      assert.isString(own["request_id"])
      return [own["registration"], own["model"] ?? own["status"], own["operation"], own["ids"], own["count"]]
    })
  })
  const send = (method: string, path: string, body?: unknown, headers: Headers = admin) =>
    sendTo(baseUrl, method, path, body, headers)
  /** What a request leaves. */
  const left = Effect.fnUntraced(function*(...args: Parameters<typeof send>) {
    const { status } = yield* send(...args)
    return [status, ...yield* entries]
  })
  const write = Effect.fnUntraced(function*(path: string, ...documents: ReadonlyArray<object>) {
    for (const document of documents) assert.strictEqual((yield* send("POST", path, document)).status, 201)
    yield* entries
  })
  yield* write("/racks", { id: "S1" }, { id: "S2" })
  yield* write(
    "/books",
    { id: "B1", rack: "S1", text: "canary" },
    { id: "B2", rack: "S1", text: "canary" },
    { id: "B3", rack: "S2", text: "canary" }
  )
  return { admin, baseUrl, entries, left, send, write }
})

storeMatrix((name, store) =>
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

    it.effect("has the indexes that the model of the page declares, so that no command drops them", () =>
      Effect.gen(function*() {
        const page = readFileSync(join(import.meta.dirname, "../../../docs/guides/audit-log.md"), "utf8")
        const declared = Array.from(page.matchAll(/Index\.compound\(\{ (.*?) \}\)/gu), ([, key]) => key)
        const stored = yield* Layer.build(Layer.fresh(store))
        yield* engine.test({ store: Layer.succeedContext(stored) }).pipe(
          Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_AUDIT_TO: "collection" } })))
        )
        const installed = yield* Context.get(stored, DocumentStore.DocumentStore).listIndexes("AuditEntry")
        assert.sameMembers(
          installed.map(({ key }) => Object.entries(key).map(([field, order]) => `${field}: ${order}`).join(", ")),
          declared
        )
      }).pipe(Effect.provide(shop("EdDSA"))))

    it.effect("has each document that a reader is given, by any path", () =>
      Effect.gen(function*() {
        const { admin, baseUrl, entries, left, send } = yield* reading(store)
        const read = (...ids: ReadonlyArray<string>) => ["books", "Book", "read", ids, ids.length]
        const patch = (id: string) => send("PATCH", `/books/${id}`, { text: `canary ${Math.random()}` })
        const patched = (id: string) => Effect.andThen(patch(id), entries)
        const offset = Effect.map(
          send("GET", "/books/changes?offset=now"),
          (answer) => encodeURIComponent(String(answer.headers["stream-next-offset"]))
        )
        const now = yield* offset
        assert.deepStrictEqual(yield* entries, [])
        assert.deepStrictEqual(yield* left("GET", "/books/changes?rack=S1"), [200, read("B1", "B2")])
        assert.deepStrictEqual(yield* left("GET", `/books/changes?offset=${now}`), [200])
        yield* patched("B1")
        yield* patched("B3")
        assert.deepStrictEqual(yield* left("GET", `/books/changes?offset=${now}`), [200, read("B1", "B3")])
        assert.deepStrictEqual(yield* left("GET", `/books/changes?offset=${now}&live=long-poll`), [
          200,
          read("B1", "B3")
        ])
        // One that waits is given what comes.
        const poll = yield* Effect.forkScoped(
          send("GET", `/books/changes?offset=${yield* offset}&live=long-poll`),
          { startImmediately: true }
        )
        yield* patch("B2")
        assert.strictEqual((yield* Fiber.join(poll)).status, 200)
        assert.sameDeepMembers(yield* entries, [["books", "Book", "update", ["B2"], 1], read("B2")])

        for (const path of [`/books/changes?live=sse&offset=${now}`, `/changes?watch=books,racks&live=sse`]) {
          const stream = yield* openedStream(baseUrl + path, admin)
          yield* nextData(stream)
          yield* entries
          yield* patch("B2")
          yield* nextMessages(stream)
          assert.sameDeepMembers(yield* entries, [["books", "Book", "update", ["B2"], 1], read("B2")])
          // Nothing of a document is told with its deletion.
          yield* send("POST", "/books", { id: "B9", rack: "S1", text: "canary" })
          yield* nextMessages(stream)
          assert.sameDeepMembers(yield* entries, [["books", "Book", "insert", ["B9"], 1], read("B9")])
          yield* send("DELETE", "/books/B9")
          yield* nextMessages(stream)
          assert.sameDeepMembers(yield* entries, [["books", "Book", "delete", ["B9"], 1]])
          yield* stream.cancel
        }
        const watching = yield* openedStream(`${baseUrl}/changes?watch=books,racks&live=sse`, admin)
        yield* nextData(watching)
        assert.sameDeepMembers(yield* entries, [read("B1", "B2", "B3"), ["racks", "Rack", "read", ["S1", "S2"], 2]])
        yield* send("POST", "/racks", { id: "S3" })
        yield* nextMessages(watching)
        assert.sameDeepMembers(yield* entries, [
          ["racks", "Rack", "insert", ["S3"], 1],
          ["racks", "Rack", "read", ["S3"], 1]
        ])
        assert.sameDeepMembers(yield* left("GET", "/pasts/states"), [
          200,
          ["pasts", undefined, "call", undefined, undefined],
          ["pasts", "Book", "read", ["B1", "B2"], 2]
        ])
      }).pipe(Effect.provide(shop("EdDSA"))))

    it.effect("has what a deletion deletes and changes with its document, and who is not let in to several streams", () =>
      Effect.gen(function*() {
        const { entries, left, write } = yield* reading(store)
        yield* write("/reviews", { id: "R1", book: "B1" }, { id: "R2", book: "B2" }, { id: "R3", book: "B3" })
        yield* write("/loans", { id: "L1", book: "B1", rack: "S1" }, { id: "L2", book: "B3", rack: "S1" }, { id: "L3" })
        const withSorted = (rows: ReadonlyArray<unknown>) =>
          rows.map((row) =>
            Array.isArray(row)
              ? row.map((one) => Array.isArray(one) ? one.map(String).toSorted((a, b) => a.localeCompare(b)) : one)
              : row
          )
        assert.sameDeepMembers(withSorted(yield* left("DELETE", "/racks/S1")), [
          200,
          ["racks", "Rack", "delete", ["S1"], 1],
          ["racks", "Book", "delete", ["B1", "B2"], 2],
          ["racks", "Review", "delete", ["R1", "R2"], 2],
          ["racks", "Loan", "update", ["L1", "L2"], 2]
        ])
        // Nothing refers to it, and it is only marked as deleted.
        assert.sameDeepMembers(yield* left("DELETE", "/reviews/R3"), [
          200,
          ["reviews", "Review", "delete", ["R3"], 1]
        ])
        assert.sameDeepMembers(yield* left("DELETE", "/books/B3"), [
          200,
          ["books", "Book", "delete", ["B3"], 1],
          ["books", "Loan", "update", ["L2"], 1]
        ])
        // What a program does by itself has no caller, nor have its consequences.
        yield* write("/books", { id: "B4", rack: "S2", text: "canary" })
        assert.deepStrictEqual(yield* left("POST", "/pasts/clear"), [
          200,
          ["pasts", undefined, "call", undefined, undefined]
        ])

        const watch = "/changes?watch=books,racks"
        const wrong = { authorization: "Bearer nonsense" }
        assert.deepStrictEqual(yield* left("GET", watch, undefined, {}), [
          401,
          ["books", 401, undefined, undefined, undefined]
        ])
        assert.deepStrictEqual(yield* left("GET", watch, undefined, wrong), [
          401,
          ["/changes", 401, undefined, undefined, undefined]
        ])
        const [status, ...unknown] = yield* left("GET", "/changes?watch=nosuch", undefined, {})
        assert.deepStrictEqual([status, unknown.length], [401, 1])
        assert.deepStrictEqual(yield* entries, [])
      }).pipe(Effect.provide(shop("EdDSA"))))
  })
)
