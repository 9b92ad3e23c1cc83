import { TextField, type TextFieldProps } from "@mui/material"
import { useState } from "react"
import { fromLocalInput, toLocalInput } from "../data/dateTime.ts"

interface DateTimeInputProps extends Omit<TextFieldProps, "onChange" | "value"> {
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** A time in the reader's zone, which stands below it. One that is entered again as it was is the same, to its milliseconds. */
export const DateTimeInput = ({ onChange, value, ...rest }: DateTimeInputProps) => {
  const [before, setBefore] = useState(value)
  const [entered, setEntered] = useState(value)
  // Another value than that which was entered: a document was read, or changes were discarded.
  if (value !== entered) {
    setBefore(value)
    setEntered(value)
  }
  return (
    <TextField
      {...rest}
      helperText={rest.helperText ?? zone}
      type="datetime-local"
      value={toLocalInput(value)}
      onChange={({ target }) => {
        const next = fromLocalInput(target.value, before)
        setEntered(next)
        onChange(next)
      }}
      slotProps={{ inputLabel: { shrink: true }, htmlInput: { step: 1 } }}
    />
  )
}
