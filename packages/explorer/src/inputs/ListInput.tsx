import type { FieldDescription } from "@appkernel/react-admin"
import AddIcon from "@mui/icons-material/Add"
import DownIcon from "@mui/icons-material/ArrowDownward"
import UpIcon from "@mui/icons-material/ArrowUpward"
import CloseIcon from "@mui/icons-material/Close"
import { Autocomplete, Box, Button, Chip, FormHelperText, IconButton, TextField, Typography } from "@mui/material"
import { type ReactNode, useState } from "react"
import { useTranslate } from "react-admin"
import { useController, useFieldArray, useFormContext, useFormState, useWatch } from "react-hook-form"
import { isSame } from "../data/documents.ts"
import { defaultsOf } from "./defaults.ts"
import { FileInput } from "./FileInput.tsx"
import type { InputProps } from "./InputProps.ts"
import { JsonInput } from "./JsonInput.tsx"
import { problemAt } from "./problems.ts"

interface ListInputProps extends InputProps {
  /** The input of an element, at its path in the form. */
  readonly renderElement: (items: FieldDescription, source: string) => ReactNode
}

/** A list: chips for words, rows that can be moved for what has parts. */
export const ListInput = (props: ListInputProps) => {
  const { items } = props.field
  if (items === undefined) return <JsonInput {...props} />
  switch (items.type) {
    case "file":
    case "image":
      return <FileInput {...props} />
    case "text":
    case "email":
    case "url":
    case "enum":
      return <Words {...props} items={items} />
    default:
      return <Rows {...props} items={items} />
  }
}

interface ListProps extends ListInputProps {
  readonly items: FieldDescription
}

const Words = ({ field, isDisabled = false, items, source }: ListProps) => {
  const translate = useTranslate()
  const { field: { onBlur, onChange, ref, value } } = useController({ name: source })
  const { errors } = useFormState({ name: source })
  const all: ReadonlyArray<unknown> = Array.isArray(value) ? value : []
  const isFree = items.choices === undefined
  const [typed, setTyped] = useState("")
  // What is typed is the last one of the list before it is entered, so that it is kept and saved.
  const [isTyped, setIsTyped] = useState(false)
  const [seen, setSeen] = useState<unknown>(value)
  const words = isTyped ? all.slice(0, -1) : all
  const set = (next: ReadonlyArray<unknown>, isLastTyped: boolean) => {
    setSeen(next)
    setIsTyped(isLastTyped)
    onChange(next)
  }
  // Another list than that which was entered: what was typed is discarded.
  if (!isSame(seen, value)) {
    setSeen(value)
    setTyped("")
    setIsTyped(false)
  }
  const label = (id: unknown): string => items.choices?.find((choice) => choice.id === id)?.label ?? String(id)
  // The problem of one element says which one it is.
  const problem = problemAt(errors, source) ??
    all.map((_, i) => problemAt(errors, `${source}.${i}`)).find((one) => one !== undefined)
  return (
    <Autocomplete
      multiple
      freeSolo={isFree}
      autoSelect={isFree}
      disableCloseOnSelect
      options={(items.choices ?? []).map(({ id }): unknown => id)}
      getOptionLabel={label}
      value={Array.from(words)}
      onChange={(_, next) => set(next, false)}
      {...(isFree
        ? {
          inputValue: typed,
          onInputChange: (_: unknown, next: string, reason: string) => {
            setTyped(next)
            if (reason !== "input") return
            const isNew = next.trim() !== "" && !words.includes(next)
            set(isNew ? [...words, next] : words, isNew)
          }
        }
        : {})}
      onBlur={onBlur}
      disabled={isDisabled}
      renderValue={(chosen, propsOf) =>
        chosen.map((one, i) => {
          const { key, ...props } = propsOf({ index: i })
          return <Chip {...props} key={key} size="small" label={<bdi>{label(one)}</bdi>} />
        })}
      renderInput={(params) => (
        <TextField
          {...params}
          inputRef={ref}
          label={field.label}
          required={field.isRequired}
          error={problem !== undefined}
          helperText={problem ?? field.help ??
            (isFree ? translate("explorer.filter.several") : undefined)}
        />
      )}
    />
  )
}

