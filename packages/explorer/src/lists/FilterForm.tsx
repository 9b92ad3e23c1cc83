import type { FieldDescription } from "@appkernel/react-admin"
import { Autocomplete, Box, Button, MenuItem, Popover, TextField } from "@mui/material"
import { type SyntheticEvent, useState } from "react"
import { useTranslate } from "react-admin"
import { fromLocalInput, toLocalInput } from "../data/dateTime.ts"
import { textOf } from "../data/text.ts"
import { ReferencePicker } from "../inputs/ReferencePicker.tsx"
import { operatorKey } from "./ConditionLabel.tsx"
import { type Condition, type FilterField, type Operator, operatorsOf } from "./operators.ts"

interface FilterFormProps {
  readonly anchor: HTMLElement
  readonly condition: Condition | undefined
  readonly fields: ReadonlyArray<FilterField>
  /** Whether one of the conditions is enough. */
  readonly isAny: boolean
  /** A condition can be made of two. */
  readonly onApply: (conditions: ReadonlyArray<Condition>) => void
  readonly onClose: () => void
}

/** The form of one condition: a field, how it compares, and with what. */
export const FilterForm = ({ anchor, condition, fields, isAny, onApply, onClose }: FilterFormProps) => {
  const translate = useTranslate()
  const [chosen, setChosen] = useState<FilterField | null>(() =>
    fields.find(({ field }) => field.path === condition?.path) ?? null
  )
  const [operator, setOperator] = useState<Operator | undefined>(condition?.operator)
  const [value, setValue] = useState<unknown>(condition?.value)
  const field = chosen?.field
  const operators = field === undefined
    ? []
    // Of the two conditions that a day is made of, one is not enough.
    : operatorsOf(field).filter((one) => !(isAny && isDay(field, one)))
  const current = operator !== undefined && operators.includes(operator) ? operator : operators[0]
  const needsValue = current !== "null" && current !== "!null"
  const isEmpty = value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (field === undefined || current === undefined || (needsValue && isEmpty)) return
    const made = { path: field.path, operator: current, value: needsValue ? value : undefined }
    onApply(isDay(field, current) ? withinDay(made) : [made])
  }
  return (
    <Popover
      open
      anchorEl={anchor}
      onClose={onClose}
      anchorOrigin={{ vertical: "bottom", horizontal: "left" }}
      slotProps={{
        paper: {
          role: "dialog",
          "aria-label": translate("explorer.filter.add"),
          sx: { width: 340, maxWidth: "calc(100vw - 32px)", mt: 0.5 }
        }
      }}
    >
      <Box component="form" onSubmit={submit} sx={{ p: 2 }}>
        <Autocomplete
          options={fields}
          value={chosen}
          onChange={(_, next) => {
            setChosen(next)
            setOperator(undefined)
            setValue(undefined)
          }}
          getOptionLabel={({ label }) => label}
          getOptionKey={({ field: { path } }) => path}
          autoHighlight
          openOnFocus
          renderInput={(params) => (
            <TextField {...params} autoFocus={condition === undefined} label={translate("explorer.filter.field")} />
          )}
        />
        {field !== undefined && current !== undefined && (
          <>
            <TextField
              select
              label={translate("explorer.filter.operator")}
              value={current}
              onChange={({ target }) => {
                // The options are the operators of the field.
                const next = target.value as Operator
                if (inputOf(field, next) !== inputOf(field, current)) setValue(undefined)
                setOperator(next)
              }}
            >
              {operators.map((one) => (
                <MenuItem key={one} value={one}>{translate(`explorer.operators.${operatorKey(one, field)}`)}</MenuItem>
              ))}
            </TextField>
            {needsValue && (
              <ConditionValue
                key={`${field.path} ${current}`}
                field={field}
                operator={current}
                value={value}
                onChange={setValue}
              />
            )}
          </>
        )}
        <Box sx={{ display: "flex", justifyContent: "flex-end", gap: 1, mt: 1.5 }}>
          <Button color="inherit" onClick={onClose}>{translate("ra.action.cancel")}</Button>
          <Button type="submit" variant="contained" disabled={field === undefined || (needsValue && isEmpty)}>
            {translate("explorer.filter.apply")}
          </Button>
        </Box>
      </Box>
    </Popover>
  )
}

