import type { ResourceDescription } from "@appkernel/react-admin"
import { Box, Card, CardActionArea, Skeleton, Typography } from "@mui/material"
import { Link, useGetList, useLocaleState, useTranslate } from "react-admin"
import { Initial } from "../layout/Initial.tsx"
import { newestFirst } from "../lists/order.ts"
import { StateBar } from "./StateBar.tsx"

/** How many documents a model has and, if they have states, how many are in each. */
export const ModelCard = ({ resource }: { readonly resource: ResourceDescription }) => {
  const translate = useTranslate()
  const [locale] = useLocaleState()
  const { labelPlural, name } = resource
  const { isPending, total } = useGetList(name, {
    pagination: { page: 1, perPage: 5 },
    sort: newestFirst(resource)
  })
  return (
    <Card sx={{ display: "flex", flexDirection: "column" }}>
      <CardActionArea component={Link} to={`/${name}`} sx={{ p: 2, pb: 1, flex: 1 }}>
        <Box sx={{ display: "flex", alignItems: "center", gap: 1 }}>
          <Initial label={labelPlural} />
          <Typography component="span" sx={{ fontWeight: 600 }}>{labelPlural}</Typography>
        </Box>
        <Typography
          component="div"
          sx={{ fontSize: "1.625rem", fontWeight: 650, mt: 0.75, fontVariantNumeric: "tabular-nums" }}
        >
          {isPending
            ? <Skeleton width={60} />
            : total === undefined
            ? translate("explorer.home.many")
            : new Intl.NumberFormat(locale).format(total)}
        </Typography>
      </CardActionArea>
      <StateBar resource={resource} />
    </Card>
  )
}
