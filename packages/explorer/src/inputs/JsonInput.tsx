import { TextField } from "@mui/material"
import { useState } from "react"
import { useTranslate } from "react-admin"
import { useController, useFormState } from "react-hook-form"
import { isSame } from "../data/documents.ts"
import type { InputProps } from "./InputProps.ts"
import { anyProblemAt } from "./problems.ts"

const textOf = (value: unknown): string =>
  value === undefined || value === null ? "" : JSON.stringify(value, undefined, 2)

const parsed = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: text.trim() === "" ? null : JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

/** A value without a form of its own. */
export const JsonInput = ({ field, isDisabled = false, source }: InputProps) => {
  const translate = useTranslate()
  const [text, setText] = useState<string>()
  const { field: { onBlur, onChange, ref, value } } = useController({
    name: source,
    rules: { validate: () => text === undefined || parsed(text) !== undefined || translate("explorer.form.noJson") }
  })
  const { errors } = useFormState({ name: source })
  const problem = anyProblemAt(errors, source)
  const entered = text === undefined ? undefined : parsed(text)
  const [seen, setSeen] = useState<unknown>(value)
  // Another value than that which was entered: what was entered is discarded.
  if (!isSame(seen, value)) {
    setSeen(value)
    if (text !== undefined && !isSame(entered?.value, value ?? null)) setText(undefined)
  }
  return (
    <TextField
      label={field.label}
      required={field.isRequired}
      disabled={isDisabled}
      multiline
      minRows={3}
      maxRows={20}
      value={text ?? textOf(value)}
      onChange={({ target }) => {
        setText(target.value)
        const next = parsed(target.value)
        if (next !== undefined) onChange(next.value)
      }}
      onBlur={onBlur}
      inputRef={ref}
      error={problem !== undefined || (text !== undefined && entered === undefined)}
      helperText={problem ??
        (text !== undefined && entered === undefined ? translate("explorer.form.noJson") : field.help)}
      slotProps={{
        htmlInput: { spellCheck: false, sx: { fontFamily: "ui-monospace, monospace", fontSize: "0.8125rem" } }
      }}
    />
  )
}
