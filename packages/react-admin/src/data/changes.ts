/** The stream of the changes of a list. */
import type { Caller } from "../calls/caller.ts"
import { isJson, type Json, jsonObject, jsonText } from "../description/json.ts"
import type { Change, KernelRecord } from "../KernelDataProvider.ts"
import { KernelError } from "../KernelError.ts"

/**
 * Follows a list by events over `fetch`, which sends credentials: an `EventSource` does not. It begins with the next change, or the
 * `latest` ones, and goes on after its last event when a connection ends.
 */
export const followChanges = ({ caller, idOf, latest, onChange, onConnection, onEnd, path, query, signal, wait }: {
  readonly caller: Caller
  readonly path: string
  readonly query: URLSearchParams
  /** How many changes of before come first, where there have been so many. */
  readonly latest?: number | undefined
  readonly onChange: (change: Change) => void
  readonly onConnection: (isConnected: boolean) => void
  readonly onEnd: (error: unknown) => void
  readonly signal: AbortSignal
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /** The identifier of a document by its key, and the name of its resource. */
  readonly idOf: (key: string, resource: string | undefined) => string | number
}): void => {
  const start = latest === undefined ? "now" : undefined
  let place: string | undefined = start
  /** How many of the ages a service has failed to answer. */
  let failures = 0
  let pause = first
  let isBehind = false
  let isConnected = false
  const connect = (now: boolean) => {
    if (isConnected === now || signal.aborted) return
    isConnected = now
    onConnection(now)
  }
  const tell = (messages: ReadonlyArray<Json>) => {
    for (const message of messages) {
      const { control, operation, timestamp } = jsonObject(message["headers"])
      const time = typeof timestamp === "string" ? new Date(timestamp) : undefined
      const resource = jsonText(message["type"])
      const id = idOf(String(message["key"]), resource)
      if (control === "reset") onChange({ operation: "reset" })
      else if (operation === "delete") onChange({ operation, resource, id, time })
      else if (operation === "insert" || operation === "update") {
        const record: KernelRecord = { ...jsonObject(message["value"]), id }
        onChange({ operation, resource, id, record, time })
      }
    }
  }
  const isAfterAll = () => {
    // What is read from now on misses nothing.
    if (isBehind) onChange({ operation: "reset" })
    isBehind = false
  }
  const asked = (parameters: { readonly [name: string]: string }) => {
    const all = new URLSearchParams(query)
    for (const [name, value] of Object.entries(parameters)) all.set(name, value)
    return { path, query: all, signal }
  }
  /** The changes since some milliseconds ago, as far as they come in one answer; `undefined` if they are no longer kept. */
  const since = async (age: number) => {
    const offset = new Date(Date.now() - age).toISOString()
    const response = await caller.send(asked({ offset })).catch((error: unknown) => {
      if (error instanceof KernelError && error.status === 410) return undefined
      throw error
    })
    return response && {
      messages: messagesIn(await response.text()),
      next: response.headers.get("stream-next-offset") ?? "now",
      areAll: response.headers.has("stream-up-to-date")
    }
  }
  /** Tells the latest changes: of a shorter time, if there are enough in it, since there may be very many in a longer one. */
  const begun = async (count: number): Promise<string> => {
    let found: Awaited<ReturnType<typeof since>>
    for (const age of ages.slice(failures)) {
      // oxlint-disable-next-line eslint/no-await-in-loop -- whether a shorter time is needed depends on the longer one
      const answer = await since(age).catch((error: unknown) => {
        // A time that takes too long to read would do so again.
        if (error instanceof KernelError && error.status >= 500) failures = ages.indexOf(age) + 1
        throw error
      })
      if (answer === undefined) continue
      // What does not come in one answer has more.
      if (found !== undefined && answer.areAll && answer.messages.length < count) break
      found = answer
      if (answer.areAll) break
    }
    if (found === undefined) {
      // Whoever has read something until now may miss what comes before the stream.
      isBehind = true
      return "now"
    }
    isAfterAll()
    tell(found.messages)
    return found.next
  }
  const once = async () => {
    place ??= await begun(latest ?? 0)
    const headers = { accept: "text/event-stream" }
    const { body } = await caller.send({ ...asked({ live: "sse", offset: place }), headers })
    if (body === null) return
    for await (const { data, event, id } of eventsOf(body, wait)) {
      if (event === "error") return
      isAfterAll()
      connect(true)
      if (event === "data") tell(messagesIn(data))
      if (id !== "") [place, pause] = [id, first]
    }
  }
  const run = async () => {
    while (!signal.aborted) {
      // oxlint-disable-next-line eslint/no-await-in-loop -- a connection comes after the one before
      const error: unknown = await once().then(() => undefined, (cause: unknown) => cause)
      if (signal.aborted) return
      connect(false)
      if (error instanceof KernelError && error.status === 410) [place, isBehind] = [start, true]
      else if (error instanceof KernelError && isFinal(error.status)) return onEnd(error)
      const asked = error instanceof KernelError ? Number(error.body["retry_after"] ?? 0) * 1_000 : 0
      // oxlint-disable-next-line eslint/no-await-in-loop -- a connection comes after the one before
      await wait(Math.max(asked, pause * (1 + Math.random())), signal)
      pause = Math.min(2 * pause, last)
    }
  }
  void run()
}

const messagesIn = (text: string): ReadonlyArray<Json> => {
  const messages: unknown = JSON.parse(text)
  return Array.isArray(messages) ? messages.filter(isJson) : []
}

/** A day, an hour and a minute. */
const ages = [86_400_000, 3_600_000, 60_000]

/** In milliseconds. */
const first = 500
const last = 60_000

/** After how long without a sign of life a connection is over: of several that the service gives. */
const silence = 60_000

/** Whether asking again has no use: 501 says that the service can't, 503 that it can't at the moment. */
export const isFinal = (status: number): boolean =>
  status !== 0 && status !== 408 && status !== 429 && (status < 500 || status === 501)

interface ServerSentEvent {
  readonly event: string
  readonly data: string
  readonly id: string
}

/** The events of a body. */
async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
): AsyncGenerator<ServerSentEvent> {
  let [rest, event, data, id] = ["", "", "", ""]
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (;;) {
      const heard = new AbortController()
      const silent = wait(silence, heard.signal).then(() => ({ done: true, value: undefined } as const))
      // oxlint-disable-next-line eslint/no-await-in-loop -- parts of a body come one after the other
      const { done, value } = await Promise.race([reader.read(), silent]).finally(() => heard.abort())
      if (done) return
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        if (line === "") {
          if (event !== "") yield { event, data, id }
          event = data = ""
          continue
        }
        const end = line.indexOf(":")
        const [name, text] = [line.slice(0, end), line.slice(end + 1).replace(/^ /u, "")]
        if (name === "id") id = text
        else if (name === "event") event = text
        else if (name === "data") data += data === "" ? text : `\n${text}`
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}
