import { Box, Button, CircularProgress, Typography } from "@mui/material"
import { useTranslate } from "react-admin"

interface WaitingProps {
  readonly message?: string
  readonly onRetry?: () => unknown
  readonly onSignOut?: () => unknown
}

/** While the page asks the service, and if it does not answer. */
export const Waiting = ({ message, onRetry, onSignOut }: WaitingProps) => {
  const translate = useTranslate()
  return (
    <Box component="main" sx={{ minHeight: "100vh", display: "grid", placeItems: "center", p: 3 }}>
      {message === undefined
        ? <CircularProgress size={28} aria-label={translate("ra.page.loading")} />
        : (
          <Box sx={{ textAlign: "center", maxWidth: 480 }} role="alert">
            {onRetry !== undefined && (
              <Typography variant="h1" gutterBottom>{translate("explorer.unreachable")}</Typography>
            )}
            <Typography color="textSecondary" sx={{ mb: 2 }}>{message}</Typography>
            <Button sx={{ mr: 1 }} onClick={() => onSignOut?.()}>{translate("ra.auth.logout")}</Button>
            {onRetry !== undefined && (
              <Button variant="contained" onClick={() => onRetry()}>{translate("explorer.again")}</Button>
            )}
          </Box>
        )}
    </Box>
  )
}
