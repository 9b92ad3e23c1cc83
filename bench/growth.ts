/**
 * How the cost of a request, and of a start, grows with connections, models, fields and the size of documents; and draws it.
 * The part for stores has the numbers of documents. See README.md.
 */
import * as fs from "node:fs"
import { parseArgs } from "node:util"
import type { LoadRequest } from "./answers.ts"
import { rows as allRows } from "./answers.ts"
import { load } from "./load.ts"
import { type Server, startServer } from "./processes.ts"
import { chosen, median, positive, print, printMachine } from "./report.ts"

interface Axis {
  readonly title: string
  readonly unit: string
  readonly sizes: ReadonlyArray<number>
  readonly measure: (size: number) => Promise<Readonly<Record<string, number>>>
}

/** The CPU time of a request in milliseconds, after as many requests without a measurement. */
const costOf = async (
  server: Server,
  request: LoadRequest,
  status: number,
  count: number,
  connections: number
): Promise<number> => {
  await load(server.url, () => request, status, { requests: count }, { connections })
  const before = server.cpuSeconds()
  const { failures, requests } = await load(server.url, () => request, status, { requests: count }, { connections })
  if (failures > 0) throw new Error(`${failures} requests failed`)
  return 1000 * (server.cpuSeconds() - before) / requests
}

const things = "/api/v1/things"

