import type { BackReference } from "@appkernel/react-admin"
import { Box, Card, LinearProgress, Table, TableBody, TableCell, TableHead, TableRow, Typography } from "@mui/material"
import {
  Link,
  RecordContextProvider,
  ResourceContextProvider,
  useGetList,
  useLocaleState,
  useTranslate
} from "react-admin"
import { Cell } from "../columns/Cell.tsx"
import { columnsOf, hiddenColumnsOf } from "../columns/columns.ts"
import { useDescribed } from "../data/Description.tsx"
import type { Document } from "../data/documents.ts"
import { numberFormat } from "../data/formats.ts"

/** The documents of other models that refer to this one. */
export const Related = ({ document }: { readonly document: Document }) => {
  const { referencedBy } = useDescribed()
  return (
    <Box sx={{ display: "grid", gap: 2 }}>
      {referencedBy.map((reference) => (
        <ResourceContextProvider key={`${reference.resource} ${reference.field}`} value={reference.resource}>
          <Referring reference={reference} id={document.id} />
        </ResourceContextProvider>
      ))}
    </Box>
  )
}

/** How many of them are shown here; the list has all. */
const shownCount = 8
const columnCount = 4

const Referring = (
  { id, reference: { field, name: label, resource: name } }: { readonly reference: BackReference; readonly id: string }
) => {
  const translate = useTranslate()
  const [locale] = useLocaleState()
  const resource = useDescribed(name)
  const filter = { [field]: { "=": id } }
  const { data = [], error, isPending, total } = useGetList<Document>(name, {
    filter,
    pagination: { page: 1, perPage: shownCount },
    sort: { field: "id", order: "ASC" }
  })
  const hidden = new Set(hiddenColumnsOf(resource))
  const columns = columnsOf(resource).filter((column) => !hidden.has(column.path) && column.path !== field).slice(
    0,
    columnCount
  )
  if (error !== null && error !== undefined) return null
  return (
    <Card>
      <Box sx={{ display: "flex", alignItems: "baseline", gap: 1, px: 2, py: 1.5 }}>
        <Typography variant="h2">{resource.labelPlural}</Typography>
        <Typography color="textSecondary" sx={{ fontSize: "0.8125rem" }}>{label}</Typography>
        <Box sx={{ ml: "auto" }}>
          <Link to={`/${name}?filter=${encodeURIComponent(JSON.stringify(filter))}`}>
            {total === undefined
              ? translate("explorer.related.all")
              : translate("explorer.related.count", {
                smart_count: total,
                count: numberFormat(locale).format(total)
              })}
          </Link>
        </Box>
      </Box>
      {isPending && <LinearProgress />}
      {data.length > 0 && (
        <Box sx={{ overflowX: "auto" }}>
          <Table size="small">
            <TableHead>
              <TableRow>{columns.map((column) => <TableCell key={column.path}>{column.label}</TableCell>)}</TableRow>
            </TableHead>
            <TableBody>
              {data.map((row) => (
                <RecordContextProvider key={row.id} value={row}>
                  <TableRow hover>
                    {columns.map((column) => (
                      <TableCell key={column.path} sx={{ maxWidth: 260 }}>
                        <Cell field={column} />
                      </TableCell>
                    ))}
                  </TableRow>
                </RecordContextProvider>
              ))}
            </TableBody>
          </Table>
        </Box>
      )}
    </Card>
  )
}
