import { Box } from "@mui/material"

/** Tells models apart where the menu is closed. */
export const Initial = ({ label }: { readonly label: string }) => (
  <Box
    aria-hidden="true"
    sx={{
      width: 22,
      height: 22,
      borderRadius: "6px",
      display: "grid",
      placeItems: "center",
      fontSize: "0.6875rem",
      fontWeight: 700,
      color: "text.secondary",
      border: 1,
      borderColor: "divider",
      backgroundColor: "background.paper"
    }}
  >
    {Array.from(label.trim())[0]?.toUpperCase() ?? "?"}
  </Box>
)
