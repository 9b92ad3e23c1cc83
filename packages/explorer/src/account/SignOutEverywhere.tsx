import DevicesIcon from "@mui/icons-material/DevicesOutlined"
import { Button, ListItemIcon, ListItemText, MenuItem } from "@mui/material"
import { useState } from "react"
import { Confirm, useLogout, useNotify, useTranslate, useUserMenu } from "react-admin"
import { sentenceOf } from "../data/sentences.ts"

/** Ends all sign-ins of whoever is signed in, on this and on other machines. */
export const SignOutEverywhere = () => {
  const translate = useTranslate()
  const menu = useUserMenu()
  const logout = useLogout()
  const notify = useNotify()
  const [isAsking, setAsking] = useState(false)
  const ask = () => setAsking(true)
  const label = translate("explorer.signOutEverywhere.label")
  return (
    <>
      {menu === undefined
        ? <Button variant="outlined" color="error" onClick={ask}>{label}</Button>
        : (
          <MenuItem onClick={ask}>
            <ListItemIcon>
              <DevicesIcon fontSize="small" />
            </ListItemIcon>
            <ListItemText>{label}</ListItemText>
          </MenuItem>
        )}
      <Confirm
        isOpen={isAsking}
        title={label}
        content={translate("explorer.signOutEverywhere.content")}
        onClose={() => setAsking(false)}
        onConfirm={() => {
          setAsking(false)
          menu?.onClose()
          void logout({ everywhere: true }).catch((error: unknown) =>
            notify("explorer.signOutEverywhere.failed", {
              type: "error",
              messageArgs: { reason: sentenceOf(error, translate) }
            })
          )
        }}
      />
    </>
  )
}
