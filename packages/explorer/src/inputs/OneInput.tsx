import { Box, FormControlLabel, FormHelperText, MenuItem, Switch, TextField } from "@mui/material"
import { useState } from "react"
import { useTranslate } from "react-admin"
import { useController } from "react-hook-form"
import { textOf } from "../data/text.ts"
import { DateTimeInput } from "./DateTimeInput.tsx"
import type { InputProps } from "./InputProps.ts"
import { NumberInput } from "./NumberInput.tsx"
import { ReferencePicker } from "./ReferencePicker.tsx"

/** From how many characters on a text has an input of a fixed height. */
const largeText = 20_000

/** The input of one value. */
export const OneInput = ({ field, isDisabled = false, source }: InputProps) => {
  const translate = useTranslate()
  const { field: { onBlur, onChange, ref, value }, fieldState: { error } } = useController({ name: source })
  const problem = error?.message
  const isLongType = field.type === "longText" || field.type === "markdown"
  // Not while somebody enters it: the input would be another one.
  const [isLong] = useState(() =>
    isLongType ||
    (typeof value === "string" && (value.includes("\n") || value.length > 200))
  )
  const [isLarge] = useState(() => typeof value === "string" && value.length > largeText)
  const shared = {
    label: field.label,
    required: field.isRequired,
    disabled: isDisabled,
    error: problem !== undefined,
    helperText: problem ?? field.help,
    inputRef: ref,
    onBlur
  }
  switch (field.type) {
    case "boolean":
      return field.isRequired || typeof field.default === "boolean"
        ? (
          <Box sx={{ my: 1 }}>
            <FormControlLabel
              label={field.label}
              control={
                <Switch
                  checked={value === true || (value === undefined && field.default === true)}
                  disabled={isDisabled}
                  onChange={({ target }) => onChange(target.checked)}
                  onBlur={onBlur}
                  slotProps={{ input: { ref } }}
                />
              }
            />
            {shared.helperText !== undefined && (
              <FormHelperText error={shared.error}>{shared.helperText}</FormHelperText>
            )}
          </Box>
        )
        : (
          <TextField
            {...shared}
            select
            value={typeof value === "boolean" ? textOf(value) : ""}
            onChange={({ target }) => onChange(target.value === "" ? null : target.value === "true")}
          >
            <MenuItem value="">–</MenuItem>
            <MenuItem value="true">{translate("ra.boolean.true")}</MenuItem>
            <MenuItem value="false">{translate("ra.boolean.false")}</MenuItem>
          </TextField>
        )
    case "enum": {
      const choices = field.choices ?? []
      // A value that is no longer a member is shown, and saved as it is.
      const isKnown = value === undefined || value === null || value === "" || choices.some(({ id }) => id === value)
      return (
        <TextField
          {...shared}
          select
          value={value === undefined || value === null ? "" : textOf(value)}
          onChange={({ target }) => onChange(choices.find(({ id }) => String(id) === target.value)?.id ?? null)}
        >
          {!field.isRequired && <MenuItem value="">–</MenuItem>}
          {choices.map(({ id, label }) => <MenuItem key={String(id)} value={String(id)}>{label}</MenuItem>)}
          {!isKnown && <MenuItem value={textOf(value)}>{textOf(value)}</MenuItem>}
        </TextField>
      )
    }
    case "reference":
      return field.reference === undefined
        ? (
          <TextField
            {...shared}
            value={value ?? ""}
            onChange={({ target }) => onChange(target.value === "" ? null : target.value)}
          />
        )
        : (
          <ReferencePicker
            resource={field.reference}
            label={field.label}
            value={value === undefined || value === null || value === "" ? null : textOf(value)}
            onChange={onChange}
            isRequired={field.isRequired}
            isDisabled={isDisabled}
            problem={problem}
            help={field.help}
          />
        )
    case "integer":
    case "number":
      return (
        <NumberInput
          {...shared}
          isWhole={field.type === "integer"}
          minimum={field.minimum}
          maximum={field.maximum}
          value={value}
          onChange={onChange}
        />
      )
    case "dateTime":
      return <DateTimeInput {...shared} value={value} onChange={onChange} />
    case "date":
    case "time":
      return (
        <TextField
          {...shared}
          type={field.type}
          value={typeof value === "string" ? value : ""}
          onChange={({ target }) => onChange(target.value === "" ? null : target.value)}
          slotProps={{ inputLabel: { shrink: true }, htmlInput: field.type === "time" ? { step: 1 } : {} }}
        />
      )
    default: {
      // An empty text is a value where there has to be one.
      const empty = field.isRequired && (field.type === "text" || isLongType) ? "" : null
      return (
        <TextField
          {...shared}
          type={field.type === "email" || field.type === "url" ? field.type : "text"}
          multiline={isLong}
          minRows={isLong && !isLarge ? 3 : undefined}
          maxRows={isLong && !isLarge ? 16 : undefined}
          value={value === undefined || value === null ? "" : textOf(value)}
          onChange={({ target }) => onChange(target.value === "" ? empty : target.value)}
          slotProps={{
            // An input that grows with its text measures it all at each letter, and to wrap a megabyte takes seconds.
            ...(isLarge ? { input: { inputComponent: "textarea" } } : {}),
            htmlInput: { dir: "auto", autoComplete: "off", ...(isLarge ? { rows: 16, wrap: "off" } : {}) }
          }}
        />
      )
    }
  }
}
