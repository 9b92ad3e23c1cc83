import type { FieldDescription } from "@appkernel/react-admin"
import { Box, Chip } from "@mui/material"
import { useRecordContext, useTranslate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { type Document, filesOf, isDeletedIn, isOfFiles, valueAt } from "../data/documents.ts"
import { BriefFiles } from "../fields/Files.tsx"
import { NameLink } from "../fields/NameLink.tsx"
import { Value } from "../fields/Value.tsx"

/** A value in its row. That which names the document is a link to it, for those who use the keyboard. */
export const Cell = (
  { decimals, field }: { readonly field: FieldDescription; readonly decimals?: number | undefined }
) => {
  const document = useRecordContext<Document>()
  const resource = useDescribed()
  const translate = useTranslate()
  if (document === undefined) return null
  const value = valueAt(document, field.path)
  const files = isOfFiles(field) ? filesOf(value) : []
  if (files.length > 0) return <BriefFiles field={field} files={files} />
  if (field.path === resource.representation && resource.may.get) {
    return (
      <Box sx={{ display: "flex", alignItems: "center", gap: 1 }}>
        <NameLink resource={resource} document={document} maxWidth={320} />
        {isDeletedIn(resource, document) && <Chip size="small" label={translate("explorer.history.changes.delete")} />}
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
