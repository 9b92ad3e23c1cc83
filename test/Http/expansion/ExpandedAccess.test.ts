/** Expansion under grants: what is embedded is what `GET` of the same document answers to the same caller, or is not there. */
import { assert, describe, it } from "@effect/vitest"
import { Authenticated, HttpError, KernelConfig, KernelEngine, Model, Resource } from "appkernel"
import { ConfigProvider, Effect, Layer, Option, Redacted, Schema } from "effect"
import { grantees } from "../../support/grantees.ts"
import { bearer, sendTo } from "../../support/rest.ts"

class Ward extends Model.Class<Ward>()("Ward", { id: Model.id(), owner: Schema.String, floor: Schema.Int }) {}

class Doctor extends Model.Class<Doctor>()("Doctor", {
  id: Model.id(),
  owner: Schema.String,
  phone: Schema.String,
  ward: Model.reference(() => Ward)
}) {}

class Patient extends Model.Class<Patient>()("Patient", {
  id: Model.id(),
  owner: Schema.String,
  notes: Schema.String.pipe(Model.optional),
  doctor: Model.reference(() => Doctor).pipe(Model.optional),
  ...Model.softDeleted
}) {}

class Step extends Model.Class<Step>()("Step", { by: Model.reference(() => Doctor), text: Schema.String }) {}

class Visit extends Model.Class<Visit>()("Visit", {
  id: Model.id(),
  owner: Schema.String,
  patient: Model.reference(() => Patient),
  steps: Schema.Array(Step),
  ...Model.versioned
}) {}

const models = { Ward, Doctor, Patient, Visit } as const

type Name = keyof typeof models

/** The references of each model, by the values that a document shows. */
const relations: {
  readonly [N in Name]: { readonly [path: string]: { readonly to: Name; readonly isList: boolean } }
} = {
  Ward: {},
  Doctor: { ward: { to: "Ward", isList: false } },
  Patient: { doctor: { to: "Doctor", isList: false } },
  Visit: { patient: { to: "Patient", isList: false }, "steps.by": { to: "Doctor", isList: true } }
}

const owners = ["ann", "ben"]

const fill = (i: number, size: number) => ({ owner: owners[i % 3 % 2]!, at: `${i % size}` })

const documents: { readonly [N in Name]: ReadonlyArray<{ readonly [field: string]: unknown }> } = {
  Ward: [0, 1, 2].map((i) => ({ _id: `W${i}`, owner: fill(i, 3).owner, floor: i })),
  // The last one's ward does not exist.
  Doctor: [0, 1, 2, 3, 4].map((i) => ({ _id: `D${i}`, owner: fill(i + 1, 3).owner, phone: `${i}`, ward: `W${i % 4}` })),
  Patient: [0, 1, 2, 3, 4, 5].map((i) => ({
    _id: `P${i}`,
    owner: fill(i, 3).owner,
    notes: `n${i}`,
    ...i === 2 ? {} : { doctor: `D${i}` },
    ...i === 3 ? { deleted: new Date(0) } : {}
  })),
  Visit: [0, 1, 2, 3, 4, 5, 6].map((i) => ({
    _id: `V${i}`,
    owner: fill(i + 1, 3).owner,
    patient: `P${i}`,
    steps: [{ by: `D${i % 6}`, text: "a" }, { by: `D${(i * 3) % 5}`, text: "b" }, { by: `D${i % 6}`, text: "c" }],
    version: 1
  }))
}

const hideable: { readonly [N in Name]: ReadonlyArray<string> } = {
  Ward: ["floor"],
  Doctor: ["phone", "ward"],
  Patient: ["notes", "doctor"],
  Visit: ["patient", "steps", "steps.by"]
}

const grantOf = (name: Name) =>
  Schema.Struct({
    to: Schema.Literals(["ann", "anybody", "everybody", "self", "owner"]),
    rows: Schema.Literals(["all", "own", "some"]),
    hide: Schema.Array(Schema.Literals(hideable[name])).check(Schema.isMaxLength(2))
  })

type Granted = ReturnType<typeof grantOf>["Type"]

const grantsOf = (name: Name) => Schema.Array(grantOf(name)).check(Schema.isMaxLength(3))

const Policy = Schema.Struct({
  Ward: grantsOf("Ward"),
  Doctor: grantsOf("Doctor"),
  Patient: grantsOf("Patient"),
  Visit: grantsOf("Visit").check(Schema.isMinLength(1)),
  isHooked: Schema.Boolean
})

