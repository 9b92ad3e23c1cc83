import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { execFile, spawn } from "node:child_process"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { freshDirectory } from "../support/folders.ts"
import { freshDatabase, onMongo } from "../support/mongo.ts"
import { complaintsOf, freePort, patient, printed, type Program, programOf, runProgram } from "../support/processes.ts"

const shop = "examples/shop/main.ts"
const ada = { name: "Ada Lovelace", email: "ada@example.com", password: "analytical engine" }

const request = (url: string, options?: RequestInit) =>
  Effect.promise(async () => {
    const response = await fetch(url, options)
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) }
  })

const post = (url: string, body: unknown) =>
  request(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })

type Environment = { readonly [name: string]: string }

const start = Effect.fnUntraced(function*(env: Environment) {
  const port = yield* freePort
  const program = yield* runProgram(shop, { ...patient, ...env, APPKERNEL_SERVER_PORT: String(port) })
  yield* printed(program, "Try next:")
  return { program, base: `http://127.0.0.1:${port}/api/v1` }
})

type Started = Effect.Success<ReturnType<typeof start>>

/** The shop as the README starts it. Its processes are a group, which is killed when the scope closes. */
const npmStart = (env: NodeJS.ProcessEnv) =>
  Effect.acquireRelease(
    Effect.sync((): Program => {
      const started = spawn("npm", ["start"], {
        env: { ...patient, ...env },
        detached: true,
        stdio: ["ignore", "pipe", "pipe"]
      })
      return programOf(started)
    }),
    ({ ended, process: { pid } }) =>
      Effect.andThen(
        Effect.ignore(Effect.try(() => process.kill(-(pid ?? 0), "SIGKILL"))),
        ended
      )
  )

const stop = Effect.fnUntraced(
  function*({ program }: Started, signal: NodeJS.Signals) {
    program.process.kill(signal)
    return yield* program.ended
  }
)

/** Why it did not start. That it made keys is no failure. */
const failuresOf = (program: Program) =>
  complaintsOf(program).filter((line) => !line.includes("There are no keys for tokens: a pair was made"))

/** The password of the administrator, who is made at the first start. */
const shownPassword = ({ program }: Started): string => {
  const [, password = ""] = /with the password (\S+)\. /u.exec(program.output()) ?? []
  return password
}

const adminOf = ({ base }: Started, password: string) =>
  Effect.map(
    post(`${base}/token`, { grant_type: "password", username: "admin@shop.example", password }),
    ({ body }) => ({ authorization: `Bearer ${body.access_token}` })
  )

const password = "maple-meadow-645"

/** The two programs that have served. */
const serves = (env: Environment) =>
  Effect.gen(function*() {
    const first = yield* start(env)
    const headers = yield* adminOf(first, shownPassword(first))
    const page = yield* request(`${first.base}/products?page_size=3&sort_by=price`)
    assert.strictEqual(page.status, 200, JSON.stringify(page.body))
    assert.strictEqual(page.body._items.length, 3)
    assert.include(page.body._links.last.href, "page=40")
    assert.strictEqual((yield* request(`${first.base}/orders`)).status, 401)
    const orders = yield* request(`${first.base}/orders?expand=customer,lines.product`, { headers })
    // Every order is of a user, by their id, and has products.
    const { _embedded, customer, lines: [line] } = orders.body._items[0]
    assert.strictEqual(line._type, "OrderLine")
    const bought = yield* request(`${first.base}/products/${line.product}`, { headers })
    assert.deepStrictEqual(_embedded["lines.product"][0], bought.body)
    const { body: owner } = yield* request(`${first.base}/users/${customer}`, { headers })
    assert.deepStrictEqual([_embedded.customer, owner.id], [owner, customer])

    const created = yield* post(`${first.base}/users`, ada)
    assert.strictEqual(created.status, 201)
    const { body: user } = yield* request(`${first.base}/users/${created.body.result}`, { headers })
    assert.deepStrictEqual([user.name, user.roles, user.version], ["Ada Lovelace", ["user"], 1])
    assert.strictEqual((yield* request(`${first.base}/users/U-none`, { headers })).status, 404)
    const notAllowed = yield* request(`${first.base}/products/${page.body._items[0].id}`, { method: "DELETE" })
    assert.strictEqual(notAllowed.status, 405)
    const bad = yield* post(`${first.base}/users`, { name: "", email: "x" })
    assert.strictEqual(bad.status, 400)
    assert.sameMembers(bad.body.errors.map(({ field }: { field: string }) => field), ["name", "email", "password"])
    assert.strictEqual((yield* post(`${first.base}/users`, ada)).status, 409)
    // Nobody opens a second account by another case.
    const shouted = "ADA@Example.com"
    assert.strictEqual((yield* post(`${first.base}/users`, { ...ada, email: shouted })).status, 409)
    const grant = { grant_type: "password", username: ` ${shouted} `, password: ada.password }
    assert.strictEqual((yield* post(`${first.base}/token`, grant)).status, 200)
    assert.notStrictEqual(yield* stop(first, "SIGTERM"), "SIGKILL")

    const second = yield* start(env)
    // The keys are those of before.
    const again = yield* request(`${second.base}/users/${created.body.result}`, { headers })
    assert.deepStrictEqual([again.status, again.body], [200, user])
    const total = yield* request(`${second.base}/users?page_size=1`, { headers })
    assert.include(total.body._links.last.href, "page=62")
    assert.notInclude(second.program.output(), "Filled")
    assert.strictEqual(shownPassword(second), "")
    yield* adminOf(second, shownPassword(first))
    yield* changesPassword(second.base)
    return { first, second, headers }
  })

