import { TextField } from "@mui/material"
import { useState } from "react"
import { useTranslate } from "react-admin"
import { useController, useFormState } from "react-hook-form"
import { isSame } from "../data/documents.ts"
import { jsonOf, Unparsed } from "../data/jsonOf.ts"
import type { InputProps } from "./InputProps.ts"
import { anyProblemAt } from "./problems.ts"

const textOf = (value: unknown): string =>
  value === undefined || value === null ? "" : JSON.stringify(value, undefined, 2)

/** A value without a form of its own. */
export const JsonInput = ({ field, isDisabled = false, source }: InputProps) => {
  const translate = useTranslate()
  const wrong = (entered: unknown): string | undefined =>
    entered instanceof Unparsed ? translate(`explorer.form.${entered.problem}`) : undefined
  const [text, setText] = useState<string>()
  const { field: { onBlur, onChange, ref, value } } = useController({
    name: source,
    rules: { validate: (entered: unknown) => wrong(entered) ?? true }
  })
  const { errors } = useFormState({ name: source })
  const problem = anyProblemAt(errors, source)
  const [seen, setSeen] = useState<unknown>(value)
  // Another value than that which was entered: what was entered is discarded.
  if (!isSame(seen, value)) {
    setSeen(value)
    if (text !== undefined && !isSame(jsonOf(text), value ?? null)) setText(undefined)
  }
  return (
    <TextField
      label={field.label}
      required={field.isRequired}
      disabled={isDisabled}
      multiline
      minRows={3}
      maxRows={20}
      value={text ?? (value instanceof Unparsed ? value.text : textOf(value))}
      onChange={({ target }) => {
        setText(target.value)
        onChange(jsonOf(target.value))
      }}
      onBlur={onBlur}
      inputRef={ref}
      error={problem !== undefined || value instanceof Unparsed}
      helperText={problem ?? wrong(value) ?? field.help}
      slotProps={{
        htmlInput: { spellCheck: false, sx: { fontFamily: "ui-monospace, monospace", fontSize: "0.8125rem" } }
      }}
    />
  )
}
