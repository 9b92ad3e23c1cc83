import type { ResourceDescription } from "@appkernel/react-admin"
import { Box, LinearProgress, Typography } from "@mui/material"
import { useQueries } from "@tanstack/react-query"
import { useLocaleState, useTranslate } from "react-admin"
import { ago } from "../data/ago.ts"
import { instantOf } from "../data/dateTime.ts"
import { useConnection } from "../data/Description.tsx"
import { type Document, valueAt } from "../data/documents.ts"
import { NameLink } from "../fields/NameLink.tsx"
import { Initial } from "../layout/Initial.tsx"
import { newestField } from "../lists/order.ts"

/** How many documents are shown, of all models together. */
const shownCount = 8

/** The documents that are newest, of all models that say when theirs were made or changed. */
export const Latest = ({ resources }: { readonly resources: ReadonlyArray<ResourceDescription> }) => {
  const translate = useTranslate()
  const [locale] = useLocaleState()
  const { dataProvider } = useConnection()
  const dated = resources.flatMap((resource) => {
    const field = newestField(resource)
    return field === undefined ? [] : [{ resource, field }]
  })
  const answers = useQueries({
    queries: dated.map(({ field, resource }) => ({
      queryKey: [resource.name, "latest"],
      queryFn: () =>
        dataProvider.getList<Document>(resource.name, {
          pagination: { page: 1, perPage: shownCount },
          sort: { field, order: "DESC" },
          meta: { count: "none" }
        })
    }))
  })
  if (answers.some(({ isPending }) => isPending)) return <LinearProgress aria-label={translate("ra.page.loading")} />
  const newest = answers.flatMap(({ data }, i) => {
    const { field, resource } = dated[i]!
    return (data?.data ?? []).map((document) => ({ document, resource, time: instantOf(valueAt(document, field)) }))
  }).flatMap(({ time, ...entry }) => time === undefined ? [] : [{ ...entry, time }])
    .toSorted((one, other) => other.time.getTime() - one.time.getTime())
    .slice(0, shownCount)
  if (newest.length === 0) {
    return <Typography sx={{ p: 2 }} color="textSecondary">{translate("explorer.home.noChanges")}</Typography>
  }
  return (
    <Box component="ul" sx={{ m: 0, p: 0, listStyle: "none" }}>
      {newest.map(({ document, resource, time }) => (
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
            <NameLink resource={resource} document={document} />
            <Typography variant="body2" color="textSecondary">{resource.label}</Typography>
          </Box>
          <Box
            component="time"
            dateTime={time.toISOString()}
            title={new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" }).format(time)}
            sx={{ color: "text.secondary", fontSize: "0.8125rem", whiteSpace: "nowrap" }}
          >
            {ago(time, new Date(), locale)}
          </Box>
        </Box>
      ))}
    </Box>
  )
}
