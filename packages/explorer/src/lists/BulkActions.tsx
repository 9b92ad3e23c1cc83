import DeleteIcon from "@mui/icons-material/DeleteOutlined"
import EditIcon from "@mui/icons-material/EditOutlined"
import { Button } from "@mui/material"
import { useState } from "react"
import { useListContext, useTranslate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { ManyDialog } from "./ManyDialog.tsx"

/** What is done with the rows that somebody has chosen. */
export const BulkActions = () => {
  const translate = useTranslate()
  const { may } = useDescribed()
  const { selectedIds } = useListContext()
  const [does, setDoes] = useState<"update" | "delete">()
  return (
    <>
      {(may.update || may.updateMany) && (
        <Button startIcon={<EditIcon />} onClick={() => setDoes("update")}>{translate("explorer.many.change")}</Button>
      )}
      {(may.delete || may.deleteMany) && (
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
    </>
  )
}
