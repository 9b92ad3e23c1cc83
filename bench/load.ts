/**
 * The load: 64 connections, each sending its next request when the last one is answered. By wrk where it is installed,
 * else by autocannon.
 */
import { spawnSync } from "node:child_process"
import { createRequire } from "node:module"
import * as path from "node:path"
import type { Row } from "./answers.ts"
import { run } from "./processes.ts"

export const connections = 64

const version = (text: string | null): string => /\d+\.\d+\.\d+/.exec(text ?? "")?.[0] ?? ""
const require = createRequire(import.meta.url)
const wrk = spawnSync("wrk", ["-v"], { encoding: "utf8" })
const hasWrk = wrk.error === undefined

/** The program that makes the load, and its version. */
export const tool = hasWrk
  ? `wrk ${version(wrk.stdout)}`
  : `autocannon ${String(require("autocannon/package.json").version)}`

/** What one run of the load counted. */
export interface Count {
  /** Requests answered with the row's status. */
  readonly requests: number
  readonly seconds: number
  /** Connections that failed, and answers with another status. */
  readonly failures: number
}

const runWrk = async (url: string, { request, status }: Row, seconds: number): Promise<Count> => {
  const headers = Object.entries(request.headers ?? {}).flatMap(([name, value]) => ["-H", `${name}: ${value}`])
  const script = path.join(import.meta.dirname, "wrk.lua")
  const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", script, ...headers]
  const body = request.body === undefined ? [] : [request.body]
  const output = await run("wrk", [...args, `${url}${request.path}`, "--", request.method, ...body])
  const counts = /^counts (.+)$/m.exec(output)?.[1]?.split(" ").map(Number)
  const [requests = NaN, micros = NaN, rejected = NaN, broken = NaN] = counts ?? []
  // wrk only tells how many answers were from 400 upwards, and its count of requests includes them.
  const expected = status < 400 ? requests - rejected : rejected
  return { requests: expected, seconds: micros / 1e6, failures: broken + requests - expected }
}

// autocannon comes without types; this is what is used of it.
interface Report {
  readonly duration: number
  readonly errors: number
  readonly requests: { readonly total: number }
  readonly statusCodeStats: { readonly [status: string]: { readonly count: number } }
}
const autocannon: (options: {
  readonly url: string
  readonly method: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string | undefined
  readonly connections: number
  readonly duration: number
}) => PromiseLike<Report> = require("autocannon")

// In this process, so that its code is warm from the second round on.
const runAutocannon = async (url: string, { request, status }: Row, seconds: number): Promise<Count> => {
  const report = await autocannon({
    url: `${url}${request.path}`,
    method: request.method,
    headers: { ...request.headers, ...(request.body === undefined ? {} : { "content-type": "application/json" }) },
    body: request.body,
    connections,
    duration: seconds
  })
  const requests = report.statusCodeStats[status]?.count ?? 0
  return { requests, seconds: report.duration, failures: report.errors + report.requests.total - requests }
}

/** Sends the row's request for so many seconds. */
export const load: (url: string, row: Row, seconds: number) => Promise<Count> = hasWrk ? runWrk : runAutocannon
