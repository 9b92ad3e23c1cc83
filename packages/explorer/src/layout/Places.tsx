import SearchIcon from "@mui/icons-material/Search"
import { Autocomplete, Dialog, InputAdornment, TextField } from "@mui/material"
import { useTranslate } from "react-admin"
import { useNavigate } from "react-router-dom"
import { useService } from "../data/Description.tsx"

interface Place {
  readonly label: string
  readonly group: string
  readonly to: string
}

/** All pages, by their names. */
export const Places = ({ onClose }: { readonly onClose: () => void }) => {
  const translate = useTranslate()
  const navigate = useNavigate()
  const { resources } = useService()
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
  return (
    <Dialog
      open
      onClose={onClose}
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
          onClose()
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
  )
}
