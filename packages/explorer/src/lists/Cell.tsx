import type { FieldDescription } from "@appkernel/react-admin"
import { Box } from "@mui/material"
import type { MouseEvent } from "react"
import { Link, useCreatePath, useRecordContext } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { type Document, nameOf, valueAt } from "../data/documents.ts"
import { Picture } from "../fields/Picture.tsx"
import { Value } from "../fields/Value.tsx"

/** A value in its row. That which names the document is a link to it, for those who use the keyboard. */
export const Cell = (
  { decimals, field }: { readonly field: FieldDescription; readonly decimals?: number | undefined }
) => {
  const document = useRecordContext<Document>()
  const resource = useDescribed()
  const path = useCreatePath()
  if (document === undefined) return null
  const value = valueAt(document, field.path)
  if (field.type === "image") return <Picture field={field} value={value} resource={resource.name} id={document.id} />
  if (field.path === resource.representation && resource.may.get) {
    return (
      <Box
        component={Link}
        to={path({ resource: resource.name, type: "edit", id: document.id })}
        onClick={(event: MouseEvent) => event.stopPropagation()}
        sx={{
          display: "block",
          maxWidth: 320,
          overflow: "hidden",
          textOverflow: "ellipsis",
          whiteSpace: "nowrap",
          contain: "paint",
          fontWeight: 600,
          color: "text.primary",
          textDecoration: "none",
          "&:hover": { textDecoration: "underline" }
        }}
      >
        <bdi>{nameOf(resource, document).slice(0, 160)}</bdi>
      </Box>
    )
  }
  if (field.path === "id") {
    return (
      <Box
        component="code"
        title={document.id}
        sx={{
          display: "block",
          maxWidth: 130,
          overflow: "hidden",
          textOverflow: "ellipsis",
          whiteSpace: "nowrap",
          fontSize: "0.75rem",
          color: "text.secondary"
        }}
      >
        {document.id}
      </Box>
    )
  }
  return <Value field={field} value={value} isBrief decimals={decimals} />
}
