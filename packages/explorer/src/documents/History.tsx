import type { Revision } from "@appkernel/react-admin"
import { Alert, Box, Button, Card, Chip, Collapse, LinearProgress, Typography } from "@mui/material"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Confirm, useLocaleState, useNotify, useTranslate } from "react-admin"
import { instantOf } from "../data/dateTime.ts"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { type Document, hasLink, isSame, plain } from "../data/documents.ts"
import { dateTimeFormat } from "../data/formats.ts"
import { sentenceOf } from "../data/sentences.ts"
import { toneOf } from "../fields/tones.ts"
import { UserName } from "../fields/UserName.tsx"
import { Value } from "../fields/Value.tsx"

/** Who changed a document when, and what; an earlier state can be written again. */
export const History = ({ document, onRestored }: { readonly document: Document; readonly onRestored: () => void }) => {
  const translate = useTranslate()
  const { dataProvider } = useConnection()
  const { name } = useDescribed()
  const { data, error, fetchNextPage, hasNextPage, isPending } = useInfiniteQuery({
    queryKey: [name, "history", document.id, document],
    queryFn: ({ pageParam }) => dataProvider.history(name, document.id, pageParam === 0 ? {} : { before: pageParam }),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next
  })
  if (isPending) return <LinearProgress />
  if (error !== null) return <Alert severity="warning">{sentenceOf(error, translate)}</Alert>
  const revisions = data.pages.flatMap((page) => page.data)
  return (
    <Card>
      <Box component="ol" sx={{ m: 0, p: 0, listStyle: "none" }}>
        {revisions.map((revision, i) => (
          <Entry
            key={revision.revision}
            document={document}
            revision={revision}
            before={revisions[i + 1]}
            isNow={i === 0}
            onRestored={onRestored}
          />
        ))}
      </Box>
      {hasNextPage && (
        <Button sx={{ m: 1 }} onClick={() => void fetchNextPage()}>{translate("explorer.history.earlier")}</Button>
      )}
    </Card>
  )
}

interface EntryProps {
  readonly document: Document
  readonly revision: Revision
  readonly before: Revision | undefined
  /** Whether it is the state that the document has. */
  readonly isNow: boolean
  readonly onRestored: () => void
}

const Entry = ({ before, document, isNow, onRestored, revision }: EntryProps) => {
  const translate = useTranslate()
  const notify = useNotify()
  const [locale] = useLocaleState()
  const { dataProvider } = useConnection()
  const { may, name } = useDescribed()
  const [isOpen, setOpen] = useState(isNow)
  const [isAsking, setAsking] = useState(false)
  const time = instantOf(revision.time)
  const restore = async () => {
    setAsking(false)
    try {
      await dataProvider.restore(name, document.id, revision.revision)
      notify("explorer.history.restored", { type: "success" })
      onRestored()
    } catch (error) {
      notify(sentenceOf(error, translate), { type: "error" })
    }
  }
  return (
    <Box component="li" sx={{ borderBottom: 1, borderColor: "divider", px: 2, py: 1.25 }}>
      <Box sx={{ display: "flex", flexWrap: "wrap", alignItems: "center", gap: 1.25 }}>
        <Chip
          size="small"
          label={translate(`explorer.history.changes.${revision.change}`, { _: revision.change })}
          sx={toneOf(revision.change)}
        />
        <Typography component="span" sx={{ fontWeight: 600 }}>
          {time === undefined
            ? revision.time
            : dateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" }).format(time)}
        </Typography>
        {revision.by !== undefined && (
          <Typography component="span" color="textSecondary">
            <UserName id={revision.by} />
          </Typography>
        )}
        <Box className="no-print" sx={{ ml: "auto", display: "flex", gap: 0.5 }}>
          {!isNow && may.restoreRevision && hasLink(document, "restore_revision") && (
            <Button onClick={() => setAsking(true)}>{translate("explorer.history.restore")}</Button>
          )}
          <Button color="inherit" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {translate(isOpen ? "explorer.history.hide" : "explorer.history.show")}
          </Button>
        </Box>
      </Box>
      <Collapse in={isOpen} unmountOnExit>
        <Difference id={document.id} revision={revision.revision} before={before?.revision} />
      </Collapse>
      <Confirm
        isOpen={isAsking}
        title={translate("explorer.history.restore")}
        content={translate("explorer.history.restoreContent")}
        onClose={() => setAsking(false)}
        onConfirm={() => void restore()}
      />
    </Box>
  )
}

/** What one change made of the fields: as it was, and as it became. */
const Difference = (
  { before, id, revision }: { readonly id: string; readonly revision: number; readonly before: number | undefined }
) => {
  const translate = useTranslate()
  const { dataProvider } = useConnection()
  const { fields, isVersioned, name } = useDescribed()
  const { data, error, isPending } = useQuery({
    queryKey: [name, "revision", id, revision, before],
    queryFn: async () => {
      const [after, earlier] = await Promise.all([
        dataProvider.revision(name, id, revision),
        before === undefined ? undefined : dataProvider.revision(name, id, before)
      ])
      return { after: after.data, earlier: earlier?.data ?? { id } }
    },
    staleTime: Infinity
  })
  if (isPending) return <LinearProgress sx={{ my: 1 }} />
  if (error !== null) return <Alert severity="warning" sx={{ mt: 1 }}>{sentenceOf(error, translate)}</Alert>
  // That each change has another version says nothing of it.
  const changed = fields.filter((field) =>
    field.path !== "id" && !(isVersioned && field.path === "version") &&
    !isSame(plain(data.earlier[field.name], field), plain(data.after[field.name], field))
  )
  if (changed.length === 0) {
    return <Typography color="textSecondary" sx={{ py: 1 }}>{translate("explorer.history.nothing")}</Typography>
  }
  return (
    <Box
      sx={{
        mt: 1,
        display: "grid",
        gridTemplateColumns: {
          xs: "1fr",
          sm: before === undefined ? "minmax(90px, 160px) 1fr" : "minmax(90px, 160px) 1fr 1fr"
        },
        gap: 1,
        fontSize: "0.8125rem"
      }}
    >
      {changed.map((field) => [
        <Typography key={`${field.name} label`} variant="body2" color="textSecondary">{field.label}</Typography>,
        before !== undefined && (
          <Box
            key={`${field.name} before`}
            component="del"
            sx={changedFrom}
          >
            <Value field={field} value={data.earlier[field.name]} />
          </Box>
        ),
        <Box
          key={`${field.name} after`}
          component="ins"
          sx={changedTo}
        >
          <Value field={field} value={data.after[field.name]} />
        </Box>
      ])}
    </Box>
  )
}

/** A value on one side of a change. */
const sideOf = (color: "error" | "success") => ({
  textDecoration: "none",
  minWidth: 0,
  px: 1,
  py: 0.5,
  borderRadius: 1,
  borderLeft: 3,
  borderColor: `${color}.main`,
  backgroundColor: "action.hover"
})

const changedFrom = sideOf("error")

const changedTo = sideOf("success")
