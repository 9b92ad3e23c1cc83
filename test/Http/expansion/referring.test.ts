/** What refers to documents, embedded as the list that `GET` of it answers to the same caller. */
import { assert, describe, it } from "@effect/vitest"
import {
  Authenticated,
  DocumentStore,
  HttpError,
  KernelConfig,
  KernelEngine,
  Model,
  OpenApi,
  Permission,
  Resource,
  Role
} from "appkernel"
import { ConfigProvider, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { recordedStore } from "../../support/recordedStore.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"
import { bearer, sendTo } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

class Patient extends Model.Class<Patient>()("Patient", {
  id: Model.id(),
  owner: Schema.String,
  visits: Model.referencedBy((): Model.Referable => Visit, "patient"),
  ...Model.versioned
}) {}

class Doctor extends Model.Class<Doctor>()("Doctor", {
  id: Model.id(),
  visits: Model.referencedBy((): Model.Referable => Visit, "steps.by")
}) {}

class Visit extends Model.Class<Visit>()("Visit", {
  id: Model.id(),
  owner: Schema.String,
  note: Schema.String.pipe(Model.optional),
  patient: Model.reference(() => Patient).pipe(Model.optional),
  steps: Schema.Array(Schema.Struct({ by: Model.reference(() => Doctor), text: Schema.String })),
  ...Model.versioned,
  ...Model.softDeleted
}) {}

const methods = ["GET", "POST", "PATCH"] as const

const open = KernelEngine.make("clinic")
  .register(Patient, { methods, urlBase: "/api" })
  .register(Doctor, { methods })
  .register(Visit, { methods })

/** Patients of 0, 1, … visits, each with steps by up to two doctors. */
const documents = {
  Patient: ["P0", "P1", "P2", "P 3", "null"].map((_id, i) => ({ _id, owner: i % 2 === 0 ? "ann" : "ben", version: 1 })),
  Doctor: ["D0", "D1", "D2"].map((_id) => ({ _id })),
  Visit: [[1, 1], [2, 3], [3, 6], [4, 2]].flatMap(([patient = 0, count = 0]) =>
    Array.from({ length: count }, (_, i) => ({
      _id: `V${patient}${i}`,
      owner: (patient + i) % 2 === 0 ? "ann" : "ben",
      note: `n${i}`,
      patient: ["P0", "P1", "P2", "P 3", "null"][patient],
      steps: [{ by: `D${i % 2}`, text: "a" }, { by: `D${i % 3 % 2}`, text: "b" }],
      version: 1,
      ...i === 4 ? { deleted: new Date(0) } : {}
    }))
  )
}

const limited = Layer.succeed(KernelConfig.Limits, {
  ...KernelConfig.Limits.defaultValue(),
  defaultPageSize: 3,
  maxExpanded: 20
})

/** The list that `GET` answers, with the number of its documents. */
const listed = ({ body, headers }: Effect.Success<ReturnType<typeof sendTo>>) => ({
  ...body,
  total: Number(headers["x-total-count"])
})

routeStores((name, layer) => {
  describe(`back references / ${name}`, () => {
    const served = Effect.gen(function*() {
      const own = Context.get(yield* Layer.build(layer), DocumentStore.DocumentStore)
      const { calls, store } = recordedStore(own)
      for (const [collection, all] of Object.entries(documents)) yield* own.insertMany(collection, all)
      const { baseUrl } = yield* open.test({ store: Layer.succeed(DocumentStore.DocumentStore, store) }).pipe(
        Effect.provide(limited)
      )
      const get = (path: string, headers = {}) => sendTo(baseUrl, "GET", path, undefined, headers)
      return { baseUrl, calls, get, own }
    })

    it.effect("embed the first page and the number of what refers to a document, as a list answers it", () =>
      Effect.gen(function*() {
        const { get } = yield* served
        const page = yield* get("/api/patients?expand=visits&page_size=5")
        assert.deepStrictEqual(page.body._items.length, 5)
        for (const { _embedded, id } of page.body._items) {
          const list = yield* get(
            `/visits?patient=${id === "null" || id === "P 3" ? encodeURIComponent(`"${id}"`) : id}`
          )
          const { _links, ...own } = listed(list)
          const { _links: links, ...embedded } = _embedded.visits
          assert.deepStrictEqual(embedded, own)
          assert.deepStrictEqual((yield* get(links.self.href)).text, list.text)
          if (own.total > 3) assert.strictEqual((yield* get(links.next.href)).body._items.length, own.total - 3)
          else assert.notProperty(links, "next")
          assert.deepStrictEqual(
            (yield* get(`/api/patients/${encodeURIComponent(id)}?expand=visits`)).body._embedded,
            _embedded
          )
        }
        const doctors = yield* get("/doctors?expand=visits.patient&fields=_embedded.visits.note")
        for (const { _embedded: { visits }, id } of doctors.body._items) {
          const list = yield* get(`/visits?steps.by=${id}&fields=note&expand=patient`)
          assert.deepStrictEqual(visits._items, list.body._items)
          assert.strictEqual(visits.total, listed(list).total)
          assert.deepStrictEqual((yield* get(visits._links.self.href)).body._items, visits._items)
        }
        const nested = yield* get("/visits/V10?expand=patient.visits")
        assert.deepStrictEqual(
          nested.body._embedded.patient._embedded.visits.total,
          listed(yield* get("/visits?patient=P1")).total
        )
      }))

    it.effect("read the store twice for each path and level, whatever the number of documents", () =>
      Effect.gen(function*() {
        const { calls, get } = yield* served
        const reads = Effect.fnUntraced(function*(path: string) {
          calls.length = 0
          assert.strictEqual((yield* get(path)).status, 200)
          return calls.map(({ args: [collection], name }) => `${name} ${String(collection)}`)
        })
        assert.deepStrictEqual(yield* reads("/api/patients?expand=visits&count=none"), [
          "find Patient",
          "aggregate Visit",
          "find Visit"
        ])
        assert.deepStrictEqual(yield* reads("/api/patients/P0?expand=visits"), ["findById Patient", "aggregate Visit"])
        assert.deepStrictEqual((yield* get("/api/patients/P0?expand=visits")).body._embedded.visits, {
          _type: "list",
          _items: [],
          total: 0,
          _links: { self: { href: "/visits?patient=P0&page=1" } }
        })
      }))

    it.effect("count for what may be read, for entity tags, and are consistent while others write", () =>
      Effect.gen(function*() {
        const { baseUrl, get, own } = yield* served
        const path = "/api/patients/P1?expand=visits"
        const { headers } = yield* get(path)
        const tag = { "if-none-match": headers["etag"] as string }
        assert.strictEqual((yield* get(path, tag)).status, 304)
        const added = yield* sendTo(baseUrl, "POST", "/visits", { owner: "ann", patient: "P1", steps: [] })
        assert.strictEqual(added.status, 201)
        assert.strictEqual((yield* get(path, tag)).status, 200)
        const write = (i: number) =>
          sendTo(baseUrl, "POST", "/visits", { owner: "ann", patient: "P0", note: `${i}`, steps: [] })
        yield* Effect.forEach(
          Array.from({ length: 50 }, (_, i) => i),
          (i) =>
            i % 2 === 0 ? write(i) : Effect.map(get("/api/patients/P0?expand=visits"), ({ body, status }) => {
              assert.strictEqual(status, 200)
              const { _items, total } = body._embedded.visits
              assert.isAtMost(_items.length, Math.min(3, total))
              for (const { patient } of _items) assert.strictEqual(patient, "P0")
            }),
          { concurrency: 50 }
        )
        assert.strictEqual((yield* get("/api/patients/P0?expand=visits")).body._embedded.visits.total, 25)
        yield* own.insertMany(
          "Patient",
          Array.from({ length: 10 }, (_, i) => ({ _id: `X${i}`, owner: "x", version: 1 }))
        )
        yield* own.insertMany(
          "Visit",
          Array.from({ length: 40 }, (_, i) => ({
            _id: `X${i}`,
            owner: "x",
            patient: `X${i % 10}`,
            steps: [],
            version: 1
          }))
        )
        const refused = yield* get("/api/patients?expand=visits&page_size=50")
        assert.deepStrictEqual([refused.status, refused.body.errors[0].validator], [400, "Limit"])
      }))
  })
})

describe("back references", () => {
  it.effect("are described, and refused where there is no such reference", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(Object.keys(Patient.wire.fields), ["_type", "id", "owner", "version"])
      assert.notProperty(Patient.make({ owner: "ann" }), "visits")
      const { paths } = resolvedDocument(OpenApi.make(open, { title: "Clinic", version: "1" }))
      const expand = paths["/api/patients"].get.parameters.find(
        ({ name }: { readonly name: string }) => name === "expand"
      )
      assert.includeMembers(expand.schema.items.enum, ["visits", "visits.patient", "visits.steps.by"])
      class Alone extends Model.Class<Alone>()("Alone", {
        id: Model.id(),
        visits: Model.referencedBy(() => Visit, "owner")
      }) {}
      const died = yield* Effect.exit(KernelEngine.make("clinic").register(Alone).register(Visit).test())
      assert.include(String(Object(died).cause), "Alone.visits needs a reference Visit.owner to Alone")
    }))
})

