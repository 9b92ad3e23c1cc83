import { Box, Divider, Typography, useMediaQuery } from "@mui/material"
import { useDeferredValue, useState } from "react"
import {
  AppBar,
  Layout as Frame,
  type LayoutProps,
  LoadingIndicator,
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
import { Waiting } from "../parts/Waiting.tsx"
import { narrow } from "../theme.ts"
import { GoTo } from "./GoTo.tsx"
import { Languages } from "./Languages.tsx"
import { Logo } from "./Logo.tsx"
import { Menu } from "./Menu.tsx"

/** What surrounds a page, made in parts between which the browser answers. */
export const Layout = (props: LayoutProps) => useDeferredValue(true, false) ? <Surroundings {...props} /> : <Waiting />

const Surroundings = ({ children }: LayoutProps) => (
  <Frame appBar={Bar} menu={Menu} sidebar={Side}>
    <Box sx={{ px: { xs: 1.5, sm: 3 }, py: 2, maxWidth: 1680, width: "100%", minWidth: 0 }}>{children}</Box>
  </Frame>
)

/** The menu beside the page. Where there is no room beside it, it covers the page, and is made when it is opened. */
const Side = (props: SidebarProps) => {
  const isNarrow = useMediaQuery(narrow)
  const [isOpen] = useSidebarState()
  const [isMade, setMade] = useState(isOpen)
  if (isOpen && !isMade) setMade(true)
  // Another one on another screen, which is open or closed from the start.
  return isNarrow && !isMade ? null : <Sidebar key={String(isNarrow)} {...props} />
}

const Bar = () => {
  const translate = useTranslate()
  const { title } = useService()
  const { canSignOutEverywhere } = useConnection()
  const isNarrow = useMediaQuery(narrow)
  return (
    <AppBar
      alwaysOn
      toolbar={
        <>
          <Languages />
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
