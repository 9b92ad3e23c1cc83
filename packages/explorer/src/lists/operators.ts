import type { FieldDescription, ResourceDescription } from "@appkernel/react-admin"
import { isObject } from "../data/documents.ts"

/** How a condition compares: the operators of the URL language, and the two that ask whether there is a value. */
export type Operator = "=" | "!" | "~" | ">" | ">=" | "<" | "<=" | "[]" | "![]" | "#" | "null" | "!null"

/** One condition of a filter. */
export interface Condition {
  readonly path: string
  readonly operator: Operator
  readonly value: unknown
}

/** A filter as the address bar and the data provider have it. */
export interface Filter {
  readonly [path: string]: unknown
}

/** The operators for fields of a type, that which is asked most first. */
export const operatorsOf = ({ isRequired, items, type }: FieldDescription): ReadonlyArray<Operator> => {
  const presence: ReadonlyArray<Operator> = isRequired ? [] : ["null", "!null"]
  switch (type) {
    case "integer":
    case "number":
    case "decimal":
      return ["=", "!", ">", ">=", "<", "<=", ...presence]
    case "date":
    case "dateTime":
    case "time":
      return [">=", "<=", ">", "<", "=", ...presence]
    case "boolean":
      return ["=", ...presence]
    case "enum":
      return ["[]", "![]", ...presence]
    case "reference":
      return ["=", "!", ...presence]
    case "list":
      return items?.type === "model" ? ["#"] : ["=", "!", "#"]
    default:
      return ["~", "=", "!", "[]", "![]", ...presence]
  }
}

/** A field that conditions are made for, with the labels of the models that it is in. */
export interface FilterField {
  readonly field: FieldDescription
  readonly label: string
}

/** The fields that the caller may filter by, those of nested models with them. */
export const filterFields = ({ fields }: ResourceDescription): ReadonlyArray<FilterField> =>
  fields.flatMap((field) => within(field, ""))

const within = (field: FieldDescription, outer: string): ReadonlyArray<FilterField> => {
  const label = outer === "" ? field.label : `${outer} › ${field.label}`
  const inner = field.fields ?? (field.items?.type === "model" ? field.items.fields : undefined) ?? []
  const isOne = field.type !== "model" && field.type !== "json" && field.type !== "file" && field.type !== "image"
  return [
    ...(field.isFilterable && isOne ? [{ field, label }] : []),
    ...inner.flatMap((part) => within(part, label))
  ]
}

const isCondition = (path: string): boolean => !path.startsWith("$") && path !== "q"

/** The conditions of a filter, one by one. */
export const conditionsOf = (filter: Filter): ReadonlyArray<Condition> =>
  Object.entries(filter).filter(([path]) => isCondition(path)).flatMap(([path, said]): ReadonlyArray<Condition> => {
    if (!isObject(said)) return [{ path, operator: Array.isArray(said) ? "[]" : "=", value: said }]
    return Object.entries(said).map(([operator, value]): Condition =>
      operator === "null"
        ? { path, operator: value === false ? "!null" : "null", value: undefined }
        // An operator of an address that somebody wrote by hand is shown as it is; the service says what it does not know.
        : { path, operator: operator as Operator, value }
    )
  })

const keyOf = ({ operator }: Condition): string => operator === "!null" ? "null" : operator

/** The filter without a condition. */
export const without = (filter: Filter, condition: Condition): Filter => {
  const said = filter[condition.path]
  const rest = isObject(said) ? Object.entries(said).filter(([operator]) => operator !== keyOf(condition)) : []
  const { [condition.path]: _, ...others } = filter
  return rest.length === 0 ? others : { ...others, [condition.path]: Object.fromEntries(rest) }
}

/** The filter with a condition more, which takes the place of one that compares the same field in the same way. */
export const withCondition = (filter: Filter, condition: Condition): Filter => {
  const said = filter[condition.path]
  const value = condition.operator === "null" ? true : condition.operator === "!null" ? false : condition.value
  return { ...filter, [condition.path]: { ...(isObject(said) ? said : {}), [keyOf(condition)]: value } }
}
