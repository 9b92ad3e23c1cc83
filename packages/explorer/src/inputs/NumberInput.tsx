import { TextField, type TextFieldProps } from "@mui/material"
import { useState } from "react"
import { useLocaleState } from "react-admin"
import { numberFormat } from "../data/formats.ts"
import { numberOf, separatorsOf } from "../data/numberOf.ts"
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
  const [locale] = useLocaleState()
  const separators = separatorsOf(numberFormat(locale))
  const shown = typeof value === "number" ? textOf(value).replace(".", separators.point) : textOf(value)
  const [text, setText] = useState(shown)
  const [seen, setSeen] = useState(value)
  if (!Object.is(seen, value)) {
    setSeen(value)
    if (numberOf(text, separators) !== value) setText(shown)
  }
  return (
    <TextField
      {...rest}
      value={text}
      onChange={({ target }) => {
        setText(target.value)
        onChange(numberOf(target.value, separators))
      }}
      slotProps={{
        htmlInput: { inputMode: isWhole ? "numeric" : "decimal", min: minimum, max: maximum, autoComplete: "off" }
      }}
    />
  )
}
