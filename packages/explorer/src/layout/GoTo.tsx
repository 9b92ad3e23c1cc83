import SearchIcon from "@mui/icons-material/Search"
import { Autocomplete, Box, Button, Dialog, IconButton, InputAdornment, TextField, useMediaQuery } from "@mui/material"
import { useEffect, useState } from "react"
import { useTranslate } from "react-admin"
import { useNavigate } from "react-router-dom"
import { useService } from "../data/Description.tsx"

interface Place {
  readonly label: string
  readonly group: string
  readonly to: string
}

/** Goes to a page by its name: Ctrl+K or ⌘K, some letters, Enter. */
export const GoTo = () => {
  const translate = useTranslate()
  const navigate = useNavigate()
  const { resources } = useService()
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
  const places: ReadonlyArray<Place> = [
    { label: translate("explorer.home.title"), group: translate("explorer.goTo.pages"), to: "/" },
    ...resources.filter(({ may }) => may.list).map(({ labelPlural, name }): Place => ({
      label: labelPlural,
      group: translate("explorer.goTo.pages"),
      to: `/${name}`
    })),
    ...resources.filter(({ may }) => may.create).map(({ label, name }): Place => ({
      label: translate("explorer.goTo.new", { name: label }),
      group: translate("explorer.goTo.create"),
      to: `/${name}/create`
    }))
  ]
  const close = () => setOpen(false)
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
      <Dialog
        open={isOpen}
        onClose={close}
        fullWidth
        maxWidth="sm"
        aria-label={translate("explorer.goTo.label")}
        sx={{ "& .MuiDialog-container": { alignItems: "flex-start" } }}
      >
        <Autocomplete
          open
          autoHighlight
          disablePortal
          options={places}
          groupBy={({ group }) => group}
          getOptionLabel={({ label }) => label}
          getOptionKey={({ to }) => to}
          onChange={(_, place) => {
            close()
            if (place !== null) void navigate(place.to)
          }}
          slotProps={{
            popper: { sx: { position: "static !important", transform: "none !important", width: "100% !important" } },
            paper: { sx: { border: 0 } }
          }}
          renderInput={(params) => (
            <TextField
              {...params}
              autoFocus
              placeholder={translate("explorer.goTo.hint")}
              label={translate("explorer.goTo.label")}
              sx={{ m: 1.5, width: "calc(100% - 24px)" }}
              slotProps={{
                ...params.slotProps,
                input: {
                  ...params.slotProps?.input,
                  startAdornment: (
                    <InputAdornment position="start">
                      <SearchIcon />
                    </InputAdornment>
                  )
                }
              }}
            />
          )}
        />
      </Dialog>
    </>
  )
}
