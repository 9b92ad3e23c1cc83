import { Box, LinearProgress, Stack, Typography } from "@mui/material"
import { RecordContextProvider, useListContext } from "react-admin"
import { Cell } from "../columns/Cell.tsx"
import { columnsOf, hiddenColumnsOf } from "../columns/columns.ts"
import { useDescribed } from "../data/Description.tsx"
import { type Document, valueAt } from "../data/documents.ts"
import { BulkActions } from "./BulkActions.tsx"
import { Choose } from "./Choose.tsx"
import type { LiveRows } from "./useLiveRows.ts"
import { useSelection } from "./useSelection.ts"

/** How much of a document is in its card. */
const partCount = 5

/** A list where there is no room for a table. */
export const Cards = ({ live }: { readonly live: LiveRows }) => {
  const resource = useDescribed()
  const { data, isPending, onToggleItem, selectedIds } = useListContext<Document>()
  const { hasBulk, isSelectable } = useSelection()
  const hidden = new Set(hiddenColumnsOf(resource))
  const columns = columnsOf(resource)
  const name = columns.find(({ path }) => path === resource.representation)
  const picture = columns.find(({ type }) => type === "image")
  const others = columns.filter((field) => field !== name && field !== picture && !hidden.has(field.path)).slice(
    0,
    partCount
  )
  if (isPending) return <LinearProgress />
  return (
    <>
      {hasBulk && <BulkActions />}
      <Box component="ul" sx={{ m: 0, p: 0, listStyle: "none" }}>
        {data?.map((document) => (
          <RecordContextProvider key={document.id} value={document}>
            <Box
              component="li"
              sx={{
                p: 1.5,
                borderBottom: 1,
                borderColor: "divider",
                backgroundColor: live.touched.has(document.id) ? "action.selected" : undefined,
                transition: "background-color 1s"
              }}
            >
              <Stack direction="row" spacing={1.5} sx={{ alignItems: "center" }}>
                {hasBulk && (
                  <Choose
                    document={document}
                    isChosen={selectedIds.includes(document.id)}
                    isDisabled={!isSelectable(document)}
                    onToggle={() => onToggleItem(document.id)}
                  />
                )}
                {picture !== undefined && valueAt(document, picture.path) !== undefined && <Cell field={picture} />}
                <Box sx={{ minWidth: 0, flex: 1 }}>{name === undefined ? document.id : <Cell field={name} />}</Box>
              </Stack>
              <Box
                sx={{
                  display: "grid",
                  gridTemplateColumns: "auto 1fr",
                  columnGap: 2,
                  rowGap: 0.25,
                  mt: 0.75,
                  alignItems: "center"
                }}
              >
                {others.map((field) => [
                  <Typography key={`${field.path} label`} variant="body2" color="textSecondary">
                    {field.label}
                  </Typography>,
                  <Box key={field.path} sx={{ minWidth: 0, overflow: "hidden" }}>
                    <Cell field={field} />
                  </Box>
                ])}
              </Box>
            </Box>
          </RecordContextProvider>
        ))}
      </Box>
    </>
  )
}
