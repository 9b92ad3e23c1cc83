import type { FieldDescription } from "@appkernel/react-admin"
import { Box } from "@mui/material"
import { PasswordInput } from "react-admin"
import { useWatch } from "react-hook-form"
import { FileInput } from "./FileInput.tsx"
import type { InputProps } from "./InputProps.ts"
import { JsonInput } from "./JsonInput.tsx"
import { ListInput } from "./ListInput.tsx"
import { ModelInput } from "./ModelInput.tsx"
import { OneInput } from "./OneInput.tsx"
import { isEntered } from "./problems.ts"
import { ReadOnly } from "./ReadOnly.tsx"

interface FieldsProps {
  readonly fields: ReadonlyArray<FieldDescription>
  /** The path of the model in the form; empty for the document itself. */
  readonly source?: string
  readonly isNew?: boolean
  readonly isDisabled?: boolean
}

const isWide = ({ type, items }: FieldDescription): boolean =>
  type === "longText" || type === "markdown" || type === "json" || type === "model" ||
  (type === "list" && items?.type === "model")

/** The inputs of a model's fields, beside each other where there is room. Those that nobody sets are shown where they are. */
export const Fields = ({ fields, isDisabled = false, isNew = false, source = "" }: FieldsProps) => {
  const isSet = (field: FieldDescription) => isEntered(field, isNew)
  const shown = fields.filter((field) => isSet(field) || !(isNew || field.isWriteOnly))
  return (
    <Box
      sx={{
        display: "grid",
        gridTemplateColumns: source === ""
          ? { xs: "minmax(0, 1fr)", md: "repeat(2, minmax(0, 1fr))" }
          : "repeat(auto-fit, minmax(min(100%, 170px), 1fr))",
        columnGap: 2,
        alignItems: "start"
      }}
    >
      {shown.map((field, i) => {
        const path = source === "" ? field.name : `${source}.${field.name}`
        return (
          <Box
            key={field.name}
            sx={isWide(field) || isAlone(shown, i) ? { gridColumn: "1 / -1", minWidth: 0 } : { minWidth: 0 }}
          >
            {isSet(field)
              ? (
                <Input
                  // What is only sent stays as it is while nothing is entered, and an empty input is `null` where this is a value.
                  field={field.isNullable || (field.isWriteOnly && !isNew) ? { ...field, isRequired: false } : field}
                  source={path}
                  isDisabled={isDisabled}
                />
              )
              : <Shown field={field} source={path} />}
          </Box>
        )
      })}
    </Box>
  )
}

/** A field that nobody sets, as the form has it. */
const Shown = ({ field, source }: InputProps) => {
  const value: unknown = useWatch({ name: source })
  return <ReadOnly field={field} value={typeof value === "function" ? undefined : value} />
}

/** Whether a field would stand in its row with nothing beside it, since what follows takes a row of its own. */
const isAlone = (fields: ReadonlyArray<FieldDescription>, index: number): boolean => {
  let column = 0
  for (const [i, field] of fields.entries()) {
    if (isWide(field)) column = 0
    else if (i === index) return column === 0 && fields[i + 1] !== undefined && isWide(fields[i + 1]!)
    else column = 1 - column
  }
  return false
}

/** How a field is entered, by what the service says of it. The service alone decides what is valid. */
export const Input = ({ field, isDisabled = false, source }: InputProps) => {
  switch (field.type) {
    case "model":
      return (
        <ModelInput field={field} source={source} isDisabled={isDisabled}>
          <Fields fields={field.fields ?? []} source={source} isDisabled={isDisabled} />
        </ModelInput>
      )
    case "list":
      return (
        <ListInput
          field={field}
          source={source}
          isDisabled={isDisabled}
          renderElement={(items, at) =>
            items.type === "model"
              ? <Fields fields={items.fields ?? []} source={at} isDisabled={isDisabled} />
              : <Input field={items} source={at} isDisabled={isDisabled} />}
        />
      )
    case "file":
    case "image":
      return <FileInput field={field} source={source} isDisabled={isDisabled} />
    case "json":
      return <JsonInput field={field} source={source} isDisabled={isDisabled} />
    case "password":
      return (
        <PasswordInput
          source={source}
          label={field.label}
          helperText={field.help ?? false}
          isRequired={field.isRequired}
          disabled={isDisabled}
          autoComplete="new-password"
        />
      )
    default:
      return <OneInput field={field} source={source} isDisabled={isDisabled} />
  }
}
