/**
 * Measures calls to a service, from 50 fibers or promises at once. See README.md.
 */
import Undici from "@effect/platform-node/Undici"
import { create } from "axios"
import { Effect, Scope } from "effect"
import got from "got"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as http from "node:http"
import { parseArgs } from "node:util"
import { HttpClientFactory, KernelApi, Model, Resource, Service } from "../src/index.ts"
import { called, seeds } from "./data.ts"
import { startServer } from "./processes.ts"
import { chosen, median, positive, print, printMachine } from "./report.ts"
import { fields, partsOf } from "./servers/model.ts"

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "2" },
    rows: { type: "string", default: "get,post" },
    clients: { type: "string", default: "undici,ours,typed,got,axios" },
    json: { type: "string" }
  }
})

const concurrency = 50
const rounds = positive("rounds", options.rounds)
const millis = positive("seconds", options.seconds) * 1_000

/** Makes one call and gives back the value of its body. */
type Call = () => Promise<unknown>

interface Contestant {
  readonly call: Call
  /** Makes calls, `concurrency` at a time, until the time is over, and gives back how many. */
  readonly load: (until: number) => Promise<number>
}

const payload = seeds[1]

const of = (call: Call): Contestant => ({
  call,
  load: async (until) => {
    let calls = 0
    const repeat = async () => {
      while (performance.now() < until) {
        await call()
        calls++
      }
    }
    await Promise.all(Array.from({ length: concurrency }, repeat))
    return calls
  }
})

const ofEffect = (call: Effect.Effect<unknown, unknown>): Contestant => ({
  call: () => Effect.runPromise(call),
  load: (until) => {
    let calls = 0
    const repeat = Effect.gen(function*() {
      while (performance.now() < until) {
        yield* call
        calls++
      }
    })
    const all = Effect.all(Array.from({ length: concurrency }, () => repeat), { concurrency, discard: true })
    return Effect.runPromise(Effect.map(all, () => calls))
  }
})

const server = await startServer("upstream")
const url = `${server.url}/products/`

const dispatcher = new Undici.Agent({ connections: concurrency })
const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency })
const gotClient = got.extend({ agent: { http: agent } })
const axiosClient = create({ httpAgent: agent })
const headers = { "content-type": "application/json" }
const factory = await Effect.runPromise(Effect.provideService(
  HttpClientFactory.make({ maxConnections: concurrency, maxKeepaliveConnections: concurrency }),
  Scope.Scope,
  Scope.makeUnsafe()
))
class Product extends Model.Class<Product>()("Product", fields) {}

const api = KernelApi.make("bench")
  .register(Resource.describe(Product, { methods: ["GET"] }))
  .register(
    Service.describe("Catalogue").operation("replace", {
      method: "POST",
      path: "./replace",
      payload: Product,
      success: Product
    })
  )
const typed = await Effect.runPromise(factory.typed(api, server.url, { circuitBreaker: {} }))
const proxy = await Effect.runPromise(factory.get<"products">(server.url, { circuitBreaker: {} }))

const sent = partsOf(seeds[1] ?? assert.fail())

const contestants = new Map<string, { readonly [row: string]: Contestant }>([
  ["undici", {
    get: of(async () => (await Undici.request(url, { dispatcher })).body.json()),
    post: of(async () => {
      const body = JSON.stringify(payload)
      return (await Undici.request(url, { dispatcher, method: "POST", headers, body })).body.json()
    })
  }],
  ["ours", {
    get: ofEffect(Effect.map(proxy.products.get(), ([, body]) => body)),
    post: ofEffect(Effect.map(proxy.products.post({ payload }), ([, body]) => body))
  }],
  ["typed", {
    get: ofEffect(typed.products.get({ params: { id: seeds[0]?.id ?? "" } })),
    post: ofEffect(typed.catalogues.replace({ payload: sent }))
  }],
  ["got", {
    get: of(() => gotClient.get(url).json()),
    post: of(() => gotClient.post(url, { json: payload }).json())
  }],
  ["axios", {
    get: of(async () => (await axiosClient.get<unknown>(url)).data),
    post: of(async () => (await axiosClient.post<unknown>(url, payload)).data)
  }]
])

const clients = chosen("clients", options.clients, contestants)
const rows = options.rows.split(",")
const expected: unknown = JSON.parse(called)
const samples: Array<
  { readonly row: string; readonly client: string; readonly rate: number; readonly micros: number }
> = []

printMachine()
console.log(
  `${rounds} rounds of ${millis / 1_000} s, ${concurrency} calls at once; calls per second, and CPU time of a call`
)
for (const row of rows) {
  for (const [name, { [row]: contestant }] of clients) {
    assert.ok(contestant !== undefined, `--rows takes get and post, not ${row}`)
    assert.deepEqual(JSON.parse(JSON.stringify(await contestant.call())), expected, name)
    await contestant.load(performance.now() + 1_000)
  }
  for (let round = 0; round < rounds; round++) {
    for (const [client, { [row]: contestant }] of clients) {
      const before = process.cpuUsage()
      const start = performance.now()
      const calls = await contestant?.load(start + millis) ?? 0
      const { system, user } = process.cpuUsage(before)
      const seconds = (performance.now() - start) / 1_000
      samples.push({ row, client, rate: calls / seconds, micros: (system + user) / calls })
    }
  }
  const of = (client: string, key: "rate" | "micros") =>
    median(samples.filter((sample) => sample.row === row && sample.client === client).map((sample) => sample[key]))
  console.log("")
  print(row, ["calls/s", "CPU \u00b5s", "of undici", "of undici, CPU"])
  for (const [name] of clients) {
    const [rate, micros] = [of(name, "rate"), of(name, "micros")]
    const [bare, bareMicros] = [of("undici", "rate"), of("undici", "micros")]
    print(name, [rate.toFixed(0), micros.toFixed(1), (rate / bare).toFixed(2), (bareMicros / micros).toFixed(2)])
  }
}
if (options.json !== undefined) fs.writeFileSync(options.json, `${JSON.stringify(samples, null, 2)}\n`)
await server[Symbol.asyncDispose]()
process.exit()
