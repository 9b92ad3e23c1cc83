/**
 * Measures the memory that uploads and downloads of large files need. See README.md.
 */
import * as Undici from "@effect/platform-node/Undici"
import { Effect, Stream } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { HttpClientFactory } from "../src/index.ts"
import { run, startServer } from "./processes.ts"
import { chosen, positive, print, printMachine } from "./report.ts"
import { makeFolder } from "./stores/workers.ts"

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    size: { type: "string", default: "2048" },
    rows: { type: "string" },
    folder: { type: "string" }
  }
})

const size = positive("size", options.size) * 1_048_576

type Row = (length: number) => Effect.Effect<unknown, unknown>

const is = (what: number, expected: number): Effect.Effect<void> =>
  what === expected ? Effect.void : Effect.die(new Error(`${what} instead of ${expected}`))

const part = new Uint8Array(65_536)

/** One way to move a file, of which there are as many bytes as `length`. */
const rowsOf = (url: string, folder: string) =>
  Effect.map(HttpClientFactory.get(url, { circuitBreaker: {} }), (proxy) => {
    const counted = (path: string): Row => (length) =>
      proxy.wrap(path).streamDownload({ pathExtension: length }).pipe(
        Stream.runFold(() => 0, (sum, chunk) => sum + chunk.length),
        Effect.flatMap((sum) => is(sum, length))
      )
    const isReceived = ([status]: readonly [number, unknown]) => is(status, 200)
    return new Map<string, Row>([
      ["uploadFrom", (length) => {
        const file = path.join(folder, "uploaded")
        fs.writeFileSync(file, "")
        fs.truncateSync(file, length)
        return Effect.flatMap(proxy.wrap("up").uploadFrom(file), isReceived)
      }],
      ["upload", (length) => {
        const parts = Stream.take(Stream.forever(Stream.succeed(part)), length / part.length)
        return Effect.flatMap(proxy.wrap("up").upload(parts), isReceived)
      }],
      ["streamDownload", counted("down")],
      ["streamDownload of gzip", counted("gzip")],
      [
        "downloadTo",
        (length) =>
          Effect.flatMap(proxy.wrap("down").downloadTo(folder, { pathExtension: length }), (saved) => {
            const { size } = fs.statSync(saved)
            fs.rmSync(saved)
            return is(size, length)
          })
      ],
      ["undici", (length) =>
        Effect.flatMap(
          Effect.promise(async () => {
            let sum = 0
            // oxlint-disable-next-line import/namespace -- the module re-exports what it takes from CommonJS
            for await (const chunk of (await Undici.request(`${url}/down/${length}`)).body) sum += chunk.length
            return sum
          }),
          (sum) => is(sum, length)
        )]
    ])
  })

const names = ["uploadFrom", "upload", "streamDownload", "streamDownload of gzip", "downloadTo", "undici"]

const measure = (url: string, folder: string) =>
  Effect.gen(function*() {
    const rows = yield* rowsOf(url, folder)
    for (const [title, row] of chosen("rows", options.rows ?? "", rows)) {
      // Everything is loaded before.
      yield* row(part.length)
      const before = process.memoryUsage.rss()
      let highest = before
      const watch = setInterval(() => {
        highest = Math.max(highest, process.memoryUsage.rss())
      }, 5)
      const start = performance.now()
      const cpu = process.cpuUsage()
      yield* row(size)
      const { system, user } = process.cpuUsage(cpu)
      clearInterval(watch)
      const seconds = (performance.now() - start) / 1000
      print(title, [seconds, (system + user) / 1e6, (highest - before) / 1e6].map((number) => number.toFixed(1)))
    }
  }).pipe(Effect.provide(HttpClientFactory.layer))

/** Memory that one row has freed is still the process's in the next one, so that each has a process of its own. */
const measureApart = async (row: string) => {
  const args = Object.entries({ ...options, rows: row }).flatMap(([name, value]) => [`--${name}`, value])
  const output = await run(process.execPath, [...process.execArgv, process.argv[1] ?? "", ...args])
  console.log(output.trimEnd())
}

if (options.rows?.includes(",") === false) {
  using folder = makeFolder(options.folder)
  await using server = await startServer("transfers")
  await Effect.runPromise(measure(server.url, folder.path))
} else {
  printMachine()
  print("", ["seconds", "CPU seconds", "more MB"])
  for (const row of options.rows?.split(",") ?? names) await measureApart(row)
}
