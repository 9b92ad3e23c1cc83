import { TableCell, TableRow } from "@mui/material"
import type { SxProps, Theme } from "@mui/material/styles"
import type { MouseEvent, ReactNode } from "react"
import {
  useDataTableCallbacksContext,
  useDataTableConfigContext,
  useDataTableSelectedIdsContext,
  useRecordContext
} from "react-admin"
import { useNavigate } from "react-router-dom"
import { useDescribed } from "../data/Description.tsx"
import { documentPath } from "../data/documentPath.ts"
import type { Document } from "../data/documents.ts"
import { Choose } from "./Choose.tsx"

interface RowProps {
  readonly children?: ReactNode
  readonly className?: string
  readonly sx?: SxProps<Theme>
}

/** A row: a click opens its document, and its checkbox says which document it chooses. */
export const Row = ({ children, className, sx }: RowProps) => {
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
          <Choose
            document={document}
            isChosen={selected.includes(document.id)}
            isDisabled={isRowSelectable?.(document) === false}
            onToggle={toggle}
          />
        </TableCell>
      )}
      {children}
    </TableRow>
  )
}
