/** Deleted documents over HTTP: who sees, restores and purges them. */
import { assert, describe, it } from "@effect/vitest"
import {
  Authenticated,
  History,
  HttpError,
  Index,
  KernelEngine,
  Model,
  OpenApi,
  Permission,
  Resource,
  Role
} from "appkernel"
import { ConfigProvider, Effect, Option, Redacted, Schema } from "effect"
import { resolvedDocument } from "../../support/resolvedDocument.ts"
import { bearer, sendTo } from "../../support/rest.ts"
import { embeddedStores } from "../../support/storeMatrix.ts"

class Room extends Model.Class<Room>()("Room", { id: Model.id(), name: Schema.String }) {}

class Book extends Model.Class<Book>()("Book", {
  id: Model.id(),
  owner: Schema.String,
  title: Schema.String,
  price: Schema.Int.pipe(Model.optional),
  room: Model.reference(() => Room, { checked: true, onDelete: "restrict" }).pipe(Model.optional),
  ...Model.versioned,
  ...Model.audited,
  ...Model.softDeleted,
  ...Model.historied
}, {
  logged: true,
  indexes: [Index.compound({ title: 1 }, { unique: true, where: { deleted: null } })]
}) {}

class Page extends Model.Class<Page>()("Page", {
  id: Model.id(),
  book: Model.reference(() => Book, { checked: true, onDelete: "cascade" })
}) {}

class Loan extends Model.Class<Loan>()("Loan", {
  id: Model.id(),
  book: Model.reference(() => Book, { checked: true, onDelete: "restrict" })
}) {}

const all = ["GET", "POST", "PATCH", "DELETE"] as const

const books = Resource.make(Book, { methods: all })
  .action(History.deleted(Book))
  .action(History.restoreDeleted(Book))
  .action(History.purge(Book))

const library = KernelEngine.make("library")
  .register(Room, { methods: all })
  .register(
    books.beforePatch((book) =>
      book.title === "forbidden"
        ? Effect.fail(new HttpError.Conflict({ message: "not this one" }))
        : book.title === "old"
        ? Effect.succeed(Book.make({ ...book, title: "renamed" }))
        : Effect.succeed(book)
    ).beforeDelete((book) =>
      book.title === "kept" ? Effect.fail(new HttpError.Conflict({ message: "kept" })) : Effect.succeed(book)
    )
  )
  .register(Page, { methods: all })
  .register(Loan, { methods: all })

const titlesOf = (body: { readonly _items: ReadonlyArray<{ readonly title: string }> }) =>
  body._items.map(({ title }) => title).toSorted()