/** The commands that a start prints to try, as a user copies them. */
const suggestedIn = ({ program }: Started): string => {
  const [, suggested = ""] = /Try next:\n([^]*?)\n *a browser at/u.exec(program.output()) ?? []
  return suggested.split("\n").filter((line) => line.startsWith("  ")).join("\n")
}

/** What a script prints, run by `sh`; each command prints one line. */
const printedBySh = (script: string) =>
  Effect.promise(() =>
    new Promise<ReadonlyArray<string>>((resolve, reject) => {
      const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` }
      execFile(
        "sh",
        ["-e", "-c", script.replaceAll("curl ", "curl -sS -w '\\n' ")],
        { env },
        (error, stdout, stderr) =>
          error === null ? resolve(stdout.trim().split("\n")) : reject(new Error(`${error.message}\n${stderr}`))
      )
    })
  )

describe("the first start of the shop / embedded", () => {
  it.live("takes no short password", () =>
    Effect.gen(function*() {
      const env = { APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data") }
      const short = yield* runProgram(shop, { ...env, APPKERNEL_SERVER_PORT: "0", SHOP_ADMIN_PASSWORD: "tiny" })
      assert.strictEqual(yield* short.ended, 1)
      assert.lengthOf(failuresOf(short), 1)
      assert.include(short.output(), "The configuration is wrong: SHOP_ADMIN_PASSWORD")
      assert.notInclude(short.output(), "tiny")
    }))

  it.live(
    "by npm, stopped with its processes, says that it is not ready until it ends, and starts again at once",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const env = {
          PATH: process.env["PATH"],
          HOME: process.env["HOME"],
          APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data"),
          APPKERNEL_SERVER_PORT: String(port),
          APPKERNEL_SERVER_SHUTDOWN_DELAY: "2 seconds"
        }
        const ready = Effect.map(
          request(`http://127.0.0.1:${port}/health/ready`),
          ({ body, status }) => [status, body] as const
        )
        const first = yield* npmStart(env)
        yield* printed(first, "a browser at")
        assert.deepStrictEqual(yield* ready, [200, { status: "ok" }])
        // As a terminal and systemd do: npm, its shell and the service get it.
        process.kill(-(first.process.pid ?? 0), "SIGTERM")
        yield* printed(first, "Stopping in 2s: the service is not ready any more")
        assert.deepStrictEqual(yield* ready, [503, { status: "stopping" }])
        yield* first.ended
        assert.include(first.output(), "Stopping: no more requests")
        const second = yield* npmStart(env)
        yield* printed(second, "a browser at")
        assert.deepStrictEqual(yield* ready, [200, { status: "ok" }])
      })
  )
})

