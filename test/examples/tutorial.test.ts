import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import * as path from "node:path"
import { bundledForBrowser, inBrowser } from "../support/browser.ts"
import { freshDirectory } from "../support/folders.ts"
import { freePort, printed, runProgram } from "../support/processes.ts"
import { bearer } from "../support/rest.ts"
import { request, signIn } from "../support/shop.ts"

const root = path.join(import.meta.dirname, "../..")
const tutorial = path.join(root, "examples/tutorial")
const password = "correct horse"

/** The library as a process, with an empty store, and its librarian and its members as they call it. */
const opened = Effect.gen(function*() {
  const [folder, port] = [yield* freshDirectory, yield* freePort]
  const base = `http://127.0.0.1:${port}`
  const page = path.join(folder, "public")
  mkdirSync(page)
  const program = yield* runProgram("examples/tutorial/main.ts", {
    APPKERNEL_EMBEDDED_PATH: path.join(folder, "data"),
    APPKERNEL_SERVER_PORT: String(port),
    LIBRARY_LIBRARIAN_PASSWORD: password,
    LIBRARY_PAGE: page,
    NODE_ENV: "test"
  })
  yield* printed(program, `Listening on ${base}`)
  const callAs = (headers: { readonly [name: string]: string }) => (line: string, body?: unknown) =>
    request(base, line, body, headers)
  const signedIn = (email: string) =>
    Effect.map(signIn(base, email, password), ({ access_token }) => callAs(bearer(access_token)))
  const nobody = callAs({})
  const member = Effect.fnUntraced(function*(name: string) {
    const email = `${name}@example.com`
    const { body } = yield* nobody("POST /api/v1/members", { name, email, password })
    return { id: body.result, call: yield* signedIn(email) }
  })
  const librarian = yield* signedIn("librarian@library.example")
  const emma = { isbn: "9780141439587", title: "Emma", author: "Jane Austen", subjects: ["novel"] }
  const { body } = yield* librarian("POST /api/v1/books", emma)
  return { base, page, nobody, member, librarian, emma: body.result }
})

describe("the library of the tutorial", () => {
  it.live("lends each copy once, and takes it back", () =>
    Effect.gen(function*() {
      const { emma, member, nobody } = yield* opened
      const [ann, ben] = [yield* member("ann"), yield* member("ben")]
      const answers = yield* Effect.all([ann, ben].map(({ call }) => call(`POST /api/v1/books/${emma}/borrow`)), {
        concurrency: 2
      })
      assert.sameMembers(answers.map(({ status }) => status), [200, 409])
      assert.strictEqual(answers.find(({ status }) => status === 409)?.body.error, "NoCopyLeft")
      const [reader, other] = answers[0]?.status === 200 ? [ann, ben] : [ben, ann]
      const { body: { _items: [loan] } } = yield* reader.call("GET /api/v1/loans?returned=null")
      assert.deepStrictEqual([loan.book, loan.member], [emma, reader.id])
      assert.deepStrictEqual((yield* other.call("GET /api/v1/loans")).body._items, [])
      assert.strictEqual((yield* other.call(`POST /api/v1/loans/${loan.id}/give_back`)).status, 404)

      const leaving = yield* reader.call(`DELETE /api/v1/members/${reader.id}`)
      assert.deepStrictEqual([leaving.status, leaving.body.error, leaving.body.count], [409, "BooksOut", 1])
      assert.strictEqual((yield* reader.call(`POST /api/v1/loans/${loan.id}/give_back`)).status, 200)
      const again = yield* reader.call(`POST /api/v1/loans/${loan.id}/give_back`)
      assert.deepStrictEqual([again.status, again.body.error], [409, "AlreadyReturned"])
      assert.strictEqual((yield* nobody(`GET /api/v1/books/${emma}`)).body.on_shelf, 1)
      assert.strictEqual((yield* reader.call(`DELETE /api/v1/members/${reader.id}`)).status, 200)
    }))

  it.live("lets everybody read the books, and librarians keep them", () =>
    Effect.gen(function*() {
      const { emma, librarian, member, nobody } = yield* opened
      const ann = yield* member("ann")
      const { body: { _items } } = yield* nobody("GET /api/v1/books?author=~austen&subjects=~novel")
      assert.deepStrictEqual(_items.map(({ title }: { title: string }) => title), ["Emma"])
      const more = { isbn: "9780141439518", title: "Pride and Prejudice", author: "Jane Austen" }
      assert.strictEqual((yield* nobody("POST /api/v1/books", more)).status, 401)
      assert.strictEqual((yield* ann.call("POST /api/v1/books", more)).status, 403)
      assert.strictEqual((yield* librarian("POST /api/v1/books", more)).status, 201)
      assert.strictEqual((yield* nobody(`POST /api/v1/books/${emma}/borrow`)).status, 401)
      const promoted = yield* ann.call(`PATCH /api/v1/members/${ann.id}`, { roles: ["librarian"] })
      assert.strictEqual(promoted.status, 403)
      assert.strictEqual((yield* nobody("GET /api/v1/members")).status, 401)
      assert.strictEqual((yield* librarian("GET /api/v1/members")).body._items.length, 2)
      assert.strictEqual((yield* ann.call(`POST /api/v1/books/${emma}/borrow`)).status, 200)
      assert.strictEqual((yield* librarian(`DELETE /api/v1/books/${emma}`)).status, 409)
    }))
})