embeddedStores((name, store) => {
  describe(`Deleted documents over HTTP / ${name}`, () => {
    const setUp = Effect.gen(function*() {
      const service = yield* library.test({ store })
      const ask = (method: string, path: string, headers = {}, body?: unknown) =>
        sendTo(service.baseUrl, method, path, body, headers)
      const insert = (title: string, more = {}) =>
        Effect.map(service.client.books.create({ payload: { owner: "ann", title, ...more } }), ({ result }) => result)
      return { ...service, ask, insert }
    })

    it.effect("are on lists and alone where they are asked for, restored and purged", () =>
      Effect.gen(function*() {
        const { ask, client, insert } = yield* setUp
        const [one, two] = [yield* insert("one"), yield* insert("two")]
        yield* client.books.delete({ params: { id: one } })

        assert.deepStrictEqual(titlesOf((yield* ask("GET", "/books")).body), ["two"])
        assert.deepStrictEqual(titlesOf((yield* ask("GET", "/books?deleted=include")).body), ["one", "two"])
        const only = yield* ask("GET", "/books?deleted=only&fields=title&sort_by=title&page_size=1")
        const [listed] = only.body._items
        assert.match(listed.deleted, /^\d{4}-.*Z$/u)
        assert.deepStrictEqual([listed.title, listed.owner, only.headers["x-total-count"]], ["one", undefined, "1"])
        assert.include(only.body._links.self.href, "deleted=only")
        assert.deepStrictEqual(titlesOf((yield* ask("QUERY", "/books", {}, { deleted: "only" })).body), ["one"])
        for (const count of ["estimated", "none"]) {
          assert.deepStrictEqual(titlesOf((yield* ask("GET", `/books?deleted=only&count=${count}`)).body), ["one"])
        }

        assert.strictEqual((yield* ask("GET", `/books/${one}`)).status, 404)
        assert.strictEqual((yield* ask("GET", `/books/${two}?deleted=only`)).status, 404)
        const gone = yield* ask("GET", `/books/${one}?deleted=only`)
        assert.strictEqual(gone.body.deleted, listed.deleted)
        assert.deepStrictEqual(gone.body._links, {
          self: { href: `/books/${one}?deleted=include`, methods: ["GET"] },
          collection: { href: "/books?deleted=only", methods: "GET" },
          restore: { href: `/books/${one}/restore`, methods: "POST" },
          purge: { href: `/books/${one}?purge=true`, methods: "DELETE" }
        })
        const live = yield* ask("GET", `/books/${two}?deleted=include`)
        assert.strictEqual(live.text, (yield* ask("GET", `/books/${two}`)).text)
        assert.strictEqual(live.headers["etag"], (yield* ask("GET", `/books/${two}`)).headers["etag"])
        assert.notProperty(live.body, "deleted")
        assert.hasAllKeys(live.body._links, ["self", "collection", "purge"])
        assert.strictEqual(
          (yield* client.books.deleted({ params: { id: one }, query: { deleted: "only" } })).title,
          "one"
        )

        assert.strictEqual((yield* ask("POST", `/books/${one}/restore`, { "if-match": "\"other\"" })).status, 412)
        const restored = yield* ask("POST", gone.body._links.restore.href, {
          "if-match": gone.headers["etag"] as string,
          prefer: "return=representation"
        })
        assert.deepStrictEqual([restored.status, restored.body.title, restored.body.version], [200, "one", 3])
        const now = yield* ask("GET", `/books/${one}`)
        assert.deepStrictEqual([restored.text, restored.headers["etag"]], [now.text, now.headers["etag"]])
        assert.strictEqual((yield* ask("POST", `/books/${one}/restore`)).status, 404)
        assert.strictEqual((yield* ask("POST", `/books/${two}/restore`)).status, 404)

        assert.strictEqual(
          (yield* ask("DELETE", `/books/${one}?purge=true`, { "if-match": gone.headers["etag"] as string })).status,
          412
        )
        yield* client.books.delete({ params: { id: two } })
        yield* client.books.purge({ params: { id: one }, query: { purge: "true" } })
        assert.strictEqual((yield* ask("DELETE", `/books/${two}?purge=true`)).status, 200)
        assert.strictEqual((yield* ask("DELETE", `/books/${two}?purge=true`)).status, 404)
        assert.deepStrictEqual(titlesOf((yield* ask("GET", "/books?deleted=include")).body), [])

        for (const wrong of ["deleted=no", "deleted=", "deleted=only&deleted=include", "deleted=only&wrong=1"]) {
          assert.strictEqual((yield* ask("GET", `/books?${wrong}`)).status, 400, wrong)
          assert.strictEqual((yield* ask("GET", `/books/${two}?${wrong}`)).status, 400, wrong)
        }
        for (const wrong of ["purge=false", "purge=true&more=1", "more=1", "deleted=only"]) {
          assert.strictEqual((yield* ask("DELETE", `/books/${two}?${wrong}`)).status, 400, wrong)
        }
        assert.strictEqual((yield* ask("POST", `/books/${two}/restore?deleted=only`)).status, 400)
        assert.strictEqual((yield* ask("GET", "/rooms?deleted=only")).status, 400)
        assert.strictEqual((yield* ask("DELETE", "/rooms/1?purge=true")).status, 400)
        assert.strictEqual((yield* ask("POST", "/rooms/1/restore")).status, 404)
      }).pipe(Effect.scoped))

    it.effect("are written with hooks, references, unique values, history and changes as by other writes", () =>
      Effect.gen(function*() {
        const { ask, client, insert, repositories } = yield* setUp
        const deleted = Effect.fnUntraced(function*(title: string, more = {}) {
          const id = yield* insert(title, more)
          yield* client.books.delete({ params: { id } })
          return id
        })
        const restore = (id: string) => ask("POST", `/books/${id}/restore`)
        const purge = (id: string) => ask("DELETE", `/books/${id}?purge=true`)

        const forbidden = yield* deleted("forbidden")
        assert.strictEqual((yield* restore(forbidden)).status, 409)
        const old = yield* deleted("old")
        const answer = yield* restore(old)
        assert.deepStrictEqual([answer.status, answer.body.result], [200, old])
        assert.strictEqual((yield* client.books.get({ params: { id: old } })).title, "renamed")
        const states = yield* repositories.books.history(old)
        assert.deepStrictEqual(states.map(({ change }) => change), ["restore", "delete", "insert"])

        const kept = yield* insert("kept")
        assert.strictEqual((yield* purge(kept)).status, 409)

        const taken = yield* deleted("taken")
        yield* insert("taken")
        assert.strictEqual((yield* restore(taken)).status, 409)

        const { result: room } = yield* client.rooms.create({ payload: { name: "top" } })
        const shelved = yield* deleted("shelved", { room })
        yield* client.rooms.delete({ params: { id: room } })
        const refused = yield* restore(shelved)
        assert.deepStrictEqual([refused.status, refused.body.errors[0].validator], [400, "Reference"])
        assert.strictEqual((yield* ask("GET", `/books/${shelved}?deleted=only`)).status, 200)

        const [cascading, lent] = [yield* insert("cascading"), yield* insert("lent")]
        yield* client.pages.create({ payload: { book: cascading } })
        yield* client.loans.create({ payload: { book: lent } })
        assert.strictEqual((yield* purge(lent)).status, 409)
        assert.strictEqual((yield* purge(cascading)).status, 200)
        assert.strictEqual((yield* client.pages.list({ query: {} }))._items.length, 0)
        const [last] = yield* repositories.books.history(cascading)
        assert.strictEqual(last?.change, "purge")
        const offset = (yield* ask("GET", "/books/changes?offset=now")).headers["stream-next-offset"] as string
        const logged = yield* restore(yield* deleted("logged"))
        assert.isString(logged.headers["stream-txid"])
        const changes = yield* ask("GET", `/books/changes?offset=${offset}`)
        assert.deepStrictEqual(
          changes.body.map(({ headers }: { readonly headers: { readonly operation: string } }) => headers.operation),
          ["insert", "delete", "insert"]
        )
      }).pipe(Effect.scoped))

    it.live("are restored once, whoever else restores, deletes and purges at the same time", () =>
      Effect.gen(function*() {
        const { ask, client, insert, repositories } = yield* setUp
        const id = yield* insert("wanted")
        yield* client.books.delete({ params: { id } })
        const answers = yield* Effect.forEach(
          Array.from({ length: 50 }, (_, i) => i),
          (i) => i % 5 === 4 ? ask("DELETE", `/books/${id}`) : ask("POST", `/books/${id}/restore`),
          { concurrency: 50 }
        )
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200, 404]))
        const states = yield* repositories.books.history(id)
        const changes = states.map(({ change }) => change).toReversed().slice(1)
        // Each restore follows a deletion, and each deletion a restore.
        assert.deepStrictEqual(changes, changes.map((_, i) => i % 2 === 0 ? "delete" : "restore"))
        const succeeded = answers.filter(({ status }) => status === 200).length
        assert.strictEqual(changes.length, succeeded + 1)
      }).pipe(Effect.scoped))
  })
})

