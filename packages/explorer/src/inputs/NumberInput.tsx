import { TextField, type TextFieldProps } from "@mui/material"
import { useState } from "react"
import { textOf } from "../data/text.ts"

interface NumberInputProps extends Omit<TextFieldProps, "onChange" | "value"> {
  readonly isWhole: boolean
  readonly minimum: number | undefined
  readonly maximum: number | undefined
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

/** What is entered stays as it is while it is no number yet; the service says what is wrong with it. */
export const NumberInput = ({ isWhole, maximum, minimum, onChange, value, ...rest }: NumberInputProps) => {
  const [text, setText] = useState(textOf(value))
  const [seen, setSeen] = useState(value)
  if (!Object.is(seen, value)) {
    setSeen(value)
    if (numberOf(text) !== value) setText(textOf(value))
  }
  return (
    <TextField
      {...rest}
      value={text}
      onChange={({ target }) => {
        setText(target.value)
        onChange(numberOf(target.value))
      }}
      slotProps={{
        htmlInput: { inputMode: isWhole ? "numeric" : "decimal", min: minimum, max: maximum, autoComplete: "off" }
      }}
    />
  )
}

const numberOf = (text: string): number | string | null => {
  const trimmed = text.trim().replace(/^(-?\d+),(\d+)$/u, "$1.$2")
  if (trimmed === "") return null
  const number = Number(trimmed)
  return Number.isFinite(number) ? number : text
}
