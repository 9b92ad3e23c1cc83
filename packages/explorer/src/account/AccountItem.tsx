import AccountIcon from "@mui/icons-material/ManageAccountsOutlined"
import { ListItemIcon, ListItemText, MenuItem } from "@mui/material"
import { useTranslate, useUserMenu } from "react-admin"
import { Link } from "react-router-dom"
import { accountPath } from "./accountPath.ts"
import { useSessionOperations } from "./useSessionOperations.ts"

/** Leads to the page of the account. */
export const AccountItem = () => {
  const translate = useTranslate()
  const menu = useUserMenu()
  if (useSessionOperations() === undefined) return null
  return (
    <MenuItem component={Link} to={accountPath} onClick={() => menu?.onClose()}>
      <ListItemIcon>
        <AccountIcon fontSize="small" />
      </ListItemIcon>
      <ListItemText>{translate("explorer.account.title")}</ListItemText>
    </MenuItem>
  )
}
