/**
 * All paths to documents under grants: lists, counts, tables, expansion, also of writes, many at once, deleted ones, former states and
 * changes. Each value is a text that names its document and its field, so that no answer can have one that `GET` of the document
 * does not give to the same caller.
 */
import { assert, it } from "@effect/vitest"
import { History, KernelEngine, Model, Resource } from "appkernel"
import { Effect, Option, Redacted, Schema } from "effect"
import { Agent } from "node:http"
import { grantees } from "../support/grantees.ts"
import { bearer, sendTo } from "../support/rest.ts"

class Doctor extends Model.Class<Doctor>()("Doctor", { id: Model.id(), owner: Schema.String, phone: Schema.String }) {}

class Patient extends Model.Class<Patient>()("Patient", {
  id: Model.id(),
  owner: Schema.String,
  notes: Schema.String.pipe(Model.optional),
  doctor: Model.reference(() => Doctor).pipe(Model.optional),
  visits: Model.referencedBy((): Model.Referable => Visit, "patient"),
  ...Model.versioned,
  ...Model.softDeleted,
  ...Model.historied
}, { logged: true }) {}

class Step extends Model.Class<Step>()("Step", { by: Model.reference(() => Doctor), text: Schema.String }) {}

class Visit extends Model.Class<Visit>()("Visit", {
  id: Model.id(),
  owner: Schema.String,
  room: Schema.String,
  patient: Model.reference(() => Patient),
  steps: Schema.Array(Step),
  ...Model.versioned,
  ...Model.softDeleted,
  ...Model.historied
}, { logged: true }) {}

const owners = ["ann", "ben"]
const ownerOf = (i: number) => owners[i % 3 % 2]!
const value = (document: string, field: string, state: number) => `«${document}.${field}@${state}»`

const doctors = [0, 1, 2].map((i) => ({ id: `D${i}`, owner: ownerOf(i + 1), phone: value(`D${i}`, "phone", 2) }))
const patients = [0, 1, 2, 3].map((i) => (state: number) => ({
  id: `P${i}`,
  owner: ownerOf(i),
  notes: value(`P${i}`, "notes", state),
  doctor: `D${i}`
}))
const visits = [0, 1, 2, 3, 4].map((i) => (state: number) => ({
  id: `V${i}`,
  owner: ownerOf(i + 1),
  room: value(`V${i}`, "room", state),
  patient: `P${i % 4}`,
  steps: [{ by: `D${i % 3}`, text: value(`V${i}`, "steps", state) }, { by: "D1", text: "" }]
}))

const methods = ["GET", "PATCH", "DELETE"] as const
const actions = [
  "revisions",
  "revision",
  "revision_changes",
  "restore_revision",
  "deleted",
  "restore",
  "purge"
] as const

const grantOf = <const Fields extends ReadonlyArray<string>>(hideable: Fields) =>
  Schema.Struct({
    to: Schema.Literals(["ann", "anybody", "everybody", "self", "owner"]),
    on: Schema.Array(Schema.Literals([...methods, ...actions])),
    // Most grants are for all of it: what few may do is hardly ever done.
    isForAll: Schema.Literals([true, true, false]),
    rows: Schema.Literals(["all", "own", "some"]),
    hide: Schema.Array(Schema.Literals(hideable)).check(Schema.isMaxLength(2))
  })

const grantsOf = <const Fields extends ReadonlyArray<string>>(hideable: Fields) =>
  Schema.Array(grantOf(hideable)).check(Schema.isMaxLength(3))

const Policy = Schema.Struct({
  Doctor: grantsOf(["phone", "owner"]),
  Patient: grantsOf(["notes", "doctor", "owner"]),
  Visit: grantsOf(["room", "patient", "steps", "steps.by", "steps.text", "owner"]).check(Schema.isMinLength(1)),
  // What is asked for besides what is asked always, by the numbers of documents.
  numbers: Schema.Tuple([0, 0, 0].map(() => Schema.Literals([0, 1, 2, 3, 4])))
})

// Grants by their names have no static types.
type Granting = Resource.Any & { readonly grant: (permission: unknown, options: unknown) => Granting }