const ofOwner = Permission.make(
  "is the owner's",
  {},
  ({ caller, document }) =>
    Effect.map(document, (found) => Reflect.get(Object(Option.getOrUndefined(found)), "owner") === caller.subject)
)

const Grant = Schema.Struct({
  to: Schema.Literals(["ann", "anybody", "owner"]),
  rows: Schema.Literals(["all", "own", "some"]),
  hide: Schema.Array(Schema.Literals(["note", "patient", "owner"])).check(Schema.isMaxLength(1))
})

const permissions = { ann: Role("ann"), anybody: Authenticated, owner: ofOwner } as const

const secured = Effect.fnUntraced(
  function*(grants: ReadonlyArray<typeof Grant.Type>, hook: "none" | "before" | "after") {
    let visits = Resource.make(Visit, { methods: ["GET"] })
    for (const { hide, rows, to } of grants) {
      const own = rows === "all" ? {} : {
        rows:
          (me: { readonly subject: string }) =>
          ($: { readonly [field: string]: Record<string, (value: unknown) => never> }) =>
            rows === "own" ? $["owner"]!["equals"]!(me.subject) : $["note"]!["in"]!(["n0", "n3"])
      }
      visits = visits.grant(permissions[to], { methods: "GET", ...own, ...hide.length === 0 ? {} : { hide } } as never)
    }
    const hooked = hook === "none"
      ? visits
      : hook === "before"
      ? visits.beforeGet(() => Effect.fail(new HttpError.NotFound({ message: "not now" })))
      : visits.afterGet((visit) =>
        visit.note === "n2" ? Effect.fail(new HttpError.NotFound({ message: "not this" })) : Effect.void
      )
    const engine = KernelEngine.make("clinic")
      .register(Resource.make(Patient, { methods: ["GET"] }).require(Authenticated), { urlBase: "/api" })
      .register(hooked, { auditLog: "reads and writes" })
      .enableSecurity()
    const { baseUrl, store, token } = yield* engine.test().pipe(
      Effect.provide([
        limited,
        ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_AUDIT_TO: "collection" } }))
      ])
    )
    for (const collection of ["Patient", "Visit"] as const) yield* store.insertMany(collection, documents[collection])
    const asking = Effect.fnUntraced(function*(subject: string) {
      const text = yield* token({ subject, roles: subject === "ann" ? ["ann"] : [] })
      return (path: string) => sendTo(baseUrl, "GET", path, undefined, bearer(Redacted.value(text)))
    })
    return { asking, store }
  }
)

