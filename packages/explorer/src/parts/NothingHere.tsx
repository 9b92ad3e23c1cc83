import { Box, Button, Typography } from "@mui/material"
import { Link, useTranslate } from "react-admin"
import { PageTitle } from "./PageTitle.tsx"

/** The page for an address that there is none for: or none for whoever is signed in. */
export const NothingHere = () => {
  const translate = useTranslate()
  return (
    <Box sx={{ p: 6, textAlign: "center" }}>
      <PageTitle title={translate("ra.page.not_found")} />
      <Typography variant="h1" gutterBottom>{translate("ra.page.not_found")}</Typography>
      <Typography color="textSecondary" sx={{ mb: 2 }}>{translate("explorer.notHere")}</Typography>
      <Button component={Link} to="/" variant="outlined">{translate("explorer.home.title")}</Button>
    </Box>
  )
}
