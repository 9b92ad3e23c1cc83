import { alpha } from "@mui/material/styles"
import { useMemo } from "react"
import { DataTable, DataTableBody, type DataTableBodyProps, useListContext } from "react-admin"
import { Cell } from "../columns/Cell.tsx"
import { columnsOf, hiddenColumnsOf } from "../columns/columns.ts"
import { useDescribed } from "../data/Description.tsx"
import { type Document, isDeletedIn, valueAt } from "../data/documents.ts"
import { BulkActions } from "./BulkActions.tsx"
import { Row } from "./Row.tsx"
import type { LiveRows } from "./useLiveRows.ts"
import { useSelection } from "./useSelection.ts"

const isNumber = (type: string): boolean => type === "integer" || type === "number" || type === "decimal"

/** Prices have two decimals, all of them, as soon as one has. */
const decimalsOf = (rows: ReadonlyArray<Document>, path: string): number =>
  Math.min(6, Math.max(0, ...rows.map((row) => /\.(\d+)$/u.exec(String(valueAt(row, path)))?.[1]?.length ?? 0)))

/** The rows of the table. */
const Body = (props: DataTableBodyProps) => <DataTableBody {...props} row={Row} />

/** The table of a list. */
export const Rows = ({ live }: { readonly live: LiveRows }) => {
  const resource = useDescribed()
  const columns = useMemo(() => columnsOf(resource), [resource])
  const hidden = useMemo(() => Array.from(hiddenColumnsOf(resource)), [resource])
  const { data = [] } = useListContext<Document>()
  const { hasBulk, isSelectable } = useSelection()
  return (
    <DataTable
      body={Body}
      hiddenColumns={hidden}
      bulkActionButtons={hasBulk}
      isRowSelectable={isSelectable}
      bulkActionsToolbar={<BulkActions />}
      rowSx={(document) =>
        live.touched.has(document.id)
          ? {
            animation: "explorer-touched 4s ease-out",
            "@keyframes explorer-touched": {
              "0%, 30%": {
                backgroundColor: ({ palette }: { palette: { warning: { main: string } } }) =>
                  alpha(palette.warning.main, 0.22)
              },
              "100%": { backgroundColor: "transparent" }
            }
          }
          : isDeletedIn(resource, document)
          ? { backgroundColor: "action.hover" }
          : {}}
      sx={{ "& .RaDataTable-tableWrapper": { overflowX: "auto" }, "& td": { maxWidth: 340 } }}
    >
      {columns.map((field) => (
        <DataTable.Col
          key={field.path}
          source={field.path}
          label={field.label}
          disableSort={!field.isSortable}
          align={isNumber(field.type) ? "right" : "left"}
        >
          <Cell field={field} decimals={field.type === "number" ? decimalsOf(data, field.path) : undefined} />
        </DataTable.Col>
      ))}
    </DataTable>
  )
}
