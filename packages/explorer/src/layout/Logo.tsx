import { Box } from "@mui/material"

/** The mark of the explorer. */
export const Logo = ({ size = 26 }: { readonly size?: number }) => (
  <Box
    component="svg"
    viewBox="0 0 32 32"
    aria-hidden="true"
    sx={{ width: size, height: size, display: "block", color: "primary.main", flexShrink: 0 }}
  >
    <rect width="32" height="32" rx="8" fill="currentColor" />
    <g fill="none" stroke="#fff" strokeWidth="2.4" strokeLinecap="round">
      <path d="M8 11.5h16M8 16.5h10M8 21.5h6" />
      <circle cx="21.5" cy="20" r="3.2" />
      <path d="m24 22.6 2 2" />
    </g>
  </Box>
)
