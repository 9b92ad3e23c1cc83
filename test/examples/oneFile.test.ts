import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { createHmac, hash } from "node:crypto"
import { readdirSync, statSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { freshDirectory } from "../support/folders.ts"
import { freePort, printed, runProgram } from "../support/processes.ts"

const send = (url: string, options?: RequestInit) =>
  Effect.promise(async () => {
    const response = await fetch(url, { redirect: "manual", ...options })
    const text = await response.text()
    const isJson = response.headers.get("content-type") === "application/json"
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  })

const post = (url: string, body: unknown) =>
  send(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })

/** Runs an example on a free port, with a store of its own; the result is where it listens. */
const started = Effect.fnUntraced(function*(example: string, env: { readonly [name: string]: string } = {}) {
  const port = yield* freePort
  const base = `http://127.0.0.1:${port}`
  const program = yield* runProgram(`examples/${example}.ts`, {
    APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data"),
    APPKERNEL_SERVER_PORT: String(port),
    ...env
  })
  yield* printed(program, `Listening on ${base}`)
  return base
})

describe("the quickstart", () => {
  it.live("keeps notes", () =>
    Effect.gen(function*() {
      const notes = `${yield* started("quickstart")}/api/v1/notes`
      const created = yield* post(notes, { text: "buy milk" })
      assert.strictEqual(created.status, 201)
      const { body } = yield* send(`${notes}/${created.body.result}`)
      assert.deepStrictEqual([body.text, body.tags], ["buy milk", []])
      assert.strictEqual((yield* post(notes, { text: "" })).status, 400)
    }))
})

describe("the bookings", () => {
  const day = (hour: number) => `2100-01-01T${hour}:00:00.000000`

  const room = Effect.fnUntraced(function*(base: string) {
    const { body } = yield* post(`${base}/api/v1/rooms`, { name: "Jungfrau", seats: 8 })
    return { room: body.result, bookings: `${base}/api/v1/bookings` }
  })

  it.live("one of many concurrent bookings of a room at one time succeeds", () =>
    Effect.gen(function*() {
      const base = yield* started("bookings")
      const { bookings, room: id } = yield* room(base)
      const book = (from: string, to: string) => post(bookings, { room: id, title: "Review", from, to })
      const answers = yield* Effect.all(Array.from({ length: 10 }, () => book(day(10), day(12))), { concurrency: 10 })
      const first = answers.find(({ status }) => status === 201)
      assert.strictEqual(answers.filter(({ status }) => status === 409).length, 9)
      assert.deepStrictEqual((yield* book(day(11), day(13))).body, {
        _type: "ErrorMessage",
        code: 409,
        error: "RoomTaken",
        message: "The room is taken at that time",
        booking: first?.body.result
      })
      assert.strictEqual((yield* book(day(12), day(13))).status, 201)
      const wrong = yield* book(day(13), day(12))
      assert.deepStrictEqual([wrong.status, wrong.body.errors[0].field], [400, "to"])
      assert.strictEqual((yield* send(`${base}/api/v1/rooms/${id}`)).body.times_booked, 2, "as often as it was booked")
      const slot = { room: id, title: "Review", from: day(20), to: day(21) }
      const twice = yield* post(bookings, [slot, slot])
      assert.deepStrictEqual([twice.status, twice.body.error], [409, "RoomTaken"])
      assert.strictEqual((yield* post(bookings, slot)).status, 201)
      const nowhere = yield* post(bookings, { room: "R-none", title: "Review", from: day(10), to: day(11) })
      assert.strictEqual(nowhere.status, 404)
    }))

  it.live(
    "moves and cancels bookings, unless the room is taken or the booking has begun",
    () =>
      Effect.gen(function*() {
        const { bookings, room: id } = yield* room(yield* started("bookings"))
        const { body: morning } = yield* post(bookings, { room: id, title: "Review", from: day(10), to: day(11) })
        const { body: evening } = yield* post(bookings, { room: id, title: "Party", from: day(18), to: day(22) })
        const reschedule = (from: string, to: string) => post(`${bookings}/${morning.result}/reschedule`, { from, to })
        const taken = yield* reschedule(day(21), day(23))
        assert.deepStrictEqual([taken.status, taken.body.error, taken.body.booking], [409, "RoomTaken", evening.result])
        assert.strictEqual((yield* reschedule(day(16), day(15))).status, 400)
        const { body: unmoved } = yield* send(`${bookings}/${morning.result}`)
        assert.deepStrictEqual([unmoved.from, unmoved.version], [day(10), 1], "a refused move leaves no trace")
        const moved = yield* reschedule(day(16), day(18))
        assert.deepStrictEqual([moved.status, moved.body.from, moved.body.version], [200, day(16), 2])

        assert.strictEqual((yield* send(`${bookings}/${evening.result}`, { method: "DELETE" })).status, 200)
        assert.strictEqual((yield* send(`${bookings}/${evening.result}`)).status, 404)
        assert.strictEqual((yield* reschedule(day(21), day(23))).status, 200, "what is cancelled takes no room")
        const { body: past } = yield* post(bookings, {
          room: id,
          title: "Kick-off",
          from: "2001-01-01T10:00:00Z",
          to: "2001-01-01T11:00:00Z"
        })
        const begun = yield* send(`${bookings}/${past.result}`, { method: "DELETE" })
        assert.deepStrictEqual([begun.status, begun.body.error], [409, "AlreadyBegun"])
      })
  )
})

