import SearchIcon from "@mui/icons-material/Search"
import { Box, Button, IconButton, useMediaQuery } from "@mui/material"
import { Suspense, useEffect, useState } from "react"
import { useTranslate } from "react-admin"
import { later } from "../parts/later.tsx"

const Places = later(() => import("./Places.tsx").then(({ Places }) => Places))

/** Goes to a page by its name: Ctrl+K or ⌘K, some letters, Enter. */
export const GoTo = () => {
  const translate = useTranslate()
  const [isOpen, setOpen] = useState(false)
  const isNarrow = useMediaQuery("(max-width: 899.95px)")
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return
      event.preventDefault()
      setOpen(true)
    }
    globalThis.addEventListener("keydown", onKey)
    return () => globalThis.removeEventListener("keydown", onKey)
  }, [])
  return (
    <>
      {isNarrow
        ? (
          <IconButton color="inherit" aria-label={translate("explorer.goTo.label")} onClick={() => setOpen(true)}>
            <SearchIcon />
          </IconButton>
        )
        : (
          <Button
            color="inherit"
            variant="outlined"
            startIcon={<SearchIcon fontSize="small" />}
            onClick={() => setOpen(true)}
            sx={{
              borderColor: "divider",
              color: "text.secondary",
              fontWeight: 400,
              mr: 1,
              minWidth: 200,
              justifyContent: "flex-start"
            }}
          >
            {translate("explorer.goTo.label")}
            <Box component="kbd" sx={{ ml: "auto", fontFamily: "inherit", fontSize: "0.75rem" }}>Ctrl K</Box>
          </Button>
        )}
      {isOpen && (
        <Suspense>
          <Places onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
