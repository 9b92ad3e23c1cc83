/**
 * Random writes of every kind, random changes of roles and of grants, disconnects, restarts, and kills while writes are made. At
 * every place, what clients have built from streams is the list that the same caller gets now, and nothing that is sent has what
 * its caller may not see.
 *
 * `STREAM_STEPS=100000 npx vitest run test/Http/live/StreamDifferential.test.ts` takes as many steps.
 */
import { assert, describe, it } from "@effect/vitest"
import { EJSON } from "bson"
import { Effect, Exit, Random, Scope } from "effect"
import { type ClientRequest, type IncomingHttpHeaders, request } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import type { Message } from "../../support/eventStream.ts"
import { freshDirectory } from "../../support/folders.ts"
import type { Happening, Rights, Write } from "../../support/followedProgram.ts"
import { freshDatabase, onMongo } from "../../support/mongo.ts"
import { printed, runProgram } from "../../support/processes.ts"

const allSteps = Number(process.env["STREAM_STEPS"] ?? 60)

const owners = ["ann", "bob", "cleo"]

const int = (max: number) => Effect.map(Random.next, (part) => Math.floor(part * max))

const pick = <A>(values: ReadonlyArray<A>) => Effect.map(int(values.length), (i) => values[i]!)

/** Whether this is all that a caller may be told of a document. */
const maySee = (rights: Rights, roles: ReadonlyArray<string>, value: { readonly [name: string]: unknown }): boolean => {
  if (roles.includes("admin")) return true
  const guest = roles.includes("guest")
  const withCosts = guest && rights.hasCosts && value["owner"] === "ann"
  const without = (roles.includes("clerk") && rights.owners.includes(String(value["owner"]))) ||
    (guest && rights.isOpen)
  return withCosts || (without && !("cost" in value))
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

const send = (
  url: string,
  { body, method = "GET", ...headers }: { readonly [name: string]: string | undefined }
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const own = body === undefined ? headers : { ...headers, "content-type": "application/json" }
    // A connection that is kept may be closed by the server while a busy machine has not yet read so.
    const sent = request(url, { method, headers: own, agent: false }, (answer) => {
      const whole = (body: string) => ({ status: answer.statusCode ?? 0, headers: answer.headers, text: body })
      text(answer).then(whole).then(resolve, reject)
    })
    sent.on("error", reject).end(body)
  })

type Mode = "page" | "long-poll" | "sse"

/** A client that follows a list. It may not be told anything that does not fit what it has. */
class Follower {
  readonly mode: Mode
  readonly documents = new Map<string, string>()
  offset: string | undefined
  check: ((value: { readonly [name: string]: unknown }) => boolean) | undefined
  status = 0
  resets = 0
  /** What went wrong while it was told something. */
  failure: unknown
  #request: ClientRequest | undefined
  #isSnapshot = false
  #waiting: (() => void) | undefined

  constructor(mode: Mode) {
    this.mode = mode
  }

  get isOpen(): boolean {
    return this.#request !== undefined
  }

  /** Waits until it is told something, or for long enough to look whether there is something else to be told. */
  get told(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 250)
      this.#waiting = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  apply(messages: string, offset: string | undefined): void {
    // What is not the value of a document names none of its fields.
    let names = messages.split(/"(?:owner|cost)":/u).length - 1
    // The messages of the protocol.
    for (const { headers, key = "", value } of JSON.parse(messages) as ReadonlyArray<Message>) {
      if (value !== undefined) {
        names -= Number("owner" in value) + Number("cost" in value)
        if (this.check !== undefined) assert.isTrue(this.check(value), messages)
      }
      if (headers.control === "reset") {
        this.resets += 1
        this.documents.clear()
      } else if (headers.control === "snapshot-start") this.#isSnapshot = true
      else if (headers.control === "snapshot-end") this.#isSnapshot = false
      else if (headers.operation === "delete") {
        assert.isTrue(this.documents.delete(key), `${key} is deleted, and was not there`)
        assert.isUndefined(value)
      } else {
        if (!this.#isSnapshot) assert.strictEqual(this.documents.has(key), headers.operation === "update", key)
        this.documents.set(key, textOf(value!))
      }
    }
    assert.strictEqual(names, 0, messages)
    this.offset = offset ?? this.offset
  }

