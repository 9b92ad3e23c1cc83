import { useEffect, useEffectEvent, useRef } from "react"
import { Notification, useAuthProvider, useLocaleState, useTheme, useTranslate } from "react-admin"
import { makeSignInForm, type SignInForm } from "./signInForm.ts"

/** How often a sign-out is tried again, in milliseconds. */
const every = 5_000

interface SignInProps {
  /** What there is to say of a sign-out that has not ended the sign-in. */
  readonly warning: string | undefined
  /** Signs out whoever the service has not answered when they did. */
  readonly onUnfinished: (() => Promise<unknown>) | undefined
}

/** The page on which somebody signs in. What they came for has its address, and is there when they have. */
export const SignIn = ({ onUnfinished, warning }: SignInProps) => {
  const translate = useTranslate()
  const provider = useAuthProvider()
  const [locale, setLocale] = useLocaleState()
  const [theme, setTheme] = useTheme()
  const trying = useRef<Promise<unknown>>(undefined)
  const isBusy = useRef(false)
  const place = useRef<HTMLDivElement>(null)
  const form = useRef<SignInForm>(undefined)
  const signIn = useEffectEvent(async (entered: { readonly username: string; readonly password: string }) => {
    isBusy.current = true
    try {
      // The answer to it takes the cookie away.
      await trying.current
      await provider?.login(entered)
    } finally {
      isBusy.current = false
    }
  })
  const changeLocale = useEffectEvent(setLocale)
  const changeTheme = useEffectEvent(setTheme)
  useEffect(() => {
    const made = makeSignInForm({
      signIn: (entered) => signIn(entered),
      onLocale: (chosen) => changeLocale(chosen),
      onTheme: (chosen) => changeTheme(chosen)
    })
    form.current = made
    place.current?.append(made.element)
    return () => made.element.remove()
  }, [])
  useEffect(() => {
    form.current?.show({
      texts: {
        title: translate("explorer.signIn.title"),
        to: translate("explorer.signIn.to", { host: globalThis.location.host }),
        username: translate("explorer.signIn.username"),
        password: translate("explorer.signIn.password"),
        submit: translate("explorer.signIn.submit"),
        failed: translate("explorer.signIn.failed"),
        language: translate("explorer.signIn.language"),
        theme: translate("explorer.signIn.theme")
      },
      locale,
      isDark: theme === "dark",
      warning: warning === undefined ? undefined : translate(warning)
    })
  }, [locale, theme, translate, warning])
  // After it says what it is for.
  useEffect(() => form.current?.focus(), [])
  useEffect(() => {
    // Who signs in takes the place of who was there.
    if (onUnfinished === undefined) return undefined
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
    const wait = () => {
      if (!isOver) timer = setTimeout(() => void again(), every)
    }
    const again = async () => {
      if (!isBusy.current) {
        // One at a time, although the page is made again meanwhile.
        trying.current ??= onUnfinished().catch(() => undefined).finally(() => {
          trying.current = undefined
        })
        await trying.current
      }
      wait()
    }
    wait()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [onUnfinished])
  return (
    <>
      <div ref={place} />
      <Notification />
    </>
  )
}