const granted = (
  resource: Resource.Any,
  grants: ReadonlyArray<ReturnType<typeof grantOf>["Type"]>,
  possible: ReadonlyArray<string>
) =>
  grants.reduce((all, { hide, isForAll, on, rows, to }) => {
    const asked = isForAll ? possible : on.filter((name) => possible.includes(name))
    // Actions of this module are for callers who are known.
    const named = to === "everybody" ? asked.filter((name) => name === "GET") : asked
    return named.length === 0 ? all : all.grant(grantees[to], {
      methods: named,
      ...hide.length === 0 ? {} : { hide },
      ...rows === "all" ? {} : {
        rows:
          (caller: unknown) => ($: { readonly [field: string]: Record<"equals" | "in", (value: unknown) => never> }) =>
            rows === "own"
              ? $["owner"]!.equals(Option.isOption(caller) ? "ann" : Reflect.get(Object(caller), "subject"))
              : $["id"]!.in(["D1", "P1", "P2", "V1", "V2", "V3"])
      }
    })
  }, resource as Granting)

const shown = (model: typeof Patient | typeof Visit) =>
  Resource.make(model as typeof Visit, { methods })
    .action(History.revisions(model as typeof Visit))
    .action(History.revision(model as typeof Visit))
    .action(History.changes(model as typeof Visit))
    .action(History.restore(model as typeof Visit))
    .action(History.deleted(model as typeof Visit))
    .action(History.restoreDeleted(model as typeof Visit))
    .action(History.purge(model as typeof Visit))

const service = Effect.fnUntraced(function*(policy: typeof Policy.Type) {
  const options = { tables: true, many: ["PATCH", "DELETE"] } as const
  const all = [...methods, ...actions]
  const engine = KernelEngine.make("clinic")
    .register(
      granted(Resource.make(Doctor, { methods: ["GET"] }), policy.Doctor, ["GET"]) as never,
      { tables: true } as never
    )
    .register(granted(shown(Patient), policy.Patient, all) as never, options as never)
    .register(granted(shown(Visit), policy.Visit, all) as never, options as never)
    .enableSecurity()
  const { baseUrl, repositories, store, token } = yield* engine.test()
  yield* store.insertMany("Doctor", doctors.map(({ id, ...doctor }) => ({ _id: id, ...doctor })))
  // The engine knows its models.
  const { patients: patientsOf, visits: visitsOf } = repositories as unknown as {
    readonly [name: string]: {
      readonly insert: (one: unknown) => Effect.Effect<unknown>
      readonly patch: (id: string, changes: unknown) => Effect.Effect<unknown>
      readonly deleteById: (id: string) => Effect.Effect<unknown>
    }
  }
  for (const patient of patients) {
    yield* patientsOf!.insert(Patient.make(patient(1)))
    yield* patientsOf!.patch(patient(1).id, { notes: patient(2).notes })
  }
  for (const visit of visits) {
    yield* visitsOf!.insert(Visit.make({ ...visit(1), steps: visit(1).steps.map((step) => Step.make(step)) }))
    yield* visitsOf!.patch(visit(1).id, {
      room: visit(2).room,
      steps: visit(2).steps.map((step) => Step.make(step))
    })
  }
  const remove = Effect.andThen(visitsOf!.deleteById("V1"), patientsOf!.deleteById("P2"))
  const headersOf = Effect.fnUntraced(function*(subject: string | undefined) {
    if (subject === undefined) return {}
    return bearer(Redacted.value(yield* token({ subject, roles: subject === "ann" ? ["ann"] : [] })))
  })
  return { baseUrl, headersOf, remove }
})

const pathOf = (id: string) => `/${{ D: "doctors", P: "patients", V: "visits" }[id[0]!]}/${id}`

const ids = [...doctors, ...patients.map((one) => one(2)), ...visits.map((one) => one(2))].map(({ id }) => id)

const tables = ["text/csv", "application/x-ndjson"]

