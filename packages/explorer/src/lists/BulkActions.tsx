import CloseIcon from "@mui/icons-material/Close"
import DeleteIcon from "@mui/icons-material/DeleteOutlined"
import EditIcon from "@mui/icons-material/EditOutlined"
import RestoreIcon from "@mui/icons-material/RestoreFromTrashOutlined"
import { Box, Button, IconButton } from "@mui/material"
import { useState } from "react"
import { useListContext, useTranslate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { useRestore } from "../documents/useRestore.ts"
import { ManyDialog } from "./ManyDialog.tsx"
import { useSelection } from "./useSelection.ts"

/** What is done with the rows that somebody has chosen. */
export const BulkActions = () => {
  const translate = useTranslate()
  const { may, name } = useDescribed()
  const { onSelect, onUnselectItems, selectedIds } = useListContext()
  const { isOfDeleted } = useSelection()
  const restore = useRestore(name)
  const [isBusy, setBusy] = useState(false)
  const [does, setDoes] = useState<"update" | "delete">()
  if (selectedIds.length === 0) return null
  const restoreChosen = async () => {
    setBusy(true)
    onSelect(Array.from(await restore(selectedIds.map(String))))
    setBusy(false)
  }
  return (
    <Box
      role="toolbar"
      aria-label={translate("explorer.many.label")}
      sx={{
        display: "flex",
        flexWrap: "wrap",
        alignItems: "center",
        gap: 1,
        px: 1,
        py: 0.75,
        backgroundColor: "action.selected"
      }}
    >
      <IconButton size="small" aria-label={translate("ra.action.unselect")} onClick={() => onUnselectItems()}>
        <CloseIcon fontSize="small" />
      </IconButton>
      <Box component="output" sx={{ fontWeight: 600, mr: 1 }}>
        {translate("ra.action.bulk_actions", { smart_count: selectedIds.length })}
      </Box>
      {isOfDeleted && (
        <Button startIcon={<RestoreIcon />} loading={isBusy} onClick={() => void restoreChosen()}>
          {translate("explorer.deleted.restore")}
        </Button>
      )}
      {!isOfDeleted && (may.update || may.updateMany) && (
        <Button
          startIcon={<EditIcon />}
          onClick={() => setDoes("update")}
        >
          {translate("explorer.many.change")}
        </Button>
      )}
      {!isOfDeleted && (may.delete || may.deleteMany) && (
        <Button
          startIcon={<DeleteIcon />}
          color="error"
          onClick={() => setDoes("delete")}
        >
          {translate("ra.action.delete")}
        </Button>
      )}
      {does !== undefined && (
        <ManyDialog
          does={does}
          ids={selectedIds.map(String)}
          onClose={() => setDoes(undefined)}
        />
      )}
    </Box>
  )
}
