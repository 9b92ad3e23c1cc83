import { type KernelConnection, type KernelI18nProvider, type ServiceDescription } from "@appkernel/react-admin"
import { CssBaseline } from "@mui/material"
import { notifyManager, QueryClient } from "@tanstack/react-query"
import { startTransition, useCallback, useEffect, useMemo, useRef, useState } from "react"
import {
  AdminContext,
  type AuthProvider,
  CoreAdminUI,
  CustomRoutes,
  Error as Failed,
  LoadingPage,
  Notification,
  Resource,
  useI18nProvider,
  useLocaleState,
  useTranslate
} from "react-admin"
import { Route } from "react-router-dom"
import { accountPath } from "./account/accountPath.ts"
import { DescriptionProvider } from "./data/Description.tsx"
import { ownRoute } from "./data/documentPath.ts"
import { isObject, nameOf } from "./data/documents.ts"
import { preferences } from "./data/preferences.ts"
import { isFinal, isSignedOut, patiently, retry, retryDelay } from "./data/retry.ts"
import { hasDrafts, keepDraftsOf } from "./documents/drafts.ts"
import { Home } from "./home/Home.tsx"
import { Layout } from "./layout/Layout.tsx"
import { later, loadAll } from "./parts/later.tsx"
import { NothingHere } from "./parts/NothingHere.tsx"
import { Waiting } from "./parts/Waiting.tsx"
import { SignIn } from "./signIn/SignIn.tsx"
import { signedOut, signIns } from "./signIn/signIns.ts"
import { darkTheme, lightTheme } from "./theme.ts"

const AccountPage = later(() => import("./account/AccountPage.tsx").then(({ AccountPage }) => AccountPage))
const CreatePage = later(() => import("./documents/CreatePage.tsx").then(({ CreatePage }) => CreatePage))
const DocumentPage = later(() => import("./documents/DocumentPage.tsx").then(({ DocumentPage }) => DocumentPage))
const ResourceList = later(() => import("./lists/ResourceList.tsx").then(({ ResourceList }) => ResourceList))

/** How far somebody is with signing in. */
type Session =
  | { readonly is: "checking" }
  | { readonly is: "signedOut"; readonly unfinished?: Unfinished | undefined }
  | { readonly is: "failed"; readonly message: string }
  | { readonly is: "signedIn"; readonly service: ServiceDescription }

/** A sign-out that has not ended the sign-in. */
interface Unfinished {
  readonly everywhere: boolean
  /** Whether the service has refused it, so that it is not repeated. */
  readonly isRefused: boolean
}

/** What a sign-out that failed leaves: after a 401, nobody is signed in. */
const unfinishedBy = (error: unknown, everywhere: boolean): Unfinished | undefined =>
  isSignedOut(error) ? undefined : { everywhere, isRefused: isFinal(error) }

const store = preferences()

// A timer for each answer would show it by itself: those that come together are shown together.
notifyManager.setScheduler(queueMicrotask)
const queries = new QueryClient({ defaultOptions: { queries: { retry, retryDelay } } })

interface AppProps {
  /** Whether somebody is signed in, which is asked already. */
  readonly checked: Promise<void>
  readonly connection: KernelConnection
  readonly i18nProvider: KernelI18nProvider
}