describe("back references under grants", () => {
  it.effect.prop(
    "embed what the list answers to the caller, and nothing where it is refused",
    {
      grants: Schema.Array(Grant).check(Schema.isMaxLength(4)),
      hook: Schema.Literals(["none", "none", "before", "after"])
    },
    ({ grants, hook }) =>
      Effect.gen(function*() {
        const { asking } = yield* secured(grants, hook)
        for (const subject of ["ann", "ben"]) {
          const get = yield* asking(subject)
          const page = yield* get("/api/patients?expand=visits&page_size=5")
          assert.strictEqual(page.status, 200)
          for (const { _embedded, id } of page.body._items) {
            const value = id === "null" || id === "P 3" ? encodeURIComponent(`"${id}"`) : id
            const list = yield* get(`/visits?patient=${value}`)
            if (list.status !== 200) {
              assert.include([400, 403, 404], list.status)
              assert.deepStrictEqual(_embedded, {})
              continue
            }
            const { _links: _own, ...own } = listed(list)
            const { _links: _other, ...embedded } = _embedded.visits
            assert.deepStrictEqual(embedded, own)
          }
        }
      }),
    { arbitrary: { runs: Number(process.env["DIFFERENTIAL_RUNS"] ?? 12) } }
  )

  it.effect("are in the audit log as what was read", () =>
    Effect.gen(function*() {
      const { asking, store } = yield* secured([{ to: "anybody", rows: "own", hide: [] }], "none")
      const get = yield* asking("ann")
      yield* get("/api/patients/P2?expand=visits")
      const entries = yield* store.find("AuditEntry", { filter: { model: "Visit" } })
      assert.deepStrictEqual(entries.map(({ count, ids, operation }) => [operation, ids, count]), [
        ["read", ["V20", "V22"], 2]
      ])
    }))
})
