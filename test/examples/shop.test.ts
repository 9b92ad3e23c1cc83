import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { freshDirectory } from "../support/folders.ts"
import { freshDatabase, onMongo } from "../support/mongo.ts"
import { complaintsOf, freePort, printed, runProgram } from "../support/processes.ts"

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
  const program = yield* runProgram(shop, { ...env, APPKERNEL_SERVER_PORT: String(port) })
  yield* printed(program, "Try next:")
  return { program, base: `http://127.0.0.1:${port}/api/v1` }
})

const stop = Effect.fnUntraced(
  function*({ program }: Effect.Success<ReturnType<typeof start>>, signal: NodeJS.Signals) {
    program.process.kill(signal)
    return yield* program.ended
  }
)

const serves = (env: Environment) =>
  Effect.gen(function*() {
    const first = yield* start(env)
    const page = yield* request(`${first.base}/products?page_size=3&sort_by=price`)
    assert.strictEqual(page.status, 200)
    assert.strictEqual(page.body._items.length, 3)
    assert.include(page.body._links.last.href, "page=40")
    assert.strictEqual((yield* request(`${first.base}/orders`)).body._items[0].lines[0]._type, "OrderLine")

    const created = yield* post(`${first.base}/users`, ada)
    assert.strictEqual(created.status, 201)
    const { body: user } = yield* request(`${first.base}/users/${created.body.result}`)
    assert.deepStrictEqual([user.name, user.roles, user.version], ["Ada Lovelace", ["user"], 1])
    assert.strictEqual((yield* request(`${first.base}/users/U-none`)).status, 404)
    const notAllowed = yield* request(`${first.base}/products/${page.body._items[0].id}`, { method: "DELETE" })
    assert.strictEqual(notAllowed.status, 405)
    const bad = yield* post(`${first.base}/users`, { name: "", email: "x" })
    assert.strictEqual(bad.status, 400)
    assert.sameMembers(bad.body.errors.map(({ field }: { field: string }) => field), ["name", "email", "password"])
    assert.strictEqual((yield* post(`${first.base}/users`, ada)).status, 409)
    // What it says can be tried finds something.
    yield* printed(first.program, "a browser at")
    const suggested = Array.from(first.program.output().matchAll(/curl '(\S+\?\S+)'/g), ([, url = ""]) => url)
    assert.lengthOf(suggested, 3)
    for (const url of suggested) assert.isNotEmpty((yield* request(url)).body._items)
    assert.notStrictEqual(yield* stop(first, "SIGTERM"), "SIGKILL")

    const second = yield* start(env)
    const again = yield* request(`${second.base}/users/${created.body.result}`)
    assert.deepStrictEqual([again.status, again.body], [200, user])
    const total = yield* request(`${second.base}/users?page_size=1`)
    assert.include(total.body._links.last.href, "page=61")
    assert.notInclude(second.program.output(), "Filled")
  })

describe("the shop / embedded", () => {
  it.live("serves its resources, and keeps them over a restart", () =>
    Effect.gen(function*() {
      yield* serves({ APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data") })
    }), 60_000)

  it.live(
    "describes its models: by JSON schema, for MongoDB as well, and with labels in English and German",
    () =>
      Effect.gen(function*() {
        const { base } = yield* start({ APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data") })
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
        const body = JSON.stringify({ code: "x", name: "", price: 1e9, currency: "CHF", stock: 1, tags: ["a", "a"] })
        const headers = { "content-type": "application/json", "accept-language": "de" }
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
      }),
    60_000
  )

  it.live("keeps every acknowledged write when it is killed", () =>
    Effect.gen(function*() {
      const env = { APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data") }
      const first = yield* start(env)
      const answered: Array<string> = []
      const writer = (name: string) =>
        Effect.promise(async () => {
          for (let i = 0; i < 10_000; i++) {
            const body = JSON.stringify({ ...ada, email: `${name}.${i}@example.com`, id: `U-${name}-${i}` })
            const headers = { "content-type": "application/json" }
            const response = await fetch(`${first.base}/users`, { method: "POST", headers, body }).catch(() =>
              undefined
            )
            if (response?.status !== 201) return
            answered.push(`U-${name}-${i}`)
          }
        })
      const killer = Effect.gen(function*() {
        while (answered.length < 100) yield* Effect.sleep("5 millis")
        yield* stop(first, "SIGKILL")
      })
      yield* Effect.all([killer, ...Array.from({ length: 16 }, (_, i) => writer(`w${i}`))], {
        concurrency: "unbounded"
      })
      assert.isAtLeast(answered.length, 100)
      const second = yield* start(env)
      for (const id of answered) assert.strictEqual((yield* request(`${second.base}/users/${id}`)).status, 200)
    }), 60_000)

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
      const program = yield* runProgram(shop, env)
      assert.strictEqual(yield* program.ended, 1)
      const lines = complaintsOf(program)
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0] ?? "", `Can't listen on 127.0.0.1:${port}: the port is in use`)
    }), 60_000)

  it.live("fails to start with a one-line error when the folder is not writable", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      // A file in the place of the folder can't be written even by root.
      const path = join(directory, "file")
      writeFileSync(path, "")
      chmodSync(path, 0o400)
      const program = yield* runProgram(shop, { APPKERNEL_EMBEDDED_PATH: path, APPKERNEL_SERVER_PORT: "0" })
      assert.strictEqual(yield* program.ended, 1)
      const lines = complaintsOf(program)
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0] ?? "", path)
    }), 60_000)

  it.live(
    "ends the start with one clear line when a value of the configuration is wrong",
    () =>
      Effect.gen(function*() {
        const env = { APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data"), APPKERNEL_SERVER_PORT: "many" }
        const program = yield* runProgram(shop, env)
        assert.strictEqual(yield* program.ended, 1)
        const lines = complaintsOf(program)
        assert.strictEqual(lines.length, 1)
        assert.include(lines[0] ?? "", "The configuration is wrong: APPKERNEL_SERVER_PORT")
      }),
    60_000
  )
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
      const lines = complaintsOf(program)
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0] ?? "", `127.0.0.1:${port}`)
      assert.notInclude(program.output(), "canary-password")
    }), 60_000)
})

onMongo("the shop on a server / mongodb", (_, server) => {
  it.live("serves its resources, and keeps them over a restart", () =>
    Effect.gen(function*() {
      yield* serves({ APPKERNEL_MONGO_HOST: server.url, APPKERNEL_MONGO_DB: yield* freshDatabase(server) })
    }), 60_000)
})