inBrowser("the library of the tutorial in a browser", (open) => {
  it.live("shows the books, signs in, lends, and says why it can't", () =>
    Effect.gen(function*() {
      const { base, member, page: folder } = yield* opened
      yield* member("ann")
      const { builtins, code } = yield* bundledForBrowser(path.join(tutorial, "browser.ts"))
      assert.deepStrictEqual(builtins, [])
      cpSync(path.join(tutorial, "index.html"), path.join(folder, "index.html"))
      writeFileSync(path.join(folder, "browser.js"), code)
      const browser = yield* open
      const page = yield* Effect.promise(() => browser.newPage())
      const problems: Array<string> = []
      page.on("pageerror", ({ message }) => problems.push(message))
      yield* Effect.promise(() => page.goto(base))
      const shows = (text: string) => Effect.promise(() => page.getByText(text).waitFor())
      const press = (button: string) => Effect.promise(() => page.getByRole("button", { name: button }).click())
      yield* shows("Emma by Jane Austen, 1 on the shelf")
      yield* press("Borrow")
      yield* shows("Sign in first")
      yield* Effect.promise(() => page.getByPlaceholder("Address").fill("ann@example.com"))
      yield* Effect.promise(() => page.getByPlaceholder("Password").fill(password))
      yield* press("Sign in")
      yield* shows("Books that you have: 0")
      yield* press("Borrow")
      yield* shows("Yours until")
      yield* shows("Emma by Jane Austen, 0 on the shelf")
      yield* press("Borrow")
      yield* shows("All copies are lent")
      assert.deepStrictEqual(problems, [])
    }))
})

it("the chapters of the tutorial end as its example", () => {
  const chapters = ["models", "resources", "actions", "access", "browser", "production"]
  const shown = new Map(chapters.flatMap((chapter) => {
    const text = readFileSync(path.join(root, `docs/tutorial/${chapter}.md`), "utf8")
    return [...text.matchAll(/^```\w+ (?:check )?file=(\S+)\n(.*?)^```$/gmsu)].map(([, file, code]) =>
      [file ?? "", code ?? ""] as const
    )
  }))
  const files = globSync("*.{ts,html}", { cwd: tutorial }).toSorted()
  assert.isAbove(files.length, 0)
  for (const file of files) assert.strictEqual(shown.get(file), readFileSync(path.join(tutorial, file), "utf8"), file)
})
