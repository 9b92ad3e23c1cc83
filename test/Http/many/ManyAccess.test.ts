/** What writes of many documents leave in logs, what they may do, and how they are described and refused. */
import { assert, describe, it } from "@effect/vitest"
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { Validator as DocumentValidator } from "@seriousme/openapi-schema-validator"
import { Ajv2020 } from "ajv/dist/2020.js"
import { ConfigProvider, Effect, Redacted, Schema, type Scope } from "effect"
import { Authenticated, KernelEngine, Model, OpenApi, Permission, Resource, Role } from "../../../src/index.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"
import { refused, sendTo } from "../../support/rest.ts"
import { shop } from "../../support/tokens.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Schema.String,
  owner: Schema.String,
  text: Schema.String,
  secret: Schema.String.pipe(Model.optional),
  ...Model.versioned,
  ...Model.softDeleted
}, { logged: true }) {}

class Remark extends Model.Class<Remark>()("Remark", {
  id: Schema.String,
  note: Model.reference(() => Note, { onDelete: "restrict" })
}) {}

const all = ["GET", "PUT", "PATCH", "DELETE"] as const

/** Decides on the addressed document, of which a collection has none. */
const owner = Permission.make(
  "the owner",
  { model: Note },
  ({ caller, document }) =>
    Effect.map(document, (found) => found._tag === "Some" && found.value.owner === caller.subject)
)

const engine = KernelEngine.make("shop")
  .register(
    Resource.make(Note, { methods: all })
      .require(Role("admin"))
      .grant(Role("writer"), {
        rows: (me) => ($) => $.owner.equals(me.subject),
        check: (me) => ($) => $.owner.equals(me.subject)
      })
      .grant(Role("changer"), { methods: "PATCH" })
      .grant(Role("blind"), { hide: ["secret"] })
      .require([Role("reader"), Role("viewer")], "GET")
      .require(Permission.and(Role("reader"), owner), "PATCH"),
    { many: ["PUT", "PATCH", "DELETE"], auditLog: "reads and writes" }
  )
  .register(Resource.make(Remark, { methods: ["GET"] }).require(Authenticated))
  .enableSecurity()

const started = Effect.gen(function*() {
  const { baseUrl, repositories, store, token } = yield* engine.test().pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_AUDIT_TO: "collection" } })))
  )
  yield* store.insertMany("Note", [
    { _id: "A", owner: "me", text: "a", secret: "x", version: 1 },
    { _id: "B", owner: "me", text: "b", version: 1 },
    { _id: "C", owner: "you", text: "c", secret: "x", version: 1 }
  ])
  const as = (...roles: ReadonlyArray<string>) =>
    Effect.map(
      token({ subject: "me", roles }),
      (signed) => (method: string, path: string, body?: unknown, prefer = "") =>
        sendTo(baseUrl, method, path, body, { prefer, authorization: `Bearer ${Redacted.value(signed)}` })
    )
  /** The entries of the audit log since they were asked for last. */
  const entries = Effect.gen(function*() {
    const found = yield* store.find("AuditEntry", { filter: {}, sort: { at: 1 } })
    yield* store.deleteMany("AuditEntry", {})
    return found.map(({ ids, id, method, operation, outcome, status }) =>
      [outcome, method, id, operation ?? status, ...Array.isArray(ids) ? ids : []].join(" ")
    )
  })
  return { as, baseUrl, entries, repositories, store }
})

