/** What the providers do with a service that runs, for callers of three kinds. */
import {
  type Change,
  connect,
  KernelConflict,
  type KernelConnection,
  KernelError,
  KernelPartialWrites
} from "@appkernel/react-admin"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { AuthProvider, DataProvider, I18nProvider } from "ra-core"
import {
  Accounts,
  Converter,
  EmbeddedStore,
  History,
  Index,
  Jwt,
  KernelConfig,
  KernelEngine,
  Model,
  Resource,
  Role,
  Service,
  Tokens,
  Translations,
  Validator
} from "../../../src/index.ts"
import { freshDirectory } from "../../../test/support/folders.ts"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(Validator.email, Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted),
  roles: Schema.Array(Schema.String)
}) {}

class Line extends Model.Class<Line>()("Line", { title: Schema.String, quantity: Schema.Int.pipe(Validator.min(1)) }) {}

class Ticket extends Model.Class<Ticket>()("Ticket", {
  id: Model.id({ prefix: "T" }),
  title: Schema.String.pipe(Validator.notEmpty, Validator.max(80)),
  text: Schema.String.pipe(Model.optional, Model.indexed(Index.text())),
  owner: Model.reference(() => User),
  state: Schema.Literals(["open", "done"]).pipe(Model.withDefault(() => "open" as const)),
  cents: Schema.Int.pipe(Model.optional),
  lines: Schema.Array(Line).pipe(Model.withDefault(() => [])),
  due: Model.DateTime.pipe(Model.optional),
  ...Model.versioned,
  ...Model.softDeleted,
  ...Model.historied
}, { logged: true }) {}