  open(url: string, headers: { readonly [name: string]: string }): void {
    this.status = 0
    if (this.offset === undefined) this.documents.clear()
    const isEvents = this.mode === "sse"
    const place = this.offset === undefined ? {} : { "last-event-id": this.offset }
    const asked = isEvents || this.offset === undefined ? "" : `&offset=${this.offset}`
    const options = { headers: isEvents ? { ...headers, ...place } : headers, agent: false }
    const own = request(`${url}&live=${this.mode}${asked}`, options, (answer) => {
      this.status = answer.statusCode ?? 0
      const next = answer.headers["stream-next-offset"]
      let rest = ""
      answer.setEncoding("utf8")
      answer.on("data", (text: string) => {
        rest += text
        if (!isEvents || this.#request !== own) return
        const events = rest.split("\n\n")
        rest = events.pop()!
        this.#do(() => events.forEach((event) => this.#event(event)))
      })
      answer.on("end", () => {
        if (isEvents || this.#request !== own || !(answer.statusCode === 200 || answer.statusCode === 204)) return
        this.#do(() => this.apply(rest === "" ? "[]" : rest, String(next)))
        if (this.failure === undefined) this.open(url, headers)
      })
      answer.on("close", end).on("error", end)
    })
    const end = () => {
      if (this.#request === own) this.#request = undefined
      this.#tell()
    }
    own.on("error", end).end()
    this.#request = own
  }

  close(): void {
    const request = this.#request
    this.#request = undefined
    request?.destroy()
  }

  forget(): void {
    this.close()
    this.documents.clear()
    this.offset = undefined
  }

  #event(event: string): void {
    const of = (field: string) =>
      event.split("\n").filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2))
    this.apply(of("event")[0] === "data" ? of("data").join("\n") : "[]", of("id")[0])
  }

  #do(apply: () => void): void {
    try {
      apply()
    } catch (error) {
      this.failure ??= error
    }
    this.#tell()
  }

  #tell(): void {
    this.#waiting?.()
    this.#waiting = undefined
  }
}

const textOf = (value: object): string =>
  JSON.stringify(Object.entries(value).filter(([name]) => name !== "_links").toSorted(([a], [b]) => a < b ? -1 : 1))

type Sent = readonly [method: string, path: string, body?: unknown]

/** A random write: a request, an operation of the store, or time that goes by. */
const writeAt = (now: number) =>
  Effect.gen(function*(): Effect.fn.Return<Sent | Happening> {
    const id = `d${yield* int(20)}`
    const document = {
      owner: yield* pick(owners),
      state: yield* pick(["open", "paid"]),
      n: yield* int(5),
      cost: yield* int(1000),
      expires: new Date(Date.UTC(2200, 0))
    }
    const { cost: _, ...cheap } = document
    const expires = new Date(now + (yield* int(100)) * 60_000)
    const write = (...operations: Write["operations"]): Happening => ({ write: { operations } })
    switch (yield* int(15)) {
      case 0:
      case 1:
        return ["POST", "", { id, ...document }]
      case 2:
        return ["POST", "", [1, 2, 3].map((i) => ({ id: `d${20 + i}`, ...document, n: i }))]
      case 3:
        return ["PUT", `/${id}`, { id, ...cheap }]
      case 4:
        return ["PATCH", `/${id}`, { n: document.n }]
      case 5:
        return ["PATCH", `/${id}`, { cost: document.cost }]
      case 6:
        return ["DELETE", `/${id}`]
      case 7:
        return write(["updateMany", "Order", { n: document.n }, [{ $set: { n: { $add: ["$n", 1] }, state: "paid" } }]])
      case 8:
        return write([
          "updateMany",
          "Order",
          { state: "paid" },
          { $set: { owner: document.owner }, $inc: { n: -1 } }
        ])
      case 9:
        return {
          write: {
            in: (yield* int(2)) === 0 ? "failing transaction" : "transaction",
            operations: [
              ["replaceOne", "Order", { _id: id }, document, { upsert: true }],
              ["updateOne", "Order", { _id: id }, { $set: { owner: "cleo" } }],
              ["deleteMany", "Order", { n: document.n }],
              ["replaceOne", "Order", { _id: "t" }, cheap, { upsert: true }]
            ]
          }
        }
      case 10:
        return write(["aggregate", "Order", [{ $match: { n: document.n } }, { $set: { state: document.state } }, {
          $merge: { into: "Order", whenMatched: "merge", whenNotMatched: "insert" }
        }]])
      case 11:
        return write(["replaceOne", "Order", { _id: id }, { ...document, expires }, { upsert: true }])
      case 12:
        return { millis: 600_000, steps: 1 }
      case 13:
        return write(["deleteMany", "Order", { owner: document.owner, n: { $gt: 3 } }])
      default:
        return write(["insertMany", "Order", [1, 2, 3, 4].map((i) => ({ ...document, _id: `d${i * 4}`, n: i })), {
          ordered: false
        }])
    }
  })

