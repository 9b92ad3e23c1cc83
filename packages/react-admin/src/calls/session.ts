/**
 * Who is signed in. The access token is in memory alone. The refresh token is there as well, or in a cookie that scripts can't
 * read, where the service has an endpoint that keeps it.
 */
import { jsonObject, jsonText, jsonTexts } from "../description/json.ts"
import { KernelError } from "../KernelError.ts"
import { errorOf, Superseded, unanswered } from "./errors.ts"

/** What somebody signs in with. */
type SignIn =
  | { readonly username: string; readonly password: string }
  /** A token of another issuer. */
  | { readonly token: string }
  | { readonly apiKey: string }

/** The credentials of requests. */
export interface Session {
  /**
   * The headers of a request of who was signed in at this turn; renews a token that has run out. Fails with a 401 if that one is
   * not signed in any more, or if a sign-in has ended since and nobody has signed in.
   */
  readonly headers: (turn: number) => Promise<{ readonly [name: string]: string }>
  readonly isSignedIn: () => boolean
  /** Changes with each sign-in and sign-out. */
  readonly turn: () => number
  /** The subject and the roles of the token; `undefined` without one. */
  readonly user: () => User | undefined
  readonly signIn: (how: SignIn) => Promise<void>
  /** Renews the tokens, if they came from the service. Whether who was signed in has some now. */
  readonly renew: () => Promise<boolean>
  readonly signOut: (everywhere?: boolean) => Promise<void>
}

/** Who is signed in. */
interface User {
  readonly id: string
  readonly name: string
  readonly roles: ReadonlyArray<string>
}

/** Where tokens are issued. */
export interface SessionOptions {
  readonly fetch: typeof fetch
  /** The endpoint that keeps the refresh token in a cookie; `undefined` without one. */
  readonly session: string | undefined
  /** The token endpoint (RFC 6749); `undefined` if the service has none. */
  readonly tokenUrl: () => Promise<string | undefined>
  readonly now: () => number
  /** The language of what the service says. */
  readonly language: () => string | undefined
  /** Told when a sign-in has ended without a sign-out here. */
  readonly onSignedOut: () => void
}

interface Tokens {
  readonly access: string
  readonly refresh: string | undefined
  /** When the access token is renewed, in milliseconds. */
  readonly renewAt: number
}

/** Before a token runs out, in milliseconds. */
const margin = 30_000

/** How long a sign-out waits for its answer, in milliseconds. */
const patience = 20_000

