import { Box, Button, Typography } from "@mui/material"
import { Link, useCreatePath, useListContext, useTranslate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"

/** Instead of a list without documents: because there are none, or because of the filter. */
export const NoRows = () => {
  const translate = useTranslate()
  const path = useCreatePath()
  const { filterValues, resource, setFilters } = useListContext()
  const { label, labelPlural, may } = useDescribed()
  const isFiltered = Object.keys(filterValues as object).length > 0
  return (
    <Box sx={{ py: 7, px: 2, textAlign: "center" }}>
      <Typography variant="h2" gutterBottom>
        {translate(isFiltered ? "ra.navigation.no_filtered_results" : "ra.page.empty", { name: labelPlural })}
      </Typography>
      {isFiltered && (
        <Button variant="outlined" onClick={() => setFilters({})}>{translate("ra.navigation.clear_filters")}</Button>
      )}
      {!isFiltered && may.create && (
        <Button variant="contained" component={Link} to={path({ resource, type: "create" })}>
          {translate("explorer.goTo.new", { name: label })}
        </Button>
      )}
    </Box>
  )
}