export const App = ({ checked, connection, i18nProvider }: AppProps) => {
  const [session, setSession] = useState<Session>({ is: "checking" })
  /** Changes with each sign-in and sign-out: what arrives later than the next one is not shown to whoever is there then. */
  const turn = useRef(0)

  const showSignIn = useCallback((unfinished?: Unfinished) => {
    setSession({ is: "signedOut", unfinished })
    // Who signs in next in this window may be somebody else.
    queries.clear()
  }, [])

  const fail = useCallback((error: unknown) => {
    if (isSignedOut(error)) showSignIn()
    else setSession({ is: "failed", message: error instanceof Error ? error.message : String(error) })
  }, [showSignIn])

  const describe = useCallback(async () => {
    const begun = turn.current
    try {
      const service = await patiently(() => connection.describe())
      const id = await connection.authProvider.getIdentity().then(({ id }) => id, () => "")
      if (turn.current !== begun) return
      keepDraftsOf(id)
      // The page is made in parts, between which the browser answers.
      startTransition(() => setSession({ is: "signedIn", service }))
      loadAll()
    } catch (error) {
      if (turn.current === begun) fail(error)
    }
  }, [connection, fail])

  const authProvider = useMemo((): AuthProvider => {
    const provider = connection.authProvider
    return {
      ...provider,
      login: async (params) => {
        const answer: unknown = await provider.login(params)
        turn.current += 1
        signIns.postMessage("signedIn")
        await describe()
        return answer
      },
      // The page of the sign-in takes the place of what was there, whose address stays.
      logout: async (params) => {
        const everywhere = isObject(params) && params["everywhere"] === true
        let unfinished: Unfinished | undefined
        turn.current += 1
        try {
          await provider.logout({ everywhere })
        } catch (error) {
          unfinished = unfinishedBy(error, everywhere)
          // The page of the sign-in says so, but not that the other sign-ins go on.
          if (everywhere) throw error
        } finally {
          showSignIn(unfinished)
        }
        return false
      },
      checkError: (error) => provider.checkError(error)
    }
  }, [connection, describe, showSignIn])

  const begin = useCallback(async (asked?: Promise<void>) => {
    const begun = turn.current
    try {
      await (asked ?? patiently(() => connection.authProvider.checkAuth({})))
    } catch (error) {
      return turn.current === begun ? fail(error) : undefined
    }
    if (turn.current === begun) await describe()
  }, [connection, describe, fail])
  useEffect(() => {
    const start = async () => {
      await begin(checked)
    }
    void start()
  }, [begin, checked])

  useEffect(() => {
    // The cookie is of whoever has signed in: what is repeated would end their sign-in.
    const stop = () => setSession((now) => now.is === "signedOut" ? { is: "signedOut" } : now)
    signIns.addEventListener("message", stop)
    return () => signIns.removeEventListener("message", stop)
  }, [])

  useEffect(() => {
    const show = () => showSignIn()
    signedOut.addEventListener("signedOut", show)
    return () => signedOut.removeEventListener("signedOut", show)
  }, [showSignIn])

  useEffect(() => {
    // What was entered is kept on all pages, and lost with the window.
    const ask = (event: BeforeUnloadEvent) => {
      if (hasDrafts()) event.preventDefault()
    }
    globalThis.addEventListener("beforeunload", ask)
    return () => globalThis.removeEventListener("beforeunload", ask)
  }, [])

  const unfinished = session.is === "signedOut" ? session.unfinished : undefined
  const repeat = useMemo(() => {
    if (unfinished === undefined || unfinished.isRefused) return undefined
    const { everywhere } = unfinished
    // Meanwhile, somebody may have signed in.
    const leave = (left: Unfinished | undefined) =>
      setSession((now) =>
        now.is === "signedOut" && now.unfinished === unfinished ? { is: "signedOut", unfinished: left } : now
      )
    return async () => {
      try {
        await connection.authProvider.logout({ everywhere })
        leave(undefined)
      } catch (error) {
        const left = unfinishedBy(error, everywhere)
        if (left?.isRefused !== false) leave(left)
      }
    }
  }, [connection, unfinished])
  const signOut = () => authProvider.logout({})
  return (
    <AdminContext
      authProvider={authProvider}
      dataProvider={connection.dataProvider}
      i18nProvider={i18nProvider}
      queryClient={queries}
      store={store}
      theme={lightTheme}
      darkTheme={darkTheme}
    >
      <CssBaseline enableColorScheme />
      <Language onChange={session.is === "signedIn" ? describe : undefined} />
      {session.is === "checking" && <Waiting />}
      {session.is === "failed" && (
        <Waiting
          message={session.message}
          onRetry={() => begin()}
          onSignOut={signOut}
        />
      )}
      {session.is === "signedOut" && (
        <SignIn
          warning={unfinished === undefined
            ? undefined
            : `explorer.signIn.${unfinished.isRefused ? "refused" : "unfinished"}`}
          onUnfinished={repeat}
        />
      )}
      {session.is === "signedIn" && session.service.resources.length === 0 && <NothingForYou onSignOut={signOut} />}
      {session.is === "signedIn" && session.service.resources.length > 0 && (
        <Explorer connection={connection} service={session.service} />
      )}
    </AdminContext>
  )
}

/** The page for somebody who is signed in, and may see no model. */
const NothingForYou = ({ onSignOut }: { readonly onSignOut: () => unknown }) => (
  <Waiting message={useTranslate()("explorer.nothingForYou")} onSignOut={onSignOut} />
)

/** Says the language of the page to the browser, and asks the service again for what it says in it. */
const Language = ({ onChange }: { readonly onChange: (() => Promise<void>) | undefined }) => {
  const [locale] = useLocaleState()
  const provider = useI18nProvider()
  const [described, setDescribed] = useState(locale)
  useEffect(() => {
    const change = async () => {
      // Without its texts, the page goes on in the language that it has.
      if (provider.getLocale() !== locale) await provider.changeLocale(locale).catch(() => undefined)
      document.documentElement.lang = provider.getLocale()
      if (provider.getLocale() !== locale) return
      if (described === locale || onChange === undefined) return
      setDescribed(locale)
      await onChange()
    }
    void change()
  }, [locale, provider, described, onChange])
  return null
}

const Explorer = (
  { connection, service }: { readonly connection: KernelConnection; readonly service: ServiceDescription }
) => (
  <DescriptionProvider connection={connection} service={service}>
    <CoreAdminUI
      title={service.title}
      dashboard={Home}
      layout={Layout}
      loading={LoadingPage}
      error={Failed}
      catchAll={NothingHere}
      loginPage={false}
      authCallbackPage={false}
      disableTelemetry
    >
      {service.resources.map((resource) => (
        <Resource
          key={resource.name}
          name={resource.name}
          options={{ label: resource.labelPlural }}
          recordRepresentation={(document) => nameOf(resource, document)}
          {...(resource.may.list ? { list: ResourceList } : {})}
          {...(resource.may.get ? { edit: DocumentPage } : {})}
          {...(resource.may.create ? { create: CreatePage } : {})}
        >
          {resource.may.get && <Route path={ownRoute} element={<DocumentPage />} />}
        </Resource>
      ))}
      <CustomRoutes>
        <Route path={accountPath} element={<AccountPage />} />
      </CustomRoutes>
    </CoreAdminUI>
    <Notification />
  </DescriptionProvider>
)