describe("Deleted documents over HTTP", () => {
  it.effect("are in OpenAPI, the policy and the links only where a resource has the actions and a caller a grant", () =>
    Effect.gen(function*() {
      const secured = KernelEngine.make("library").register(
        books
          .require(Role("keeper"), ["GET", "DELETE", "deleted", "restore", "purge"])
          .require(Role("reader"), ["GET", "DELETE"])
      ).enableSecurity()
      const entries = secured.policy.entries.map(({ endpoint, who }) => `${endpoint} ${who}`)
      for (const place of ["GET /books?deleted", "GET /books/:id?deleted", "DELETE /books/:id?purge"]) {
        assert.include(entries, `${place} keeper`)
      }
      assert.include(entries, "POST /books/:id/restore keeper")

      const document = OpenApi.make(secured, { title: "Library", version: "1" })
      const { paths } = resolvedDocument(document)
      const parametersOf = (operation: { readonly parameters: ReadonlyArray<{ readonly name: string }> }) =>
        operation.parameters.map(({ name }) => name)
      assert.include(parametersOf(paths["/books"].get), "deleted")
      assert.include(parametersOf(paths["/books/{id}"].get), "deleted")
      assert.include(parametersOf(paths["/books/{id}"].delete), "purge")
      assert.strictEqual(paths["/books/{id}"].delete.summary, "Delete a Book")
      assert.strictEqual(paths["/books/{id}"].get.summary, "Get one Book")
      assert.hasAllKeys(paths["/books/{id}/restore"], ["post"])
      const { post } = paths["/books/{id}/restore"]
      assert.includeMembers(parametersOf(post), ["If-Match", "If-None-Match"])
      assert.property(post.responses, "412")
      assert.include(JSON.stringify(document.components), "When the document was deleted")
      const plain = JSON.stringify(OpenApi.make(KernelEngine.make("library").register(Book, { methods: all }), {
        title: "Library",
        version: "1"
      }))
      for (const word of [`"deleted"`, `"purge"`, "restore"]) assert.notInclude(plain, word)
      const withoutGrant = OpenApi.make(
        KernelEngine.make("library").register(
          books.require(Role("reader"), ["GET", "DELETE"])
        ).enableSecurity(),
        { title: "Library", version: "1", omitsUnreachable: true }
      )
      for (const word of [`"deleted"`, `"purge"`, "restore"]) assert.notInclude(JSON.stringify(withoutGrant), word)

      const { baseUrl, repositories, token } = yield* secured.test()
      const as = Effect.fnUntraced(function*(role: string) {
        const headers = bearer(Redacted.value(yield* token({ subject: role, roles: [role] })))
        return (method: string, path: string) => sendTo(baseUrl, method, path, undefined, headers)
      })
      const { id } = yield* repositories.books.insert(Book.make({ owner: "ann", title: "one" }))
      const [reader, keeper] = [yield* as("reader"), yield* as("keeper")]
      assert.hasAllKeys((yield* reader("GET", `/books/${id}`)).body._links, ["self", "collection"])
      assert.hasAllKeys((yield* keeper("GET", `/books/${id}`)).body._links, ["self", "collection", "purge"])
      yield* repositories.books.deleteById(id)
      for (const path of ["/books?deleted=only", `/books/${id}?deleted=only`]) {
        assert.strictEqual((yield* reader("GET", path)).status, 403)
        assert.strictEqual((yield* keeper("GET", path)).status, 200)
      }
      assert.strictEqual((yield* reader("DELETE", `/books/${id}?purge=true`)).status, 403)
      assert.strictEqual((yield* reader("POST", `/books/${id}/restore`)).status, 403)
      assert.strictEqual((yield* keeper("DELETE", `/books/${id}?purge=true`)).status, 200)
    }))

  it.effect("have their history for those who may look at them and at it", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("library").register(
        books
          .action(History.revisions(Book))
          .action(History.revision(Book))
          .action(History.changes(Book))
          .grant(Role("keeper"), {
            methods: ["GET", "deleted", "revisions", "revision", "revision_changes"],
            hide: ["price"]
          })
          .require(Role("reader"), ["GET", "revisions", "revision", "revision_changes"])
          .grant(Role("owner"), {
            methods: ["GET", "deleted"],
            rows: (me) => ($) => $.owner.equals(me.subject)
          })
          .require(Role("owner"), ["revisions", "revision", "revision_changes"])
      ).enableSecurity()
      const { baseUrl, repositories, token } = yield* engine.test()
      const as = Effect.fnUntraced(function*(subject: string, role: string) {
        const headers = bearer(Redacted.value(yield* token({ subject, roles: [role] })))
        return (path: string) => sendTo(baseUrl, "GET", path, undefined, headers)
      })
      const { id } = yield* repositories.books.insert(Book.make({ owner: "ann", title: "one", price: 7 }))
      yield* repositories.books.deleteById(id)
      const paths = ["revisions", "revisions/1", "revisions/2/changes"].map((path) => `/books/${id}/${path}`)
      const [keeper, reader] = [yield* as("kim", "keeper"), yield* as("rita", "reader")]
      const [ann, ben] = [yield* as("ann", "owner"), yield* as("ben", "owner")]
      for (const path of paths) {
        const { status, text } = yield* keeper(path)
        assert.strictEqual(status, 200, path)
        assert.notInclude(text, "price")
        assert.strictEqual((yield* reader(path)).status, 404, path)
        assert.strictEqual((yield* ann(path)).status, 200, path)
        assert.strictEqual((yield* ben(path)).status, 404, path)
      }
      assert.include((yield* ann(paths[1]!)).text, "price")
      const { _links } = (yield* keeper(`/books/${id}?deleted=only`)).body
      assert.hasAllKeys(_links, ["self", "collection", "revisions", "revision", "revision_changes"])
      assert.strictEqual((yield* keeper(_links.revisions.href)).status, 200)
      yield* repositories.books.purgeById(id)
      for (const path of paths) assert.strictEqual((yield* keeper(path)).status, 404, path)
    }))

  it.effect("are like documents that never existed for who asks without the parameter", () =>
    Effect.gen(function*() {
      const own = (isMissing: boolean) =>
        Permission.make(`own ${isMissing}`, {}, ({ caller, document }) =>
          Effect.map(document, (found) =>
            Option.match(found, {
              onNone: () =>
                isMissing,
              onSome: (book) =>
                Reflect.get(Object(book), "owner") === caller.subject
            })))
      for (const isMissing of [true, false]) {
        const secured = KernelEngine.make("library").register(
          books.require(own(isMissing), ["GET", "DELETE"]).require(Role("keeper"), ["deleted", "restore", "purge"])
        ).enableSecurity()
        const { baseUrl, repositories, token } = yield* secured.test()
        const headers = bearer(Redacted.value(yield* token({ subject: "ann", roles: [] })))
        const ids = yield* Effect.forEach(["ann", "ben"], (owner) =>
          Effect.gen(function*() {
            const { id } = yield* repositories.books.insert(Book.make({ owner, title: owner }))
            yield* repositories.books.deleteById(id)
            return id
          }))
        for (const method of ["GET", "DELETE"]) {
          const statuses = yield* Effect.forEach(["B404", ...ids], (id) =>
            Effect.map(sendTo(baseUrl, method, `/books/${id}`, undefined, headers), ({ status }) =>
              status))
          assert.deepStrictEqual(statuses, Array(3).fill(statuses[0]), method)
        }
      }
    }))

  it.effect("are in tables that ask for them, with the time of their deletion, and these can be sent back", () =>
    Effect.gen(function*() {
      const { baseUrl, client, store } = yield* KernelEngine.make("library").register(books, { tables: true }).test()
      for (const title of ["one", "two", "three"]) yield* client.books.create({ payload: { owner: "ann", title } })
      const { _items: [one] } = yield* client.books.list({ query: { title: "one" } })
      yield* client.books.delete({ params: { id: one!.id } })
      const ask = (query: string, accept: string) => sendTo(baseUrl, "GET", `/books?${query}`, undefined, { accept })
      const page = yield* ask("deleted=include&sort_by=title&fields=title", "application/json")
      assert.strictEqual(page.headers["vary"], "Accept")
      const lines = yield* ask("deleted=include&sort_by=title&fields=title", "application/x-ndjson")
      assert.strictEqual(
        lines.text,
        page.body._items.map((item: unknown) => `${JSON.stringify(item)}\n`).join(""),
        "a line is what the page has"
      )
      const { deleted } = page.body._items.find(({ title }: { title: string }) => title === "one")
      const only = yield* ask("deleted=only&fields=title", "text/csv")
      assert.deepStrictEqual([only.status, only.headers["vary"]], [200, "Accept"])
      assert.strictEqual(only.text, `id,title,deleted\r\n${one!.id},one,${deleted}\r\n`)
      const all = yield* ask("deleted=include&sort_by=title", "text/csv")
      assert.deepStrictEqual(all.text.split("\r\n").slice(1, -1).map((row) => row.split(",").at(-1)), [deleted, "", ""])
      assert.notInclude((yield* ask("", "text/csv")).text, "deleted")
      const wrong = yield* ask("deleted=only&page=2", "text/csv")
      assert.deepStrictEqual([wrong.status, wrong.body.errors[0].field], [400, "page"])
      yield* store.deleteMany("Book", {})
      const again = yield* sendTo(baseUrl, "POST", "/books", all.text, { "content-type": "text/csv" })
      assert.strictEqual(again.status, 201, again.text)
      assert.strictEqual((yield* ask("deleted=include", "application/json")).headers["x-total-count"], "3")
    }))

  it.effect("can be sent back as a table whatever the field of the time of deletion is called", () =>
    Effect.gen(function*() {
      class Paper extends Model.Class<Paper>()("Paper", {
        id: Model.id(),
        title: Schema.String,
        gone: Model.softDeleted.deleted
      }) {}
      const { baseUrl, store } = yield* KernelEngine.make("library").register(
        Resource.make(Paper, { methods: all }).action(History.deleted(Paper)),
        { tables: true }
      ).test()
      yield* sendTo(baseUrl, "POST", "/papers", { id: "A", title: "a" })
      yield* sendTo(baseUrl, "DELETE", "/papers/A")
      for (const type of ["text/csv", "application/x-ndjson"]) {
        const table = yield* sendTo(baseUrl, "GET", "/papers?deleted=include", undefined, { accept: type })
        assert.match(table.text, /deleted/u)
        yield* store.deleteMany("Paper", {})
        const again = yield* sendTo(baseUrl, "POST", "/papers", table.text, { "content-type": type })
        assert.strictEqual(again.status, 201, again.text)
        yield* sendTo(baseUrl, "DELETE", "/papers/A")
      }
    }))

  it.effect("are refused at the start where a resource lacks the method, or a field has the name of the parameter", () =>
    Effect.gen(function*() {
      class Named extends Model.Class<Named>()("Named", {
        id: Model.id(),
        deleted: Schema.Boolean,
        removed: Model.softDeleted.deleted
      }) {}
      const problems = yield* Effect.forEach([
        Resource.make(Book, { methods: ["POST"] }).action(History.deleted(Book)),
        Resource.make(Book, { methods: ["GET"] }).action(History.purge(Book)),
        Resource.make(Named, { methods: ["GET"] }).action(History.deleted(Named))
      ], (resource) => Effect.flip(KernelEngine.make("library").register(resource as typeof books).test()))
      assert.deepStrictEqual(problems.map((problem) => Object(problem)._tag), Array(3).fill("RegistrationInvalid"))
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
  on: Schema.Array(Schema.Literals(["GET", "DELETE", "deleted", "restore", "purge"])).check(Schema.isMinLength(1)),
  rows: Schema.Literals(["all", "own", "cheap"]),
  hide: Schema.Array(Schema.Literals(["price", "owner"])).check(Schema.isMaxLength(1))
})

const permissions = { ann: Role("ann"), anybody: Authenticated, owner: ofOwner } as const

const engineOf = (grants: ReadonlyArray<typeof Grant.Type>, isHooked: boolean) => {
  let resource = isHooked
    ? books.afterGet((book) =>
      book.title === "b2" ? Effect.fail(new HttpError.NotFound({ message: "not this one" })) : Effect.void
    )
    : books
  for (const { hide, on, rows, to } of grants) {
    const own = rows === "all" ? {} : {
      rows:
        (me: { readonly subject: string }) =>
        ($: { readonly [field: string]: Record<string, (value: unknown) => never> }) =>
          rows === "own" ? $["owner"]!["equals"]!(me.subject) : $["price"]!["lessThan"]!(3)
    }
    resource = resource.grant(permissions[to], { methods: on, ...own, ...hide.length === 0 ? {} : { hide } } as never)
  }
  return KernelEngine.make("library").register(resource, { tables: true }).enableSecurity()
}

const stored = [0, 1, 2, 3, 4].map((i) => ({
  _id: `B${i}`,
  owner: i % 2 === 0 ? "ann" : "ben",
  title: `b${i}`,
  price: i,
  version: 1,
  revision: 1,
  inserted: new Date(0),
  updated: new Date(0)
}))

type Stored = typeof stored[number]

const own = ({ _links, deleted: _deleted, ...body }: { readonly [field: string]: unknown }) => body

describe("deleted documents under grants", () => {
  it.effect.prop(
    "show no more than GET shows of the same document where it is not deleted, and are written by those who may",
    { grants: Schema.Array(Grant).check(Schema.isMaxLength(5)), isHooked: Schema.Boolean },
    ({ grants, isHooked }) =>
      Effect.gen(function*() {
        const engine = engineOf(grants, isHooked)
        const before = yield* engine.test()
        const after = yield* engine.test()
        yield* before.store.insertMany("Book", stored)
        yield* after.store.insertMany("Book", stored.map((one) => ({ ...one, deleted: new Date(1) })))
        const reset = Effect.fnUntraced(function*(book: Stored) {
          yield* after.store.deleteMany("Book", { _id: book._id })
          yield* after.store.deleteMany("Book.history", {})
          yield* after.store.insertOne("Book", { ...book, deleted: new Date(1) })
        })
        const askers = Effect.fnUntraced(function*(subject: string) {
          const user = { subject, roles: subject === "ann" ? ["ann"] : [] }
          const asking = ({ baseUrl, token }: typeof before) =>
            Effect.map(token(user), (text) => (method: string, path: string, accept = "application/json") =>
              sendTo(baseUrl, method, path, undefined, { accept, ...bearer(Redacted.value(text)) }))
          return { live: yield* asking(before), deleted: yield* asking(after) }
        })
        const heldFor = (on: string, subject: string, book: Stored) =>
          grants.filter((grant) =>
            grant.on.includes(on as never) &&
            (grant.to === "anybody" || subject === (grant.to === "ann" ? "ann" : book.owner))
          )
        const admits = (held: typeof grants, subject: string, book: Stored) =>
          held.some(({ rows }) =>
            rows === "all" || (rows === "own" ? book.owner === subject : book.price < 3)
          )
        const may = (on: string, subject: string, book: Stored) => admits(heldFor(on, subject, book), subject, book)
        for (const subject of ["ann", "ben"]) {
          const { deleted, live } = yield* askers(subject)
          const tabled = yield* deleted("GET", "/books?sort_by=title&deleted=only", "application/x-ndjson")
          const listed = yield* live("GET", "/books?sort_by=title")
          const asked = yield* deleted("GET", "/books?sort_by=title&deleted=only")
          const shown: ReadonlyArray<{ readonly [field: string]: unknown }> = asked.body?._items ?? []
          for (const body of shown) {
            // A list shows what it shows of the others, and is refused as a whole by a hook of one of them.
            const same = listed.status === 200
              ? listed.body._items.find(({ id }: { readonly id: unknown }) => id === body["id"])
              : (yield* live("GET", `/books/${String(body["id"])}`)).body
            assert.deepStrictEqual(own(body), own(same))
          }
          assert.strictEqual(tabled.status, asked.status)
          if (tabled.status === 200) {
            assert.strictEqual(tabled.text, shown.map((item) => `${JSON.stringify(item)}\n`).join(""))
            // A field that is hidden in all documents has no column.
            const [header = ""] = (yield* deleted("GET", "/books?deleted=only", "text/csv")).text.split("\r\n")
            const visible = new Set(
              heldFor("GET", subject, stored[0]!).concat(heldFor("GET", subject, stored[1]!))
                .flatMap(({ hide }) => ["price", "owner"].filter((field) => !hide.includes(field as never)))
            )
            for (const field of ["price", "owner"]) {
              if (!visible.has(field)) assert.notInclude(header.split(","), field)
            }
          }
          for (const book of stored) {
            const [one, gone] = [
              yield* live("GET", `/books/${book._id}`),
              yield* deleted("GET", `/books/${book._id}?deleted=include`)
            ]
            assert.strictEqual((yield* deleted("GET", `/books/${book._id}`)).status === 200, false)
            if (gone.status === 200) assert.deepStrictEqual(own(gone.body), own(one.body))
            else assert.include([403, 404], gone.status)
            const isSeen = one.status === 200
            assert.strictEqual(gone.status === 200, isSeen && may("deleted", subject, book), `${subject} ${book._id}`)
            if (gone.status !== 200) assert.notInclude(shown.map(({ id }) => id), book._id)
          }
          // A write is for those who may do it, within what they may read, where they may read any.
          for (const book of stored) {
            const path = `/books/${book._id}`
            const read = heldFor("GET", subject, book)
            const isRead = read.length === 0 || admits(read, subject, book)
            const restored = yield* deleted("POST", `${path}/restore`)
            assert.strictEqual(
              restored.status === 200,
              may("restore", subject, book) && isRead,
              `restore ${subject} ${book._id} ${restored.status}`
            )
            yield* reset(book)
            const purged = yield* deleted("DELETE", `${path}?purge=true`)
            assert.strictEqual(
              purged.status === 200,
              may("purge", subject, book) && may("DELETE", subject, book) && isRead,
              `purge ${subject} ${book._id} ${purged.status}`
            )
            yield* reset(book)
          }
        }
      }),
    { arbitrary: { runs: Number(process.env["DIFFERENTIAL_RUNS"] ?? 6) } }
  )

  it.effect("are in the audit log as other reads and writes are", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("library").register(
        books.grant(Authenticated, {
          methods: ["GET", "DELETE", "deleted", "restore", "purge"],
          rows: (me) => ($) => $.owner.equals(me.subject)
        }),
        { auditLog: "reads and writes" }
      ).enableSecurity()
      const { baseUrl, store, token } = yield* engine.test().pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_AUDIT_TO: "collection" } })))
      )
      yield* store.insertMany("Book", stored.map((one) => ({ ...one, deleted: new Date(1) })))
      const headers = bearer(Redacted.value(yield* token({ subject: "ann", roles: [] })))
      const ask = (method: string, path: string) => sendTo(baseUrl, method, path, undefined, headers)
      yield* ask("GET", "/books?deleted=only")
      yield* ask("POST", "/books/B0/restore")
      yield* ask("POST", "/books/B1/restore")
      yield* ask("DELETE", "/books/B0?purge=true")
      const entries = yield* store.find("AuditEntry", {})
      assert.sameDeepMembers(
        entries.flatMap(({ ids, operation, outcome }) => operation === "call" ? [] : [[outcome, operation, ids]]),
        [
          ["allowed", "read", ["B0", "B2", "B4"]],
          ["allowed", "update", ["B0"]],
          ["denied", undefined, undefined],
          ["allowed", "delete", ["B0"]]
        ]
      )
    }))
})
