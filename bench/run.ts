/**
 * Runs a part of the benchmark: `http` and `secured`, the servers against one another, `codecs`, `stores`, `loop`,
 * `transfers`, `files`, `client`, `language`, `start`, `overload`, `operation`, `tails`, `live`, `growth`, `expansion` or `jobs`, and `chart`, which draws the first. See README.md.
 */
import { parseArgs } from "node:util"

// The part reads its own options.
const { documents, part = "http", quick } = parseArgs({
  options: { part: { type: "string" }, documents: { type: "string" }, quick: { type: "boolean" } },
  strict: false
}).values
process.env["BENCH_DOCUMENTS"] = String(documents ?? (part === "http" || part === "tails" ? 100_000 : 200))

if (quick === true) await import("./quick.ts")
else if (part === "http" || part === "secured") await import("./http.ts")
else if (part === "codecs") await import("./codecs.ts")
else if (part === "stores") await import("./stores.ts")
else if (part === "loop") await import("./loop.ts")
else if (part === "transfers") await import("./transfers.ts")
else if (part === "files") await import("./files.ts")
else if (part === "client") await import("./client.ts")
else if (part === "language") await import("./language.ts")
else if (part === "start") await import("./start.ts")
else if (part === "overload") await import("./overload.ts")
else if (part === "operation") await import("./operation.ts")
else if (part === "tails") await import("./tails.ts")
else if (part === "live") await import("./live.ts")
else if (part === "growth") await import("./growth.ts")
else if (part === "expansion") await import("./expansion.ts")
else if (part === "jobs") await import("./jobs.ts")
else if (part === "chart") await import("./chart.ts")
else {throw new Error(
    `--part takes http, secured, codecs, stores, loop, transfers, files, client, language, start, overload, operation, tails, live, growth, expansion, jobs or chart, not ${part}`
  )}