describe("Writes of many documents", () => {
  it.effect("are in the audit log as the write of each document, and so is what is denied", () =>
    Effect.gen(function*() {
      const { as, entries } = yield* started
      const writer = yield* as("writer")
      const patched = yield* writer("PATCH", "/notes?text=~", { text: "t" })
      assert.deepStrictEqual(patched.body.ids, ["A", "B"], patched.text)
      assert.sameMembers(yield* entries, ["allowed PATCH A update A", "allowed PATCH B update B"])
      yield* writer("DELETE", "/notes?text=t&dry_run=true")
      assert.deepStrictEqual(yield* entries, ["allowed GET  read A B"])
      // The second one would leave the rows of its caller: nothing is written, and that is noted.
      const denied = refused(403, yield* writer("PATCH", "/notes", [{ id: "A", text: "u" }, { id: "B", owner: "you" }]))
      assert.strictEqual(denied.body.document, "B")
      assert.deepStrictEqual(yield* entries, ["denied PATCH B 403"])
      // A document outside of the rows is not there, for its own request and for this one.
      refused(404, yield* writer("PUT", "/notes", [{ id: "C", owner: "me", text: "c" }]))
      assert.deepStrictEqual(yield* entries, ["denied PUT C 404"])
      const each = yield* writer(
        "PATCH",
        "/notes",
        [{ id: "C", text: "u" }, { id: "B", text: "u" }],
        "handling=lenient"
      )
      assert.deepStrictEqual(each.body.ids, ["B"])
      assert.sameMembers(yield* entries, ["denied PATCH C 404", "allowed PATCH B update B"])
      refused(403, yield* (yield* as("reader"))("DELETE", "/notes?all=true"))
      assert.deepStrictEqual(yield* entries, ["denied DELETE  403"])
    }).pipe(Effect.provide(shop("EdDSA")), Effect.scoped))

  it.effect("are for those who may write a document, and filters for those who may read it", () =>
    Effect.gen(function*() {
      const { as, baseUrl, store } = yield* started
      refused(401, yield* sendTo(baseUrl, "DELETE", "/notes?all=true"))
      // Whoever may change and not read learns nothing by a filter, and writes what they know the identifiers of.
      const changer = yield* as("changer")
      refused(403, yield* changer("PATCH", "/notes?secret=x", { text: "t" }))
      refused(403, yield* changer("PATCH", "/notes?all=true&dry_run=true", { text: "t" }))
      assert.deepStrictEqual((yield* changer("PATCH", "/notes", [{ id: "C", text: "t" }])).body.results, [
        { id: "C", status: 200 }
      ])
      // A hidden field is no filter, as one that is not there.
      const blind = yield* as("blind")
      for (const filter of ["secret=x", "nothing=x", "query={\"secret\":\"x\"}", "text=a&secret=~x"]) {
        const answer = refused(400, yield* blind("DELETE", `/notes?${encodeURI(filter)}&dry_run=true`))
        const list = refused(400, yield* blind("GET", `/notes?${encodeURI(filter)}`))
        assert.deepStrictEqual(answer.body, list.body)
      }
      // Of what is written, each sees what they may GET.
      const whole = "return=representation"
      const unseen = yield* changer("PATCH", "/notes", [{ id: "C", text: "u" }], whole)
      assert.deepStrictEqual(unseen.body.results, [{ id: "C", status: 200 }])
      assert.notProperty(unseen.headers, "preference-applied")
      const seen = yield* blind("PATCH", "/notes?owner=you", { text: "v" }, whole)
      assert.deepStrictEqual(seen.body.results.map(({ document }: { document: unknown }) => document), [
        (yield* blind("GET", "/notes/C")).body
      ])
      assert.notProperty(seen.body.results[0].document, "secret")
      // The metadata says what is there for its reader.
      const served = Effect.fnUntraced(function*(role: string) {
        const { body } = yield* (yield* as(role))("GET", "/notes/meta")
        return body._serves
      })
      assert.deepStrictEqual([yield* served("admin"), yield* served("viewer")], [
        { many: ["PUT", "PATCH", "DELETE"] },
        undefined
      ])
      // The link to the collection has the methods that its reader may use on the document.
      const linked = Effect.fnUntraced(function*(role: string) {
        const { body } = yield* (yield* as(role))("GET", "/notes/C")
        return body._links.collection.methods
      })
      assert.deepStrictEqual([yield* linked("admin"), yield* linked("viewer")], [
        ["GET", "PUT", "PATCH", "DELETE"],
        "GET"
      ])
      // A permission that depends on the document is asked for each, and admits nobody to the collection.
      refused(403, yield* (yield* as("reader"))("PATCH", "/notes?all=true", { text: "mine" }))
      assert.strictEqual(yield* store.count("Note", { text: "mine" }), 0)
    }).pipe(Effect.provide(shop("EdDSA")), Effect.scoped))

  it.effect("delete softly, respect references, and have one number in the stream of changes", () =>
    Effect.gen(function*() {
      const { as, repositories: { notes, remarks }, store } = yield* started
      const admin = yield* as("admin")
      yield* store.insertMany("Remark", [{ _id: "R", note: "B" }])
      const restricted = refused(409, yield* admin("DELETE", "/notes?all=true"))
      assert.strictEqual(restricted.body.document, "B")
      assert.strictEqual(yield* notes.count(), 3)
      yield* remarks.deleteAll
      const changes = yield* admin("GET", "/notes/changes?offset=now")
      const deleted = yield* admin("DELETE", "/notes?owner=me")
      assert.deepStrictEqual(deleted.body.ids, ["A", "B"])
      const told = yield* admin("GET", `/notes/changes?offset=${String(changes.headers["stream-next-offset"])}`)
      assert.deepStrictEqual(
        told.body.map((
          { headers: { operation, txid }, key }: { headers: { operation: string; txid: string }; key: string }
        ) => [
          key,
          operation,
          txid
        ]),
        ["A", "B"].map((key) => [key, "delete", deleted.headers["stream-txid"]])
      )
      assert.deepStrictEqual((yield* notes.find(undefined, { deleted: "only" })).map(({ id }) => id).toSorted(), [
        "A",
        "B"
      ])
    }).pipe(Effect.provide(shop("EdDSA")), Effect.scoped))
})

