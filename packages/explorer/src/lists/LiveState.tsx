import { Box, Chip, Tooltip } from "@mui/material"
import { useTranslate } from "react-admin"
import type { LiveRows } from "./useLiveRows.ts"

/** Whether the list is live, and what has just come into it or left it. */
export const LiveState = ({ live: { entered, is, left } }: { readonly live: LiveRows }) => {
  const translate = useTranslate()
  const said = [
    ...(entered > 0 ? [translate("explorer.live.entered", { smart_count: entered })] : []),
    ...(left > 0 ? [translate("explorer.live.left", { smart_count: left })] : [])
  ].join(", ")
  return (
    <>
      {is !== "still" && (
        <Tooltip title={translate(`explorer.live.${is}.help`)}>
          <Chip
            size="small"
            variant="outlined"
            icon={
              <Box
                component="span"
                sx={{
                  width: 7,
                  height: 7,
                  borderRadius: "50%",
                  backgroundColor: is === "live" ? "success.main" : "warning.main",
                  ml: "8px !important"
                }}
              />
            }
            label={translate(`explorer.live.${is}.label`)}
          />
        </Tooltip>
      )}
      {is === "ended" && (
        <Box component="span" sx={{ fontSize: "0.8125rem", color: "text.secondary" }}>
          {translate("explorer.live.ended.help")}
        </Box>
      )}
      <Box component="output" sx={{ fontSize: "0.8125rem", color: "text.secondary" }}>{said}</Box>
    </>
  )
}
