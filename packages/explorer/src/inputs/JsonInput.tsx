import { TextField } from "@mui/material"
import { useState } from "react"
import { useTranslate } from "react-admin"
import { useController, useFormState } from "react-hook-form"
import { isSame } from "../data/documents.ts"
import type { InputProps } from "./InputProps.ts"
import { anyProblemAt } from "./problems.ts"

const textOf = (value: unknown): string =>
  value === undefined || value === null ? "" : JSON.stringify(value, undefined, 2)

/** What was entered and is no JSON: it is kept with what else was entered, and never sent. */
class Unparsed {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const parsed = (text: string): unknown => {
  try {
    return text.trim() === "" ? null : JSON.parse(text)
  } catch {
    return new Unparsed(text)
  }
}

/** A value without a form of its own. */
export const JsonInput = ({ field, isDisabled = false, source }: InputProps) => {
  const translate = useTranslate()
  const [text, setText] = useState<string>()
  const { field: { onBlur, onChange, ref, value } } = useController({
    name: source,
    rules: { validate: (entered: unknown) => !(entered instanceof Unparsed) || translate("explorer.form.noJson") }
  })
  const { errors } = useFormState({ name: source })
  const problem = anyProblemAt(errors, source)
  const [seen, setSeen] = useState<unknown>(value)
  // Another value than that which was entered: what was entered is discarded.
  if (!isSame(seen, value)) {
    setSeen(value)
    if (text !== undefined && !isSame(parsed(text), value ?? null)) setText(undefined)
  }
  const isUnparsed = value instanceof Unparsed
  return (
    <TextField
      label={field.label}
      required={field.isRequired}
      disabled={isDisabled}
      multiline
      minRows={3}
      maxRows={20}
      value={text ?? (isUnparsed ? value.text : textOf(value))}
      onChange={({ target }) => {
        setText(target.value)
        onChange(parsed(target.value))
      }}
      onBlur={onBlur}
      inputRef={ref}
      error={problem !== undefined || isUnparsed}
      helperText={problem ?? (isUnparsed ? translate("explorer.form.noJson") : field.help)}
      slotProps={{
        htmlInput: { spellCheck: false, sx: { fontFamily: "ui-monospace, monospace", fontSize: "0.8125rem" } }
      }}
    />
  )
}
