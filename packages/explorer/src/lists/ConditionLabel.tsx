import type { FieldDescription } from "@appkernel/react-admin"
import { useLocaleState, useTranslate } from "react-admin"
import { dayOf, instantOf } from "../data/dateTime.ts"
import { dateTimeFormat } from "../data/formats.ts"
import { textOf } from "../data/text.ts"
import { ReferenceName } from "../fields/ReferenceName.tsx"
import type { Condition, FilterField } from "./operators.ts"

interface ConditionLabelProps {
  readonly condition: Condition
  readonly fields: ReadonlyArray<FilterField>
}

/** A condition as somebody says it: "Price is more than 5". */
export const ConditionLabel = ({ condition: { operator, path, value }, fields }: ConditionLabelProps) => {
  const translate = useTranslate()
  const found = fields.find(({ field }) => field.path === path)
  const verb = translate(`explorer.operators.${operatorKey(operator, found?.field)}`)
  const values = Array.isArray(value) ? value : value === undefined ? [] : [value]
  return (
    <bdi>
      {found?.label ?? path} {verb}
      {values.length > 0 && " "}
      {values.map((one, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- values have no other key, and no state
        <b key={i}>{i > 0 && ", "}{found === undefined ? textOf(one) : <Said field={found.field} value={one} />}</b>
      ))}
    </bdi>
  )
}

/** The key of an operator's name: dates are after and before, numbers more and less. */
export const operatorKey = (operator: string, field: FieldDescription | undefined): string => {
  const names: { readonly [operator: string]: string } = {
    "=": "is",
    "!": "isNot",
    "~": "contains",
    ">": "greater",
    ">=": "atLeast",
    "<": "less",
    "<=": "atMost",
    "[]": "oneOf",
    "![]": "noneOf",
    "#": "size",
    null: "missing",
    "!null": "present"
  }
  const key = names[operator] ?? operator
  const type = field?.type
  if ((type === "date" || type === "dateTime" || type === "time") && /[<>]/u.test(operator)) return `${key}Time`
  return type === "list" && (operator === "=" || operator === "!") ? `${key}Element` : key
}

const Said = ({ field, value }: { readonly field: FieldDescription; readonly value: unknown }) => {
  const [locale] = useLocaleState()
  const translate = useTranslate()
  const one = field.items ?? field
  if (one.type === "enum") return one.choices?.find(({ id }) => id === value)?.label ?? textOf(value)
  if (one.type === "boolean") {
    return translate(value === true || value === "true" ? "ra.boolean.true" : "ra.boolean.false")
  }
  if (one.type === "reference" && one.reference !== undefined) {
    return <ReferenceName resource={one.reference} id={textOf(value)} />
  }
  if (one.type === "dateTime" && textOf(value).length > 10) {
    const time = instantOf(value)
    if (time !== undefined) {
      return dateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(time)
    }
  }
  if (one.type === "date" || one.type === "dateTime") {
    const day = dayOf(value)
    if (day !== undefined) return dateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }).format(day)
  }
  const text = textOf(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
