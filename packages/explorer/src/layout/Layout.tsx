import { Box, Divider, Typography, useMediaQuery } from "@mui/material"
import { useEffect, useState } from "react"
import {
  AppBar,
  Layout as Frame,
  type LayoutProps,
  LoadingIndicator,
  LocalesMenuButton,
  Logout,
  Sidebar,
  type SidebarProps,
  ToggleThemeButton,
  UserMenu,
  useSidebarState,
  useTranslate
} from "react-admin"
import { AccountItem } from "../account/AccountItem.tsx"
import { SignOutEverywhere } from "../account/SignOutEverywhere.tsx"
import { useConnection, useService } from "../data/Description.tsx"
import { GoTo } from "./GoTo.tsx"
import { Logo } from "./Logo.tsx"
import { Menu } from "./Menu.tsx"

export const Layout = ({ children }: LayoutProps) => (
  <Frame appBar={Bar} menu={Menu} sidebar={Side}>
    <Box sx={{ px: { xs: 1.5, sm: 3 }, py: 2, maxWidth: 1680, width: "100%", minWidth: 0 }}>{children}</Box>
  </Frame>
)

/** The menu beside the page. Where there is no room beside it, it covers the page, so that it is closed at first. */
const Side = (props: SidebarProps) => {
  const isNarrow = useMediaQuery("(max-width: 599.95px)")
  const [isOpen, setOpen] = useSidebarState()
  const [wasOpen, setWasOpen] = useState<boolean>()
  useEffect(() => {
    if (isNarrow && wasOpen === undefined) {
      // oxlint-disable-next-line react/set-state-in-effect -- what to go back to is known when the screen becomes narrow
      setWasOpen(isOpen)
      setOpen(false)
    } else if (!isNarrow && wasOpen !== undefined) {
      setWasOpen(undefined)
      setOpen(wasOpen)
    }
  }, [isNarrow, isOpen, setOpen, wasOpen])
  return isNarrow && wasOpen === undefined ? null : <Sidebar {...props} />
}

const Bar = () => {
  const translate = useTranslate()
  const { title } = useService()
  const { canSignOutEverywhere } = useConnection()
  const isNarrow = useMediaQuery("(max-width: 599.95px)")
  return (
    <AppBar
      alwaysOn
      toolbar={
        <>
          <LocalesMenuButton />
          <ToggleThemeButton />
          <LoadingIndicator aria-label={translate("ra.page.loading")} />
        </>
      }
      userMenu={
        <UserMenu>
          <AccountItem />
          {canSignOutEverywhere && <SignOutEverywhere />}
          <Divider />
          <Logout />
        </UserMenu>
      }
    >
      {!isNarrow && (
        <Box sx={{ display: "flex", alignItems: "center", gap: 1, mr: 1 }}>
          <Logo size={24} />
          <Typography sx={{ fontWeight: 650, whiteSpace: "nowrap" }}>{title}</Typography>
        </Box>
      )}
      <Box sx={{ flex: 1 }} />
      <GoTo />
    </AppBar>
  )
}
