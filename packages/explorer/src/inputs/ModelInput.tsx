import AddIcon from "@mui/icons-material/Add"
import CloseIcon from "@mui/icons-material/Close"
import { Box, Button, FormHelperText, IconButton, Tooltip, Typography } from "@mui/material"
import type { ReactNode } from "react"
import { useTranslate } from "react-admin"
import { useFormContext, useFormState, useWatch } from "react-hook-form"
import { isObject } from "../data/documents.ts"
import { defaultsOf } from "./defaults.ts"
import type { InputProps } from "./InputProps.ts"
import { problemAt } from "./problems.ts"

/** A model within the document, with its own fields; one that may be missing can be added and removed. */
export const ModelInput = (
  { children, field, isDisabled = false, source }: InputProps & { readonly children: ReactNode }
) => {
  const translate = useTranslate()
  const { setValue } = useFormContext()
  const isEntered = useWatch({ name: source, compute: isObject })
  const { errors } = useFormState({ name: source })
  const problem = problemAt(errors, source)
  const isThere = isEntered || field.isRequired
  return (
    <Box
      component="fieldset"
      sx={{
        m: 0,
        my: 1,
        p: 2,
        pt: 0.5,
        border: 1,
        borderColor: problem === undefined ? "divider" : "error.main",
        borderRadius: 1,
        minWidth: 0
      }}
    >
      <Box component="legend" sx={{ px: 0.75, display: "flex", alignItems: "center", gap: 0.5 }}>
        <Typography component="span" variant="h3">{field.label}{field.isRequired ? " *" : ""}</Typography>
        {isThere && !field.isRequired && !isDisabled && (
          <Tooltip title={translate("explorer.form.removePart", { name: field.label })}>
            <IconButton
              size="small"
              aria-label={translate("explorer.form.removePart", { name: field.label })}
              onClick={() =>
                setValue(source, null, { shouldDirty: true })}
            >
              <CloseIcon fontSize="inherit" />
            </IconButton>
          </Tooltip>
        )}
      </Box>
      {field.help !== undefined && <FormHelperText sx={{ mt: 0 }}>{field.help}</FormHelperText>}
      {isThere
        ? children
        : isDisabled
        ? <Typography color="textSecondary">–</Typography>
        : (
          <Button
            startIcon={<AddIcon />}
            onClick={() => setValue(source, defaultsOf(field.fields ?? []), { shouldDirty: true })}
          >
            {translate("ra.action.add")}
          </Button>
        )}
      {problem !== undefined && <FormHelperText error>{problem}</FormHelperText>}
    </Box>
  )
}
