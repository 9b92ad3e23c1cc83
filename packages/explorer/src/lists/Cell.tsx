import type { FieldDescription } from "@appkernel/react-admin"
import { Box, Stack } from "@mui/material"
import { useRecordContext } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { type Document, filesOf, isOfFiles, valueAt } from "../data/documents.ts"
import { FileName } from "../fields/FileName.tsx"
import { NameLink } from "../fields/NameLink.tsx"
import { isPicture, Picture } from "../fields/Picture.tsx"
import { Value } from "../fields/Value.tsx"

/** How many files of a list are in a row. */
const shownFiles = 3

/** A value in its row. That which names the document is a link to it, for those who use the keyboard. */
export const Cell = (
  { decimals, field }: { readonly field: FieldDescription; readonly decimals?: number | undefined }
) => {
  const document = useRecordContext<Document>()
  const resource = useDescribed()
  if (document === undefined) return null
  const value = valueAt(document, field.path)
  const files = isOfFiles(field) ? filesOf(value) : []
  if (files.length > 0) {
    return (
      <Stack direction="row" sx={{ gap: 0.5, alignItems: "center" }}>
        {files.slice(0, shownFiles).map((file, i) => {
          const One = isPicture(field, file) ? Picture : FileName
          // oxlint-disable-next-line react/no-array-index-key -- two files may be the same
          return <One key={i} field={field} file={file} />
        })}
        {files.length > shownFiles && `+${files.length - shownFiles}`}
      </Stack>
    )
  }
  if (field.path === resource.representation && resource.may.get) {
    return <NameLink resource={resource} document={document} maxWidth={320} />
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