const options = { title: "Many", version: "1" }

describe("The description of writes of many documents", () => {
  it("has their parameters, bodies and answers, and is in the policy", () => {
    const { paths } = resolvedDocument(OpenApi.make(engine, options))
    const { delete: removing, patch, put } = paths["/notes"]
    assert.deepStrictEqual(Object.keys(patch.requestBody.content), [
      "application/json",
      "application/merge-patch+json",
      "application/json-patch+json"
    ])
    const [items, changes] = patch.requestBody.content["application/json"].schema.anyOf
    assert.deepStrictEqual([items.type, changes.$ref], ["array", "#/components/schemas/NotePatch"])
    assert.include(items.items.required, "id")
    assert.strictEqual(put.requestBody.content["application/json"].schema.type, "array")
    for (const operation of [patch, removing, put]) {
      assert.includeMembers(Object.keys(operation.responses), ["200", "204", "207", "400", "403", "404", "409", "413"])
      assert.sameMembers(
        Object.keys(operation.responses["207"].content["application/json"].schema.properties),
        ["_type", "count", "ids", "results"]
      )
    }
    const names = removing.parameters.map(({ name }: { readonly name: string }) => name)
    assert.includeMembers(names, ["all", "dry_run", "query", "logic", "owner", "Prefer"])
    assert.notInclude(names, "page")
    assert.include(engine.policy.entries.map(({ endpoint }) => endpoint), "PATCH /notes")
    assert.notProperty(paths["/remarks"], "patch")
  })

  it.effect("is valid, has no errors in a linter, and is what the answers are", () =>
    Effect.gen(function*() {
      const document = OpenApi.make(engine, options)
      const { errors } = yield* Effect.promise(() => new DocumentValidator().validate(structuredClone({ ...document })))
      assert.isUndefined(errors)
      const problems = yield* Effect.promise(async () =>
        lintFromString({
          source: JSON.stringify(document),
          absoluteRef: "/openapi.json",
          config: await createConfig({ extends: ["recommended"] })
        })
      )
      assert.deepStrictEqual(problems.filter(({ severity }) => severity === "error").map(({ message }) => message), [])

      const { paths } = resolvedDocument(document)
      const ajv = new Ajv2020({ strict: false, validateFormats: false })
      ajv.addSchema({ $id: "document", components: document.components })
      const accepts = (method: string, { body, status }: { readonly body: unknown; readonly status: number }) => {
        const { schema } = paths["/notes"][method].responses[status].content["application/json"]
        const rooted: object = JSON.parse(
          JSON.stringify(schema).replaceAll("\"#/components/", "\"document#/components/")
        )
        assert.isTrue(ajv.validate(rooted, body), JSON.stringify([body, ajv.errors]))
      }
      const { as } = yield* started
      const admin = yield* as("admin")
      accepts("patch", yield* admin("PATCH", "/notes?owner=me", { text: "t" }))
      accepts("patch", yield* admin("PATCH", "/notes?owner=me&dry_run=true", { text: "t" }))
      accepts("patch", yield* admin("PATCH", "/notes", [{ id: "A", version: 7 }, { id: "B" }], "handling=lenient"))
      accepts("patch", yield* admin("PATCH", "/notes", [{ id: "A", version: 7 }, { id: "B" }]))
      accepts("delete", yield* admin("DELETE", "/notes"))
      accepts("delete", yield* admin("DELETE", "/notes?all=true", undefined, "handling=lenient"))
    }).pipe(Effect.provide(shop("EdDSA")), Effect.scoped))

  it.effect("is refused at the start where it can't be served", () =>
    Effect.gen(function*() {
      class Flag extends Model.Class<Flag>()("Flag", { id: Model.id(), all: Schema.Boolean }) {}
      const detailOf = (
        service: { readonly test: () => Effect.Effect<unknown, { readonly message: string }, Scope.Scope> }
      ) => Effect.map(Effect.flip(service.test()), ({ message }) => message)
      const reasons = [
        yield* detailOf(KernelEngine.make("a").register(Remark, { methods: ["GET"], many: ["DELETE"] })),
        yield* detailOf(KernelEngine.make("b").register(Remark, { methods: ["DELETE"], many: ["DELETE"] })),
        yield* detailOf(KernelEngine.make("c").register(Flag, { methods: ["GET", "PATCH"], many: ["PATCH"] }))
      ]
      assert.deepStrictEqual(reasons.map((reason) => reason.split(": ").at(-1)), [
        "many has DELETE, which is not among the methods",
        "many needs the filters of GET, which is not among the methods",
        "the field all can't be told from the parameter of many documents"
      ])
    }).pipe(Effect.scoped))
})
