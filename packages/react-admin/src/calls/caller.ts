/** Requests to a service: with the credentials of the session, which are renewed when they have run out, and in the language of the reader. */
import { KernelError } from "../KernelError.ts"
import { errorOf, unanswered } from "./errors.ts"
import type { Session } from "./session.ts"

/** A request. */
export interface Call {
  readonly method?: string
  /** Behind the address of the service, as its document and its links have it. */
  readonly path: string
  readonly query?: URLSearchParams | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
  /** JSON, unless it is of another type than a plain value. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** Whether nothing is written, whatever the method is: then a service that has too much to do is asked again. */
  readonly isRead?: boolean | undefined
}

/** Sends requests. Fails with a `KernelError` of each answer that is none of 200 to 299. */
export interface Caller {
  readonly send: (call: Call) => Promise<Response>
  /** The JSON of the answer; `undefined` of an empty one. */
  readonly json: (call: Call) => Promise<unknown>
  /** As `json`, or the text of an answer of another type. */
  readonly read: (call: Call) => Promise<unknown>
  readonly urlOf: (path: string, query?: URLSearchParams) => string
  /** A caller of the same service, which fails with a 401 as soon as somebody else is signed in than now. */
  readonly ofNow: () => Caller
}

/** Makes the caller of a service. */
export const makeCaller = ({ fetch, language, session, url, wait, withKey }: {
  readonly url: string
  readonly fetch: typeof globalThis.fetch
  readonly session: Session
  readonly language: () => string | undefined
  readonly wait: (milliseconds: number, signal?: AbortSignal) => Promise<void>
  /** Sends a call, with a key if it is a write that takes one. */
  readonly withKey: (call: Call, send: (call: Call) => Promise<Response>) => Promise<Response>
}): Caller => {
  const base = url.replace(/\/$/u, "")
  const urlOf = (path: string, query?: URLSearchParams) =>
    `${base}${path}${query === undefined || query.size === 0 ? "" : `?${query.toString()}`}`
  const once = async (
    { body, headers = {}, method = "GET", path, query, signal }: Call,
    turn: number
  ): Promise<Response> => {
    const spoken = language()
    const isPlain = body !== undefined && !isRaw(body)
    return fetch(urlOf(path, query), {
      method,
      credentials: "omit",
      headers: {
        accept: "application/json",
        ...spoken === undefined ? {} : { "accept-language": spoken },
        ...isPlain ? { "content-type": "application/json" } : {},
        ...await session.headers(turn),
        ...headers
      },
      ...body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) },
      ...signal === undefined ? {} : { signal }
    }).catch((cause: unknown) =>
      Promise.reject(cause instanceof DOMException && cause.name === "AbortError" ? cause : unanswered(cause))
    )
  }
  const sendAt = async (call: Call, turn: number): Promise<Response> => {
    const first = await once(call, turn)
    // A request that was answered 401 has changed nothing. It is never sent again as another user.
    const isOver = first.status === 401 && session.turn() === turn && session.isSignedIn() && await session.renew()
    let response = isOver ? await once(call, turn) : first
    for (let again = 0; again < maxAgain && isBusy(call, response); again++) {
      // oxlint-disable-next-line eslint/no-await-in-loop -- a request comes after the one before
      await wait(1_000 * (secondsOf(response) + Math.random()), call.signal)
      // oxlint-disable-next-line eslint/no-await-in-loop -- a request comes after the one before
      response = await once(call, turn)
    }
    if (!response.ok) throw await errorOf(response)
    return response
  }
  const callerAt = (turn: () => number): Caller => {
    const send = (call: Call) => withKey(call, (keyed) => sendAt(keyed, turn()))
    return {
      send,
      urlOf,
      json: async (call) => jsonOf(await send(call)),
      read: async (call) => contentOf(await send(call)),
      ofNow: () => {
        const now = turn()
        return callerAt(() => now)
      }
    }
  }
  return callerAt(session.turn)
}

/** The JSON of an answer; `undefined` of an empty one. */
export const jsonOf = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (text === "") return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new KernelError(response.status, "The answer is no JSON", { errors: {} }, { cause })
  }
}

const contentOf = (response: Response): Promise<unknown> =>
  response.headers.get("content-type")?.startsWith("text/") === true ? response.text() : jsonOf(response)

/** How often a read is sent again to a service that has too much to do. */
const maxAgain = 3

/** Whether the service asks to come again soon, for a request that may come twice. */
const isBusy = ({ method = "GET", isRead = method === "GET" }: Call, response: Response): boolean =>
  isRead && (response.status === 503 || response.status === 429) && secondsOf(response) <= 5

const secondsOf = ({ headers }: Response): number => Number(headers.get("retry-after") ?? Infinity)

const isRaw = (body: unknown): body is Blob | FormData | URLSearchParams | string =>
  body instanceof Blob || body instanceof FormData || body instanceof URLSearchParams || typeof body === "string"
