/** References over HTTP: the links of documents, filters, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import { KernelApi, KernelClient, KernelEngine, Model, OpenApi, Resource, Role } from "appkernel"
import { ConfigProvider, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { EmbeddedStore } from "../../../src/index.ts"
import { Code, Patient, Visit, Ward } from "../../support/references.ts"
import { refused, send, serving } from "../../support/rest.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const engine = KernelEngine.make("clinic")
  .register(Visit, { methods })
  .register(Patient, { methods, urlBase: "/api" })
  .register(Ward, { methods })
  .register(Code, { methods: ["POST"] })

describe("references over HTTP", () => {
  it.effect("have links, are filtered by, and are checked", () =>
    Effect.gen(function*() {
      const { body: { result: patient } } = yield* send("POST", "/api/patients", { name: "Jane" })
      const { body: { result: first } } = yield* send("POST", "/visits", { patient })
      const { body: { result: second } } = yield* send("POST", "/visits", {
        patient,
        follows: first,
        others: [patient]
      })
      const { body: { _links } } = yield* send("GET", `/visits/${second}`)
      assert.deepStrictEqual(
        [_links.patient, _links.follows, _links.others],
        [{ href: `/api/patients/${patient}`, methods: "GET" }, { href: `/visits/${first}`, methods: "GET" }, undefined]
      )
      const page = yield* send("GET", `/visits?follows=${first}&patient=${patient}`)
      assert.deepStrictEqual(page.body._items.map(({ id }: { id: string }) => id), [second])
      assert.strictEqual(page.body._items[0]._links.follows.href, `/visits/${first}`)
      const wrong = yield* send("GET", "/visits?steps.code=no-objectid")
      assert.deepStrictEqual([wrong.status, wrong.body.errors[0].field], [400, "steps.code"])
      for (
        const [method, path] of [["POST", "/visits"], ["PATCH", `/visits/${first}`], [
          "PUT",
          `/visits/${first}`
        ]] as const
      ) {
        assert.deepStrictEqual(refused(400, yield* send(method, path, { patient: "P0" })).body.errors, [
          { field: "patient", validator: "Reference", message: "Patient must be the identifier of an existing Patient" }
        ])
      }
      const list = yield* send("POST", "/visits", [{ patient }, { patient: "P0" }])
      assert.deepStrictEqual([list.status, list.body.errors[0].field], [400, "1.patient"])
      const german = yield* send("POST", "/visits", { patient: "P0" }, { "accept-language": "de" })
      assert.strictEqual(german.body.errors[0].message, "Patient: Kennung eines vorhandenen Dokuments erwartet")
      assert.strictEqual((yield* send("GET", "/visits")).body._items.length, 2)
      const conflict = yield* send("DELETE", `/api/patients/${patient}`)
      assert.strictEqual(
        refused(409, conflict).body.message,
        `Patient ${patient} can't be deleted, because the Patient of a stored Visit refers to it`
      )
      const { body } = yield* send("DELETE", `/api/patients/${patient}`, undefined, { "accept-language": "de" })
      assert.strictEqual(
        body.message,
        `Patient ${patient} kann nicht gelöscht werden, da Visit im Feld Patient darauf verweist`
      )
      assert.strictEqual((yield* send("DELETE", `/visits/${first}`)).status, 200)
      const left = yield* send("GET", `/visits/${second}`)
      assert.deepStrictEqual([left.body.follows, left.body._links.follows], [undefined, undefined])
      assert.strictEqual((yield* send("DELETE", `/visits/${second}`)).status, 200)
      assert.strictEqual((yield* send("DELETE", `/api/patients/${patient}`)).status, 200)
    }).pipe(Effect.provide(
      serving(engine, EmbeddedStore.layerMemory).pipe(Layer.provide(ConfigProvider.layer(
        ConfigProvider.fromEnv({ env: { APPKERNEL_I18N_LANGUAGES: "en,de" } })
      )))
    )))

  it.effect("have the types of identifiers and the error of a refused deletion in the typed client", () =>
    Effect.gen(function*() {
      const api = KernelApi.make("clinic").register(Visit, { methods }).register(Patient, { methods, urlBase: "/api" })
      const { baseUrl } = yield* engine.test()
      const { patients, visits } = yield* KernelClient.make(api, { baseUrl })
      const { result: patient } = yield* patients.create({ payload: { name: "Jane" } })
      const { result: id } = yield* visits.create({ payload: { patient } })
      assert.strictEqual((yield* visits.get({ params: { id } })).patient, patient)
      const error = yield* Effect.flip(patients.delete({ params: { id: patient } }))
      assert.strictEqual(error._tag, "Conflict")
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it.effect("lead to what the caller may read, and a deletion takes along what the caller may not", () =>
    Effect.gen(function*() {
      const secured = KernelEngine.make("clinic")
        .register(
          Resource.make(Ward, { methods }).grant(Role("desk"), { rows: () => ($) => $.name.equals("open") })
        )
        .register(Resource.make(Patient, { methods }).require(Role("desk"), "POST"))
        .enableSecurity()
      const { as, repositories } = yield* secured.test()
      const { patients, wards } = repositories
      yield* Effect.forEach(["open", "closed"], (id) => wards.insert(new Ward({ id, name: id })), { discard: true })
      const desk = yield* as({ subject: "ann", roles: ["desk"] })
      const refusals = yield* Effect.forEach(
        ["closed", "none"],
        (ward) => Effect.flip(desk.patients.create({ payload: { name: "Jane", ward } }))
      )
      assert.deepStrictEqual(refusals.map(({ _tag }) => _tag), ["BadRequest", "BadRequest"])
      assert.deepStrictEqual(refusals[0]?.message, refusals[1]?.message)
      yield* desk.patients.create({ payload: { name: "Jane", ward: "open" } })
      assert.strictEqual(yield* patients.count(), 1)
      yield* desk.wards.delete({ params: { id: "open" } })
      assert.deepStrictEqual([yield* patients.count(), yield* wards.count()], [0, 1])
    }))

  it.effect("lead to documents of the same model that the caller may read, whatever the caller may write", () =>
    Effect.gen(function*() {
      const [jane, ben] = [Patient.wire.fields.id.make("jane"), Patient.wire.fields.id.make("ben")]
      const secured = KernelEngine.make("clinic")
        .register(
          Resource.make(Visit, { methods: ["GET", "POST", "PATCH"] })
            .grant(Role("patient"), { methods: ["GET", "POST"], rows: () => ($) => $.patient.equals(jane) })
            .grant(Role("patient"), { methods: "PATCH", rows: () => ($) => $.id.equals("V1") })
        )
        .register(Resource.make(Patient, { methods: ["GET"] }).require(Role("patient")))
        .enableSecurity()
      const { as, repositories: { patients, visits } } = yield* secured.test()
      yield* Effect.forEach([jane, ben], (id) => patients.insert(new Patient({ id, name: id })), { discard: true })
      yield* Effect.forEach(
        [{ id: "V1", patient: jane }, { id: "V2", patient: jane }, { id: "V3", patient: ben }],
        (visit) => visits.insert(new Visit(visit)),
        { discard: true }
      )
      const { visits: own } = yield* as({ subject: jane, roles: ["patient"] })
      const { result: id } = yield* own.create({ payload: { patient: jane, follows: "V2" } })
      assert.strictEqual((yield* visits.findById(id)).follows, "V2")
      yield* own.create({ payload: [{ patient: jane, follows: "V2" }] })
      yield* own.patch({ params: { id: "V1" }, payload: { follows: "V2" } })
      const refusals = yield* Effect.forEach(["V3", "V0"], (follows) =>
        Effect.all([
          Effect.flip(own.create({ payload: { patient: jane, follows } })),
          Effect.flip(own.patch({ params: { id: "V1" }, payload: { follows } }))
        ]))
      assert.deepStrictEqual(refusals.flat().map(({ _tag }) => _tag), Array.from({ length: 4 }, () => "BadRequest"))
    }))

  it("are described in the OpenAPI document", () => {
    const { components, paths } = Object(OpenApi.make(engine, { title: "Clinic", version: "1" }))
    assert.strictEqual(
      components.schemas.Visit.properties.patient.description,
      "Refers to Patient."
    )
    assert.property(paths["/api/patients/{id}"].delete.responses, "409")
    assert.strictEqual(Model.metadata(Visit)["patient"]?.reference, "Patient")
  })
})
