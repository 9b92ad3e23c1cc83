import { NodeHttpServer } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpBody, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { DocumentStore, HttpError, KernelClient, KernelEngine } from "../../src/index.ts"
import { newUser, Note, User } from "../support/models.ts"

const engine = KernelEngine.make("test")
  .register(User, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], urlBase: "/api/v1" })
  .register(Note, { enableHateoas: false })

interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string | undefined }
  readonly text: string
  // The tests look into bodies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

const toAnswer = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.text, (text): Answer => ({
    status: response.status,
    headers: response.headers,
    text,
    body: text === "" ? undefined : JSON.parse(text)
  }))

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "HEAD"

const send = (
  method: Method,
  path: string,
  body?: unknown,
  headers: { readonly [name: string]: string } = {}
) => {
  const content = body === undefined
    ? HttpBody.empty
    : HttpBody.text(
      typeof body === "string" ? body : JSON.stringify(body),
      headers["content-type"] ?? "application/json"
    )
  const request = HttpClientRequest.make(method)(path, { headers }).pipe(HttpClientRequest.setBody(content))
  return Effect.flatMap(HttpClient.execute(request), toAnswer)
}

const users = "/api/v1/users"

/** What the REST interface answers over a real socket, whichever store is under it. */
export const restContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  // What loses to others waits by the clock before it is tried again.
  it.layer(engine.layerServe.pipe(Layer.provideMerge(store), Layer.provideMerge(NodeHttpServer.layerTest)), {
    excludeTestServices: true
  })(
    `REST / ${name}`,
    (it) => {
      const created = (more: Partial<typeof User.create.Type>) =>
        Effect.map(send("POST", users, newUser(more)), ({ body, status }) => {
          assert.strictEqual(status, 201)
          return String(body.result)
        })

      it.effect("creates a document and reads it back", () =>
        Effect.gen(function*() {
          const answer = yield* send("POST", users, newUser({ address: { street: "Main \"1\"", city: "Zürich" } }))
          assert.strictEqual(answer.status, 201)
          assert.match(answer.headers["content-type"] ?? "", /^application\/json/)
          assert.match(answer.body.result, /^U[\da-f-]{36}$/)
          assert.deepStrictEqual(answer.body, { _type: "OperationResult", result: answer.body.result })
          assert.strictEqual(answer.headers["location"], `${users}/${answer.body.result}`)
          const { body, status } = yield* send("GET", `${users}/${answer.body.result}`)
          assert.strictEqual(status, 200)
          assert.match(body.created, /^1970-01-01T00:00:00.000000$|^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/)
          assert.deepStrictEqual(body, {
            _type: "User",
            _links: {
              self: {
                href: `${users}/${answer.body.result}`,
                methods: ["GET", "POST", "PUT", "PATCH", "DELETE"]
              },
              collection: { href: users, methods: "GET" }
            },
            id: answer.body.result,
            name: "Jane Doe",
            email: "jane@example.com",
            active: true,
            roles: ["user"],
            address: { _type: "Address", street: "Main \"1\"", city: "Zürich" },
            previous: [],
            created: body.created,
            version: 1
          })
        }))

      it.effect("stores an omitted field and never returns it", () =>
        Effect.gen(function*() {
          const id = yield* created({ email: "omitted@example.com", password: "canary password" })
          const store = yield* DocumentStore.DocumentStore
          const stored = yield* store.findById("User", id)
          assert.match(String(stored?.["password"]), /^\$pbkdf2-sha256\$/)
          const paths = [`${users}/${id}`, `${users}?email=omitted@example.com`, `${users}/schema`, `${users}/meta`]
          for (const path of paths) {
            const { text } = yield* send("GET", path)
            assert.notMatch(text, /password|pbkdf2|canary/)
          }
          for (const path of [`${users}?password=x`, `${users}?sort_by=password`]) {
            assert.strictEqual((yield* send("GET", path)).status, 400)
          }
        }))

      it.effect("names every problem of a bad body", () =>
        Effect.gen(function*() {
          const bad = { name: "", email: "no", age: "x", address: { street: 1 }, previous: [{ street: "a", city: "" }] }
          const { body, status } = yield* send("POST", users, bad)
          assert.strictEqual(status, 400)
          assert.deepStrictEqual([body._type, body.code], ["ErrorMessage", 400])
          const problems = body.errors.map(({ field, validator }: { field: string; validator: string }) =>
            `${field} ${validator}`
          )
          assert.sameMembers(problems, [
            "name NotEmpty",
            "email Email",
            "password Required",
            "age Type",
            "address.street Type",
            "address.city Required",
            "previous.0.city NotEmpty"
          ])
        }))

      it.effect("responds to each malformed body with an ErrorMessage", () =>
        Effect.gen(function*() {
          const cases: ReadonlyArray<readonly [unknown, string, number]> = [
            ["{\"name\": ", "application/json", 400],
            ["", "application/json", 400],
            ["[]", "application/json", 400],
            ["null", "application/json", 400],
            ["name=x", "application/x-www-form-urlencoded", 415],
            [`{"name": "${"x".repeat(1_100_000)}"}`, "application/json", 413]
          ]
          for (const [text, type, status] of cases) {
            const answer = yield* send("POST", users, text, { "content-type": type })
            assert.strictEqual(answer.status, status)
            assert.deepStrictEqual([answer.body._type, answer.body.code], ["ErrorMessage", status])
          }
          assert.strictEqual((yield* send("GET", users)).status, 200)
        }))

      it.effect("responds with 409 for a duplicate unique value", () =>
        Effect.gen(function*() {
          yield* created({ email: "taken@example.com" })
          const { body, status } = yield* send("POST", users, newUser({ email: "taken@example.com" }))
          assert.strictEqual(status, 409)
          assert.deepStrictEqual([body._type, body.code], ["ErrorMessage", 409])
          assert.include(body.message, "Email")
        }))

      it.effect("responds with 404 for unknown identifiers and routes", () =>
        Effect.gen(function*() {
          const unknown = yield* send("GET", `${users}/U-none`)
          assert.strictEqual(unknown.status, 404)
          assert.deepStrictEqual(unknown.body, {
            _type: "ErrorMessage",
            code: 404,
            message: "User U-none does not exist"
          })
          for (const method of ["PUT", "PATCH", "DELETE"] as const) {
            const body = method === "PUT" ? newUser() : method === "PATCH" ? {} : undefined
            assert.strictEqual((yield* send(method, `${users}/U-none`, body)).status, 404)
          }
          const unknownField = yield* send("GET", "/nowhere")
          assert.deepStrictEqual([unknownField.status, unknownField.body._type, unknownField.body.code], [
            404,
            "ErrorMessage",
            404
          ])
        }))

      it.effect("responds with 405 and Allow for a method that is not registered", () =>
        Effect.gen(function*() {
          const answer = yield* send("POST", "/notes", { text: "x" })
          assert.strictEqual(answer.status, 405)
          assert.strictEqual(answer.headers["allow"], "GET, HEAD, QUERY, OPTIONS")
          assert.deepStrictEqual([answer.body._type, answer.body.code], ["ErrorMessage", 405])
          assert.strictEqual((yield* send("DELETE", users)).headers["allow"], "GET, POST, HEAD, QUERY, OPTIONS")
          const options = yield* send("OPTIONS", `${users}/x`)
          assert.deepStrictEqual(
            [options.status, options.headers["allow"]],
            [204, "GET, PUT, PATCH, DELETE, HEAD, QUERY, OPTIONS"]
          )
        }))

      it.effect("filters, sorts and pages a collection, and links the pages", () =>
        Effect.gen(function*() {
          for (const name of ["Cid", "Abe", "Bob", "Dan", "Eve"]) {
            yield* created({
              name,
              email: `${name}@page.example.com`,
              roles: ["page"],
              age: name.length + name.charCodeAt(0)
            })
          }
          const query = "roles=page&sort_by=name&page_size=2"
          const first = yield* send("GET", `${users}?${query}`)
          const names = (answer: Answer) => answer.body._items.map(({ name }: { name: string }) => name)
          assert.strictEqual(first.body._type, "list")
          assert.deepStrictEqual(names(first), ["Abe", "Bob"])
          assert.deepStrictEqual(first.body._links, {
            self: { href: `${users}?${query}&page=1` },
            first: { href: `${users}?${query}&page=1` },
            next: { href: `${users}?${query}&page=2` },
            last: { href: `${users}?${query}&page=3` }
          })
          const last = yield* send("GET", first.body._links.last.href)
          assert.deepStrictEqual(names(last), ["Eve"])
          assert.deepStrictEqual(Object.keys(last.body._links), ["self", "first", "prev", "last"])
          assert.deepStrictEqual(names(yield* send("GET", `${users}?roles=page&sort_by=name&sort_order=desc`)), [
            "Eve",
            "Dan",
            "Cid",
            "Bob",
            "Abe"
          ])
          assert.deepStrictEqual(names(yield* send("GET", `${users}?roles=page&name=Bob&active=yes&age=69`)), ["Bob"])
          const empty = yield* send("GET", `${users}?roles=page&name=Zoe`)
          assert.strictEqual(empty.status, 200)
          assert.deepStrictEqual(empty.body._items, [])
          assert.strictEqual(first.body._items[0]._links.self.href, `${users}/${first.body._items[0].id}`)
        }))

      it.effect("rejects invalid parameters, naming each", () =>
        Effect.gen(function*() {
          const { body, status } = yield* send(
            "GET",
            `${users}?nope=1&page=0&page_size=1001&sort_order=up&sort_by=zz&age=old&created=now&__proto__=x&active=maybe`
          )
          assert.strictEqual(status, 400)
          assert.sameMembers(body.errors.map(({ field }: { field: string }) => field), [
            "nope",
            "page",
            "page_size",
            "sort_order",
            "sort_by",
            "age",
            "created",
            "__proto__",
            "active"
          ])
        }))

      it.effect("updates an existing document by POST, PUT and PATCH", () =>
        Effect.gen(function*() {
          const id = yield* created({ email: "update@example.com", age: 1 })
          const again = yield* send("POST", users, newUser({ id, email: "update@example.com", name: "Posted" }))
          assert.deepStrictEqual([again.status, again.body], [200, { _type: "OperationResult", result: id }])
          const put = yield* send("PUT", `${users}/${id}`, newUser({ email: "update@example.com", name: "Put" }))
          assert.deepStrictEqual([put.status, put.body], [200, { _type: "OperationResult", result: id }])
          const patched = yield* send("PATCH", `${users}/${id}`, { age: 5, version: 3 }, {
            "content-type": "application/merge-patch+json"
          })
          assert.deepStrictEqual([patched.status, patched.body], [200, { _type: "OperationResult", result: id }])
          const { body } = yield* send("GET", `${users}/${id}`)
          assert.deepStrictEqual([body.name, body.age, body.version], ["Put", 5, 4])
          const stale = yield* send("PATCH", `${users}/${id}`, { age: 6, version: 1 })
          assert.strictEqual(stale.status, 409)
          const invalid = yield* send("PATCH", `${users}/${id}`, { name: null, age: -1 })
          assert.deepStrictEqual(invalid.body.errors.map(({ field }: { field: string }) => field), ["name", "age"])
        }))

      it.effect("deletes a document once", () =>
        Effect.gen(function*() {
          const id = yield* created({ email: "delete@example.com" })
          const { body, status } = yield* send("DELETE", `${users}/${id}`)
          assert.deepStrictEqual([status, body], [200, { _type: "OperationResult", result: 1 }])
          assert.strictEqual((yield* send("DELETE", `${users}/${id}`)).status, 404)
        }))

      it.effect("accepts a client's own identifier with any characters", () =>
        Effect.gen(function*() {
          const id = "a/b ü?#%\"'\\<>"
          const answer = yield* send("POST", users, newUser({ id, email: "odd@example.com" }))
          assert.strictEqual(answer.body.result, id)
          const { body } = yield* send("GET", String(answer.headers["location"]))
          assert.strictEqual(body.id, id)
          assert.strictEqual(body._links.self.href, `${users}/${encodeURIComponent(id)}`)
        }))

      it.effect("rejects an identifier that no URL can address, and one that differs from the URL's", () =>
        Effect.gen(function*() {
          for (const id of ["schema", "meta", ".", ".."]) {
            const { body, status } = yield* send("POST", users, newUser({ id, email: "unreachable@example.com" }))
            assert.deepStrictEqual([status, body.errors[0].field], [400, "id"])
          }
          const id = yield* created({ email: "url@example.com" })
          const other = yield* send("PUT", `${users}/${id}`, newUser({ id: "other", email: "url@example.com" }))
          assert.deepStrictEqual([other.status, other.body.errors[0].field], [400, "id"])
        }))

      it.effect("treats a semicolon in a path literally", () =>
        Effect.gen(function*() {
          yield* created({ id: "semi", email: "semi@example.com" })
          assert.strictEqual((yield* send("DELETE", `${users}/semi;colon`)).status, 404)
          yield* created({ id: "semi;colon", email: "colon@example.com" })
          assert.strictEqual((yield* send("GET", `${users}/semi;colon`)).body.id, "semi;colon")
        }))

      it.effect("handles concurrent replacements, creations and patches of one document", () =>
        Effect.gen(function*() {
          const address = { street: "S", city: "Bern" }
          const same = newUser({ id: "U-many", email: "many@example.com", address })
          const all = <A, E, R>(count: number, one: (i: number) => Effect.Effect<A, E, R>) =>
            Effect.forEach(Array.from({ length: count }, (_, i) => i), one, { concurrency: count })
          const statuses = (answers: ReadonlyArray<Answer>) =>
            answers.map(({ status }) => status).toSorted((a, b) => a - b)
          const posted = yield* all(8, () => send("POST", users, same))
          assert.deepStrictEqual(statuses(posted), [200, 200, 200, 200, 200, 200, 200, 201])
          const put = yield* all(8, (i) => send("PUT", `${users}/U-many`, { ...same, name: `Name ${i}` }))
          assert.deepStrictEqual(statuses(put), Array.from({ length: 8 }, () => 200))
          const patched = yield* all(9, (i) =>
            send("PATCH", `${users}/U-many`, { address: i % 3 === 0 ? null : { city: `City ${i}` } }))
          for (const { body, status } of patched) {
            // The address may be gone by then, and a city alone is none.
            if (status !== 200) {
              assert.deepStrictEqual([status, body.errors[0].field], [400, "address.street"])
            }
          }
          assert.strictEqual((yield* send("GET", `${users}/U-many`)).status, 200)
        }))

      it.effect("ignores trailing slashes, and follows GET with HEAD", () =>
        Effect.gen(function*() {
          const id = yield* created({ email: "slash@example.com" })
          for (const path of [`${users}/`, `${users}/${id}/`, `${users}/schema/`, "/notes/"]) {
            assert.strictEqual((yield* send("GET", path)).status, 200)
          }
          const head = yield* send("HEAD", `${users}/${id}`)
          assert.deepStrictEqual([head.status, head.text], [200, ""])
          assert.isAbove(Number(head.headers["content-length"]), 100)
        }))

      it.effect("omits links if they are disabled", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.insertOne("Note", { _id: "N1", text: "without links" })
          assert.deepStrictEqual((yield* send("GET", "/notes/N1")).body, {
            _type: "Note",
            id: "N1",
            text: "without links"
          })
        }))

      it.effect("responds with 500 without internal details for a stored document that does not fit the model", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.insertOne("Note", { _id: "N-broken", text: ["insider"] })
          const answer = yield* send("GET", "/notes/N-broken")
          assert.strictEqual(answer.status, 500)
          assert.deepStrictEqual([answer.body._type, answer.body.code], ["ErrorMessage", 500])
          assert.include(answer.body.message, String(answer.headers["x-request-id"]))
          assert.notMatch(answer.text, /insider|N-broken|text/)
          yield* store.deleteOne("Note", { _id: "N-broken" })
        }))

      it.effect("serves a typed client", () =>
        Effect.gen(function*() {
          const client = yield* KernelClient.make(engine)
          const { result } = yield* client.users.create({ payload: newUser({ email: "typed@example.com" }) })
          const user = yield* client.users.get({ params: { id: result } })
          assert.deepStrictEqual([user._type, user.email, user._links?.["self"]?.href], [
            "User",
            "typed@example.com",
            `${users}/${result}`
          ])
          const page = yield* client.users.list({ query: { email: "typed@example.com", page_size: 1 } })
          assert.deepStrictEqual(page._items, [user])
          const missing = yield* client.users.get({ params: { id: "none" } }).pipe(
            Effect.catchTag("NotFound", ({ message }) =>
              Effect.succeed(message))
          )
          assert.strictEqual(missing, "User none does not exist")
          const taken = yield* Effect.flip(client.users.create({ payload: newUser({ email: "typed@example.com" }) }))
          assert.strictEqual(Reflect.get(Object(taken), "_tag"), "Conflict")
          const invalid = yield* client.users.patch({ params: { id: result }, payload: { address: { city: "Bern" } } })
            .pipe(Effect.catchTag("BadRequest", ({ errors }) => Effect.succeed(errors.map(({ field }) => field))))
          assert.deepStrictEqual(invalid, ["address.street"])
          const part = yield* client.users.get({ params: { id: result }, query: { fields: "name,address.city" } })
          assert.sameMembers(Object.keys(part), ["_links", "_type", "id", "name"])
          const read = yield* client.users.get({ params: { id: result }, responseMode: "response-only" })
          const same = { "if-none-match": String(read.headers["etag"]) }
          const unchanged = yield* Effect.flip(client.users.get({ params: { id: result }, headers: same }))
          assert.instanceOf(unchanged, HttpError.NotModified)
          const shown = yield* client.users.patch({
            params: { id: result },
            payload: { name: "Ann", address: { street: "Main", city: "Bern" } },
            headers: { "if-match": same["if-none-match"], prefer: "return=representation" }
          })
          assert.deepStrictEqual([shown.name, shown.version], ["Ann", user.version + 1])
          const stale = client.users.delete({ params: { id: result }, headers: { "if-match": same["if-none-match"] } })
          assert.strictEqual((yield* Effect.flip(stale))._tag, "PreconditionFailed")
          const inBern = yield* client.users.list({
            query: { "address.city": ["~bern", "!Basel"], fields: "address.city" }
          })
          assert.deepStrictEqual(inBern._items.map(({ address, id }) => [id, address]), [
            [result, { _type: "Address", city: "Bern" }]
          ])
          const { result: ids } = yield* client.users.create({
            payload: [newUser({ email: "one@example.com" }), newUser({ email: "two@example.com" })]
          })
          assert.strictEqual(ids.length, 2)
          for (const id of ids) yield* client.users.delete({ params: { id } })
          const [, { headers }] = yield* client.users.get({
            params: { id: result },
            responseMode: "decoded-and-response"
          })
          assert.match(String(headers["etag"]), /^"[\da-f]{16}"$/u)
          const misspelt: object = { query: { nmae: "x" } }
          assert.strictEqual((yield* Effect.flip(client.users.list(misspelt)))._tag, "SchemaError")
          const { result: count } = yield* client.users.delete({ params: { id: result } })
          assert.strictEqual(count, 1)
          assert.strictEqual((yield* client.users.schema({ query: {} }))["title"], "User")
          assert.deepStrictEqual(Object.keys(yield* client.notes.meta()), ["id", "text", "rank"])
        }))
    }
  )
