import type { ResourceDescription } from "@appkernel/react-admin"
import { Box, Card, Skeleton, Typography } from "@mui/material"
import { Link, useGetList, useLocaleState, useTranslate } from "react-admin"
import { ago } from "../data/ago.ts"
import { instantOf } from "../data/dateTime.ts"
import { type Document, nameOf } from "../data/documents.ts"
import { numberFormat } from "../data/formats.ts"
import { sentenceOf } from "../data/sentences.ts"
import { textOf } from "../data/text.ts"
import { NameLink } from "../fields/NameLink.tsx"
import { useNewest } from "./newest.ts"

/** What is work of the service, by its models: the state in which somebody has to look at it, and since when it is. */
const works: { readonly [model: string]: { readonly state: string; readonly time: string } } = {
  QueuedJob: { state: "dead", time: "ended" },
  WebhookDelivery: { state: "failed", time: "at" }
}

export const isWork = ({ may, model }: ResourceDescription): boolean => may.list && Object.hasOwn(works, model)

/** How many of the jobs or deliveries of the service have failed, and the newest of them. */
export const Failing = ({ resource }: { readonly resource: ResourceDescription }) => {
  const translate = useTranslate()
  const [locale] = useLocaleState()
  const { labelPlural, model, name } = resource
  const { state, time } = works[model]!
  const filter = { state: { "[]": [state] } }
  const all = useNewest([resource], true)[0]
  // Where there is none at all, none has failed.
  const isNone = all?.data?.total === 0
  const { data = [], error, isPending, pageInfo, total } = useGetList<Document>(name, {
    filter,
    pagination: { page: 1, perPage: 5 },
    sort: { field: time, order: "DESC" }
  }, { enabled: all?.isPending === false && !isNone })
  const isAsked = isPending && !isNone
  const known = total ?? data.length
  const isMore = total === undefined && pageInfo?.hasNextPage === true
  return (
    <Box component="section">
      <Box sx={{ display: "flex", alignItems: "baseline", gap: 1, mb: 1 }}>
        <Typography variant="h2">{labelPlural}</Typography>
        <Box sx={{ ml: "auto", fontSize: "0.8125rem" }}>
          {isAsked
            ? <Skeleton width={80} animation={false} />
            : error !== null
            ? sentenceOf(error, translate)
            : known === 0
            ? translate("explorer.home.noneFailed")
            : (
              <Link to={`/${name}?filter=${encodeURIComponent(JSON.stringify(filter))}`}>
                {translate(`explorer.home.${isMore ? "moreFailed" : "failed"}`, {
                  smart_count: known,
                  count: numberFormat(locale).format(known)
                })}
              </Link>
            )}
        </Box>
      </Box>
      {error === null && data.length > 0 && (
        <Card component="ul" sx={{ m: 0, px: 2, py: 0.5, listStyle: "none" }}>
          {data.map((document) => {
            const at = instantOf(document[time])
            const what = textOf(document["queue"] ?? document["event_type"])
            return (
              <Box component="li" key={document.id} sx={{ py: 0.75 }}>
                <Box sx={{ display: "flex", gap: 1, alignItems: "baseline" }}>
                  <Box sx={{ minWidth: 0, flex: 1 }}>
                    <NameLink
                      resource={resource}
                      document={document}
                      text={what === "" ? nameOf(resource, document) : what}
                    />
                  </Box>
                  <Typography variant="body2" color="textSecondary" sx={{ whiteSpace: "nowrap" }}>
                    {at !== undefined && ago(at, new Date(), locale)}
                  </Typography>
                </Box>
                <Typography variant="body2" color="textSecondary" noWrap>
                  <bdi>{textOf(document["failure"]).slice(0, 200)}</bdi>
                </Typography>
              </Box>
            )
          })}
        </Card>
      )}
    </Box>
  )
}
