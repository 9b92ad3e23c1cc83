/**
 * The load: 64 connections, each sending its next request when the last one is answered, or at a steady rate. It writes requests and reads answers
 * on bare sockets, so that it takes little of the machine, and that each request can be another one.
 */
import { once } from "node:events"
import * as net from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { LoadRequest } from "./answers.ts"

export const connections = 64

/** What one run of the load counted. */
export interface Count {
  /** Requests answered as they have to be. */
  readonly requests: number
  readonly seconds: number
  /** Answers with another status. */
  readonly failures: number
  /** Milliseconds until each answer, except the first on each connection: a server accepts one in a turn of its loop. */
  readonly latencies: ReadonlyArray<number>
}

/** How many requests are on their way at once, and how many begin in a second; without a rate, each follows an answer. */
interface Pace {
  readonly connections?: number
  readonly rate?: number
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

/**
 * Sends requests until the limit is reached, and waits for the last answers. At a steady rate, the time of a request begins when
 * it is due, so that one that waits for a connection counts as slow.
 */
export const load = async (
  url: string,
  next: () => LoadRequest,
  status: number,
  limit: Limit,
  { connections: count = connections, rate }: Pace = {}
): Promise<Count> => {
  const { hostname, port } = new URL(url)
  const begin = performance.now()
  const end = "seconds" in limit ? begin + 1000 * limit.seconds : Infinity
  let toSend = "requests" in limit ? limit.requests : Infinity
  let [requests, failures] = [0, 0]
  const latencies: Array<number> = []
  /** The connections that wait for a request, at a steady rate. */
  const free: Array<(due: number) => void> = []
  const isOver = () => toSend <= 0 || performance.now() >= end

  const connect = async (): Promise<void> => {
    const socket = net.connect(Number(port), hostname).setNoDelay()
    await once(socket, "connect")
    const { promise, reject, resolve } = Promise.withResolvers<void>()
    let [head, missing, wanted, sent] = ["", 0, 0, 0]
    let isAccepted = false
    let isRight = true
    // One that the system has lost fails, and the others go on.
    socket.setTimeout(20_000, () => {
      failures++
      resolve()
      socket.destroy()
    })
    // The last bytes of an answer without a length.
    let tail: string | undefined
    const begin = (due: number): void => {
      if (isOver()) {
        socket.destroy()
        resolve()
        return
      }
      toSend--
      const request = next()
      wanted = expected(request, status)
      sent = due
      socket.write(madeOnce(request))
    }
    const send = (): void => {
      if (rate === undefined || isOver()) begin(performance.now())
      else free.push(begin)
    }
    const finish = (): void => {
      if (isAccepted) latencies.push(performance.now() - sent)
      isAccepted = true
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
  const opened: Array<Promise<void>> = []
  for (let i = 1; i <= count; i++) {
    opened.push(connect())
    // More at once than the system keeps waiting would be lost.
    if (i % 200 === 0) await sleep(10)
  }
  const connected = Promise.all(opened)
  if (rate !== undefined) {
    let due = performance.now()
    const pace = (): void => {
      for (; due <= performance.now() && free.length > 0; due += 1000 / rate) free.shift()?.(due)
      if (!isOver()) setImmediate(pace)
      else for (const begin of free.splice(0)) begin(due)
    }
    pace()
  }
  await connected
  return { requests, failures, seconds: (performance.now() - begin) / 1000, latencies }
}
