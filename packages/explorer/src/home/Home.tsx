import type { ResourceDescription } from "@appkernel/react-admin"
import { Box, Card, CardActionArea, Skeleton, Typography } from "@mui/material"
import { Link, useGetList, useLocaleState, useTranslate } from "react-admin"
import { useService } from "../data/Description.tsx"
import { Initial } from "../layout/Menu.tsx"
import { PageTitle } from "../layout/PageTitle.tsx"

/** What there is, and what has happened to it. */
export const Home = () => {
  const translate = useTranslate()
  const { resources, title } = useService()
  return (
    <Box>
      <PageTitle title={translate("explorer.home.title")} />
      <Typography variant="h1">{title}</Typography>
      <Typography color="textSecondary" sx={{ mb: 2.5 }}>{translate("explorer.home.greeting")}</Typography>
      <Typography variant="h2" sx={{ mb: 1 }}>{translate("explorer.home.models")}</Typography>
      <Box sx={{ display: "grid", gridTemplateColumns: "repeat(auto-fill, minmax(180px, 1fr))", gap: 1.5 }}>
        {resources.filter(({ may }) => may.list).map((resource) => <Model key={resource.name} resource={resource} />)}
      </Box>
    </Box>
  )
}

const Model = ({ resource: { labelPlural, name } }: { readonly resource: ResourceDescription }) => {
  const [locale] = useLocaleState()
  const { isPending, total } = useGetList(name, {
    pagination: { page: 1, perPage: 1 },
    sort: { field: "id", order: "ASC" },
    meta: { fields: ["id"] }
  }, { retry: false })
  return (
    <Card>
      <CardActionArea component={Link} to={`/${name}`} sx={{ p: 2 }}>
        <Box sx={{ display: "flex", alignItems: "center", gap: 1 }}>
          <Initial label={labelPlural} />
          <Typography component="span" sx={{ fontWeight: 600 }}>{labelPlural}</Typography>
        </Box>
        <Typography
          component="div"
          sx={{ fontSize: "1.75rem", fontWeight: 650, mt: 1, fontVariantNumeric: "tabular-nums" }}
        >
          {isPending
            ? <Skeleton width={60} />
            : total === undefined
            ? "–"
            : new Intl.NumberFormat(locale).format(total)}
        </Typography>
      </CardActionArea>
    </Card>
  )
}
