import { Box, Button } from "@mui/material"
import { useNotify, useTranslate } from "react-admin"
import type { Document } from "../data/documents.ts"

/** A document as the service answers it. */
export const RawJson = ({ document }: { readonly document: Document }) => {
  const translate = useTranslate()
  const notify = useNotify()
  const text = JSON.stringify(document, undefined, 2)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    notify("explorer.json.copied", { type: "info" })
  }
  return (
    <Box sx={{ p: 2 }}>
      <Button className="no-print" variant="outlined" onClick={() => void copy()} sx={{ mb: 1.5 }}>
        {translate("explorer.json.copy")}
      </Button>
      <Box
        component="pre"
        tabIndex={0}
        aria-label={translate("explorer.tabs.json")}
        sx={{
          m: 0,
          fontSize: "0.8125rem",
          fontFamily: "ui-monospace, SFMono-Regular, monospace",
          // To wrap a megabyte takes seconds.
          whiteSpace: text.length > 20_000 ? "pre" : "pre-wrap",
          maxHeight: "70vh",
          overflow: "auto"
        }}
      >
        {text}
      </Box>
    </Box>
  )
}
