import type { FieldDescription } from "@appkernel/react-admin"
import { Box, Typography } from "@mui/material"
import { Value } from "../fields/Value.tsx"

/** A field that somebody sees and doesn't set. */
export const ReadOnly = ({ field, value }: { readonly field: FieldDescription; readonly value: unknown }) => (
  <Box sx={{ my: 1, minWidth: 0 }}>
    <Typography component="div" sx={{ fontSize: "0.75rem" }} color="textSecondary">{field.label}</Typography>
    <Box sx={{ py: 0.25 }}>
      <Value field={field} value={value} />
    </Box>
  </Box>
)