/** A new password on one device, which another device has to know then; and back to the old one. */
const changesPassword = Effect.fnUntraced(function*(base: string) {
  const password = "difference engine"
  const signIn = (password: string) =>
    Effect.map(post(`${base}/token`, { grant_type: "password", username: ada.email, password }), ({ body }) => body)
  const renew = ({ refresh_token }: { readonly refresh_token: string }) =>
    Effect.map(post(`${base}/token`, { grant_type: "refresh_token", refresh_token }), ({ status }) => status)
  const phone = yield* signIn(ada.password)
  const desk = yield* signIn(ada.password)
  const headers = { authorization: `Bearer ${desk.access_token}`, "content-type": "application/json" }
  const { sub } = JSON.parse(Buffer.from(desk.access_token.split(".")[1], "base64url").toString())
  const changed = yield* request(`${base}/users/${sub}/change_password`, {
    method: "POST",
    headers,
    body: JSON.stringify({ current_password: ada.password, new_password: password })
  })
  assert.strictEqual(changed.status, 200)
  assert.deepStrictEqual([yield* renew(phone), yield* renew(desk)], [400, 200])
  const tablet = yield* signIn(password)
  const back = { method: "PATCH", headers, body: JSON.stringify({ password: ada.password }) }
  assert.strictEqual((yield* request(`${base}/users/${sub}`, back)).status, 200)
  assert.strictEqual(yield* renew(tablet), 400)
})

/** An order, its payment and its receipt, by a user who signs out at the end. */
const buys = Effect.fnUntraced(function*(base: string) {
  const { body: tokens } = yield* post(`${base}/token`, {
    grant_type: "password",
    username: ada.email,
    password: ada.password
  })
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  const send = (path: string, body: unknown) =>
    request(`${base}/${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
  const { body: products } = yield* request(`${base}/products?stock=>10&page_size=1`)
  const [{ id: product, price }] = products._items
  const { body: { result: order } } = yield* send("orders", { lines: [{ product, quantity: 2, price }] })
  const paid = yield* send("payments/pay", { order, amount: Math.round(200 * price) / 100, method: "card" })
  assert.deepStrictEqual([paid.status, paid.body.order], [200, order])
  const receipt = yield* request(`${base}/payments/${paid.body.payment}`, { headers })
  assert.deepStrictEqual([receipt.status, receipt.body], [200, paid.body])
  const { body: { state } } = yield* request(`${base}/orders/${order}`, { headers })
  assert.strictEqual(state, "paid")
  const refreshed = { grant_type: "refresh_token", refresh_token: tokens.refresh_token }
  assert.strictEqual((yield* post(`${base}/token/revoke`, { token: tokens.refresh_token })).status, 200)
  assert.strictEqual((yield* post(`${base}/token`, refreshed)).status, 400)
})

describe("the shop / embedded", () => {
  it.live(
    "takes money as npm starts it, on a port that the system chooses, and is as it was after its processes were killed",
    () =>
      Effect.gen(function*() {
        const env = {
          PATH: process.env["PATH"],
          HOME: process.env["HOME"],
          APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data"),
          APPKERNEL_SERVER_PORT: "0"
        }
        const startShop = Effect.fnUntraced(function*() {
          const program = yield* npmStart(env)
          yield* printed(program, "a browser at")
          const [, address] = /The shop is open at (\S+),/u.exec(program.output()) ?? []
          return { program, base: `${address}/api/v1` }
        })
        const first = yield* startShop()
        assert.strictEqual((yield* post(`${first.base}/users`, ada)).status, 201)
        yield* buys(first.base)
        const headers = yield* adminOf(first, shownPassword(first))
        const usersOf = ({ base }: Started) =>
          Effect.map(request(`${base}/users?page_size=1000`, { headers }), ({ body }) => body._items)
        const users = yield* usersOf(first)
        assert.lengthOf(users, 62)
        // The group of processes: npm, its shell, and the service.
        process.kill(-(first.program.process.pid ?? 0), "SIGKILL")
        const second = yield* startShop()
        // The keys are those of before, too.
        assert.deepStrictEqual(yield* usersOf(second), users)
        assert.notInclude(second.program.output(), "The administrator is")
        yield* buys(second.base)
      })
  )

  it.live("serves its resources, keeps them over a restart, and shows its administrator's password once, not in the log", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const file = join(folder, "shop.log")
      const env = { APPKERNEL_EMBEDDED_PATH: join(folder, "data"), APPKERNEL_LOGGING_FILE_NAME: file }
      const { first, headers, second } = yield* serves(env)
      const shown = shownPassword(first)
      assert.match(shown, /^[\w-]{16}$/u)
      assert.lengthOf(first.program.output().split(shown), 2)
      const { body: admin } = yield* request(`${second.base}/users?name=Administrator`, { headers })
      assert.deepStrictEqual(
        admin._items.map(({ email, roles }: { email: string; roles: ReadonlyArray<string> }) => [email, roles]),
        [["admin@shop.example", ["admin"]]]
      )
      assert.notInclude(second.program.output(), "The administrator is")
      yield* stop(second, "SIGTERM")
      const log = readFileSync(file, "utf8")
      assert.include(log, "Listening on")
      assert.notInclude(log, shown)
    }))

  it.live("fails to start with a one-line error when the port is in use", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const server = createServer().listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const env = { APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data"), APPKERNEL_SERVER_PORT: String(port) }
      const program = yield* runProgram(shop, { ...env, SHOP_ADMIN_PASSWORD: password })
      assert.strictEqual(yield* program.ended, 1)
      const lines = failuresOf(program)
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0] ?? "", `Can't listen on 127.0.0.1:${port}: the port is in use`)
    }))

  it.live("fails to start with a one-line error when the folder is not writable", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      // A file in the place of the folder can't be written even by root.
      const path = join(directory, "file")
      writeFileSync(path, "")
      chmodSync(path, 0o400)
      const program = yield* runProgram(shop, { APPKERNEL_EMBEDDED_PATH: path, APPKERNEL_SERVER_PORT: "0" })
      assert.strictEqual(yield* program.ended, 1)
      const lines = failuresOf(program)
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0] ?? "", path)
    }))

  it.live(
    "ends the start with one clear line when a value of the configuration is wrong",
    () =>
      Effect.gen(function*() {
        const env = { APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data"), APPKERNEL_SERVER_PORT: "many" }
        const program = yield* runProgram(shop, env)
        assert.strictEqual(yield* program.ended, 1)
        const lines = failuresOf(program)
        assert.strictEqual(lines.length, 1)
        assert.include(lines[0] ?? "", "The configuration is wrong: APPKERNEL_SERVER_PORT")
      })
  )
})