const resourceOf = (
  model: Model.Any,
  grants: ReadonlyArray<Granted>,
  methods: ReadonlyArray<Resource.Method> = ["GET"]
) => {
  let resource = Resource.make(model, { methods }) as unknown as Resource.Any & Record<string, never>
  for (const { hide, rows, to } of grants) {
    const own = rows === "all" ? {} : {
      rows:
        (caller: unknown) => ($: { readonly [field: string]: Record<"equals" | "in", (value: unknown) => never> }) => {
          // Callers of an open permission are options.
          const subject = Option.isOption(caller) ? "ann" : Reflect.get(Object(caller), "subject")
          return rows === "own"
            ? $["owner"]!.equals(subject)
            : $["id"]!.in(["W1", "D1", "D2", "P1", "V1", "V2"])
        }
    }
    resource = (resource as never as { readonly grant: (p: unknown, o: unknown) => typeof resource })
      .grant(grantees[to], { ...own, methods: "GET", ...hide.length === 0 ? {} : { hide } })
  }
  return resource
}

const service = Effect.fnUntraced(function*(policy: typeof Policy.Type) {
  const doctors = resourceOf(Doctor, policy.Doctor)
  const hooked = policy.isHooked
    ? (doctors as never as { readonly beforeGet: (h: unknown) => Resource.Any }).beforeGet(
      ({ id }: { readonly id: Option.Option<unknown> }) =>
        Option.contains(id, "D2") ? Effect.fail(new HttpError.Forbidden({ message: "not this one" })) : Effect.void
    )
    : doctors
  const visits = resourceOf(Visit, policy.Visit, ["GET", "PATCH"]) as never as {
    readonly require: (permission: unknown, method: string) => Resource.Any
  }
  const engine = KernelEngine.make("clinic")
    .register(resourceOf(Ward, policy.Ward) as never)
    .register(hooked as never)
    .register(resourceOf(Patient, policy.Patient) as never)
    .register(visits.require(Authenticated, "PATCH") as never)
    .enableSecurity()
  const deep = Layer.succeed(KernelConfig.Limits, { ...KernelConfig.Limits.defaultValue(), maxExpandDepth: 3 })
  const { baseUrl, store, token } = yield* Effect.provide(engine.test(), deep)
  for (const [collection, all] of Object.entries(documents)) yield* store.insertMany(collection, all)
  const headersOf = Effect.fnUntraced(function*(subject: string | undefined) {
    if (subject === undefined) return {}
    const text = yield* token({ subject, roles: subject === "ann" ? ["ann"] : [] })
    return bearer(Redacted.value(text))
  })
  return { baseUrl, headersOf }
})

const segmentOf = (name: Name) => `/${name.toLowerCase()}s`

const valuesAt = (value: unknown, path: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path))
  const [key, ...rest] = path
  if (value === undefined) return []
  return key === undefined ? [JSON.stringify(value).slice(1, -1)] : valuesAt(Reflect.get(Object(value), key), rest)
}

const own = ({ _embedded, ...body }: { readonly [field: string]: unknown }) => body