/** The costs of a create and of a read of a document. */
const createAndRead = async (server: Server, body: string, count: number): Promise<Record<string, number>> => {
  const create = await costOf(server, { method: "POST", path: things, body }, 201, count, 8)
  const response = await fetch(`${server.url}${things}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body
  })
  await response.text()
  const path = response.headers.get("location") ?? ""
  return { create, "read one": await costOf(server, { method: "GET", path }, 200, count, 8) }
}

const axes: ReadonlyMap<string, Axis> = new Map([
  ["connections", {
    title: "connections",
    unit: "ms of CPU for a read",
    sizes: [1, 10, 100, 1_000, 10_000],
    measure: async (size) => {
      await using server = await startServer("ours")
      const { request, status } = allRows.get("read")!
      const limit = { requests: Math.max(10_000, 3 * size) }
      await load(server.url, () => request, status, limit, { connections: size })
      const before = server.cpuSeconds()
      const { failures, requests } = await load(server.url, () => request, status, limit, { connections: size })
      return {
        "read one": 1000 * (server.cpuSeconds() - before) / (requests + failures),
        "failed, %": 100 * failures / (requests + failures),
        "resident MB": server.residentBytes() / 2 ** 20
      }
    }
  }],
  ["models", {
    title: "models",
    unit: "ms of CPU until the first answer",
    sizes: [1, 10, 50, 100, 200],
    measure: async (size) => {
      await using server = await startServer("growing", { BENCH_MODELS: String(size), BENCH_FIELDS: "20" })
      await (await fetch(`${server.url}${things}`)).text()
      return { start: 1000 * server.cpuSeconds(), "resident MB": server.residentBytes() / 2 ** 20 }
    }
  }],
  ["fields", {
    title: "fields of 10 characters",
    unit: "ms of CPU for a request",
    sizes: [1, 10, 100, 1_000],
    measure: async (size) => {
      await using server = await startServer("growing", { BENCH_FIELDS: String(size) })
      const body = JSON.stringify(Object.fromEntries(Array.from({ length: size }, (_, i) => [`f${i}`, "0123456789"])))
      return await createAndRead(server, body, size >= 1_000 ? 500 : 2_000)
    }
  }],
  ["kilobytes", {
    title: "kilobytes of one text",
    unit: "ms of CPU for a request",
    sizes: [1, 10, 100, 1_000, 15_000],
    measure: async (size) => {
      await using server = await startServer("growing", { APPKERNEL_SERVER_MAX_BODY_SIZE: "16 MB" })
      const body = JSON.stringify({ text: "lorem ipsum ".repeat(Math.ceil(1_000 * size / 12)).slice(0, 1_000 * size) })
      return await createAndRead(server, body, Math.max(8, Math.min(2_000, Math.floor(100_000 / size))))
    }
  }]
])

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    rounds: { type: "string", default: "3" },
    axes: { type: "string", default: [...axes.keys()].join(",") },
    json: { type: "string" },
    picture: { type: "string" },
    from: { type: "string" }
  }
})
const rounds = positive("rounds", options.rounds)

interface Point {
  readonly size: number
  readonly values: Readonly<Record<string, number>>
}

interface Measured {
  readonly title: string
  readonly unit: string
  readonly points: ReadonlyArray<Point>
}

const digits = (value: number): string => value < 10 ? value.toFixed(2) : value.toFixed(0)

const measured: Array<Measured> = options.from === undefined
  ? []
  : (JSON.parse(fs.readFileSync(options.from, "utf8")) as { readonly measured: Array<Measured> }).measured
if (options.from === undefined) printMachine()
for (
  const [, { measure, sizes, title, unit }] of options.from === undefined ? chosen("axes", options.axes, axes) : []
) {
  const points: Array<Point> = []
  for (const size of sizes) {
    const samples: Array<Readonly<Record<string, number>>> = []
    for (let round = 0; round < rounds; round++) samples.push(await measure(size))
    const names = Object.keys(samples[0] ?? {})
    const values = Object.fromEntries(names.map((name) => [name, median(samples.map((sample) => sample[name]!))]))
    if (points.length === 0) print(`\n${title}, ${unit}`, names)
    print(`${size}`, names.map((name) => digits(values[name]!)))
    points.push({ size, values })
  }
  measured.push({ title, unit, points })
}
if (options.json !== undefined) fs.writeFileSync(options.json, `${JSON.stringify({ rounds, measured }, null, 2)}\n`)

/** A chart for each axis, both of its scales logarithmic. */
const draw = (): string => {
  const [width, height, left, top] = [340, 220, 46, 40]
  const parts = measured.flatMap(({ points, title, unit }, chart) => {
    const [x0, y0] = [chart % 2 * (width + 20), Math.floor(chart / 2) * (height + 30)]
    const names = Object.keys(points[0]?.values ?? {}).filter((name) => !name.includes(" MB") && !name.includes("%"))
    const all = points.flatMap(({ values }) => names.map((name) => values[name]!))
    const scale = (low: number, high: number, from: number, to: number) => (value: number) =>
      (from + (to - from) * (Math.log10(value) - low) / (high - low)).toFixed(1)
    const sizes = points.map(({ size }) => Math.log10(size))
    const x = scale(Math.min(...sizes), Math.max(...sizes), x0 + left, x0 + width - 30)
    // Whole decades, so that a small difference looks small.
    const lowest = Math.floor(Math.log10(Math.min(...all)))
    const y = scale(
      lowest,
      Math.max(lowest + 1, Math.ceil(Math.log10(Math.max(...all)))),
      y0 + height - 24,
      y0 + top + 10
    )
    return [
      `<text class="h" x="${x0 + 8}" y="${y0 + 18}">${title}: ${unit}</text>`,
      ...points.map(({ size }) =>
        `<text class="s" x="${x(size)}" y="${y0 + height}" text-anchor="middle">${size}</text>`
      ),
      ...names.flatMap((name, i) => [
        `<polyline class="l${i}" points="${
          points.map(({ size, values }) => `${x(size)},${y(values[name]!)}`).join(" ")
        }"/>`,
        `<text class="s" x="${x0 + left + 100 * i}" y="${y0 + 36}"><tspan class="t${i}">●</tspan> ${name}</text>`,
        ...points.map(({ size, values }) =>
          `<text class="s" x="${x(size)}" y="${Number(y(values[name]!)) - 6 + 20 * i}" text-anchor="middle">${
            digits(values[name]!)
          }</text>`
        )
      ])
    ]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 ${
    Math.ceil(measured.length / 2) * (height + 30)
  }" role="img" aria-labelledby="t" font-family="system-ui, sans-serif" font-size="13">
  <title id="t">How costs grow</title>
  <style>.h{fill:#7a8594;font-weight:600}.s{fill:#7a8594;font-size:11px}polyline{fill:none;stroke-width:2}.l0{stroke:#3f9a63}.l1{stroke:#9db4d3}.t0{fill:#3f9a63}.t1{fill:#9db4d3}</style>
  ${parts.join("\n  ")}
</svg>
`
}
if (options.picture !== undefined) fs.writeFileSync(options.picture, draw())
