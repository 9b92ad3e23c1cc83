/** Keys of writes (draft-ietf-httpapi-idempotency-key-header-07): one whose answer was lost is made once, however often it is tried. */
import { KernelError } from "../KernelError.ts"
import type { Call } from "./caller.ts"

/** Sends a call with a key, if it is a write that takes one: the one that it had, if it has been sent before without an answer. */
type WithKey = (call: Call, send: (call: Call) => Promise<Response>) => Promise<Response>

/** Makes what adds the keys. `takesKey` says whether a write takes one; `now` is in milliseconds. */
export const makeKeys = ({ now, takesKey }: {
  readonly takesKey: (method: string, path: string) => boolean
  readonly now: () => number
}): WithKey => {
  const unanswered = new Map<string, { readonly key: string; readonly until: number }>()
  return async (call, send) => {
    const { body, headers, method = "GET", path, query } = call
    // Uploads take none.
    if (method === "GET" || body instanceof Blob || body instanceof FormData || !takesKey(method, path)) {
      return send(call)
    }
    const asked = JSON.stringify([method, path, query?.toString(), headers, body])
    const kept = unanswered.get(asked)
    // Whoever sends the same meanwhile means another one.
    unanswered.delete(asked)
    const key = kept !== undefined && now() < kept.until ? kept.key : randomKey()
    try {
      return await send({ ...call, headers: { ...headers, "idempotency-key": `"${key}"` } })
    } catch (error) {
      if (!isAnswered(error)) {
        unanswered.set(asked, { key, until: now() + patience })
        const [oldest] = unanswered.keys()
        if (oldest !== undefined && unanswered.size > maxKeys) unanswered.delete(oldest)
      }
      throw error
    }
  }
}

/** Whether the service has said that a write was not made: a failure on the way to it, and a 409 that says to wait, say nothing. */
const isAnswered = (error: unknown): boolean =>
  error instanceof KernelError && error.status !== 0 && error.status < 500 &&
  !(error.status === 409 && error.body["retry_after"] !== undefined)

/** How long somebody tries again, in milliseconds: what is asked later is another write. */
const patience = 10 * 60_000

/** How many keys are kept. */
const maxKeys = 50

/** `randomUUID` is there on https alone. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