/** A shop whose administrator has a configured password. The last test kills it. */
class Configured
  extends Context.Service<Configured, Effect.Success<typeof configured>>()("appkernel/test/examples/shop/Configured")
{}

const configured = Effect.gen(function*() {
  const env = { APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data") }
  const started = yield* start({ ...env, SHOP_ADMIN_PASSWORD: password })
  return { ...started, env, headers: yield* adminOf(started, password) }
})

layer(Layer.effect(Configured, configured), { excludeTestServices: true })("the shop in use / embedded", (it) => {
  it.effect("takes a configured password, and shows none", () =>
    Effect.gen(function*() {
      const { base, headers, program } = yield* Configured
      assert.strictEqual((yield* request(`${base}/orders`, { headers })).status, 200)
      assert.notInclude(program.output(), password)
      assert.notInclude(program.output(), "The administrator is")
    }))

  it.effect("prints commands that work as they are, a sign-in included", () =>
    Effect.gen(function*() {
      const started = yield* Configured
      yield* printed(started.program, "a browser at")
      const answers = yield* printedBySh(suggestedIn(started))
      const [cheapest, filtered, schema, created, users, orders, revisions] = answers.map((line) => JSON.parse(line))
      assert.lengthOf(answers, 7)
      assert.lengthOf(cheapest._items, 3)
      assert.isNotEmpty(filtered._items)
      assert.strictEqual(schema.title, "Product")
      assert.strictEqual(created._type, "OperationResult")
      assert.deepStrictEqual(users._items.map(({ id }: { id: string }) => id), [created.result])
      assert.lengthOf(orders._items[0]._embedded["lines.product"], 1)
      assert.deepStrictEqual(revisions._items.map(({ change }: { change: string }) => change), ["insert"])
    }))

  it.effect(
    "describes its models: by JSON schema, for MongoDB as well, and with labels in English and German",
    () =>
      Effect.gen(function*() {
        const { base, headers: admin } = yield* Configured
        const schema = yield* request(`${base}/products/schema`)
        assert.strictEqual(schema.body.$schema, "http://json-schema.org/draft-04/schema#")
        assert.deepInclude(schema.body.properties.price, { type: "number", minimum: 0, maximum: 100_000 })
        const mongo = yield* request(`${base}/products/schema?mongo=true`)
        assert.deepInclude(mongo.body, { bsonType: "object" })
        assert.strictEqual(mongo.body.properties.added.bsonType, "date")
        assert.strictEqual(mongo.body.properties._id.bsonType, "string")
        const labelOf = (language: string) =>
          Effect.map(
            request(`${base}/products/meta`, { headers: { "accept-language": language } }),
            ({ body, headers }) => [headers.get("content-language"), body.price.label, body.currency.type]
          )
        assert.deepStrictEqual(yield* labelOf("en-GB, de;q=0.5"), ["en", "Price", "Currency"])
        assert.deepStrictEqual(yield* labelOf("de-CH"), ["de", "Preis", "Currency"])
        const serviceOf = (language: string) =>
          Effect.map(
            request(`${new URL(base).origin}/explorer/openapi.json`, {
              headers: { ...admin, "accept-language": language }
            }),
            ({ body }) => [body["x-labels"].users_v2.label, body["x-labels"]["users_v2.list"].label]
          )
        assert.deepStrictEqual(yield* serviceOf("en"), ["Customers, second version", "List customers"])
        assert.deepStrictEqual(yield* serviceOf("de"), ["Kunden, zweite Fassung", "Kunden auflisten"])
        const body = JSON.stringify({ code: "x", name: "", price: 1e9, currency: "CHF", stock: 1, tags: ["a", "a"] })
        const headers = { ...admin, "content-type": "application/json", "accept-language": "de" }
        const bad = yield* request(`${base}/products`, { method: "POST", headers, body })
        assert.deepStrictEqual(
          bad.body.errors.map(({ message, validator }: { message: string; validator: string }) => [validator, message]),
          [
            [
              "Regexp",
              "Artikelnummer: drei Großbuchstaben, ein Bindestrich und vier Ziffern erwartet, zum Beispiel ABC-1234"
            ],
            ["NotEmpty", "Name: leere Angabe nicht erlaubt"],
            ["Max", "Preis: höchstens 100.000 erlaubt"],
            ["Unique", "Schlagwörter: kein Eintrag zweimal erlaubt"]
          ]
        )
      })
  )

  it.effect("keeps every acknowledged write when it is killed", () =>
    Effect.gen(function*() {
      const first = yield* Configured
      const answered: Array<string> = []
      const writer = (_: unknown, at: number) =>
        Effect.promise(async () => {
          for (let i = 0; i < 500; i++) {
            const code = `NEW-${String(500 * at + i).padStart(4, "0")}`
            const body = JSON.stringify({ id: `P-${code}`, code, name: "Lamp", price: 1, currency: "CHF", stock: 1 })
            const headers = { ...first.headers, "content-type": "application/json" }
            const response = await fetch(`${first.base}/products`, { method: "POST", headers, body }).catch(() =>
              undefined
            )
            if (response?.status !== 201) return
            answered.push(`P-${code}`)
          }
        })
      const killer = Effect.gen(function*() {
        while (answered.length < 100) yield* Effect.sleep("5 millis")
        yield* stop(first, "SIGKILL")
      })
      yield* Effect.all([killer, ...Array.from({ length: 16 }, writer)], {
        concurrency: "unbounded"
      })
      assert.isAtLeast(answered.length, 100)
      const second = yield* start(first.env)
      for (const id of answered) {
        assert.strictEqual((yield* request(`${second.base}/products/${id}`)).status, 200)
      }
    }))
})

describe("the shop / mongodb", () => {
  it.live("fails to start with a one-line error when MongoDB is unreachable", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const env = {
        APPKERNEL_MONGO_HOST: `mongodb://someone:canary-password@127.0.0.1:${port}`,
        APPKERNEL_SERVER_PORT: "0"
      }
      const program = yield* runProgram(shop, env)
      assert.strictEqual(yield* program.ended, 1)
      const lines = failuresOf(program)
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0] ?? "", `127.0.0.1:${port}`)
      assert.notInclude(program.output(), "canary-password")
    }))
})

onMongo("the shop on a server / mongodb", (_, server) => {
  it.live("serves its resources, and keeps them over a restart", () =>
    Effect.gen(function*() {
      yield* serves({
        APPKERNEL_MONGO_HOST: server.url,
        APPKERNEL_MONGO_DB: yield* freshDatabase(server),
        // The keys are there.
        APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data")
      })
    }))
})
