import { Checkbox, TableCell, TableRow } from "@mui/material"
import type { SxProps, Theme } from "@mui/material/styles"
import type { MouseEvent, ReactNode } from "react"
import {
  useDataTableCallbacksContext,
  useDataTableConfigContext,
  useDataTableSelectedIdsContext,
  useRecordContext,
  useTranslate
} from "react-admin"
import { useNavigate } from "react-router-dom"
import { useDescribed } from "../data/Description.tsx"
import { documentPath } from "../data/documentPath.ts"
import { type Document, nameOf } from "../data/documents.ts"

interface RowProps {
  readonly children?: ReactNode
  readonly className?: string
  readonly sx?: SxProps<Theme>
}

/** A row: a click opens its document, and its checkbox says which document it chooses. */
export const Row = ({ children, className, sx }: RowProps) => {
  const translate = useTranslate()
  const navigate = useNavigate()
  const resource = useDescribed()
  const document = useRecordContext<Document>()
  const { hasBulkActions } = useDataTableConfigContext()
  const { handleToggleItem, isRowSelectable } = useDataTableCallbacksContext()
  const selected = useDataTableSelectedIdsContext() ?? []
  if (document === undefined) return null
  const { may, name } = resource
  const toggle = (event: MouseEvent<HTMLButtonElement>) => {
    event.stopPropagation()
    handleToggleItem?.(document.id, event)
  }
  return (
    <TableRow
      hover
      className={className ?? ""}
      sx={{ ...(may.get ? { cursor: "pointer" } : {}), ...sx as object }}
      onClick={() => {
        if (may.get) void navigate(documentPath(name, document.id))
      }}
    >
      {hasBulkActions && (
        <TableCell padding="checkbox">
          <Checkbox
            size="small"
            disabled={isRowSelectable?.(document) === false}
            checked={selected.includes(document.id)}
            onClick={toggle}
            slotProps={{
              input: {
                "aria-label": translate("explorer.many.select", { name: nameOf(resource, document).slice(0, 80) })
              }
            }}
          />
        </TableCell>
      )}
      {children}
    </TableRow>
  )
}