describe("expansion under grants", () => {
  it.effect.prop(
    "embeds what GET answers to the caller, and else nothing",
    { policy: Policy },
    ({ policy }) =>
      Effect.gen(function*() {
        const { baseUrl, headersOf } = yield* service(policy)
        for (const subject of ["ann", "ben", "W1", undefined]) {
          const headers = yield* headersOf(subject)
          const answers = new Map<string, Effect.Success<ReturnType<typeof sendTo>>>()
          const get = Effect.fnUntraced(function*(path: string) {
            const known = answers.get(path) ?? (yield* sendTo(baseUrl, "GET", path, undefined, headers))
            answers.set(path, known)
            return known
          })
          const check = Effect.fnUntraced(function*(
            name: Name,
            body: { readonly [field: string]: unknown },
            paths: ReadonlyArray<string>
          ): Effect.fn.Return<void> {
            const embedded = Object(body["_embedded"])
            const expected: Record<string, unknown> = {}
            for (const [path, { isList, to }] of Object.entries(relations[name])) {
              const below = paths.filter((one) => one === path || one.startsWith(`${path}.`))
              if (below.length === 0) continue
              const found: Array<unknown> = []
              const inLists: Array<unknown> = []
              for (const id of new Set(valuesAt(body, path.split(".")))) {
                const target = yield* get(`${segmentOf(to)}/${id}`)
                assert.include([200, 401, 403, 404], target.status)
                if (target.status === 200) {
                  found.push(target.body)
                  const listed = yield* get(`${segmentOf(to)}?id=${id}`)
                  inLists.push(listed.body._items?.[0])
                }
              }
              const value = embedded[path]
              const all: ReadonlyArray<{ readonly [field: string]: unknown }> = value === undefined
                ? []
                : isList
                ? value
                : [value]
              // A list of documents that show different fields has no links of references.
              assert.include(
                [JSON.stringify(found), JSON.stringify(inLists)],
                JSON.stringify(all.map(own)),
                `${String(subject)} ${path}`
              )
              expected[path] = value
              const rest = below.flatMap((one) => one === path ? [] : [one.slice(path.length + 1)])
              for (const one of all) {
                if (rest.length > 0) yield* check(to, one, rest)
                else assert.notProperty(one, "_embedded")
              }
            }
            for (const key of Object.keys(embedded)) assert.property(expected, key)
          })
          for (const paths of [["patient"], ["steps.by.ward"], ["patient.doctor.ward", "steps.by"]]) {
            const query = `expand=${paths.join()}`
            const page = yield* get(`/visits?${query}`)
            const plain = yield* get("/visits")
            if (page.status === 400) {
              // The path is hidden from the caller, which the document of a caller shows as well.
              assert.match(page.body.message, /is not a path to expand/u)
              continue
            }
            assert.strictEqual(page.status, plain.status)
            if (page.status !== 200) continue
            assert.deepStrictEqual(page.body._items.map(own), plain.body._items)
            for (const item of page.body._items) {
              yield* check("Visit", item, paths)
              const one = yield* get(`/visits/${item.id}?${query}`)
              // A field that this document hides is hidden in all documents of which the answer is made.
              if (one.status === 400) continue
              assert.deepStrictEqual(own(one.body), (yield* get(`/visits/${item.id}`)).body)
              yield* check("Visit", one.body, paths)
            }
          }
        }
      }),
    { arbitrary: { runs: Number(process.env["DIFFERENTIAL_RUNS"] ?? 15) } }
  )

  it.effect.prop(
    "embeds into the answer of a write what GET embeds after it, and nothing for who may not GET it",
    { policy: Policy },
    ({ policy }) =>
      Effect.gen(function*() {
        const { baseUrl, headersOf } = yield* service(policy)
        for (const subject of ["ann", "ben"]) {
          const headers = yield* headersOf(subject)
          for (const id of ["V1", "V2", "V3"]) {
            const path = `/visits/${id}?expand=patient.doctor,steps.by`
            const written = yield* sendTo(baseUrl, "PATCH", path, {}, { ...headers, prefer: "return=representation" })
            const read = yield* sendTo(baseUrl, "GET", path, undefined, headers)
            if (read.status === 200) assert.deepStrictEqual(written.body._embedded, read.body._embedded)
            else assert.notProperty(written.body, "_embedded")
            if (written.status === 400) assert.strictEqual(read.status, 400)
          }
        }
      }),
    { arbitrary: { runs: Number(process.env["DIFFERENTIAL_RUNS"] ?? 10) } }
  )

  it.effect("tells a hidden document from a missing one by no byte", () =>
    Effect.gen(function*() {
      const answersBy = Effect.fnUntraced(function*(isThere: boolean, grants: ReadonlyArray<Granted>) {
        const engine = KernelEngine.make("clinic")
          .register(resourceOf(Visit, [{ to: "anybody", rows: "all", hide: [] }]) as never)
          .register(resourceOf(Patient, grants) as never)
          .enableSecurity()
        const { baseUrl, store, token } = yield* engine.test()
        yield* store.insertMany("Visit", documents.Visit)
        if (isThere) yield* store.insertMany("Patient", documents.Patient)
        const headers = bearer(Redacted.value(yield* token({ subject: "cid", roles: [] })))
        const paths = ["/visits?expand=patient", "/visits/V1?expand=patient", "/visits/V1?expand=patient.doctor"]
        const answers = yield* Effect.forEach(paths, (path) => sendTo(baseUrl, "GET", path, undefined, headers))
        return answers.map(({ headers: { date: _date, ...headers }, ...answer }) => ({ ...answer, headers }))
      })
      for (const grants of [[], [{ to: "anybody", rows: "own", hide: [] }]] satisfies Array<Array<Granted>>) {
        const [hidden, missing] = [yield* answersBy(true, grants), yield* answersBy(false, grants)]
        assert.deepStrictEqual(hidden.map(({ status }) => status), missing.map(({ status }) => status))
        assert.deepStrictEqual(
          hidden.map(({ headers, text }) => [headers, text]),
          missing.map(({ headers, text }) => [headers, text])
        )
      }
    }))

  it.effect("is noted in the audit log as a read of what is embedded", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("clinic")
        .register(resourceOf(Visit, [{ to: "anybody", rows: "all", hide: [] }]) as never)
        .register(
          resourceOf(Patient, [{ to: "anybody", rows: "own", hide: [] }]) as never,
          { auditLog: "reads and writes" } as never
        )
        .enableSecurity()
      const { baseUrl, store, token } = yield* engine.test().pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_AUDIT_TO: "collection" } })))
      )
      yield* store.insertMany("Visit", documents.Visit)
      yield* store.insertMany("Patient", documents.Patient)
      const headers = bearer(Redacted.value(yield* token({ subject: "ann", roles: [] })))
      yield* sendTo(baseUrl, "GET", "/visits?expand=patient", undefined, headers)
      const entries = yield* store.find("AuditEntry", {})
      assert.deepStrictEqual(
        entries.map(({ ids, method, model, operation, outcome, registration, subject }) => [
          { method, model, operation, outcome, registration, subject },
          ids
        ]),
        [[
          {
            method: "GET",
            model: "Patient",
            operation: "read",
            outcome: "allowed",
            registration: "patients",
            subject: "ann"
          },
          ["P0", "P2", "P5"]
        ]]
      )
    }))
})
