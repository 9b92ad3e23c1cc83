import MoreIcon from "@mui/icons-material/ExpandMore"
import LanguageIcon from "@mui/icons-material/Translate"
import { Button, Menu, MenuItem } from "@mui/material"
import { useState } from "react"
import { useLocales, useLocaleState } from "react-admin"

/** The languages of the page. React-admin's own makes its menu before somebody opens it. */
export const Languages = () => {
  const languages = useLocales()
  const [locale, setLocale] = useLocaleState()
  const [anchor, setAnchor] = useState<Element | null>(null)
  const close = () => setAnchor(null)
  return (
    <>
      <Button
        color="inherit"
        aria-haspopup="true"
        aria-expanded={anchor !== null}
        onClick={({ currentTarget }) => setAnchor(currentTarget)}
        startIcon={<LanguageIcon />}
        endIcon={<MoreIcon fontSize="small" />}
      >
        {languages.find((language) => language.locale === locale)?.name}
      </Button>
      <Menu anchorEl={anchor} open={anchor !== null} onClose={close}>
        {languages.map((language) => (
          <MenuItem
            key={language.locale}
            selected={language.locale === locale}
            onClick={() => {
              setLocale(language.locale)
              close()
            }}
          >
            {language.name}
          </MenuItem>
        ))}
      </Menu>
    </>
  )
}
