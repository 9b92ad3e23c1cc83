import { Effect } from "effect"

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
  const next = async (): Promise<SentEvent | undefined> => {
    while (true) {
      const end = rest.indexOf("\n\n")
      if (end >= 0) {
        const lines = rest.slice(0, end).split("\n")
        rest = rest.slice(end + 2)
        const of = (field: string) =>
          lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2))
        return { event: of("event")[0] ?? "message", id: of("id")[0], data: of("data").join("\n") }
      }
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
      if (done || value === undefined) return undefined
      const text = decoder.decode(value, { stream: true })
      seen.bytes += text
      rest += text
    }
  }
  return {
    seen,
    next: Effect.timeout(Effect.promise(next), "10 seconds").pipe(Effect.orDie),
    cancel: Effect.promise(() => reader.cancel().catch(() => undefined))
  }
}
