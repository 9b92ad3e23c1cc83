import { TextField } from "@mui/material"
import { useState } from "react"
import { useTranslate } from "react-admin"
import { useController } from "react-hook-form"
import { isSame } from "../data/documents.ts"
import type { InputProps } from "./InputProps.ts"

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
  const { field: { onBlur, onChange, ref, value }, fieldState: { error } } = useController({
    name: source,
    rules: { validate: () => text === undefined || parsed(text) !== undefined || translate("explorer.form.noJson") }
  })
  const entered = text === undefined ? undefined : parsed(text)
  const shown = text !== undefined && (entered === undefined || isSame(entered.value, value ?? null))
    ? text
    : textOf(value)
  return (
    <TextField
      label={field.label}
      required={field.isRequired}
      disabled={isDisabled}
      multiline
      minRows={3}
      maxRows={20}
      value={shown}
      onChange={({ target }) => {
        setText(target.value)
        const next = parsed(target.value)
        if (next !== undefined) onChange(next.value)
      }}
      onBlur={onBlur}
      inputRef={ref}
      error={error !== undefined || (text !== undefined && entered === undefined)}
      helperText={error?.message ??
        (text !== undefined && entered === undefined ? translate("explorer.form.noJson") : field.help)}
      slotProps={{
        htmlInput: { spellCheck: false, sx: { fontFamily: "ui-monospace, monospace", fontSize: "0.8125rem" } }
      }}
    />
  )
}
