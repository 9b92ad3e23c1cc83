import { Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { get } from "node:http"
import { Readable } from "node:stream"

/** An event of a body of events. */
export interface SentEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: string
}

/** The events of an answer, one after the other; `undefined` at its end. `bytes` has all that has arrived. */
export const eventsOf = (response: Response) => {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let rest = ""
  const seen = { bytes: "" }
  const state = { isEnded: false }
  // The protocol has a place after each event with messages.
  let isPlaceDue = false
  let reading: Promise<void> | undefined
  const take = async () => {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
    reading = undefined
    state.isEnded = done
    const text = decoder.decode(value, { stream: true })
    seen.bytes += text
    rest += text
  }
  /** Takes what arrives next, once for all who wait. */
  const read = (): Promise<void> => reading ??= take()
  const next = async (): Promise<SentEvent | undefined> => {
    while (true) {
      const end = rest.indexOf("\n\n")
      if (end >= 0) {
        const lines = rest.slice(0, end).split("\n")
        rest = rest.slice(end + 2)
        const of = (field: string) =>
          lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).trimStart())
        const event = of("event")[0] ?? "message"
        if (isPlaceDue && event !== "control") throw new Error(`no place follows messages, but ${lines.join(" ")}`)
        isPlaceDue = event === "data"
        return { event, id: of("id")[0], data: of("data").join("\n") }
      }
      if (state.isEnded) return undefined
      await read()
    }
  }
  return {
    seen,
    /** Whether the answer has ended, or does within a moment; what it has sent can still be taken. */
    hasEnded: Effect.promise(async () => {
      const ended = async () => {
        while (!state.isEnded) await read()
        return true
      }
      return Promise.race([ended(), new Promise<boolean>((resolve) => setTimeout(resolve, 30, false))])
    }),
    next: Effect.timeout(Effect.promise(next), "1 minute").pipe(Effect.orDie),
    cancel: Effect.promise(() => reader.cancel().catch(() => undefined))
  }
}

/** An answer on a connection of its own, which ends with it. */
const connected = (url: string, headers: Record<string, string>, signal: AbortSignal) =>
  new Promise<Response>((resolve, reject) => {
    get(url, { headers, signal, agent: false }, (answer) => {
      const names = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
      // The types of both streams differ, though they are the same.
      const body = answer.statusCode === 204 ? null : Readable.toWeb(answer) as ReadableStream<Uint8Array>
      resolve(new Response(body, { status: answer.statusCode ?? 0, headers: names }))
    }).on("error", reject)
  })

/** An open stream of changes, which is closed with the scope. */
export const openedStream = (
  url: string,
  headers: Record<string, string> = {}
): Effect.Effect<OpenedStream, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.gen(function*() {
      const controller = new AbortController()
      const response = yield* Effect.promise(() => connected(url, headers, controller.signal))
      const events = eventsOf(response)
      let place: string | undefined
      const next = Effect.tap(events.next, (event) =>
        Effect.sync(() => {
          place = event?.id ?? place
        }))
      /** The client connects again. */
      const again: Effect.Effect<OpenedStream, never, Scope.Scope> = Effect.suspend(() =>
        openedStream(url, place === undefined ? headers : { ...headers, "last-event-id": place })
      )
      return { ...events, next, again, response, controller }
    }),
    ({ controller }) => Effect.sync(() => controller.abort())
  )

export interface OpenedStream extends ReturnType<typeof eventsOf> {
  readonly again: Effect.Effect<OpenedStream, never, Scope.Scope>
  readonly response: Response
  readonly controller: AbortController
}

/** A message of a stream of changes. */
export interface Message {
  readonly type?: string
  readonly key?: string
  readonly value?: { readonly [name: string]: unknown }
  readonly headers: { readonly operation?: string; readonly control?: string; readonly txid?: string }
}

export const messagesIn = ({ data }: SentEvent): ReadonlyArray<Message> => JSON.parse(data)

/** The next event with messages, which heartbeats and places are not. */
export const nextData = (stream: OpenedStream): Effect.Effect<SentEvent> =>
  Effect.gen(function*() {
    while (true) {
      const event = yield* stream.next
      if (event === undefined) return yield* Effect.die(new Error("the stream has ended"))
      if (event.event === "data") return event
    }
  })

/** The messages of the next event that has some. */
export const nextMessages = (stream: OpenedStream) => Effect.map(nextData(stream), messagesIn)

/** How a stream ends: the control message or the code of its last event that is no place; `undefined` if it says nothing. */
export const endOfStream = (stream: OpenedStream): Effect.Effect<string | number | undefined> =>
  Effect.gen(function*() {
    let last: SentEvent | undefined
    for (let event = yield* stream.next; event !== undefined; event = yield* stream.next) {
      if (event.event !== "control") last = event
    }
    if (last === undefined) return undefined
    return last.event === "data" ? messagesIn(last).at(-1)?.headers.control : JSON.parse(last.data).code
  })

/** {@link endOfStream}; if the stream had not the time to say it, what its client is answered when it connects again. */
export const endForClient = (stream: OpenedStream): Effect.Effect<string | number | undefined, never, Scope.Scope> =>
  Effect.gen(function*() {
    const end = yield* endOfStream(stream)
    if (end !== undefined) return end
    const again = yield* stream.again
    return again.response.status === 200 ? (yield* nextMessages(again))[0]?.headers.control : again.response.status
  })

/** Lets the clock go on in steps, between which everything runs. */
export const pass = (seconds: number) =>
  Effect.repeat(
    Effect.andThen(
      TestClock.adjust("1 second"),
      Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
    ),
    { times: seconds - 1 }
  )
