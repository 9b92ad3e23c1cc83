/**
 * Connects react-admin with a service.
 *
 * @since 0.1.0
 */
import { type Call, type Caller, makeCaller } from "./calls/caller.ts"
import { Superseded } from "./calls/errors.ts"
import { makeKeys } from "./calls/idempotencyKeys.ts"
import { makeSession, type Session } from "./calls/session.ts"
import { makeDataProvider } from "./data/dataProvider.ts"
import type { ServiceDescription } from "./Description.ts"
import { describeService, resourcesIn } from "./description/describe.ts"
import { type ReadDocument, readDocument } from "./description/document.ts"
import { type Json, jsonObject } from "./description/json.ts"
import type { KernelAuthProvider } from "./KernelAuthProvider.ts"
import type { KernelDataProvider } from "./KernelDataProvider.ts"
import { KernelError } from "./KernelError.ts"
import type { KernelI18nProvider, Language } from "./KernelI18nProvider.ts"
import { makeI18nProvider } from "./texts/i18nProvider.ts"

export type { Call } from "./calls/caller.ts"

/**
 * Where a service is, and how it is asked.
 *
 * @category models
 * @since 0.1.0
 */
export interface ConnectOptions {
  /** The address of the service, with its prefix if it has one: `https://shop.example`. Empty for that of the page. */
  readonly url: string
  /** Defaults to that of the browser. */
  readonly fetch?: typeof fetch | undefined
  /** The language of labels and messages. Defaults to that of the browser, and follows `changeLocale`. */
  readonly language?: string | undefined
  /** Where the OpenAPI document of the caller is. Defaults to `/openapi.json`. */
  readonly document?: string | undefined
  /**
   * The endpoint that keeps the refresh token in a cookie, as the explorer has one: `/explorer/session`. Without it the refresh
   * token is in memory, and a reload of the page signs out.
   */
  readonly session?: string | undefined
  /** The token endpoint. Defaults to the one in the document. */
  readonly tokens?: string | undefined
  /** From how many matches on pages are no longer counted. Defaults to 10,000. */
  readonly countUpTo?: number | undefined
  /**
   * Told when a sign-in has ended without a sign-out of this page: on another page, or since its time is over. All calls fail with a
   * 401 from then on, until somebody signs in.
   */
  readonly onSignedOut?: (() => void) | undefined
}

/**
 * All that an application needs: providers of react-admin, and what these have no method for.
 *
 * @category models
 * @since 0.1.0
 */
export interface KernelConnection {
  /** What the signed-in caller may see and do. It is read once for each sign-in and language. */
  readonly describe: (signal?: AbortSignal) => Promise<ServiceDescription>
  readonly dataProvider: KernelDataProvider
  readonly authProvider: KernelAuthProvider
  /** Makes the provider of texts. The first language is the default one. */
  readonly i18nProvider: (languages: readonly [Language, ...ReadonlyArray<Language>]) => KernelI18nProvider
  /** Whether `authProvider.logout({ everywhere: true })` ends all sign-ins of the user. */
  readonly canSignOutEverywhere: boolean
  /**
   * Asks any endpoint of the service, with the credentials of the caller. The answer is what the JSON has, or a text of another type.
   * Fails with a `KernelError`.
   */
  readonly ask: (call: Call) => Promise<unknown>
}

