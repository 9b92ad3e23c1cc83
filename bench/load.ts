/**
 * The load: 64 connections, each sending its next request when the last one is answered. It writes requests and reads answers
 * on bare sockets, so that it takes little of the machine, and that each request can be another one.
 */
import { once } from "node:events"
import * as net from "node:net"
import type { LoadRequest } from "./answers.ts"
import { quantile } from "./report.ts"

export const connections = 64

/** What one run of the load counted. */
export interface Count {
  /** Requests answered as they have to be. */
  readonly requests: number
  readonly seconds: number
  /** Answers with another status. */
  readonly failures: number
  /** Milliseconds until the answer of the request that 99 of 100 are faster than. */
  readonly p99: number
}

/** How long a run is. */
export type Limit = { readonly seconds: number } | { readonly requests: number }

const textOf = ({ body = "", headers, method, path }: LoadRequest): string => {
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`)
  if (body !== "") lines.push(`content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`)
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join("")}\r\n${body}`
}

// Requests that don't vary are made once.
const texts = new WeakMap<LoadRequest, string>()
const madeOnce = (request: LoadRequest): string => {
  const text = texts.get(request) ?? textOf(request)
  texts.set(request, text)
  return text
}

/** What the statuses of the answers have to be: that of the row, and 200 for a change. */
const expected = (request: LoadRequest, status: number): number => request.method === "PATCH" ? 200 : status

/** The end of an answer in chunks. A compressed text has these bytes only there, or once in a great many. */
const lastChunk = "\r\n0\r\n\r\n"

/** Sends requests until the limit is reached, and waits for the last answers. */
export const load = async (
  url: string,
  next: () => LoadRequest,
  status: number,
  limit: Limit
): Promise<Count> => {
  const { hostname, port } = new URL(url)
  const begin = performance.now()
  const end = "seconds" in limit ? begin + 1000 * limit.seconds : Infinity
  let toSend = "requests" in limit ? limit.requests : Infinity
  let [requests, failures] = [0, 0]
  const latencies: Array<number> = []

  const connect = async (): Promise<void> => {
    const socket = net.connect(Number(port), hostname).setNoDelay()
    await once(socket, "connect")
    const { promise, reject, resolve } = Promise.withResolvers<void>()
    let [head, missing, wanted, sent] = ["", 0, 0, 0]
    let isRight = true
    // The last bytes of an answer without a length.
    let tail: string | undefined
    const send = (): void => {
      if (toSend <= 0 || performance.now() >= end) {
        socket.destroy()
        resolve()
        return
      }
      toSend--
      const request = next()
      wanted = expected(request, status)
      sent = performance.now()
      socket.write(madeOnce(request))
    }
    const finish = (): void => {
      latencies.push(performance.now() - sent)
      if (isRight) requests++
      else failures++
      send()
    }
    socket.on("data", (chunk) => {
      if (tail !== undefined) {
        tail = (tail + chunk.toString("latin1")).slice(-lastChunk.length)
        if (tail === lastChunk) {
          tail = undefined
          finish()
        }
        return
      }
      if (missing > 0) {
        missing -= chunk.length
        if (missing <= 0) finish()
        return
      }
      // One byte, one character: a head is ASCII, and the length of the rest counts.
      head += chunk.toString("latin1")
      const size = head.indexOf("\r\n\r\n")
      if (size < 0) return
      isRight = Number(head.slice(9, 12)) === wanted
      const length = /\r\ncontent-length: *(\d+)/iu.exec(head.slice(0, size))?.[1]
      if (length === undefined) {
        tail = head.slice(-lastChunk.length)
        head = ""
        if (tail !== lastChunk) return
        tail = undefined
        finish()
        return
      }
      missing = Number(length) - (head.length - size - 4)
      head = ""
      if (missing <= 0) finish()
    })
    socket.on("error", reject)
    // After a `resolve` it does nothing.
    socket.on("close", () => reject(new Error("a connection was closed")))
    send()
    await promise
  }
  await Promise.all(Array.from({ length: connections }, connect))
  return { requests, failures, seconds: (performance.now() - begin) / 1000, p99: quantile(latencies, 0.99) }
}
