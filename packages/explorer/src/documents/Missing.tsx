import { Alert, Button } from "@mui/material"
import { Link, useTranslate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { sentenceOf } from "../data/sentences.ts"

/** Instead of a document that is not there, or that the caller may not see. */
export const Missing = ({ error }: { readonly error: unknown }) => {
  const translate = useTranslate()
  const { labelPlural, name } = useDescribed()
  return (
    <Alert severity="warning" action={<Button color="inherit" component={Link} to={`/${name}`}>{labelPlural}</Button>}>
      {error === null || error === undefined ? translate("ra.page.not_found") : sentenceOf(error, translate)}
    </Alert>
  )
}
