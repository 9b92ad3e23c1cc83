import {
  type KernelConnection,
  KernelError,
  type KernelI18nProvider,
  type ServiceDescription
} from "@appkernel/react-admin"
import { CssBaseline } from "@mui/material"
import { QueryClient } from "@tanstack/react-query"
import { startTransition, useCallback, useEffect, useMemo, useState } from "react"
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
import { isObject, nameOf } from "./data/documents.ts"
import { preferences } from "./data/preferences.ts"
import { isDown, patiently, retry, retryDelay } from "./data/retry.ts"
import { keepDraftsOf } from "./documents/drafts.ts"
import { Home } from "./home/Home.tsx"
import { later, loadAll } from "./layout/later.tsx"
import { Layout } from "./layout/Layout.tsx"
import { NothingHere } from "./layout/NothingHere.tsx"
import { SignIn } from "./layout/SignIn.tsx"
import { Waiting } from "./layout/Waiting.tsx"
import { darkTheme, lightTheme } from "./theme.ts"

const AccountPage = later(() => import("./account/AccountPage.tsx").then(({ AccountPage }) => AccountPage))
const CreatePage = later(() => import("./documents/CreatePage.tsx").then(({ CreatePage }) => CreatePage))
const DocumentPage = later(() => import("./documents/DocumentPage.tsx").then(({ DocumentPage }) => DocumentPage))
const ResourceList = later(() => import("./lists/ResourceList.tsx").then(({ ResourceList }) => ResourceList))

/** How far somebody is with signing in. */
type Session =
  | { readonly is: "checking" }
  | { readonly is: "signedOut"; readonly isUnfinished?: boolean }
  | { readonly is: "failed"; readonly message: string }
  | { readonly is: "signedIn"; readonly service: ServiceDescription }

const store = preferences()

const queries = new QueryClient({ defaultOptions: { queries: { retry, retryDelay } } })

interface AppProps {
  /** Whether somebody is signed in, which is asked already. */
  readonly checked: Promise<void>
  readonly connection: KernelConnection
  readonly i18nProvider: KernelI18nProvider
}

export const App = ({ checked, connection, i18nProvider }: AppProps) => {
  const [session, setSession] = useState<Session>({ is: "checking" })

  const fail = useCallback((error: unknown) => {
    if (error instanceof KernelError && error.status === 401) setSession({ is: "signedOut" })
    else setSession({ is: "failed", message: error instanceof Error ? error.message : String(error) })
  }, [])

  const describe = useCallback(async () => {
    try {
      const service = await patiently(() => connection.describe())
      keepDraftsOf(await connection.authProvider.getIdentity().then(({ id }) => id, () => ""))
      // The page is made in parts, between which the browser answers.
      startTransition(() => setSession({ is: "signedIn", service }))
      loadAll()
    } catch (error) {
      fail(error)
    }
  }, [connection, fail])

  const authProvider = useMemo((): AuthProvider => {
    const provider = connection.authProvider
    return {
      ...provider,
      login: async (params) => {
        const answer: unknown = await provider.login(params)
        await describe()
        return answer
      },
      // The page of the sign-in takes the place of what was there, whose address stays.
      logout: async (params) => {
        let isUnfinished = false
        try {
          await provider.logout(params)
        } catch (error) {
          isUnfinished = isDown(error)
          // The page of the sign-in says so, but not that the other sign-ins go on.
          if (!isUnfinished || isObject(params)) throw error
        } finally {
          setSession({ is: "signedOut", isUnfinished })
          // Who signs in next in this window is somebody else.
          queries.clear()
        }
        return false
      },
      checkError: (error) => provider.checkError(error)
    }
  }, [connection, describe])

  const begin = useCallback(async (asked?: Promise<void>) => {
    try {
      await (asked ?? patiently(() => connection.authProvider.checkAuth({})))
    } catch (error) {
      return fail(error)
    }
    await describe()
  }, [connection, describe, fail])
  useEffect(() => {
    const start = async () => {
      await begin(checked)
    }
    void start()
  }, [begin, checked])

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
          onUnfinished={session.isUnfinished === true
            ? () => connection.authProvider.logout({}).then(() => setSession({ is: "signedOut" }))
            : undefined}
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
    document.documentElement.lang = locale
    const change = async () => {
      if (provider.getLocale() !== locale) await provider.changeLocale(locale)
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
        />
      ))}
      <CustomRoutes>
        <Route path={accountPath} element={<AccountPage />} />
      </CustomRoutes>
    </CoreAdminUI>
    <Notification />
  </DescriptionProvider>
)
