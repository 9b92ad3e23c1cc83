import DevicesIcon from "@mui/icons-material/DevicesOutlined"
import { ListItemIcon, ListItemText, MenuItem } from "@mui/material"
import { useState } from "react"
import { Confirm, useLogout, useNotify, useTranslate, useUserMenu } from "react-admin"

/** Ends all sign-ins of whoever is signed in, on this and on other machines. */
export const SignOutEverywhere = () => {
  const translate = useTranslate()
  const menu = useUserMenu()
  const logout = useLogout()
  const notify = useNotify()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <MenuItem onClick={() => setAsking(true)}>
        <ListItemIcon>
          <DevicesIcon fontSize="small" />
        </ListItemIcon>
        <ListItemText>{translate("explorer.signOutEverywhere.label")}</ListItemText>
      </MenuItem>
      <Confirm
        isOpen={isAsking}
        title={translate("explorer.signOutEverywhere.label")}
        content={translate("explorer.signOutEverywhere.content")}
        onClose={() => setAsking(false)}
        onConfirm={() => {
          setAsking(false)
          menu?.onClose()
          void logout({ everywhere: true }).catch((error: unknown) =>
            notify(error instanceof Error ? error.message : String(error), { type: "error" })
          )
        }}
      />
    </>
  )
}