describe("the contract", () => {
  it.live("is all that its client loads, and its server serves it", () =>
    Effect.gen(function*() {
      const base = yield* started("contract/server")
      const client = yield* runProgram("examples/contract/client.ts", {}, [], [base])
      assert.strictEqual(yield* client.ended, 0, client.output())
      assert.deepStrictEqual(client.output().trim().split("\n"), [
        "Buy milk is done: true",
        "Already done",
        "The board takes no more tasks, 3 are open",
        "{ done: 0, open: 3 }"
      ])
      const { body } = yield* send(`${base}/openapi.json`)
      assert.property(body.paths, "/api/v1/boards/{board}/progress")
    }))
})

describe("the link shortener", () => {
  it.live("leads from short addresses to long ones, and counts", () =>
    Effect.gen(function*() {
      const base = yield* started("shortener", { SHORTENER_PUBLIC_URL: "https://sho.rt" })
      const { body } = yield* post(`${base}/links`, { url: "https://effect.website/docs" })
      assert.match(body.result, /^https:\/\/sho\.rt\/[a-z0-9]{6}$/u)
      const code = body.result.slice(-6)
      const visit = yield* send(`${base}/${code}`)
      assert.deepStrictEqual([visit.status, visit.headers.get("location")], [302, "https://effect.website/docs"])
      assert.strictEqual((yield* send(`${base}/links/${code}`)).body.visits, 1)
      assert.strictEqual((yield* send(`${base}/none`)).status, 404)
      const unknown = yield* send(`${base}/links/none`)
      assert.deepStrictEqual([unknown.status, unknown.body.error], [404, "UnknownLink"])
      const wrong = yield* post(`${base}/links`, { url: "javascript:alert(1)" })
      assert.deepStrictEqual([wrong.status, wrong.body.errors[0].validator], [400, "WebAddress"])
    }))

  it.live("redirects unknown codes to the address that its partner knows", () =>
    Effect.gen(function*() {
      const partner = yield* started("shortener")
      const { body } = yield* post(`${partner}/links`, { url: "https://effect.website/docs" })
      const base = yield* started("shortener", { SHORTENER_PARTNER: partner })
      const visit = yield* send(`${base}/${body.result.slice(-6)}`)
      assert.deepStrictEqual([visit.status, visit.headers.get("location")], [302, "https://effect.website/docs"])
      assert.strictEqual((yield* send(`${base}/none`)).status, 404)
      const alone = yield* started("shortener", { SHORTENER_PARTNER: `http://127.0.0.1:${yield* freePort}` })
      assert.strictEqual((yield* send(`${alone}/none`)).status, 502)
    }))

  it.live("fails to start when the program's own configuration is invalid", () =>
    Effect.gen(function*() {
      const program = yield* runProgram("examples/shortener.ts", {
        APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data"),
        SHORTENER_PARTNER: "nowhere"
      })
      assert.strictEqual(yield* program.ended, 1)
      assert.match(program.output(), /shortener\.partner \(SHORTENER_PARTNER\) must be a URL/u)
      assert.notInclude(program.output(), "Listening")
    }))
})