/**
 * Connects with a service. Nothing is asked before it is needed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const connect = (options: ConnectOptions): KernelConnection => {
  const { countUpTo = 10_000, document: documentPath = "/openapi.json", url } = options
  const fetch: typeof globalThis.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const base = url.replace(/\/$/u, "")
  let language = options.language
  let known: Promise<ServiceDescription> | undefined
  let latest: ServiceDescription | undefined
  let read: Promise<ReadDocument> | undefined
  const session: Session = makeSession({
    fetch,
    now: () => Date.now(),
    language: () => language,
    onSignedOut: () => options.onSignedOut?.(),
    session: options.session === undefined ? undefined : `${base}${options.session}`,
    tokenUrl: async () => {
      if (options.tokens !== undefined) return urlIn(base, options.tokens)
      const path = await document().catch((error: unknown) =>
        // That it was asked for before this sign-in has begun says nothing.
        error instanceof Superseded ? document() : Promise.reject(error)
      ).then(({ tokenPath }) => tokenPath, (error: unknown) => {
        // Where everything is for those who are signed in, nobody signs in at an endpoint.
        if (error instanceof KernelError && (error.status === 401 || error.status === 403)) return undefined
        throw error
      })
      return path === undefined ? undefined : `${base}${path}`
    }
  })
  let latestRead: ReadDocument | undefined
  const withKey = makeKeys({
    now: () => Date.now(),
    takesKey: (method, path) => latestRead?.takesKey(method, path) === true
  })
  const caller: Caller = makeCaller({ url, fetch, session, language: () => language, wait, withKey })
  const document = (signal?: AbortSignal): Promise<ReadDocument> => {
    const reading = read ??= caller.json({ path: documentPath, signal }).then((json) => readDocument(jsonObject(json)))
    void keepRead(reading)
    return reading
  }
  const keepRead = async (reading: Promise<ReadDocument>): Promise<void> => {
    const found = await reading.catch(() => undefined)
    latestRead = found ?? latestRead
    if (found === undefined && read === reading) read = undefined
  }
  const describeNow = async (signal?: AbortSignal): Promise<ServiceDescription> => {
    // What is read in several requests is of one caller.
    const own = caller.ofNow()
    const found = await document(signal)
    const metadata = await Promise.all(
      Array.from(resourcesIn(found), async ([name, path]): Promise<readonly [string, Json] | undefined> => {
        const meta = await own.json({ path, signal }).catch((error: unknown) => {
          if (error instanceof Superseded) throw error
          // Where the document is not the caller's own, it has resources that the caller does not see.
          if (error instanceof KernelError && (error.status === 401 || error.status === 403)) return undefined
          throw error
        })
        return meta === undefined ? undefined : [name, jsonObject(meta)]
      })
    )
    return describeService(found, new Map(metadata.filter((one) => one !== undefined)))
  }
  const describe = (signal?: AbortSignal): Promise<ServiceDescription> => {
    const describing = known ??= describeNow(signal)
    void keep(describing)
    return describing
  }
  const keep = async (describing: Promise<ServiceDescription>): Promise<void> => {
    const description = await describing.catch(() => undefined)
    if (known !== describing) return
    latest = description
    // What failed is asked again.
    if (description === undefined) known = undefined
  }
  /** What was read for another caller, or in another language. */
  const forget = () => {
    known = undefined
    latest = undefined
    read = undefined
  }
  return {
    describe,
    ask: caller.read,
    canSignOutEverywhere: options.session !== undefined,
    dataProvider: makeDataProvider({
      caller,
      described: () => describe(),
      countUpTo,
      wait,
      unknown: (message) =>
        session.isSignedIn() ? new KernelError(404, message) : new KernelError(401, "ra.auth.auth_check_error")
    }),
    authProvider: {
      login: async (credentials) => {
        await session.signIn(credentials)
        forget()
      },
      logout: async (params) => {
        const { everywhere } = jsonObject(params)
        await session.signOut(everywhere === true)
        forget()
      },
      checkAuth: async () => {
        if (session.isSignedIn()) return
        if (options.session !== undefined && (await session.renew() || session.isSignedIn())) return forget()
        // Where there is an endpoint of sessions, there is access control.
        const isOpen = options.session === undefined && await document().then(({ isOpen }) => isOpen, () => false)
        if (!isOpen) throw new KernelError(401, "ra.auth.auth_check_error")
      },
      checkError: async (reason) => {
        // What somebody else had begun signs out nobody else.
        if (reason instanceof Superseded && session.isSignedIn()) return
        if (reason instanceof KernelError && reason.status === 401) throw reason
      },
      getIdentity: async () => {
        const user = session.user()
        if (user === undefined) throw new KernelError(401, "ra.auth.auth_check_error")
        return { id: user.id, fullName: user.name }
      },
      getPermissions: async () => session.user()?.roles ?? []
    },
    i18nProvider: (languages) =>
      makeI18nProvider({
        languages,
        locale: language,
        description: () => latest,
        onLocale: (locale) => {
          if (language === locale) return
          language = locale
          known = undefined
          read = undefined
        }
      })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The program may name another server. */
const urlIn = (base: string, path: string): string => /^https?:\/\//u.test(path) ? path : `${base}${path}`

const wait = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal?.addEventListener("abort", () => {
      clearTimeout(timer)
      resolve()
    }, { once: true })
  })
