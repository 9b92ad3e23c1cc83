import { alpha } from "@mui/material/styles"
import { defaultDarkTheme, defaultLightTheme, type RaThemeOptions } from "react-admin"
import { dark, fontFamily, light, type Tones } from "./palette.ts"

/** Screens on which there is no room beside the page: the query of react-admin's own parts. */
export const narrow = "(max-width: 599.95px)"

const made = (
  { accent, border, edge, error, mode, onAccent, page, quiet, surface, text }: Tones,
  base: RaThemeOptions["components"]
): RaThemeOptions => {
  const theme = {
    palette: {
      mode,
      primary: { main: accent, contrastText: onAccent },
      secondary: { main: accent, contrastText: onAccent },
      background: { default: page, paper: surface },
      text: { primary: text, secondary: quiet },
      divider: border,
      ...(mode === "light"
        ? { error: { main: error }, success: { main: "#1b6e3c" }, warning: { main: "#8a5300" } }
        : {})
    },
    shape: { borderRadius: 8 },
    typography: {
      fontFamily,
      fontSize: 14,
      body1: { fontSize: "0.875rem" },
      body2: { fontSize: "0.8125rem" },
      button: { textTransform: "none" as const, fontWeight: 600 },
      h1: { fontSize: "1.375rem", fontWeight: 650, letterSpacing: "-0.01em" },
      h2: { fontSize: "1rem", fontWeight: 650 },
      h3: { fontSize: "0.875rem", fontWeight: 650 }
    }
  }
  return {
    ...theme,
    sidebar: { width: 232, closedWidth: 56 },
    components: {
      ...base,
      MuiCssBaseline: {
        styleOverrides: {
          body: { fontSize: "0.875rem" },
          // Whatever a value holds, it breaks where it has to, and its marks stay in its own lines.
          "*": { overflowWrap: "anywhere" },
          ":focus-visible": { outline: `2px solid ${accent}`, outlineOffset: 2 },
          "@media (prefers-reduced-motion: reduce)": {
            "*": { animation: "none !important", transition: "none !important" }
          },
          "@media print": {
            // The name of a file is a button as well.
            "header, nav, main button:not(.MuiLink-root), .RaSidebar-docked, .MuiSnackbar-root, .no-print": {
              display: "none !important"
            },
            "body, main, .layout, .RaLayout-content": {
              background: "#fff !important",
              color: "#000 !important"
            },
            ".RaLayout-appFrame": { marginTop: "0 !important" }
          }
        }
      },
      MuiPaper: {
        defaultProps: { elevation: 0 },
        styleOverrides: { root: { backgroundImage: "none" }, elevation0: { border: `1px solid ${border}` } }
      },
      MuiAppBar: {
        defaultProps: { color: "inherit", elevation: 0 },
        styleOverrides: {
          root: {
            backgroundColor: surface,
            color: text,
            border: 0,
            borderBottom: `1px solid ${border}`,
            borderRadius: 0
          }
        }
      },
      MuiButton: {
        defaultProps: { disableElevation: true, size: "small" },
        styleOverrides: { root: { borderRadius: 7 } }
      },
      MuiTextField: { defaultProps: { variant: "outlined", size: "small", margin: "dense", fullWidth: true } },
      MuiFormControl: { defaultProps: { variant: "outlined", size: "small", margin: "dense", fullWidth: true } },
      MuiAutocomplete: { defaultProps: { fullWidth: true } },
      MuiOutlinedInput: {
        styleOverrides: { notchedOutline: { borderColor: edge } }
      },
      MuiChip: { styleOverrides: { root: { borderRadius: 6, fontWeight: 550 }, sizeSmall: { height: 22 } } },
      MuiTableCell: {
        styleOverrides: {
          root: { borderColor: border, "&.MuiTableCell-paddingCheckbox": { padding: "0 8px" } },
          head: { color: quiet, fontWeight: 600, fontSize: "0.75rem", whiteSpace: "nowrap", backgroundColor: surface },
          sizeSmall: { padding: "7px 12px" }
        }
      },
      MuiTableRow: {
        styleOverrides: { root: { "&.MuiTableRow-hover:hover": { backgroundColor: alpha(accent, 0.06) } } }
      },
      MuiTab: { styleOverrides: { root: { minHeight: 42, minWidth: 0, padding: "0 12px" } } },
      MuiTabs: { styleOverrides: { root: { minHeight: 42 } } },
      MuiListItemIcon: { styleOverrides: { root: { minWidth: 36 } } },
      MuiTooltip: { defaultProps: { enterDelay: 400 } },
      RaMenuItemLink: {
        styleOverrides: {
          root: {
            borderRadius: 7,
            margin: "1px 8px",
            padding: "6px 10px",
            color: text,
            "&.RaMenuItemLink-active": { backgroundColor: alpha(accent, 0.12), color: accent, fontWeight: 600 }
          }
        }
      },
      RaLayout: {
        styleOverrides: {
          root: {
            minWidth: 0,
            "& .RaLayout-appFrame": { marginTop: "48px", minWidth: 0 },
            "& .RaLayout-contentWithSidebar": { minWidth: 0 },
            "& .RaLayout-content": { padding: 0, minWidth: 0 }
          }
        }
      },
      RaUserMenu: {
        styleOverrides: {
          root: {
            // Whoever comes back is known by the identifier alone, which may be long.
            "& .RaUserMenu-userButton": {
              maxWidth: 220,
              display: "block",
              overflow: "hidden",
              whiteSpace: "nowrap",
              textOverflow: "ellipsis"
            },
            "& .MuiButton-startIcon": { display: "inline-flex", verticalAlign: "middle" }
          }
        }
      },
      RaSidebar: { styleOverrides: { root: { "& .MuiPaper-root": { backgroundColor: "transparent" } } } },
      RaSimpleFormIterator: { defaultProps: { fullWidth: true } }
    }
  }
}

export const lightTheme = made(light, defaultLightTheme.components)
export const darkTheme = made(dark, defaultDarkTheme.components)