const Rows = (props: ListProps) => {
  const { field, isDisabled = false, items, source } = props
  const { setValue } = useFormContext()
  // What its elements are is theirs to watch: a letter in one of many shows that one again.
  const isThere = useWatch({ name: source, compute: (value: unknown) => Array.isArray(value) })
  const { errors } = useFormState({ name: source })
  const problem = problemAt(errors, source)
  return (
    <Box component="fieldset" sx={{ m: 0, my: 1, p: 0, border: 0, minWidth: 0 }}>
      <Typography component="legend" variant="h3" sx={{ p: 0, mb: 1 }}>
        {field.label}
        {field.isRequired ? " *" : ""}
      </Typography>
      {field.help !== undefined && <FormHelperText>{field.help}</FormHelperText>}
      {
        // To show the elements of a list that is missing makes an empty one, which nobody has entered.
        isThere
          ? <Elements {...props} />
          : !isDisabled && <Add onClick={() => setValue(source, [emptyOf(items)], { shouldDirty: true })} />
      }
      {problem !== undefined && <FormHelperText error>{problem}</FormHelperText>}
    </Box>
  )
}

const emptyOf = (items: FieldDescription): unknown =>
  items.type === "model" ? defaultsOf(items.fields ?? []) : items.default ?? null

const Add = ({ onClick }: { readonly onClick: () => void }) => (
  <Button startIcon={<AddIcon />} onClick={onClick}>{useTranslate()("ra.action.add")}</Button>
)

const Elements = ({ field, isDisabled = false, items, renderElement, source }: ListProps) => {
  const translate = useTranslate()
  const { append, fields: rows, move, remove } = useFieldArray({ name: source })
  const isModel = items.type === "model"
  return (
    <>
      {rows.map((row, i) => {
        const name = translate("explorer.form.element", { number: i + 1, name: field.label })
        return (
          <Box
            key={row.id}
            component="fieldset"
            aria-label={name}
            sx={{
              display: "flex",
              gap: 1,
              alignItems: "flex-start",
              p: isModel ? 1.5 : 0,
              mb: 1,
              border: isModel ? 1 : 0,
              borderColor: "divider",
              borderRadius: 1
            }}
          >
            <Typography aria-hidden="true" color="textSecondary" sx={{ fontSize: "0.75rem", minWidth: 18, pt: 2 }}>
              {i + 1}
            </Typography>
            <Box sx={{ flex: 1, minWidth: 0 }}>
              {renderElement(isModel ? items : { ...items, label: name }, `${source}.${i}`)}
            </Box>
            {!isDisabled && (
              <Box sx={{ display: "flex", flexDirection: { xs: "column", sm: "row" }, pt: 0.75 }}>
                <IconButton
                  size="small"
                  disabled={i === 0}
                  aria-label={`${translate("ra.action.move_up")}: ${name}`}
                  onClick={() => move(i, i - 1)}
                >
                  <UpIcon fontSize="small" />
                </IconButton>
                <IconButton
                  size="small"
                  disabled={i === rows.length - 1}
                  aria-label={`${translate("ra.action.move_down")}: ${name}`}
                  onClick={() => move(i, i + 1)}
                >
                  <DownIcon fontSize="small" />
                </IconButton>
                <IconButton
                  size="small"
                  aria-label={`${translate("ra.action.remove")}: ${name}`}
                  onClick={() => remove(i)}
                >
                  <CloseIcon fontSize="small" />
                </IconButton>
              </Box>
            )}
          </Box>
        )
      })}
      {!isDisabled && <Add onClick={() => append(emptyOf(items))} />}
    </>
  )
}
