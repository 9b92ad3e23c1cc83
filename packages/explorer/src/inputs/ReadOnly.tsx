import type { FieldDescription } from "@appkernel/react-admin"
import { Box, Typography } from "@mui/material"
import { filesOf, isOfFiles } from "../data/documents.ts"
import { KeptFile } from "../fields/Files.tsx"
import { Value } from "../fields/Value.tsx"

/** A field that somebody sees and doesn't set. */
export const ReadOnly = ({ field, value }: { readonly field: FieldDescription; readonly value: unknown }) => {
  const files = isOfFiles(field) ? filesOf(value) : []
  return (
    <Box sx={{ my: 1, minWidth: 0 }}>
      <Typography component="div" sx={{ fontSize: "0.75rem" }} color="textSecondary">{field.label}</Typography>
      <Box sx={{ py: 0.25 }}>
        {files.length === 0
          ? <Value field={field} value={value} />
          : files.map((file, i) => (
            // oxlint-disable-next-line react/no-array-index-key -- two files may be the same
            <Box key={i} sx={{ display: "flex", alignItems: "center", gap: 1, py: 0.5 }}>
              <KeptFile field={field} file={file} />
            </Box>
          ))}
      </Box>
    </Box>
  )
}
