import MoreIcon from "@mui/icons-material/MoreVert"
import { IconButton, Menu, MenuItem } from "@mui/material"
import { useState } from "react"
import { useListContext, useTranslate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { ManyDialog } from "./ManyDialog.tsx"

/** What is done with all documents of the filter, also with those of other pages. */
export const ManyMenu = () => {
  const translate = useTranslate()
  const { may } = useDescribed()
  const { filterValues, total } = useListContext()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [does, setDoes] = useState<"update" | "delete">()
  // A write of all that match is of none that is deleted.
  if (total === 0 || filterValues["$deleted"] !== undefined || !(may.updateMany || may.deleteMany)) return null
  const choose = (what: "update" | "delete") => {
    setAnchor(null)
    setDoes(what)
  }
  return (
    <>
      <IconButton
        size="small"
        aria-label={translate("explorer.many.label")}
        onClick={({ currentTarget }) => setAnchor(currentTarget)}
      >
        <MoreIcon />
      </IconButton>
      <Menu anchorEl={anchor} open={anchor !== null} onClose={() => setAnchor(null)}>
        {may.updateMany && <MenuItem onClick={() => choose("update")}>{translate("explorer.many.changeAll")}</MenuItem>}
        {may.deleteMany && <MenuItem onClick={() => choose("delete")}>{translate("explorer.many.deleteAll")}</MenuItem>}
      </Menu>
      {does !== undefined && <ManyDialog does={does} onClose={() => setDoes(undefined)} />}
    </>
  )
}
