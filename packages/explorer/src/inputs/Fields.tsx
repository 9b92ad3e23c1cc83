import type { FieldDescription } from "@appkernel/react-admin"
import { Box } from "@mui/material"
import { useWatch } from "react-hook-form"
import { valueAt } from "../data/documents.ts"
import { Input } from "./Input.tsx"
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
  const all: unknown = useWatch()
  const values = source === "" ? all : valueAt(all, source)
  const isSet = (field: FieldDescription) => isNew ? field.isSetOnCreate : field.isSetOnUpdate
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
        const value: unknown = typeof values === "object" && values !== null
          ? Reflect.get(values, field.name)
          : undefined
        return (
          <Box
            key={field.name}
            sx={isWide(field) || isAlone(shown, i) ? { gridColumn: "1 / -1", minWidth: 0 } : { minWidth: 0 }}
          >
            {isSet(field)
              ? (
                <Input
                  // What is only sent stays as it is while nothing is entered.
                  field={field.isWriteOnly && !isNew ? { ...field, isRequired: false } : field}
                  source={path}
                  isDisabled={isDisabled}
                />
              )
              : <ReadOnly field={field} value={value} />}
          </Box>
        )
      })}
    </Box>
  )
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