/** Whether a time is compared with a whole day, which is that of the reader. */
const isDay = ({ type }: FieldDescription, operator: Operator): boolean => type === "dateTime" && operator === "="

/** The times of a day, from its beginning to that of the next one. */
const withinDay = ({ path, value }: Condition): ReadonlyArray<Condition> => {
  const start = new Date(`${textOf(value).slice(0, 10)}T00:00`)
  const end = new Date(start)
  end.setDate(end.getDate() + 1)
  return [
    { path, operator: ">=", value: start.toISOString() },
    { path, operator: "<", value: end.toISOString() }
  ]
}

/** What a value is entered into: one input does not know the value of another one. */
const inputOf = (field: FieldDescription, operator: Operator): string =>
  operator.endsWith("[]") ? "several" : operator === "#" ? "count" : isDay(field, operator) ? "day" : "one"

interface ConditionValueProps {
  readonly field: FieldDescription
  readonly operator: Operator
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

const ConditionValue = ({ field, onChange, operator, value }: ConditionValueProps) => {
  const translate = useTranslate()
  const label = translate("explorer.filter.value")
  const one = operator === "#" ? undefined : field.items ?? field
  if (one === undefined) {
    return (
      <TextField
        type="number"
        label={label}
        autoFocus
        value={value ?? ""}
        onChange={({ target }) => onChange(numberOf(target.value))}
        slotProps={{ htmlInput: { min: 0 } }}
      />
    )
  }
  if (one.type === "enum") {
    const choices = one.choices ?? []
    const isMany = operator.endsWith("[]")
    return (
      <TextField
        select
        label={label}
        value={isMany ? (Array.isArray(value) ? value : []) : value ?? ""}
        onChange={({ target }) => onChange(target.value)}
        slotProps={{ select: { multiple: isMany } }}
      >
        {choices.map(({ id, label }) => (
          <MenuItem key={String(id)} value={typeof id === "boolean" ? String(id) : id}>{label}</MenuItem>
        ))}
      </TextField>
    )
  }
  if (one.type === "boolean") {
    return (
      <TextField
        select
        label={label}
        value={value === undefined ? "" : textOf(value)}
        onChange={({ target }) => onChange(target.value === "true")}
      >
        <MenuItem value="true">{translate("ra.boolean.true")}</MenuItem>
        <MenuItem value="false">{translate("ra.boolean.false")}</MenuItem>
      </TextField>
    )
  }
  if (one.type === "reference" && one.reference !== undefined) {
    return (
      <ReferencePicker
        resource={one.reference}
        label={label}
        value={value === undefined ? null : textOf(value)}
        onChange={onChange}
      />
    )
  }
  if (operator.endsWith("[]")) {
    return (
      <Autocomplete
        multiple
        freeSolo
        autoSelect
        options={[]}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={(_, next) => onChange(next)}
        renderInput={(params) => (
          <TextField {...params} autoFocus label={label} helperText={translate("explorer.filter.several")} />
        )}
      />
    )
  }
  const isTime = one.type === "dateTime" && operator !== "="
  const type = isTime
    ? "datetime-local"
    : one.type === "date" || one.type === "dateTime"
    ? "date"
    : one.type === "time"
    ? "time"
    : "text"
  const isNumber = one.type === "integer" || one.type === "number"
  return (
    <TextField
      autoFocus
      type={isNumber ? "number" : type}
      label={label}
      value={isTime ? toLocalInput(value) : value ?? ""}
      onChange={({ target }) =>
        onChange(isTime ? fromLocalInput(target.value) : isNumber ? numberOf(target.value) : target.value)}
      slotProps={{ htmlInput: isNumber ? { step: "any" } : {}, inputLabel: type === "text" ? {} : { shrink: true } }}
    />
  )
}

const numberOf = (text: string): number | undefined =>
  text === "" || Number.isNaN(Number(text)) ? undefined : Number(text)
