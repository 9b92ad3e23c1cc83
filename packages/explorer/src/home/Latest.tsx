import type { ResourceDescription } from "@appkernel/react-admin"
import { Box, Chip, Skeleton, Typography } from "@mui/material"
import { useQueryClient } from "@tanstack/react-query"
import { memo, startTransition, useDeferredValue, useEffect, useMemo, useState } from "react"
import { useLocaleState, useTranslate } from "react-admin"
import { newestField } from "../columns/order.ts"
import { ago } from "../data/ago.ts"
import { instantOf } from "../data/dateTime.ts"
import { useConnection } from "../data/Description.tsx"
import { type Document, valueAt } from "../data/documents.ts"
import { dateTimeFormat } from "../data/formats.ts"
import { NameLink } from "../fields/NameLink.tsx"
import { toneOf } from "../fields/tones.ts"
import { Initial } from "../parts/Initial.tsx"
import { whenUsed } from "../parts/later.tsx"
import { newest as newestKey, newestCount, useNewest } from "./newest.ts"

interface Entry {
  readonly resource: ResourceDescription
  readonly document: Document
  readonly time: Date
  /** What somebody has just done to it. */
  readonly change?: string
}

const keyOf = ({ document, resource }: Entry): string => `${resource.name} ${document.id}`

/**
 * What has happened to documents, and goes on while somebody looks, of all models whose changes are told; `undefined` until it is
 * asked.
 */
const useHappened = (resources: ReadonlyArray<ResourceDescription>): ReadonlyArray<Entry> | undefined => {
  const { dataProvider } = useConnection()
  const queries = useQueryClient()
  const watched = useMemo(() => resources.filter(({ may }) => may.watch), [resources])
  const [happened, setHappened] = useState<ReadonlyArray<Entry> | undefined>(() =>
    watched.length === 0 ? [] : undefined
  )
  useEffect(() => {
    if (watched.length === 0) return undefined
    return whenUsed(() => {
      setHappened([])
      return dataProvider.watchMany(
        watched.map(({ name }) => name),
        ({ id, operation, record, resource: name, time }) => {
          if (operation === "reset") {
            // Something may have been missed, or is no longer the caller's to see.
            setHappened([])
            void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === newestKey })
            return
          }
          const resource = watched.find((one) => one.name === name)
          if (resource === undefined || id === undefined) return
          const document = { ...record, id: String(id) }
          const entry = { resource, document, time: time ?? new Date(), change: operation }
          startTransition(() =>
            setHappened((before = []) =>
              [entry, ...before.filter((one) => keyOf(one) !== keyOf(entry))].slice(0, newestCount)
            )
          )
        },
        { latest: newestCount }
      )
    })
  }, [dataProvider, queries, watched])
  return happened
}

/** What has happened lately, and the documents that are newest, of all models that say when theirs were made or changed. */
export const Latest = ({ resources }: { readonly resources: ReadonlyArray<ResourceDescription> }) => {
  const happened = useHappened(resources)
  const dated = resources.flatMap((resource) => {
    const field = newestField(resource)
    return field === undefined ? [] : [{ resource, field }]
  })
  const answers = useNewest(dated.map(({ resource }) => resource), true)
  const isPending = answers.some((answer) => answer.isPending)
  const dating = answers.flatMap(({ data }, i) => {
    const { field, resource } = dated[i]!
    return (data?.data ?? []).flatMap((document): ReadonlyArray<Entry> => {
      const time = instantOf(valueAt(document, field))
      return time === undefined ? [] : [{ document, resource, time }]
    })
  })
  const known = new Set(happened?.map(keyOf))
  const newest = [...happened ?? [], ...dating.filter((entry) => !known.has(keyOf(entry)))]
    .toSorted((one, other) => other.time.getTime() - one.time.getTime())
    .slice(0, newestCount)
  // In parts, between which the browser answers.
  const isAsked = !isPending && (happened !== undefined || newest.length > 0)
  return <Entries entries={useDeferredValue(isAsked ? newest : undefined)} />
}

const Entries = memo(({ entries }: { readonly entries: ReadonlyArray<Entry> | undefined }) => {
  const translate = useTranslate()
  const [locale] = useLocaleState()
  if (entries === undefined) {
    // As high as what comes, so that nothing jumps.
    return (
      <Box component="output" sx={{ display: "block", px: 2 }} aria-label={translate("ra.page.loading")}>
        {Array.from({ length: newestCount }, (_, i) => <Skeleton key={i} height={57} animation={false} />)}
      </Box>
    )
  }
  if (entries.length === 0) {
    return <Typography sx={{ p: 2 }} color="textSecondary">{translate("explorer.home.noChanges")}</Typography>
  }
  return (
    <Box component="ul" sx={{ m: 0, p: 0, listStyle: "none" }}>
      {entries.map(({ change, document, resource, time }) => (
        <Box
          component="li"
          key={`${resource.name} ${document.id}`}
          sx={{
            display: "flex",
            alignItems: "center",
            gap: 1.25,
            px: 2,
            py: 1,
            borderBottom: 1,
            borderColor: "divider",
            "&:last-child": { border: 0 }
          }}
        >
          <Initial label={resource.labelPlural} />
          <Box sx={{ minWidth: 0, flex: 1 }}>
            {change === "delete"
              ? <bdi>{document.id}</bdi>
              : <NameLink resource={resource} document={document} />}
            <Typography variant="body2" color="textSecondary">{resource.label}</Typography>
          </Box>
          {change !== undefined && (
            <Chip size="small" label={translate(`explorer.home.changes.${change}`)} sx={toneOf(change)} />
          )}
          <Box
            component="time"
            dateTime={time.toISOString()}
            title={dateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" }).format(time)}
            sx={{ color: "text.secondary", fontSize: "0.8125rem", whiteSpace: "nowrap" }}
          >
            {ago(time, new Date(), locale)}
          </Box>
        </Box>
      ))}
    </Box>
  )
})
