/**
 * Draws the result of a run of the first part, which `--json` has written: for each row and server how many requests a second
 * of CPU time answers, as a part of Fastify's.
 */
import * as fs from "node:fs"
import { parseArgs } from "node:util"
import { median } from "./report.ts"

interface Result {
  readonly settings: { readonly documents: number; readonly rounds: number; readonly node: string }
  readonly titles: { readonly [key: string]: string }
  readonly samples: {
    readonly [row: string]: { readonly [server: string]: ReadonlyArray<{ readonly cpuMicros: number }> }
  }
}

const { values: { from, to } } = parseArgs({
  options: {
    part: { type: "string" },
    from: { type: "string", default: "docs/public/benchmark.json" },
    to: { type: "string", default: "docs/public/pictures/benchmark.svg" }
  }
})
const { samples, settings, titles } = JSON.parse(fs.readFileSync(from, "utf8")) as Result

const reference = "fastify"
const ours = "ours"
const [labels, width, right, bar, gap] = [190, 720, 60, 14, 16]

const rows = Object.entries(samples).map(([row, servers]) => {
  const cpuOf = (server: string) => median((servers[server] ?? []).map(({ cpuMicros }) => cpuMicros))
  return {
    title: titles[row] ?? row,
    bars: Object.keys(servers).map((server) => ({ server, ratio: cpuOf(reference) / cpuOf(server) }))
  }
})
const most = Math.max(...rows.flatMap(({ bars }) => bars.map(({ ratio }) => ratio)))
const lengthOf = (ratio: number) => (width - labels - right) * ratio / most
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

const parts: Array<string> = []
let y = 40
for (const { bars, title } of rows) {
  parts.push(`<text class="h" x="12" y="${y + 11}">${escaped(title)}</text>`)
  y += bar + 6
  for (const { ratio, server } of bars) {
    const end = (labels + lengthOf(ratio)).toFixed(1)
    parts.push(
      `<text class="s" x="${labels - 8}" y="${y + 11}" text-anchor="end">${escaped(titles[server] ?? server)}</text>`,
      `<rect class="${server === ours ? "o" : "b"}" x="${labels}" y="${y}" width="${
        lengthOf(ratio).toFixed(1)
      }" height="${bar}" rx="2"/>`,
      `<text class="s" x="${Number(end) + 6}" y="${y + 11}">${ratio.toFixed(2)}</text>`
    )
    y += bar + 4
  }
  y += gap
}
const line = (labels + lengthOf(1)).toFixed(1)
const title =
  `Requests for a second of CPU time, as a part of Fastify's, with ${settings.documents} documents in memory`
const svg =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" role="img" aria-labelledby="t" font-family="system-ui, sans-serif" font-size="13">
  <title id="t">${title}</title>
  <style>.h{fill:#7a8594;font-weight:600}.s{fill:#7a8594;font-size:12px}.b{fill:#9db4d3}.o{fill:#3f9a63}</style>
  <text class="h" x="12" y="22">${title}</text>
  <path d="M${line} 34V${y - gap}" stroke="#7a8594" stroke-dasharray="4 5"/>
  ${parts.join("\n  ")}
</svg>
`
fs.writeFileSync(to, svg)
console.log(`Drew ${to}`)
