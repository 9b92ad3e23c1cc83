/** Links list what the caller may do with a document, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Context, Effect, Layer, Schema } from "effect"
import { Anonymous, KernelEngine, Model, Permission, Resource, Role, Service } from "../../src/index.ts"
import type { FreshStore } from "../support/mongo.ts"
import { type Answer, type Headers, sendTo, signedAs } from "../support/rest.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { shop } from "../support/tokens.ts"

class Task extends Model.Class<Task>()("Task", {
  id: Model.id({ prefix: "T" }),
  owner: Schema.String,
  state: Schema.String.pipe(Model.withDefault(() => "open")),
  assignee: Schema.String.pipe(Model.optional),
  ...Model.versioned
}) {}

/** Whether the office is open: the answer of a permission of the application's own. */
class Office extends Context.Service<Office, { readonly isOpen: Effect.Effect<boolean> }>()("Office") {}

const duringOfficeHours = Permission.make(
  "during office hours",
  {},
  () => Effect.flatMap(Office, ({ isOpen }) => isOpen)
)

const ofOpenTasks = Permission.make(
  "of open tasks",
  { model: Task },
  ({ document }) => Effect.map(document, (task) => task._tag === "Some" && task.value.state === "open")
)

const Tasks = Resource.make(Task, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .action("close", { method: "POST", success: Task, require: Role("closer") }, (task) => Effect.succeed(task))
  .action("show", { success: Task, require: [Role("guest"), Role("reader")] }, (task) => Effect.succeed(task))
  .action("reopen", { method: "POST", success: Schema.String }, (task) => Effect.succeed(task.id))
  .action("file", { method: "POST", success: Schema.String, require: ofOpenTasks }, (task) => Effect.succeed(task.id))
  .grant(Role("editor"), { methods: "PATCH", rows: () => ($) => $.state.notEquals("done") })
  .grant(Role("planner"), { methods: ["PATCH", "DELETE"], rows: () => ($) => $.assignee.isMissing() })
  .grant(Role("reader"), { methods: "GET" })
  .grant(Role("owner"), {
    methods: ["GET", "PUT", "PATCH"],
    rows: (me) => ($) => $.owner.equals(me.subject)
  })
  .grant(Role("creator"), { methods: ["GET", "POST"], rows: () => ($) => $.state.equals("open") })
  .grant(Role("remover"), { methods: "DELETE", rows: () => ($) => $.state.equals("done") })
  .grant(Role("helper"), {
    methods: ["GET", "PATCH", "reopen"],
    rows: (me) => Effect.succeed(($) => $.owner.in([me.subject, "bob"]))
  })
  .grant(Permission.and(Role("clerk"), duringOfficeHours), { methods: "PUT" })
  .require(Role("admin"))

const Board = Service.make("BoardService")
  .operation("tasks", { success: Schema.Array(Task), require: Anonymous }, () => Effect.succeed([task("ann", "open")]))

/** The tasks of Bob are assigned. */
const task = (owner: string, state: string) =>
  new Task({ id: `T-${owner}-${state}`, owner, state, ...(owner === "bob" ? { assignee: "sue" } : {}), version: 1 })

const all = ["ann", "bob"].flatMap((owner) => ["open", "done"].map((state) => ({ owner, state })))

const engine = KernelEngine.make("tasks").register(Tasks).register(Board).enableSecurity()

/** What the links of a document list: `methods` of itself, then the other relations. */
const listed = ({ _links: { self, ...others } }: Answer["body"]): string =>
  [...self.methods, ...Object.keys(others)].join(" ")

const roles = [
  "reader",
  "owner",
  "creator",
  "remover",
  "helper",
  "clerk",
  "closer",
  "guest",
  "editor",
  "planner",
  "admin"
] as const

/** What a caller with the roles may do with a task, by the rules as they are written above. */
const allowed = (
  subject: string,
  held: ReadonlyArray<string>,
  { owner, state }: typeof all[number],
  /** What a permission says of a document is not known where it is listed. */
  isListed: boolean
): string => {
  const has = (...any: ReadonlyArray<typeof roles[number]>) => any.some((role) => held.includes(role))
  const isHelped = has("helper") && (owner === subject || owner === "bob")
  const isOwn = has("owner") && owner === subject
  const isPlanned = has("planner") && owner !== "bob"
  const reads = has("admin", "reader") || isOwn || isHelped || has("creator") && state === "open"
  const readsSome = has("admin", "reader", "owner", "creator", "helper")
  const isAddressed = reads || !readsSome
  const rights = {
    GET: reads,
    POST: has("admin", "creator"),
    PUT: has("admin", "clerk") || isOwn,
    PATCH: has("admin") || isOwn || isHelped || isPlanned || has("editor") && state !== "done",
    DELETE: has("admin") || isPlanned || has("remover") && state === "done",
    collection: readsSome,
    close: has("closer") && isAddressed,
    show: has("guest", "reader") && isAddressed,
    reopen: (has("admin") || isHelped) && isAddressed,
    file: (isListed || state === "open") && isAddressed
  }
  return Object.entries(rights).flatMap(([name, may]) => may ? [name] : []).join(" ")
}

const office = Layer.sync(Office, () => ({ isOpen: Effect.succeed(true) }))

const started = (store: FreshStore) =>
  Effect.gen(function*() {
    const { baseUrl, repositories: { tasks } } = yield* engine.test({
      store: Layer.fresh(Layer.mergeAll(store, office))
    })
    yield* tasks.bulkInsert(all.map(({ owner, state }) => task(owner, state)))
    const as = Effect.fnUntraced(function*(subject: string, held: ReadonlyArray<string>) {
      const token = yield* signedAs(subject, ...held)
      return (method: string, path: string, body?: unknown, headers?: Headers) =>
        sendTo(baseUrl, method, path, body, { ...token, ...headers })
    })
    return { as }
  })

/** The requests for what links list, with their status. */
const requests = [
  ["PUT", 412, "PUT", "", { owner: "ann" }],
  ["PATCH", 412, "PATCH", "", { state: "open" }],
  ["DELETE", 412, "DELETE", "", undefined],
  ["close", 200, "POST", "/close", undefined],
  ["show", 200, "GET", "/show", undefined],
  ["reopen", 200, "POST", "/reopen", undefined],
  ["file", 200, "POST", "/file", undefined]
] as const

const shown = { prefer: "return=representation" }

storeMatrix((name, store) => {
  const runs = name === "memory" ? 25 : 5
  describe(`Links of a caller / ${name}`, () => {
    it.effect("list what the caller may do, in every answer with documents", () =>
      Effect.gen(function*() {
        const { as } = yield* started(store)
        const [admin, ann] = [yield* as("root", ["admin"]), yield* as("ann", ["owner", "creator"])]
        const everything = "GET POST PUT PATCH DELETE collection reopen"
        const own = "GET POST PUT PATCH collection"
        const items = (answer: Answer) => answer.body._items.map(listed)
        assert.deepStrictEqual(items(yield* admin("GET", "/tasks?sort_by=id")), all.map(() => `${everything} file`))
        const lists = [
          "/tasks?sort_by=id",
          "/tasks?sort_by=id&cursor=",
          ...["owner", "state", "version"].map((field) => `/tasks?sort_by=id&fields=${field}&count=none`)
        ]
        for (const path of lists) {
          // The done task of Ann, her open one, and the open one of Bob.
          assert.deepStrictEqual(items(yield* ann("GET", path)), [
            `${own} file`,
            `${own} file`,
            "GET POST collection file"
          ])
        }
        const editor = yield* as("eve", ["editor", "reader"])
        const edited = ["", "PATCH ", "", "PATCH "].map((patch) => `GET ${patch}collection show file`)
        for (const path of lists) assert.deepStrictEqual(items(yield* editor("GET", path)), edited)
        // What a permission says of a document is not known.
        assert.strictEqual(listed((yield* admin("GET", "/tasks/T-ann-done")).body), `${everything} file`)
        assert.strictEqual(listed((yield* ann("GET", "/tasks/T-ann-done")).body), `${own} file`)
        assert.strictEqual(listed((yield* ann("GET", "/tasks/T-ann-done?fields=owner")).body), `${own} file`)
        assert.strictEqual(listed((yield* ann("GET", "/tasks/T-bob-open")).body), "GET POST collection file")
        const created = yield* ann("POST", "/tasks", { owner: "bob" }, shown)
        assert.deepStrictEqual([created.status, listed(created.body)], [201, "GET POST collection file"])
        const patched = yield* ann("PATCH", "/tasks/T-ann-open", { state: "paid" }, shown)
        assert.deepStrictEqual([patched.status, listed(patched.body)], [200, `${own} file`])
        const replaced = yield* ann("PUT", "/tasks/T-ann-open", { owner: "ann", state: "open" }, shown)
        assert.deepStrictEqual([replaced.status, listed(replaced.body)], [200, `${own} file`])
        // Answers of actions and operations.
        const guest = yield* as("gus", ["guest"])
        assert.strictEqual(listed((yield* guest("GET", "/tasks/T-ann-open/show")).body), "show file")
        const closer = yield* as("ann", ["closer", "owner"])
        assert.strictEqual(
          listed((yield* closer("POST", "/tasks/T-ann-open/close")).body),
          "GET PUT PATCH collection close file"
        )
        assert.deepStrictEqual(items(yield* guest("GET", "/boards/tasks")), ["show file"])
        assert.deepStrictEqual(items(yield* ann("GET", "/boards/tasks")), [`${own} file`])
      }).pipe(Effect.provide(shop("EdDSA"))))

    it.effect("have their part in the entity tag, which every answer to a write has as well", () =>
      Effect.gen(function*() {
        const { as } = yield* started(store)
        const callers = [
          yield* as("root", ["admin"]),
          yield* as("ann", ["creator", "reader"]),
          yield* as("ann", ["owner", "creator"]),
          yield* as("bob", ["reader", "owner", "creator", "remover"]),
          // What they may read are not all of the rules that let them change a task, nor the first.
          yield* as("ann", ["editor", "owner", "creator"])
        ]
        const tags = new Set<string>()
        for (const caller of callers) {
          const created = yield* caller("POST", "/tasks", { owner: "ann" })
          const path = `/tasks/${created.body.result}`
          const { headers } = yield* caller("GET", path)
          assert.isString(headers["etag"])
          const etag = String(headers["etag"])
          assert.strictEqual(created.headers["etag"], etag)
          assert.strictEqual((yield* caller("GET", path, undefined, { "if-none-match": etag })).status, 304)
          tags.add(etag)
        }
        const both = callers[4]!
        const changed = yield* both("PATCH", "/tasks/T-ann-open", { state: "sent" })
        assert.deepStrictEqual([changed.status, changed.headers["etag"]], [
          200,
          (yield* both("GET", "/tasks/T-ann-open")).headers["etag"]
        ])
        assert.strictEqual(tags.size, callers.length)
        const [admin, , ann] = callers
        const path = "/tasks/T-ann-open"
        const patched = yield* ann!("PATCH", path, { state: "paid" }, {
          "if-match": String((yield* ann!("GET", path)).headers["etag"])
        })
        const ofOther = yield* ann!("PATCH", path, { state: "x" }, {
          "if-match": String((yield* admin!("GET", path)).headers["etag"])
        })
        assert.strictEqual(ofOther.status, 412)
        assert.deepStrictEqual([patched.status, patched.headers["etag"]], [
          200,
          (yield* ann!("GET", path)).headers["etag"]
        ])
        const other = yield* admin!("GET", path, undefined, { "if-none-match": String(patched.headers["etag"]) })
        assert.strictEqual(other.status, 200)
      }).pipe(Effect.provide(shop("EdDSA"))))

    it.effect("of any caller list what a request is not refused", () =>
      Effect.gen(function*() {
        const { as } = yield* started(store)
        const callers = Schema.Struct({
          subject: Schema.Literals(["ann", "bob", "eve"]),
          held: Schema.UniqueArray(Schema.Literals(roles)),
          fields: Schema.Literals(["owner", "state", "assignee", "version"])
        })
        const checked = yield* Arbitrary.checkEffect(
          Arbitrary.schema(callers),
          Effect.fnUntraced(function*({ fields, held, subject }) {
            const caller = yield* as(subject, held)
            const listing = yield* caller("GET", `/tasks?sort_by=id&fields=${fields}`)
            // What is not shown decides as well.
            for (const item of listing.body._items ?? []) {
              const one = all.find(({ owner, state }) => item.id === `T-${owner}-${state}`)!
              assert.strictEqual(listed(item), allowed(subject, held, one, true), `${held.join()} ${fields}`)
            }
            for (const one of all) {
              const path = `/tasks/T-${one.owner}-${one.state}`
              const expected = allowed(subject, held, one, false)
              const { body, status } = yield* caller("GET", path)
              if (status === 200) assert.strictEqual(listed(body), allowed(subject, held, one, true))
              else assert.notMatch(expected, /^GET/u)
              // The version is another one, so nothing is written.
              const unmet = { "if-match": "\"9\"" }
              for (const [name, status, method, own, body] of requests) {
                const answer = yield* caller(method, path + own, body, own === "" ? unmet : {})
                const isAllowed = expected.split(" ").includes(name)
                assert.strictEqual(answer.status === status, isAllowed, `${name} ${held.join()} ${answer.status}`)
                if (!isAllowed) assert.include([403, 404], answer.status)
              }
            }
            return true
          }),
          { runs }
        )
        assert.strictEqual(checked._tag, "Passed", JSON.stringify(checked).slice(0, 2_000))
      }).pipe(Effect.provide(shop("EdDSA"))))
  })
})

class Letter extends Model.Class<Letter>()("Letter", { id: Model.id(), text: Schema.String }) {}

describe("links without access control", () => {
  it.effect("have no collection where it has no GET", () =>
    Effect.gen(function*() {
      const listed = Effect.fnUntraced(function*(methods: ReadonlyArray<"GET" | "POST">) {
        const { baseUrl } = yield* KernelEngine.make("letters").register(Letter, { methods }).test()
        const { body: { _links: { collection, self } } } = yield* sendTo(
          baseUrl,
          "POST",
          "/letters",
          { text: "dear all" },
          { prefer: "return=representation" }
        )
        return [self.methods, collection]
      })
      assert.deepStrictEqual(yield* listed(["POST"]), [["POST"], undefined])
      assert.deepStrictEqual(yield* listed(["GET", "POST"]), [["GET", "POST"], {
        href: "/letters",
        methods: "GET"
      }])
    }))
})