/** What a caller asks for while nothing is deleted: the method, the path, the headers, and the body. */
const requestsFor = (numbers: ReadonlyArray<number>): ReadonlyArray<readonly [string, string, object?, unknown?]> => {
  const [i = 0, j = 0, k = 0] = numbers
  const patch = { "content-type": "application/json" }
  const whole = { prefer: "return=representation" }
  const time = "2999-01-01T00:00:00Z"
  return [
    ...["doctors", "patients", "visits"].flatMap((name) => [
      ["GET", `/${name}?page_size=2&page=${i % 2 + 1}`] as const,
      ["GET", `/${name}?count=estimated&sort_by=-owner`] as const,
      ["QUERY", `/${name}`, patch, { page_size: 3 }] as const,
      ...tables.map((accept) => ["GET", `/${name}`, { accept }] as const)
    ]),
    ["GET", `/visits?fields=room,steps.text,_embedded.patient.notes&expand=patient`],
    ["GET", "/visits?expand=patient.doctor,steps.by"],
    ["GET", `/visits/V${i}?expand=patient.doctor,steps.by`],
    ["GET", "/patients?expand=visits,doctor"],
    ["GET", `/patients/P${j % 4}?expand=visits.steps.by`],
    ["GET", `/visits?room=~V${i}&count=exact`],
    ["GET", `/visits?query={"steps.text":{"$gt":"«V${j}"}}`],
    ["GET", "/visits?sort_by=room&fields=id"],
    ["GET", `/visits?steps.text=~${k}`, { accept: tables[k % 2] }],
    ["GET", `/visits/aggregate?pipe=[{"$group":{"_id":"$room","n":{"$sum":1}}}]`],
    ["GET", `/patients/aggregate?pipe=[{"$project":{"notes":1}}]`],
    ["GET", "/visits/changes?offset=-1"],
    ["GET", `/patients/changes?offset=-1&notes=~P${j % 4}`],
    ...[`/visits/V${i}`, `/patients/P${j % 4}`].flatMap((path) => [
      ["GET", `${path}/revisions`] as const,
      ["GET", `${path}/revisions/${k % 2 + 1}`] as const,
      ["GET", `${path}/revisions/${k % 2 + 1}/changes`] as const,
      ["GET", `${path}?as_of=${time}`] as const,
      ["PATCH", `${path}?expand=${path.startsWith("/visits") ? "patient,steps.by" : "visits,doctor"}`, {
        ...patch,
        ...whole
      }, {}] as const,
      ["POST", `${path}/revisions/1/restore`, whole] as const,
      ["DELETE", `${path}?purge=false`] as const
    ]),
    ...["patients", "visits"].flatMap((name) => [
      ["PATCH", `/${name}?all=true&dry_run=true`, patch, {}] as const,
      ["DELETE", `/${name}?owner=ann&dry_run=true`] as const,
      ["DELETE", `/${name}?${name === "visits" ? "room" : "notes"}=~${i}&dry_run=true`] as const,
      ["PATCH", `/${name}?all=true`, { ...patch, ...whole }, {}] as const,
      [
        "PATCH",
        `/${name}`,
        { ...patch, prefer: "return=representation, handling=lenient" },
        [i, j, k].map((n) => ({ id: name === "visits" ? `V${n}` : `P${n % 4}` }))
      ] as const,
      ["GET", `/${name}/meta`] as const
    ])
  ]
}

/** What a caller asks for when a visit and a patient are deleted. */
const requestsForDeleted: ReadonlyArray<readonly [string, string, object?, unknown?]> = [
  ...["patients", "visits"].flatMap((name) =>
    ["include", "only"].flatMap((deleted) => [
      ["GET", `/${name}?deleted=${deleted}`] as const,
      ...tables.map((accept) => ["GET", `/${name}?deleted=${deleted}`, { accept }] as const)
    ])
  ),
  ["GET", "/visits?expand=patient"],
  ["GET", "/patients?expand=visits"],
  ...["/visits/V1", "/patients/P2"].flatMap((path) => [
    ["GET", path] as const,
    ["GET", `${path}?deleted=include`] as const,
    ["GET", `${path}/revisions`] as const,
    ["GET", `${path}/revisions/2`] as const,
    ["GET", `${path}/revisions/2/changes`] as const,
    ["GET", `${path}?as_of=2999-01-01T00:00:00Z`] as const,
    ["POST", `${path}/restore`, { prefer: "return=representation" }] as const,
    ["DELETE", `${path}?purge=true`] as const
  ])
]

// The answers are JSON of any shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const withoutLinks = ({ _embedded, _links, ...body }: Json) => body

/** Whether a value has nothing that the other one lacks: a list does not ask permissions that look at a document. */
const isPartOf = (part: Json, whole: Json): boolean =>
  typeof part === "object" && part !== null && typeof whole === "object" && whole !== null
    ? Object.keys(part).every((key) => Object.hasOwn(whole, key) && isPartOf(part[key], whole[key]))
    : part === whole

