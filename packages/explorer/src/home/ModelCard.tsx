import type { ResourceDescription } from "@appkernel/react-admin"
import { Box, Card, CardActionArea, Skeleton, Typography } from "@mui/material"
import { Link, useLocaleState, useTranslate } from "react-admin"
import { numberFormat } from "../data/formats.ts"
import { Initial } from "../parts/Initial.tsx"
import { useNewest } from "./newest.ts"
import { StateBar } from "./StateBar.tsx"

/** How many documents a model has and, if they have states, how many are in each. */
export const ModelCard = ({ resource }: { readonly resource: ResourceDescription }) => {
  const translate = useTranslate()
  const [locale] = useLocaleState()
  const { labelPlural, name } = resource
  const newest = useNewest([resource])[0]
  const total = newest?.data?.total
  return (
    <Card sx={{ display: "flex", flexDirection: "column" }}>
      <CardActionArea component={Link} to={`/${name}`} sx={{ p: 2, pb: 1 }}>
        <Box sx={{ display: "flex", alignItems: "center", gap: 1 }}>
          <Initial label={labelPlural} />
          <Typography component="span" sx={{ fontWeight: 600 }}>{labelPlural}</Typography>
        </Box>
        <Typography
          component="div"
          sx={{ fontSize: "1.625rem", fontWeight: 650, mt: 0.75, fontVariantNumeric: "tabular-nums" }}
        >
          {newest?.isPending === true
            ? <Skeleton width={60} animation={false} />
            : total === undefined
            ? translate("explorer.home.many")
            : numberFormat(locale).format(total)}
        </Typography>
      </CardActionArea>
      <StateBar resource={resource} isCounting={newest?.isPending === true} total={total} />
    </Card>
  )
}