/** Makes the session of one page. */
export const makeSession = ({ fetch, language, now, onSignedOut, session, tokenUrl }: SessionOptions): Session => {
  let tokens: Tokens | undefined
  let plain: { readonly [name: string]: string } | undefined
  let name: string | undefined
  let renewing: Promise<boolean> | undefined
  /** Changes with each sign-in and sign-out here: an answer to who was signed in before says nothing of who is now. */
  let turn = 0
  /** Counts the sign-ins alone: a sign-out ends what a sign-in before it gets, and not a later one. */
  let signIns = 0
  /** Whether the refresh token, which other pages may have replaced, is that of whoever is signed in here. */
  let isRenewable = true
  /** Whether a sign-in has ended: who does not know it yet is to write nothing as nobody. */
  let isLost = false
  const ask = async (url: string, method: string, form?: { readonly [name: string]: string }) => {
    const spoken = language()
    const response = await fetch(url, {
      method,
      credentials: session === undefined ? "omit" : "same-origin",
      cache: "no-store",
      // The answer has the next refresh token: it is to arrive although the page is left.
      keepalive: session !== undefined,
      headers: { accept: "application/json", ...spoken === undefined ? {} : { "accept-language": spoken } },
      ...form === undefined ? {} : { body: new URLSearchParams(form) }
    }).catch((cause: unknown) => Promise.reject(unanswered(cause)))
    if (!response.ok) throw await errorOf(response)
    return jsonObject(response.status === 204 ? {} : await response.json())
  }
  const keep = (answer: { readonly [member: string]: unknown }) => {
    const access = jsonText(answer["access_token"])
    if (access === undefined) throw new KernelError(0, "The service has answered no token")
    plain = undefined
    name = jsonText(answer["username"]) ?? name
    tokens = {
      access,
      // A renewal that gives no other one leaves it as it is (RFC 6749, section 6).
      refresh: jsonText(answer["refresh_token"]) ?? tokens?.refresh,
      renewAt: now() + Number(answer["expires_in"] ?? 900) * 1_000 - margin
    }
  }
  const forget = () => {
    turn += 1
    renewing = undefined
    tokens = undefined
    plain = undefined
    name = undefined
  }
  const isSignedIn = (): boolean => tokens !== undefined || plain !== undefined
  /** Until somebody signs in here again, the cookie may be anybody's. */
  const lose = () => {
    isRenewable = tokens === undefined
    // Nobody stays nobody, and a sign-in that is under way goes on.
    if (!isSignedIn()) return
    forget()
    isLost = true
    onSignedOut()
  }
  const renewOnce = async (): Promise<boolean> => {
    if (!isRenewable) return false
    const begun = turn
    const { access, refresh } = tokens ?? {}
    const url = session ?? await tokenUrl()
    if (url === undefined || (session === undefined && refresh === undefined)) return tokens !== undefined
    try {
      const answer = session === undefined
        ? await ask(url, "POST", { grant_type: "refresh_token", refresh_token: refresh ?? "" })
        : await alone(() => ask(session, "POST", { grant_type: "refresh_token" }))
      if (turn !== begun) return false
      // Without a cookie, there is nobody.
      if (answer["access_token"] === undefined) lose()
      else keep(answer)
      // Somebody else has signed in on another page.
      if (access !== undefined && tokens !== undefined && claimsOf(access)["sub"] !== claimsOf(tokens.access)["sub"]) {
        lose()
      }
      return tokens !== undefined
    } catch (error) {
      if (turn !== begun) return false
      // Without an answer, the sign-in goes on.
      if (!(error instanceof KernelError) || error.status === 0 || error.status >= 500 || error.status === 429) {
        throw error
      }
      lose()
      return false
    }
  }
  /** What somebody has begun is never done as somebody else. */
  const stillAt = (begun: number) => {
    if (turn !== begun || isLost) throw new Superseded()
  }
  const renew = (): Promise<boolean> => {
    if (renewing !== undefined) return renewing
    const begun = renewOnce().finally(() => {
      if (renewing === begun) renewing = undefined
    })
    return renewing = begun
  }
  const headers = async (begun: number): Promise<{ readonly [name: string]: string }> => {
    stillAt(begun)
    if (plain !== undefined) return plain
    // A renewal that has no answer keeps nothing from a token that has not run out.
    if (tokens !== undefined && now() >= tokens.renewAt) {
      await renew().catch((error: unknown) =>
        tokens !== undefined && now() < tokens.renewAt + margin ? undefined : Promise.reject(error)
      )
    }
    stillAt(begun)
    return tokens === undefined ? {} : { authorization: `Bearer ${tokens.access}` }
  }
  /** Ends a sign-in that is not this page's any more: by its token, or by the cookie, if no later one has replaced it. */
  const end = async (url: string, refresh: string | undefined, isLatest: boolean): Promise<void> => {
    if (session !== undefined) {
      if (isLatest) await ask(session, "DELETE")
    } else if (refresh !== undefined) await ask(`${url}/revoke`, "POST", { token: refresh })
  }
  return {
    headers,
    isSignedIn,
    turn: () => turn,
    user: () => {
      if (tokens === undefined) return plain === undefined ? undefined : { id: name ?? "", name: name ?? "", roles: [] }
      const { roles, sub } = claimsOf(tokens.access)
      const id = jsonText(sub) ?? ""
      return { id, name: name ?? id, roles: typeof roles === "string" ? roles.split(" ") : jsonTexts(roles) }
    },
    signIn: async (how) => {
      forget()
      signIns += 1
      isLost = false
      isRenewable = "password" in how
      if ("token" in how) {
        tokens = { access: how.token, refresh: undefined, renewAt: Infinity }
        return
      }
      if ("apiKey" in how) {
        plain = { "x-api-key": how.apiKey }
        return
      }
      const { password, username } = how
      const begun = turn
      const mine = signIns
      const url = session ?? await tokenUrl()
      stillAt(begun)
      if (url === undefined) plain = { authorization: `Basic ${base64(`${username}:${password}`)}` }
      else {
        const answer = await ask(url, "POST", { grant_type: "password", username, password })
        if (turn !== begun) {
          await end(url, jsonText(answer["refresh_token"]), signIns === mine).catch(() => undefined)
          throw new Superseded()
        }
        forget()
        keep(answer)
      }
      name = username
    },
    renew,
    signOut: async (everywhere = false) => {
      const own = everywhere ? await headers(turn) : {}
      const refresh = tokens?.refresh
      const isOwn = isRenewable
      const leave = () => {
        forget()
        isLost = false
        isRenewable = true
      }
      // What may fail to end everywhere has not ended here.
      if (!everywhere || session === undefined) leave()
      const left = turn
      if (session !== undefined) {
        if (!everywhere && !isOwn) return
        const response = await fetch(`${session}${everywhere ? "?everywhere=true" : ""}`, {
          method: "DELETE",
          credentials: "same-origin",
          headers: own,
          // What is not answered is said, and may be asked again.
          signal: AbortSignal.timeout(patience)
        }).catch((cause: unknown) => Promise.reject(unanswered(cause)))
        if (!response.ok && (everywhere || response.status !== 401)) throw await errorOf(response)
        // Somebody may have signed in since.
        if (turn === left) leave()
        return
      }
      const url = refresh === undefined ? undefined : await tokenUrl()
      if (url !== undefined) await end(url, refresh, false)
    }
  }
}

/** One page at a time renews by the cookie: a refresh token counts once, and its second use ends the sign-in. */
const alone = <A>(run: () => Promise<A>): Promise<A> =>
  typeof navigator === "object" && "locks" in navigator ? navigator.locks.request("appkernel-session", run) : run()

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

/** What a token says of its subject: for words on the page, never for what the subject may. */
const claimsOf = (token: string): { readonly [claim: string]: unknown } => {
  const [, payload = ""] = token.split(".")
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0))
    return jsonObject(JSON.parse(new TextDecoder().decode(bytes)))
  } catch {
    return {}
  }
}
