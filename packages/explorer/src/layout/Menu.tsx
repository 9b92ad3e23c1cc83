import HomeIcon from "@mui/icons-material/HomeOutlined"
import { Typography } from "@mui/material"
import { Menu as Items, MenuItemLink, useSidebarState, useTranslate } from "react-admin"
import { useService } from "../data/Description.tsx"
import { Initial } from "../parts/Initial.tsx"

/** The models that the caller may list, by their labels. */
export const Menu = () => {
  const { resources } = useService()
  const translate = useTranslate()
  const [isOpen] = useSidebarState()
  return (
    <Items sx={{ pt: 1.5 }}>
      <MenuItemLink to="/" primaryText={translate("explorer.home.title")} leftIcon={<HomeIcon fontSize="small" />} />
      {isOpen && (
        <Typography
          sx={{ px: 2.5, pt: 2, pb: 0.5, fontSize: "0.6875rem", fontWeight: 650, letterSpacing: "0.06em" }}
          color="textSecondary"
        >
          {translate("explorer.data").toUpperCase()}
        </Typography>
      )}
      {resources.filter(({ may }) => may.list).map(({ labelPlural, name }) => (
        <MenuItemLink key={name} to={`/${name}`} primaryText={labelPlural} leftIcon={<Initial label={labelPlural} />} />
      ))}
    </Items>
  )
}