const programFile = join(import.meta.dirname, "../../support/followedProgram.ts")

const differential = (name: string, stored: Effect.Effect<{ readonly [name: string]: string }, never, Scope.Scope>) => {
  const isKept = name !== "memory"
  // A server takes many times as long.
  const steps = name === "mongodb" ? Math.ceil(allSteps / 5) : allSteps
  it.live(
    `what clients build is what they may see, over ${steps} random steps / ${name}`,
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const own = yield* stored
        // A server of MongoDB deletes what has expired by its own clock, which has not reached this one.
        let now = Date.UTC(2100, 0, 1)
        let rights: Rights = { owners: ["ann"], isOpen: true, hasCosts: false }
        let scope = yield* Scope.make()
        yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(scope, Exit.void)))
        const start = Effect.gen(function*() {
          scope = yield* Scope.make()
          const env = { ...own, STORE: name, FOLDER: folder, TIME: String(now) }
          const program = yield* Scope.provide(runProgram(programFile, env), scope)
          yield* printed(program, "ready\n")
          const [, orders = "", told = ""] = /(\S+) (\S+) ready\n/u.exec(program.output()) ?? []
          return { orders, told }
        })
        let service = yield* start
        const happen = (happening: Happening) =>
          Effect.map(
            Effect.promise(() => send(service.told, { method: "POST", body: EJSON.stringify(happening) })),
            ({ text }) => text
          )
        const pass = (millis: number, steps: number) => {
          now += millis * steps
          return happen({ millis, steps })
        }
        const as = (roles: ReadonlyArray<string>) =>
          Effect.map(happen({ roles }), (token) => ({ authorization: `Bearer ${token}` }))
        const admin = yield* as(["admin"])
        const make = (write: Sent | Happening): Effect.Effect<unknown> => {
          if (!("length" in write)) return "millis" in write ? pass(write.millis, write.steps) : happen(write)
          const [method, path, body] = write
          return Effect.promise(() =>
            send(service.orders + path, {
              ...admin,
              method,
              ...body === undefined ? {} : { body: JSON.stringify(body) }
            })
          )
        }
        const callers: Array<{
          roles: ReadonlyArray<string>
          headers: { readonly [name: string]: string }
          readonly filter: string
          readonly page: Follower
          readonly live: ReadonlyArray<Follower>
        }> = []
        for (
          const [roles, filter, ...modes] of [
            [["admin"], "", "sse"],
            [["clerk"], "state=open", "sse", "long-poll"],
            [["guest"], "n=>1", "sse"],
            [["clerk", "guest"], "", "sse", "long-poll"]
          ] as const
        ) {
          const live = modes.map((mode) => new Follower(mode))
          callers.push({ roles, headers: yield* as(roles), filter, page: new Follower("page"), live })
        }
        const followers = callers.flatMap(({ live }) => live)
        yield* Effect.addFinalizer(() => Effect.sync(() => followers.forEach((live) => live.close())))
        let [gone, kills] = [0, 0]

        const follow = async (
          { filter, headers, live, page, roles }: typeof callers[number],
          step: number
        ): Promise<void> => {
          const where = `${name}, step ${step}, ${roles.join()}`
          const list = () => send(`${service.orders}?page_size=100${filter === "" ? "" : `&${filter}`}`, headers)
          const changes = `${service.orders}/changes?${filter}`
          for (const one of [page, ...live]) one.check = (value) => maySee(rights, roles, value)
          let found = await list()
          const readOn = async () => {
            while (true) {
              const offset = page.offset === undefined ? "" : `&offset=${page.offset}`
              const got = await send(`${changes}${offset}`, headers)
              if (got.status === 403) assert.strictEqual(found.status, 403, where)
              if (got.status === 410) gone += 1
              if (got.status === 403 || got.status === 410) page.forget()
              if (got.status === 403) return
              if (got.status === 410) continue
              assert.strictEqual(got.status, 200, got.text)
              page.apply(got.text, String(got.headers["stream-next-offset"]))
              if (got.headers["stream-up-to-date"] === "true") return
            }
          }
          await readOn()
          assert.include([200, 403], found.status, found.text)
          if (found.status === 403) {
            for (const one of live) {
              while (one.isOpen && one.status !== 403) await one.told
              one.forget()
            }
            return
          }
          // A document may have expired between both.
          for (let i = 0; i < 3 && !isSame(page.documents, listOf(found)); i++) found = await list()
          if (!isSame(page.documents, listOf(found))) assert.deepStrictEqual(page.documents, listOf(found), where)
          for (const one of live) {
            const until = performance.now() + 120_000
            while (!isSame(one.documents, page.documents) && performance.now() < until) {
              if (one.failure !== undefined) throw one.failure
              if (!one.isOpen) {
                // Its place may be gone by now.
                if (one.status === 410 || one.status === 403) one.forget()
                one.open(changes, headers)
              }
              await one.told
              // As above: what has expired since is gone from the page, too, when it reads on.
              if (!isSame(one.documents, page.documents)) await readOn()
            }
            if (one.failure !== undefined) throw one.failure
            if (!isSame(one.documents, page.documents)) {
              assert.deepStrictEqual(one.documents, page.documents, `${where}, ${one.mode}`)
            }
          }
        }

        for (let step = 0; step < steps; step++) {
          const any = yield* int(60)
          // A change of the rights and a kill are in every run.
          const what = step === Math.ceil(steps / 3) ? 0 : step === Math.ceil(steps / 2) ? 1 : any
          if (what === 0) {
            // The rights change, and the streams of those who had others end within the delay.
            rights = {
              owners: owners.filter((_, i) => (step >> i) % 2 === 0),
              isOpen: (yield* int(2)) === 0,
              hasCosts: (yield* int(2)) === 0
            }
            for (const one of followers) one.check = undefined
            yield* happen({ rights })
            if ((yield* int(2)) === 0) {
              const caller = callers[1 + (yield* int(3))]!
              caller.roles = yield* pick([["clerk"], ["guest"], ["clerk", "guest"], ["other"]])
              caller.headers = yield* as(caller.roles)
              caller.live.forEach((one) => one.close())
            }
            yield* pass(750, 12)
          } else if (what === 1 && isKept && ((yield* int(5)) === 0 || any !== 1)) {
            // It is killed while it writes.
            kills += 1
            for (let i = 0; i < 5; i++) {
              const write = yield* writeAt(now)
              if ("length" in write || "write" in write) yield* Effect.forkChild(Effect.ignoreCause(make(write)))
            }
            yield* Effect.sleep(yield* int(4))
            yield* Scope.close(scope, Exit.void)
            service = yield* start
            yield* happen({ rights })
          } else if (what === 1) service = { ...service, orders: yield* happen({ restart: true }) }
          else if (what < 5) (yield* pick(followers)).close()
          else if (what === 5 && (yield* int(4)) === 0) yield* pass(4 * 3_600_000, 1)
          else yield* make(yield* writeAt(now))
          yield* Effect.promise(() => Promise.all(callers.map((caller) => follow(caller, step))))
        }
        const resets = followers.reduce((sum, one) => sum + one.resets, 0)
        console.log(`${name}: ${steps} steps, ${kills} kills, ${resets} resets, ${gone} places gone`)
      }).pipe(Random.withSeed(process.env["CHANGE_SEED"] ?? "streams")),
    steps * 500 + 240_000
  )
}

const listOf = ({ text }: Answer): ReadonlyMap<string, string> =>
  new Map<string, string>(JSON.parse(text)._items.map((item: { id: string }) => [item.id, textOf(item)]))

const isSame = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean =>
  one.size === other.size && [...one].every(([key, value]) => other.get(key) === value)

differential("memory", Effect.succeed({}))
differential("embedded", Effect.succeed({}))

onMongo("on a server", (_, server) =>
  // Other servers take minutes where they are busy.
  describe.skipIf(!server.name.startsWith("MongoDB"))("with images / mongodb", () => {
    differential("mongodb", Effect.map(freshDatabase(server), (DB) => ({ DB, MONGO: server.url })))
  }))