describe("the invoices", () => {
  const until = (holds: () => boolean) =>
    Effect.repeat(Effect.sync(holds), { until: (held) => held, schedule: Schedule.spaced("20 millis") })

  const folderOf = Effect.map(freshDirectory, (folder) => join(folder, "scans"))

  const upload = (url: string, bytes: Uint8Array<ArrayBuffer>) => {
    const body = new FormData()
    body.set("scan", new Blob([bytes]), "paper.pdf")
    return send(url, { method: "POST", body })
  }

  it.live("are a table, whose cells are quoted", () =>
    Effect.gen(function*() {
      const base = yield* started("invoices")
      const { body } = yield* post(`${base}/invoices`, { customer: "ACME, \"Inc.\"", cents: 1200 })
      const table = yield* send(`${base}/invoices.csv`)
      assert.strictEqual(table.headers.get("content-type"), "text/csv; charset=utf-8")
      const line = `"${body.result}","ACME, ""Inc.""","1200","0"`
      assert.strictEqual(table.body, `id,customer,cents,paid\r\n${line}\r\n`)
    }))

  it.live("keep a scan when it is complete, and nothing of one that is too large or cut", () =>
    Effect.gen(function*() {
      const folder = yield* folderOf
      const base = yield* started("invoices", { SCANS: folder })
      // A client may choose an identifier, which is no path.
      const id = "../../I1"
      yield* post(`${base}/invoices`, { id, customer: "ACME", cents: 1 })
      const target = `/invoices/${encodeURIComponent(id)}/scan`
      const url = `${base}${target}`
      const bytes = crypto.getRandomValues(new Uint8Array(60_000))
      const scanned = yield* upload(url, bytes)
      assert.deepStrictEqual([scanned.status, scanned.body.scanned], [200, 60_000])
      const stored = () => readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size])
      const complete = [[hash("sha256", id), 60_000]]
      assert.deepStrictEqual(stored(), complete)
      assert.strictEqual((yield* upload(url, new Uint8Array(20_000_001))).status, 413)
      assert.strictEqual((yield* upload(`${base}/invoices/I0/scan`, bytes)).status, 404)
      // The client goes in the middle of the file.
      const { hostname, port } = new URL(base)
      const socket = connect(Number(port), hostname)
      const part = "--x\r\ncontent-disposition: form-data; name=\"scan\"; filename=\"a\"\r\n\r\n"
      const head = [
        `POST ${target} HTTP/1.1`,
        "host: x",
        "content-type: multipart/form-data; boundary=x",
        "content-length: 1000000"
      ]
      socket.write(`${head.join("\r\n")}\r\n\r\n${part}${"y".repeat(100_000)}`)
      yield* until(() => stored().length === 2)
      socket.destroy()
      yield* until(() => stored().length === 1)
      assert.deepStrictEqual(stored(), complete)
    }))

  it.live("are paid once by a payment that is reported several times, with a signature", () =>
    Effect.gen(function*() {
      const base = yield* started("invoices", { WEBHOOK_SECRET: "a secret" })
      const { body: { result: invoice } } = yield* post(`${base}/invoices`, { customer: "ACME", cents: 1200 })
      const report = (text: string, secret = "a secret") =>
        send(`${base}/payments`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "x-signature": createHmac("sha256", secret).update(text).digest("hex")
          },
          body: text
        })
      // The signature is that of the bytes, with their blanks.
      const text = JSON.stringify({ id: "P1", invoice, cents: 500 }, undefined, 3)
      assert.strictEqual((yield* report(text, "another")).status, 401)
      const answers = yield* Effect.all(Array.from({ length: 8 }, () => report(text)), { concurrency: 8 })
      assert.deepStrictEqual(answers.map(({ status }) => status), Array.from({ length: 8 }, () => 200))
      assert.strictEqual((yield* send(`${base}/invoices/${invoice}`)).body.paid, 500)
      assert.strictEqual((yield* report("{")).status, 400)
      assert.strictEqual((yield* send(`${base}/payments`, { method: "POST", body: text })).status, 415)
    }))
})
