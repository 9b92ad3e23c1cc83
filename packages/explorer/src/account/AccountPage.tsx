import type { KernelDataProvider } from "@appkernel/react-admin"
import { Alert, Box, Button, Card, Chip, LinearProgress, Typography } from "@mui/material"
import { useQuery } from "@tanstack/react-query"
import { useRef, useState } from "react"
import { useDataProvider, useGetIdentity, useLocaleState, useNotify, useTranslate } from "react-admin"
import { ago } from "../data/ago.ts"
import { instantOf } from "../data/dateTime.ts"
import { useConnection } from "../data/Description.tsx"
import { isObject } from "../data/documents.ts"
import { dateTimeFormat } from "../data/formats.ts"
import { sentenceOf } from "../data/sentences.ts"
import { textOf } from "../data/text.ts"
import { NothingHere } from "../parts/NothingHere.tsx"
import { PageTitle } from "../parts/PageTitle.tsx"
import { SignOutEverywhere } from "./SignOutEverywhere.tsx"
import { useSessionOperations } from "./useSessionOperations.ts"

/** Where somebody is signed in: each sign-in, which they can end. */
export const AccountPage = () => {
  const operations = useSessionOperations()
  return operations === undefined ? <NothingHere /> : <Sessions {...operations} />
}

const Sessions = ({ end, list }: { readonly list: string; readonly end: string }) => {
  const translate = useTranslate()
  const { canSignOutEverywhere } = useConnection()
  // React-admin's leads to the sign-in when it is over.
  const dataProvider = useDataProvider<KernelDataProvider>()
  const heading = useRef<HTMLHeadingElement>(null)
  const { data: identity } = useGetIdentity()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["sessions"],
    queryFn: async () => {
      const { data } = await dataProvider.runOperation(list)
      const found = isObject(data) ? data["sessions"] : undefined
      return { sessions: Array.isArray(found) ? found.filter(isObject) : [], now: new Date() }
    }
  })
  return (
    <Box>
      <PageTitle title={translate("explorer.account.title")} />
      <Typography variant="h1">{translate("explorer.account.title")}</Typography>
      <Typography color="textSecondary" sx={{ mb: 2 }}>
        <bdi>{identity?.fullName}</bdi>
      </Typography>
      <Typography variant="h2" ref={heading} tabIndex={-1} sx={{ mb: 1 }}>
        {translate("explorer.account.sessions")}
      </Typography>
      {error !== null && <Alert severity="error" sx={{ mb: 2 }}>{sentenceOf(error, translate)}</Alert>}
      <Card sx={{ mb: 2 }}>
        {isPending && <LinearProgress aria-label={translate("ra.page.loading")} />}
        {data?.sessions.length === 0 && (
          <Typography sx={{ p: 2 }} color="textSecondary">{translate("explorer.account.none")}</Typography>
        )}
        <Box component="ul" sx={{ m: 0, p: 0, listStyle: "none" }}>
          {data?.sessions.map((session) => (
            <Session
              key={textOf(session["id"])}
              session={session}
              now={data.now}
              onEnd={async () => {
                await dataProvider.runOperation(end, { id: session["id"] })
                await refetch()
                // The button that had it is gone.
                heading.current?.focus()
              }}
            />
          ))}
        </Box>
      </Card>
      {canSignOutEverywhere && <SignOutEverywhere />}
    </Box>
  )
}

interface SessionProps {
  readonly session: { readonly [member: string]: unknown }
  /** When it was asked for. */
  readonly now: Date
  readonly onEnd: () => Promise<void>
}

const Session = ({ now, onEnd, session }: SessionProps) => {
  const translate = useTranslate()
  const notify = useNotify()
  const [locale] = useLocaleState()
  const [isBusy, setBusy] = useState(false)
  const [began, used] = [instantOf(session["began"]), instantOf(session["last_used"])]
  const time = (at: Date | undefined) =>
    at === undefined ? "–" : dateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(at)
  const finish = async () => {
    setBusy(true)
    await onEnd().catch((error: unknown) => notify(sentenceOf(error, translate), { type: "error" }))
    setBusy(false)
  }
  const begun = translate("explorer.account.began", { time: time(began) })
  return (
    <Box
      component="li"
      sx={{
        display: "flex",
        flexWrap: "wrap",
        alignItems: "center",
        gap: 1.5,
        px: 2,
        py: 1.25,
        borderBottom: 1,
        borderColor: "divider",
        "&:last-child": { border: 0 }
      }}
    >
      <Box sx={{ flex: "1 1 220px" }}>
        <Typography sx={{ fontWeight: 600 }}>{begun}</Typography>
        <Typography variant="body2" color="textSecondary" title={time(used)}>
          {used !== undefined && translate("explorer.account.used", { ago: ago(used, now, locale) })}
        </Typography>
      </Box>
      {session["current"] === true
        ? <Chip size="small" color="success" variant="outlined" label={translate("explorer.account.current")} />
        : (
          <Button
            color="error"
            loading={isBusy}
            onClick={() => void finish()}
            aria-label={`${translate("explorer.account.end")}: ${begun}`}
          >
            {translate("explorer.account.end")}
          </Button>
        )}
    </Box>
  )
}