const Tickets = Resource.make(Ticket, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .action("close", {
    method: "POST",
    payload: { reason: Schema.String.pipe(Validator.max(40)) },
    success: Schema.String,
    require: [Role("admin"), Role("staff")]
  }, ({ title }, { payload: { reason } }) => Effect.succeed(`${title}: ${reason}`))
  .action(History.revisions(Ticket))
  .action(History.revision(Ticket))
  .action(History.restore(Ticket))
  .action(History.deleted(Ticket))
  .action(History.restoreDeleted(Ticket))
  .grant(Role("staff"), {
    methods: ["GET", "PATCH"],
    rows: (me) => ($) => $.owner.equals(User.wire.fields.id.make(me.subject)),
    hide: ["cents"],
    readOnly: ["owner"]
  })
  .require(Role("admin"))

const engine = KernelEngine.make("desk")
  .register(Resource.make(User, { methods: ["GET"] }).require(Role("admin")), { urlBase: "/api" })
  .register(Tickets, { urlBase: "/api", many: ["PATCH", "DELETE"] })
  .register(Tokens.service, { urlBase: "/api" })
  .enableSecurity()
  .enableOpenApi({ title: "Desk", version: "1.0.0", perCaller: true })

class Note extends Model.Class<Note>()("Note", {
  id: Model.id({ prefix: "N" }),
  title: Schema.String,
  text: Schema.String.pipe(Model.optional)
}) {}

const notes = KernelEngine.make("notes").register(Resource.make(Note, { methods: ["GET", "POST", "PUT"] }))

class Key extends Model.Class<Key>()("Key", {
  id: Model.id({ prefix: "K" }),
  name: Schema.String,
  colour: Schema.String.pipe(Model.optional),
  secret: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

const keys = KernelEngine.make("keys").register(Resource.make(Key, { methods: ["GET", "POST", "PUT"] }))

class Tag extends Model.Class<Tag>()("Tag", { id: Model.id({ prefix: "G" }), batch: Schema.String }) {}

const tags = KernelEngine.make("tags")
  .register(Resource.make(Tag, { methods: ["GET", "POST", "PATCH", "DELETE"] }), { many: ["PATCH", "DELETE"] })
  .enableOpenApi({ title: "Tags", version: "1.0.0" })

const single = KernelEngine.make("tags")
  .register(Resource.make(Tag, { methods: ["GET", "POST", "PATCH", "DELETE"] }))
  .enableOpenApi({ title: "Tags", version: "1.0.0" })

/** Its fields have the names of parameters. */
class Chapter extends Model.Class<Chapter>()("Chapter", {
  id: Model.id({ prefix: "C" }),
  title: Schema.String,
  page: Schema.Int,
  query: Schema.String.pipe(Model.optional),
  logic: Schema.Array(Schema.Int).pipe(Model.withDefault(() => [])),
  count: Schema.Int,
  cursor: Schema.String
}) {}

const chapters = KernelEngine.make("chapters")
  .register(Resource.make(Chapter, { methods: ["GET", "POST", "PATCH", "DELETE"] }), { many: ["PATCH", "DELETE"] })
  .enableOpenApi({ title: "Chapters", version: "1.0.0" })

class Sum extends Model.Class<Sum>()("Sum", {
  id: Model.id({ prefix: "S" }),
  whole: Schema.BigInt,
  exact: Schema.BigDecimal
}) {}

const sums = KernelEngine.make("sums")
  .register(Resource.make(Sum, { methods: ["GET", "POST"] }))
  .enableOpenApi({ title: "Sums", version: "1.0.0" })

const store = Layer.mergeAll(
  EmbeddedStore.layerMemory,
  Jwt.layer,
  Accounts.fromModel(User, { login: "email", secret: "password" })
)

const password = "correct horse"

/** The service with people, and a connection for each of them. */
const started = Effect.gen(function*() {
  const { baseUrl, repositories } = yield* engine.test({ store })
  const { tickets, users } = repositories
  const [ada, bob] = yield* Effect.forEach(
    ["admin", "staff", "nobody"],
    (role) =>
      Effect.flatMap(Model.finalise(User, { email: `${role}@example.com`, password, roles: [role] }), users.insert)
  )
  const ids = yield* Effect.forEach(Array.from({ length: 30 }, (_, i) => i), (i) =>
    Effect.map(
      Effect.flatMap(
        Model.finalise(Ticket, {
          title: `Ticket "${i}"`,
          owner: (i % 3 === 0 ? bob! : ada!).id,
          cents: i * 100,
          text: i === 4 ? "It leaks" : null
        }),
        tickets.insert
      ),
      ({ id }) => id
    ))
  const as = (role: string): Effect.Effect<KernelConnection> =>
    Effect.promise(async () => {
      const connection = connect({ url: baseUrl })
      await connection.authProvider.login({ username: `${role}@example.com`, password })
      return connection
    })
  return { as, baseUrl, bob: bob!, ids, tickets }
})

const failed = (promise: Promise<unknown>) =>
  Effect.promise(() => promise.then(() => Promise.reject(new Error("It did not fail")), (error: unknown) => error))

const page = (number: number, perPage: number) => ({ pagination: { page: number, perPage } })

describe("The providers", () => {
  it("have the types of react-admin's", () => {
    const { authProvider, dataProvider, i18nProvider } = connect({ url: "https://desk.example" })
    const providers: [DataProvider, AuthProvider, I18nProvider] = [
      dataProvider,
      authProvider,
      i18nProvider([{ locale: "en", name: "English", messages: { ra: { action: { save: "Save" } } } }])
    ]
    assert.strictEqual(providers[2].translate("ra.action.save"), "Save")
  })

  it.effect("describe what each caller may see and do", () =>
    Effect.gen(function*() {
      const { as } = yield* started
      const admin = yield* as("admin")
      const staff = yield* as("staff")
      const nobody = yield* as("nobody")
      const all = yield* Effect.promise(() => admin.describe())
      const some = yield* Effect.promise(() => staff.describe())
      const none = yield* Effect.promise(() => nobody.describe())
      assert.deepStrictEqual(all.resources.map(({ name }) => name), ["users", "tickets"])
      assert.deepStrictEqual(some.resources.map(({ name }) => name), ["tickets"])
      assert.deepStrictEqual(none.resources, [])
      const [, tickets] = all.resources
      const [own] = some.resources
      const shown = (resource: typeof tickets) =>
        resource!.fields.map(({ isReadOnly, name, type }) => `${name}: ${type}${isReadOnly ? ", read-only" : ""}`)
      assert.deepStrictEqual(shown(tickets), [
        "id: text, read-only",
        "title: text",
        "text: longText",
        "owner: reference",
        "state: enum",
        "cents: integer",
        "lines: list",
        "due: dateTime",
        "version: integer, read-only"
      ])
      assert.deepStrictEqual(shown(own), [
        "id: text, read-only",
        "title: text",
        "text: longText",
        "owner: reference, read-only",
        "state: enum",
        "lines: list",
        "due: dateTime",
        "version: integer, read-only"
      ])
      assert.deepStrictEqual(own!.may, {
        list: true,
        get: true,
        create: false,
        update: true,
        replace: false,
        delete: false,
        restore: false,
        purge: false,
        history: false,
        restoreRevision: false,
        deleteMany: false,
        updateMany: true,
        csv: false,
        aggregate: true,
        watch: true
      })
      assert.deepStrictEqual(all.resources.map(({ textSearch }) => textSearch), [false, true])
      assert.isTrue(tickets!.may.restore && tickets!.may.restoreRevision && tickets!.may.deleteMany)
      assert.deepStrictEqual(all.resources[0]!.referencedBy, [{ name: "Owner", resource: "tickets", field: "owner" }])
      assert.deepStrictEqual(
        own!.actions.map((
          { arguments: args, name, on }
        ) => [name, on, ...args.map((one) => `${one.name}: ${one.type}`)]),
        [["close", "item", "reason: text"]]
      )
    }))

  it.effect("list by filters, in an order, page by page, what the caller may see", () =>
    Effect.gen(function*() {
      const { as, bob } = yield* started
      const { dataProvider } = yield* as("admin")
      const { dataProvider: own } = yield* as("staff")
      const sort = { field: "cents", order: "DESC" } as const
      const costly = yield* Effect.promise(() =>
        dataProvider.getList("tickets", { ...page(2, 5), sort, filter: { cents: { ">=": 1_000, "<": 2_000 } } })
      )
      assert.strictEqual(costly.total, 10)
      assert.deepStrictEqual(costly.data.map(({ cents }) => cents), [1_400, 1_300, 1_200, 1_100, 1_000])
      const quoted = yield* Effect.promise(() =>
        dataProvider.getList("tickets", { filter: { title: ["Ticket \"1\"", "Ticket \"2\""], q: "ticket" } })
      )
      assert.strictEqual(quoted.total, 2)
      const worded = yield* Effect.promise(() => dataProvider.getList("tickets", { filter: { $text: "leaks" } }))
      assert.deepStrictEqual(worded.data.map(({ text }) => text), ["It leaks"])
      const mine = yield* Effect.promise(() => own.getList("tickets", page(1, 100)))
      assert.deepStrictEqual(new Set(mine.data.map(({ owner }) => owner)), new Set([bob.id]))
      assert.isTrue(mine.data.every((ticket) => !("cents" in ticket)))
      // Nothing is counted: the pages follow each other by their cursors.
      const pages: Array<unknown> = []
      for (const number of [1, 2, 3, 4]) {
        const { data, pageInfo, total } = yield* Effect.promise(() =>
          dataProvider.getList("tickets", { ...page(number, 8), sort, meta: { count: "none" } })
        )
        pages.push([data.at(0)?.["cents"], data.length, pageInfo?.hasNextPage, total])
      }
      assert.deepStrictEqual(pages, [
        [2_900, 8, true, undefined],
        [2_100, 8, true, undefined],
        [1_300, 8, true, undefined],
        [500, 6, false, undefined]
      ])
      const many = yield* Effect.promise(() => dataProvider.getMany("users", { ids: [bob.id, "U-none"] }))
      assert.deepStrictEqual(many.data.map(({ id }) => id), [bob.id])
      const referring = yield* Effect.promise(() =>
        dataProvider.getManyReference("tickets", { ...page(1, 3), target: "owner", id: bob.id })
      )
      assert.strictEqual(referring.total, 10)
    }))

  it.effect("write what has changed, and tell what somebody else has written meanwhile", () =>
    Effect.gen(function*() {
      const { as, ids: [id = ""] } = yield* started
      const { dataProvider: admin } = yield* as("admin")
      const { dataProvider: staff } = yield* as("staff")
      const { data: first } = yield* Effect.promise(() => admin.getOne("tickets", { id }))
      const { data: seen } = yield* Effect.promise(() => staff.getOne("tickets", { id }))
      const { data: written } = yield* Effect.promise(() =>
        admin.update("tickets", { id, data: { ...first, title: "New", text: "" }, previousData: first })
      )
      assert.deepStrictEqual([written["title"], written["version"], written["cents"]], ["New", 2, 0])
      const conflict = yield* failed(
        staff.update("tickets", { id, data: { ...seen, state: "done" }, previousData: seen })
      )
      assert.instanceOf(conflict, KernelConflict)
      assert.deepStrictEqual([conflict.status, conflict.current?.["title"]], [412, "New"])
      const { etag } = conflict
      const { data: merged } = yield* Effect.promise(() =>
        staff.update("tickets", { id, data: { ...seen, state: "done" }, previousData: seen, meta: { etag } })
      )
      assert.deepStrictEqual([merged["title"], merged["state"]], ["New", "done"])
      const denied = yield* failed(staff.create("tickets", { data: { title: "Mine" } }))
      assert.strictEqual((denied as KernelError).status, 403)
      const invalid = yield* failed(admin.create("tickets", {
        data: { title: "", owner: "U-none", lines: [{ title: "a", quantity: 1 }, { title: "b", quantity: 0 }] }
      }))
      assert.instanceOf(invalid, KernelError)
      assert.deepStrictEqual(Object.keys(invalid.body.errors), ["title", "lines.1.quantity"])
    }))

  it.effect("write no documents that are not chosen", () =>
    Effect.gen(function*() {
      const { as, ids: [id = ""] } = yield* started
      const { dataProvider } = yield* as("admin")
      const none = yield* Effect.promise(() =>
        Promise.all([
          dataProvider.deleteMany("tickets", { ids: [] }),
          dataProvider.updateMany("tickets", { ids: [], data: { state: "done" } })
        ])
      )
      assert.deepStrictEqual(none, [{ data: [] }, { data: [] }])
      // A condition that says nothing is none, beside others as well.
      for (const title of ["", undefined, { "~": "" }, {}]) {
        for (const filter of [{ title }, { title, state: "open" }]) {
          assert.instanceOf(yield* failed(dataProvider.deleteMatching("tickets", filter)), KernelError)
        }
      }
      yield* Effect.promise(() => dataProvider.update("tickets", { id, data: { due: "2026-01-31T10:00:00Z" } }))
      const due = new Date("2026-01-31T10:00:00Z")
      const written = yield* Effect.promise(() => dataProvider.updateMatching("tickets", { due }, { state: "done" }))
      assert.deepStrictEqual(written.ids, [id])
      const later = yield* Effect.promise(() => dataProvider.countMatching("tickets", { due: { ">": due } }))
      const listed = yield* Effect.promise(() => dataProvider.getList("tickets", { filter: { id: [] } }))
      assert.deepStrictEqual([later.count, listed.total], [0, 0])
      const all = yield* Effect.promise(() => dataProvider.countMatching("tickets", {}, "delete"))
      assert.strictEqual(all.count, 30)
    }))

  it.effect("leave the fields that are not given as they are", () =>
    Effect.gen(function*() {
      const { as, ids } = yield* started
      const id = ids[4] ?? ""
      const { dataProvider } = yield* as("admin")
      const { data: before } = yield* Effect.promise(() => dataProvider.getOne("tickets", { id }))
      const { data: part } = yield* Effect.promise(() =>
        dataProvider.update("tickets", { id, data: { cents: 7 }, previousData: before })
      )
      assert.deepStrictEqual([part["cents"], part["text"]], [7, "It leaks"])
      const { data: cleared } = yield* Effect.promise(() =>
        dataProvider.update("tickets", { id, data: { text: null } })
      )
      assert.deepStrictEqual([cleared["cents"], cleared["text"] ?? null], [7, null])

      const { baseUrl, repositories } = yield* notes.enableOpenApi({ title: "Notes", version: "1.0.0" }).test()
      const { dataProvider: replacing } = connect({ url: baseUrl })
      const note = yield* repositories.notes.insert(yield* Model.finalise(Note, { title: "One", text: "It stays" }))
      const { data: previousData } = yield* Effect.promise(() => replacing.getOne("notes", { id: note.id }))
      const { data: replaced } = yield* Effect.promise(() =>
        replacing.update("notes", { id: note.id, data: { title: "Two" }, previousData })
      )
      assert.deepStrictEqual([replaced["title"], replaced["text"]], ["Two", "It stays"])
      yield* Effect.promise(() => replacing.updateMany("notes", { ids: [note.id], data: { title: "Three" } }))
      const { data: last } = yield* Effect.promise(() => replacing.getOne("notes", { id: note.id }))
      assert.deepStrictEqual([last["title"], last["text"]], ["Three", "It stays"])
    }))

  it.effect("find texts that are empty where that is asked, and no others", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* tags.test()
      const { dataProvider } = connect({ url: baseUrl })
      yield* Effect.promise(async () => {
        for (const batch of ["", "one", "two"]) await dataProvider.create("tags", { data: { batch } })
        const batchesOf = async (filter: { readonly [path: string]: unknown }) =>
          (await dataProvider.getList("tags", { filter })).data.map(({ batch }) => String(batch)).toSorted((
            one,
            other
          ) => one.localeCompare(other))
        assert.deepStrictEqual(await batchesOf({ batch: { "=": "" } }), [""])
        assert.deepStrictEqual(await batchesOf({ batch: { "!": "" } }), ["one", "two"])
        // In an input of a form, nothing was entered.
        assert.deepStrictEqual(await batchesOf({ batch: "" }), ["", "one", "two"])
        assert.strictEqual((await dataProvider.deleteMatching("tags", { batch: { "=": "" } })).count, 1)
        assert.deepStrictEqual(await batchesOf({}), ["one", "two"])
      })
    }))

  it.effect("find documents by fields that are named as parameters are, page by page, and write them", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories } = yield* chapters.test()
      for (const page of [1, 2, 3, 4, 5]) {
        const rest = { query: page === 1 ? null : `Q${page}`, logic: [page], count: page, cursor: "c" }
        yield* repositories.chapters.insert(yield* Model.finalise(Chapter, { title: `Chapter ${page}`, page, ...rest }))
      }
      const { dataProvider } = connect({ url: baseUrl })
      const sort = { field: "title", order: "ASC" } as const
      const pagesOf = async (filter: { readonly [path: string]: unknown }, meta = {}) =>
        (await dataProvider.getList("chapters", { filter, sort, meta })).data.map((one) => one["page"])
      const filters = [
        [{ page: 3 }, [3]],
        [{ page: { "=": 3 } }, [3]],
        [{ page: [2, 3] }, [2, 3]],
        [{ page: { "[]": [2, 3] } }, [2, 3]],
        [{ page: { "![]": [2, 3] } }, [1, 4, 5]],
        [{ page: { "!": 3 } }, [1, 2, 4, 5]],
        [{ page: { "!": [3] } }, [1, 2, 4, 5]],
        [{ page: { ">=": 2, "<": 4 } }, [2, 3]],
        [{ page: { ">": 1, "<=": 2 }, query: { "~": "q" } }, [2]],
        [{ query: "Q4" }, [4]],
        [{ query: { "~": "Q." } }, []],
        [{ query: null }, [1]],
        [{ query: { null: true } }, [1]],
        [{ query: { null: false }, page: { "<": 3 } }, [2]],
        [{ query: { null: false }, id: [] }, []],
        [{ logic: 4 }, [4]],
        [{ logic: { "#": 1 }, page: { ">": 4 } }, [5]],
        [{ count: { ">": 4 } }, [5]],
        [{ cursor: "c", page: { ">": 2 } }, [3, 4, 5]],
        [{ page: 3, title: "Chapter 4", $logic: "OR" }, [3, 4]]
      ] as const
      for (const [filter, expected] of filters) {
        assert.deepStrictEqual(yield* Effect.promise(() => pagesOf(filter)), [...expected], JSON.stringify(filter))
      }
      yield* failed(pagesOf({ page: { ">": 3 }, title: "Chapter 1", $logic: "OR" }))
      const pages = yield* Effect.promise(() =>
        Promise.all([1, 2].map(async (number) => {
          const asked = { ...page(number, 3), sort, meta: { count: "none" }, filter: { page: { ">": 1 } } } as const
          return (await dataProvider.getList("chapters", asked)).data.map((one) => one["page"])
        }))
      )
      assert.deepStrictEqual(pages, [[2, 3, 4], [5]])
      const none = yield* Effect.promise(() =>
        dataProvider.deleteMatching("chapters", { count: { "<": 3 }, page: [2, 3] })
      )
      assert.strictEqual(none.count, 1)
      const changed = yield* Effect.promise(() =>
        dataProvider.updateMatching("chapters", { query: { "=": "Q3" } }, { title: "New" })
      )
      assert.strictEqual(changed.count, 1)
      assert.deepStrictEqual(yield* Effect.promise(() => pagesOf({})), [1, 4, 5, 3])
    }))

  it.effect("search within what the other conditions find, also where one of these is enough", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* tags.test()
      const { dataProvider } = connect({ url: baseUrl })
      yield* Effect.promise(async () => {
        for (const batch of ["a.1", "a.2", "b.1", "ab1"]) await dataProvider.create("tags", { data: { batch } })
        const batchesOf = async (filter: { readonly [path: string]: unknown }) =>
          (await dataProvider.getList("tags", { filter, sort: { field: "batch", order: "ASC" } })).data
            .map(({ batch }) => batch)
        const either = { batch: { "~": "a", "!": "b.1" }, $logic: "OR" }
        assert.deepStrictEqual(await batchesOf(either), ["a.1", "a.2", "ab1"])
        assert.deepStrictEqual(await batchesOf({ ...either, q: "1" }), ["a.1", "ab1"])
        assert.deepStrictEqual(await batchesOf({ ...either, q: "A." }), ["a.1", "a.2"])
        const query = { batch: { $ne: "a.2" } }
        assert.deepStrictEqual(await batchesOf({ ...either, q: "A.", $query: query }), ["a.1"])
      })
    }))

  it.effect("compare numbers that are sent as texts", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* sums.test()
      const { dataProvider, describe } = connect({ url: baseUrl })
      const { resources } = yield* Effect.promise(() => describe())
      const types = resources[0]!.fields.map(({ name, type }) => `${name}: ${type}`)
      assert.deepStrictEqual(types, ["id: text", "whole: decimal", "exact: decimal"])
      yield* Effect.promise(async () => {
        for (const whole of ["9", "10", "9007199254740993"]) {
          await dataProvider.create("sums", { data: { whole, exact: `${whole}.5` } })
        }
        const found = await dataProvider.getList("sums", {
          filter: { whole: { ">": "9" }, exact: { "<": "9007199254740993.5" } }
        })
        assert.deepStrictEqual(found.data.map(({ whole }) => whole), ["10"])
      })
    }))

  it.effect("write any number of chosen documents, in parts for which a URL is long enough", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* tags.test()
      const asked: Array<number> = []
      const { dataProvider } = connect({
        url: baseUrl,
        fetch: (...request) => {
          const { method, url } = new Request(...request)
          if (method === "PATCH" || method === "DELETE") asked.push(url.length)
          return fetch(...request)
        }
      })
      yield* Effect.promise(async () => {
        const [first, last] = await Promise.all(
          ["one", "two"].map(async (batch) => (await dataProvider.create("tags", { data: { batch } })).data.id)
        )
        const ids = [first!, ...Array.from({ length: 400 }, (_, i) => `G${String(i).padStart(36, "0")}`), last!]
        const changed = await dataProvider.updateMany("tags", { ids, data: { batch: "three" } })
        assert.sameMembers(changed.data, [first!, last!])
        assert.strictEqual((await dataProvider.countMatching("tags", { id: ids }, "delete")).count, 2)
        assert.sameMembers((await dataProvider.deleteMany("tags", { ids })).data, [first!, last!])
      })
      assert.isTrue(asked.length > 3 && asked.every((length) => length < 6_500), asked.join())
    }))

  it.effect("go on with the others where one document is refused or gone, and tell which were written", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* single.test()
      let refused: string | number | undefined
      let status = 409
      const { dataProvider } = connect({
        url: baseUrl,
        fetch: (input, init) => {
          const { method, url } = new Request(input, init)
          return method !== "GET" && refused !== undefined && url.endsWith(`/${refused}`)
            ? Promise.resolve(Response.json({ message: "It is needed" }, { status }))
            : fetch(input, init)
        }
      })
      yield* Effect.promise(async () => {
        const created = async (batch: string) => (await dataProvider.create("tags", { data: { batch } })).data.id
        const outcomeOf = (written: Promise<{ readonly data: ReadonlyArray<string | number> }>) =>
          written.then(
            ({ data }) => data,
            (error: unknown) =>
              error instanceof KernelPartialWrites ? [error.status, error.message, error.done, error.left] : error
          )
        const remove = (ids: ReadonlyArray<string | number>) => outcomeOf(dataProvider.deleteMany("tags", { ids }))
        const change = (ids: ReadonlyArray<string | number>) =>
          outcomeOf(dataProvider.updateMany("tags", { ids, data: { batch: "new" } }))
        const ids = [await created("a"), await created("b"), await created("c"), await created("d")]
        const [a, b, c, d] = ids
        refused = b
        assert.deepStrictEqual(await change(ids), [409, "It is needed", [a, c, d], [b]])
        await dataProvider.delete("tags", { id: a! })
        // Who wants it gone has that; who wants it changed has nothing to change.
        assert.deepStrictEqual(await change([a!, c!]), [c])
        assert.deepStrictEqual(await remove([a!, b!, c!]), [409, "It is needed", [a, c], [b]])
        // What fails for all is not asked for all.
        status = 503
        assert.deepStrictEqual(await remove([b!, d!]), [503, "It is needed", [], [b, d]])
        refused = undefined
        assert.deepStrictEqual(await remove([a!, b!, c!, d!]), [a, b, c, d])
      })
    }))

  it.effect("send a time that differs from the one before", () =>
    Effect.gen(function*() {
      const { as, ids: [id = ""] } = yield* started
      const { dataProvider } = yield* as("admin")
      const write = (previous: Date | null, due: Date) =>
        Effect.promise(() => dataProvider.update("tickets", { id, data: { due }, previousData: { due: previous } }))
      yield* write(null, new Date("2026-01-01T00:00:00Z"))
      const { data } = yield* write(new Date("2026-01-01T00:00:00Z"), new Date("2026-01-02T00:00:00Z"))
      assert.strictEqual(new Date(String(data["due"])).toISOString(), "2026-01-02T00:00:00.000Z")
    }))

  it.effect("replace no document whose hidden fields would be lost", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories } = yield* keys.enableOpenApi({ title: "Keys", version: "1.0.0" }).test()
      const { dataProvider } = connect({ url: baseUrl })
      const { id } = yield* repositories.keys.insert(
        yield* Model.finalise(Key, { name: "One", colour: "red", secret: "hidden" })
      )
      const stored = Effect.map(repositories.keys.findById(id), ({ colour, name, secret }) => [name, colour, secret])
      const { data: previousData } = yield* Effect.promise(() => dataProvider.getOne("keys", { id }))
      for (const previous of [{ previousData }, {}]) {
        const refused = yield* failed(
          dataProvider.update("keys", { id, data: { ...previous.previousData, name: "Two" }, ...previous })
        )
        assert.deepStrictEqual(
          refused instanceof KernelError && [refused.status, Object.keys(refused.body.errors)],
          [400, ["secret"]]
        )
      }
      assert.deepStrictEqual(yield* stored, ["One", "red", "hidden"])
      const data = { name: "Two", secret: "entered" }
      yield* Effect.promise(() => dataProvider.update("keys", { id, data }))
      assert.deepStrictEqual(yield* stored, ["Two", "red", "entered"])
    }))

  it.effect("write over nothing that was changed since a list was read", () =>
    Effect.gen(function*() {
      const { as, ids: [id = ""] } = yield* started
      const { dataProvider } = yield* as("admin")
      const row = async () => (await dataProvider.getList("tickets", { filter: { id } })).data[0]
      const [seen, { data: opened }] = yield* Effect.promise(() =>
        Promise.all([row(), dataProvider.getOne("tickets", { id })])
      )
      const { data: written } = yield* Effect.promise(() =>
        dataProvider.update("tickets", { id, data: { title: "New" }, previousData: seen })
      )
      assert.strictEqual(written["title"], "New")
      const conflicts = [
        yield* failed(dataProvider.update("tickets", { id, data: { title: "Mine" }, previousData: seen })),
        yield* failed(dataProvider.delete("tickets", { id, previousData: seen })),
        yield* failed(dataProvider.delete("tickets", { id, previousData: opened }))
      ]
      for (const conflict of conflicts) {
        assert.instanceOf(conflict, KernelConflict)
        assert.deepStrictEqual([conflict.status, conflict.current?.["title"]], [412, "New"])
      }
      yield* Effect.promise(async () => dataProvider.delete("tickets", { id, previousData: await row() }))
    }))

  it.effect("delete, restore, and tell the history of a document", () =>
    Effect.gen(function*() {
      const { as, ids: [id = "", second = "", third = ""] } = yield* started
      const { dataProvider } = yield* as("admin")
      const { data: before } = yield* Effect.promise(() => dataProvider.getOne("tickets", { id }))
      yield* Effect.promise(() =>
        dataProvider.update("tickets", { id, data: { ...before, title: "Later" }, previousData: before })
      )
      const { data: changes } = yield* Effect.promise(() => dataProvider.history("tickets", id))
      assert.deepStrictEqual(changes.map(({ change, revision }) => [revision, change]), [[2, "patch"], [1, "insert"]])
      const { data: state } = yield* Effect.promise(() => dataProvider.revision("tickets", id, 1))
      assert.strictEqual(state["title"], before["title"])
      const { data: again } = yield* Effect.promise(() => dataProvider.restore("tickets", id, 1))
      assert.strictEqual(again["title"], before["title"])
      yield* Effect.promise(() => dataProvider.delete("tickets", { id }))
      const gone = yield* Effect.promise(() => dataProvider.getList("tickets", { filter: { $deleted: "only" } }))
      assert.deepStrictEqual(gone.data.map((one) => one.id), [id])
      const { data: back } = yield* Effect.promise(() => dataProvider.restore("tickets", id))
      assert.strictEqual(back.id, id)
      const { data: two } = yield* Effect.promise(() => dataProvider.deleteMany("tickets", { ids: [second, third] }))
      assert.deepStrictEqual(new Set(two), new Set([second, third]))
      const would = yield* Effect.promise(() => dataProvider.countMatching("tickets", { state: "open" }, "update"))
      const did = yield* Effect.promise(() =>
        dataProvider.updateMatching("tickets", { state: "open" }, { state: "done" })
      )
      assert.deepStrictEqual([would.count, did.count], [28, 28])
    }))

  it.live("run actions, make tables, and follow a list", () =>
    Effect.gen(function*() {
      const { as, ids: [id = ""] } = yield* started
      const { dataProvider } = yield* as("staff")
      const closed = yield* Effect.promise(() => dataProvider.runAction("tickets", "close", id, { reason: "done" }))
      assert.strictEqual(closed.data, "Ticket \"0\": done")
      const table = yield* Effect.promise(async () =>
        (await dataProvider.exportCsv("tickets", { fields: ["title", "state"], filter: { title: "Ticket \"0\"" } }))
          .text()
      )
      assert.strictEqual(table, "title,state\r\n\"Ticket \"\"0\"\"\",open")
      const told = yield* Effect.promise(() =>
        new Promise<Change>((resolve, reject) => {
          const done = new AbortController()
          const stop = dataProvider.watch("tickets", (change) => {
            done.abort()
            stop()
            resolve(change)
          }, { onEnd: reject })
          // A change may come before the stream has begun, so there are further ones.
          const write = async (): Promise<void> => {
            for (let i = 0; !done.signal.aborted; i++) {
              await dataProvider.update("tickets", { id, data: { text: `${i}` } })
            }
          }
          void write().catch(reject)
        })
      )
      assert.deepStrictEqual([told.operation, told.id, told.record?.id], ["update", id, id])
    }))

  it.effect("ask for pages as large as the service has them", () =>
    Effect.gen(function*() {
      const limits = yield* KernelConfig.Limits
      const { baseUrl, repositories } = yield* Effect.provideService(
        notes.enableOpenApi({ title: "Notes", version: "1.0.0" }).test(),
        KernelConfig.Limits,
        { ...limits, defaultPageSize: 2, maxPageSize: 2 }
      )
      const ids = yield* Effect.forEach(["a", "b", "c"], (title) =>
        Effect.map(Effect.flatMap(Model.finalise(Note, { title }), repositories.notes.insert), ({ id }) => id))
      const { dataProvider } = connect({ url: baseUrl })
      const { data } = yield* Effect.promise(() =>
        dataProvider.getMany("notes", { ids })
      )
      assert.sameMembers(data.map(({ id }) => id), ids)
      const table = yield* Effect.promise(async () =>
        (await dataProvider.exportCsv("notes", { fields: ["title"], sort: { field: "title", order: "ASC" } })).text()
      )
      assert.strictEqual(table, "title\r\na\r\nb\r\nc")
    }))

  it.live("tell to read again when the stream that misses nothing has begun", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* started
      const log: Array<string> = []
      const { authProvider, dataProvider } = connect({
        url: baseUrl,
        fetch: async (...request) => {
          if (!new URL(new Request(...request).url).pathname.endsWith("/changes")) return fetch(...request)
          if (log.push("asked") === 1) return new Response("{}", { status: 410 })
          const response = await fetch(...request)
          log.push("begun")
          return response
        }
      })
      yield* Effect.promise(() => authProvider.login({ username: "admin@example.com", password }))
      yield* Effect.promise(() =>
        new Promise<void>((resolve, reject) => {
          const stop = dataProvider.watch("tickets", ({ operation }) => {
            log.push(operation)
            stop()
            resolve()
          }, { onEnd: reject })
        })
      )
      assert.deepStrictEqual(log, ["asked", "asked", "begun", "reset"])
    }))

  it.live("read again what a service has refused since it had too much to do", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* started
      const refused: Array<string> = []
      const { authProvider, dataProvider, describe } = connect({
        url: baseUrl,
        fetch: (...request) => {
          const at = ["/meta", "/query"].find((end) => new Request(...request).url.endsWith(end))
          if (at === undefined || refused.includes(at)) return fetch(...request)
          refused.push(at)
          return Promise.resolve(new Response("{}", { status: 503, headers: { "retry-after": "0" } }))
        }
      })
      yield* Effect.promise(() => authProvider.login({ username: "admin@example.com", password }))
      const { resources } = yield* Effect.promise(() => describe())
      // A list whose filter is too long for a URL is read by a POST.
      const id = Array.from({ length: 300 }, (_, i) => `T${String(i).padStart(36, "0")}`)
      const { total } = yield* Effect.promise(() => dataProvider.getList("tickets", { filter: { id } }))
      assert.deepStrictEqual([resources.length, total, refused], [2, 0, ["/meta", "/query"]])
    }))

  it.effect("sign in at the service itself, whatever servers its document names, and whoever it describes itself to", () =>
    Effect.gen(function*() {
      const tools = yield* engine.enableOpenApi({
        title: "Desk",
        version: "1.0.0",
        servers: [{ url: "https://elsewhere.example/v1" }]
      }).test({ store })
      yield* tools.repositories.users.insert(
        yield* Model.finalise(User, { email: "admin@example.com", password, roles: ["admin"] })
      )
      const asked: Array<string> = []
      const { authProvider, describe } = connect({
        url: tools.baseUrl,
        fetch: (...request) => {
          asked.push(new URL(new Request(...request).url).origin)
          return fetch(...request)
        }
      })
      yield* Effect.promise(() => authProvider.login({ username: "admin@example.com", password }))
      const { operations } = yield* Effect.promise(() => describe())
      assert.deepStrictEqual([new Set(asked), operations.map(({ name }) => name)], [
        new Set([tools.baseUrl]),
        ["tokens.sessions", "tokens.end_session"]
      ])

      const closed = yield* KernelEngine.make("users")
        .register(Resource.make(User, { methods: ["GET"] }).require(Role("admin")))
        .enableSecurity()
        .enableOpenApi({ title: "Users", version: "1.0.0", perCaller: true })
        .test({ store })
      yield* closed.repositories.users.insert(
        yield* Model.finalise(User, { email: "admin@example.com", password, roles: ["admin"] })
      )
      const other = connect({ url: closed.baseUrl })
      yield* Effect.promise(() => other.authProvider.login({ username: "admin@example.com", password }))
      assert.deepStrictEqual((yield* Effect.promise(() => other.describe())).resources.map(({ name }) => name), [
        "users"
      ])
    }))

  it.effect("call operations, their arguments and the members of enumerations as the reader's language does", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.promise(() =>
        writeFile(
          join(path, "de.json"),
          JSON.stringify({
            actions: { press: { run: "Drucken" } },
            press: { run: { paper: "Papier" } },
            values: { press: { run: { paper: { glossy: "glänzend" }, sides: { 1: "einseitig" } } } }
          })
        )
      )
      const payload = { paper: Schema.Literals(["plain", "glossy"]), sides: Schema.Array(Schema.Literals([1, 2])) }
      const run = { method: "POST", payload, success: Schema.String } as const
      const { baseUrl } = yield* KernelEngine.make("press")
        .register(Service.make("PressService").operation("run", run, () => Effect.succeed("runs")))
        .enableExplorer()
        .test({ store })
        .pipe(Effect.provide(Layer.provide(Translations.layerWith({ path, languages: ["de"] }), NodeServices.layer)))
      const document = "/explorer/openapi.json"
      const { operations: [german] } = yield* Effect.promise(
        connect({ url: baseUrl, document, language: "de" }).describe
      )
      assert.deepStrictEqual(
        [german?.label, german?.arguments.map(({ choices, items, label }) => [label, choices ?? items?.choices])],
        ["Drucken", [
          ["Papier", [{ id: "plain", label: "Plain" }, { id: "glossy", label: "glänzend" }]],
          ["Sides", [{ id: 1, label: "einseitig" }, { id: 2, label: "2" }]]
        ]]
      )
    }))

  it.effect("sign in and out", () =>
    Effect.gen(function*() {
      const { as, baseUrl } = yield* started
      const { authProvider, dataProvider } = yield* as("staff")
      assert.deepStrictEqual(yield* Effect.promise(() => authProvider.getPermissions()), ["staff"])
      yield* Effect.promise(() => authProvider.checkAuth())
      yield* Effect.promise(() => authProvider.logout())
      assert.instanceOf(yield* failed(authProvider.checkAuth()), KernelError)
      const refused = yield* failed(dataProvider.getList("tickets", page(1, 1)))
      assert.strictEqual((refused as KernelError).status, 401)
      const wrong = yield* failed(
        connect({ url: baseUrl, tokens: "/api/token" }).authProvider.login({
          username: "staff@example.com",
          password: "wrong"
        })
      )
      assert.strictEqual((wrong as KernelError).status, 400)
    }))
})