/** The lists in an answer that say of how many documents they are: their paths and the numbers. */
const totalsIn = (value: Json): ReadonlyArray<readonly [path: string, total: number]> =>
  typeof value !== "object" || value === null ? [] : [
    ...value._type === "list" && value.total !== undefined ? [[value._links.self.href, value.total] as const] : [],
    ...Object.values(value).flatMap(totalsIn)
  ]

let requests = 0

it.live.prop(
  "no path gives a value that GET of its document does not give to the same caller",
  { policy: Policy },
  ({ policy }) =>
    Effect.gen(function*() {
      const { baseUrl, headersOf, remove } = yield* service(policy)
      const agent = new Agent({ keepAlive: true })
      yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
      const callers = yield* Effect.forEach(["ann", "ben", "V1", undefined], (subject) =>
        Effect.gen(function*() {
          const credentials = yield* headersOf(subject)
          const ask = (method: string, path: string, headers: object = {}, body?: unknown) => {
            requests++
            return sendTo(baseUrl, method, encodeURI(path), body, { ...credentials, ...headers }, agent)
          }
          /** What `GET` of each document says. */
          const bodies = new Map<string, Json>()
          const visible = new Set<string>()
          for (const id of ids) {
            const { body, status, text } = yield* ask("GET", pathOf(id))
            assert.include([200, 401, 403, 404], status)
            if (status !== 200) {
              assert.notInclude(text, "«")
              continue
            }
            bodies.set(id, withoutLinks(body))
            for (const [, place] of text.matchAll(/«([\w.]+)@/gu)) {
              assert.isTrue(place!.startsWith(`${id}.`))
              visible.add(place!)
            }
          }
          const visibleOf = (path: string) =>
            [...bodies.keys()].filter((id) => pathOf(id).split("/")[1] === path.split(/[/?]/u)[1]).length
          const check = Effect.fnUntraced(function*(
            [method, path, headers, sent]: ReturnType<typeof requestsFor>[number]
          ) {
            const { body, headers: answered, status, text } = yield* ask(method, path, headers, sent)
            const where = `${String(subject)} ${method} ${path} ${JSON.stringify(headers)} ${status}`
            assert.notStrictEqual(status, 500, where)
            for (const [, place] of text.matchAll(/«([\w.]+)@/gu)) {
              assert.isTrue(visible.has(place!), `${where}: ${place}`)
            }
            if (status >= 300) {
              return { body, status }
            }
            for (const { id } of body?._items ?? []) {
              if (ids.includes(id)) assert.isTrue(bodies.has(id), `${where}: ${id}`)
            }
            for (const id of body?.ids ?? []) {
              // Who may not read writes what they name, and learns nothing of it.
              if (path.includes("dry_run")) assert.isTrue(bodies.has(id), `${where}: ${id}`)
            }
            const total = answered["x-total-count"]
            const totals = [...total === undefined ? [] : [[path, Number(total)] as const], ...totalsIn(body)]
            for (const [path, total] of totals) {
              assert.isAtMost(total, visibleOf(path), `${where}: ${path}`)
            }
            return { body, status }
          })
          return { bodies, check }
        }))
      // A write of one caller changes versions, so each asks for the whole of lists before.
      for (const { bodies, check } of callers) {
        for (const name of ["doctors", "patients", "visits"]) {
          const { body, status } = yield* check(["GET", `/${name}`])
          const own = [...bodies.values()].filter(({ id }) => pathOf(id).startsWith(`/${name}/`))
          if (status !== 200) continue
          for (const item of body._items) assert.isTrue(isPartOf(withoutLinks(item), bodies.get(item.id)))
          assert.isAtMost(body._items.length, own.length)
        }
      }
      for (const { check } of callers) for (const request of requestsFor(policy.numbers)) yield* check(request)
      yield* remove
      for (const { check } of callers) for (const request of requestsForDeleted) yield* check(request)
      if (process.env["DIFFERENTIAL_RUNS"] !== undefined) console.log(`${requests} requests`)
    }).pipe(Effect.scoped),
  { arbitrary: { runs: Number(process.env["DIFFERENTIAL_RUNS"] ?? 4) }, timeout: 3_600_000 }
)
