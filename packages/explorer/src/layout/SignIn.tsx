import { Alert, Box, Button, Card, TextField, Typography } from "@mui/material"
import { type SyntheticEvent, useEffect, useRef, useState } from "react"
import { LocalesMenuButton, Notification, ToggleThemeButton, useAuthProvider, useTranslate } from "react-admin"
import { Logo } from "./Logo.tsx"

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
  const trying = useRef<Promise<unknown>>(undefined)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault()
    const entered = new FormData(event.currentTarget)
    setBusy(true)
    setProblem(undefined)
    try {
      // The answer to it takes the cookie away.
      await trying.current
      await provider?.login({ username: entered.get("username"), password: entered.get("password") })
    } catch (error) {
      setProblem(error instanceof Error && error.message !== "" ? error.message : translate("ra.auth.sign_in_error"))
    } finally {
      setBusy(false)
    }
  }
  useEffect(() => {
    // Who signs in takes the place of who was there.
    if (onUnfinished === undefined || isBusy) return undefined
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
    const wait = () => {
      if (!isOver) timer = setTimeout(() => void again(), every)
    }
    const again = async () => {
      // One at a time, although the page is made again meanwhile.
      trying.current ??= onUnfinished().catch(() => undefined).finally(() => {
        trying.current = undefined
      })
      await trying.current
      wait()
    }
    wait()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [isBusy, onUnfinished])
  return (
    <Box sx={{ minHeight: "100vh", display: "flex", flexDirection: "column" }}>
      <Box component="header" sx={{ display: "flex", alignItems: "center", justifyContent: "flex-end", p: 1 }}>
        <LocalesMenuButton />
        <ToggleThemeButton />
      </Box>
      <Box component="main" sx={{ flex: 1, display: "grid", placeItems: "center", p: 2, pb: 12 }}>
        <Card sx={{ width: "100%", maxWidth: 384, p: { xs: 3, sm: 4 } }}>
          <Logo size={36} />
          <Typography variant="h1" sx={{ mt: 2 }}>{translate("explorer.signIn.title")}</Typography>
          <Typography color="textSecondary" sx={{ mt: 0.5, mb: 2 }}>
            {translate("explorer.signIn.to", { host: globalThis.location.host })}
          </Typography>
          <form onSubmit={(event) => void submit(event)}>
            {warning !== undefined && <Alert severity="warning" sx={{ mb: 1 }}>{translate(warning)}</Alert>}
            {problem !== undefined && <Alert severity="error" sx={{ mb: 1 }}>{problem}</Alert>}
            <TextField
              name="username"
              label={translate("ra.auth.username")}
              autoComplete="username"
              required
              autoFocus
            />
            <TextField
              name="password"
              type="password"
              label={translate("ra.auth.password")}
              autoComplete="current-password"
              required
            />
            <Button type="submit" variant="contained" size="large" fullWidth loading={isBusy} sx={{ mt: 2 }}>
              {translate("ra.auth.sign_in")}
            </Button>
          </form>
        </Card>
      </Box>
      <Notification />
    </Box>
  )
}
