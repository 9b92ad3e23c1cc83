import type { FieldDescription } from "@appkernel/react-admin"
import { isObject, valueAt } from "../data/documents.ts"

/** Whether somebody enters a field in a form. */
export const isEntered = (field: FieldDescription, isNew: boolean): boolean =>
  // A form would find what every object has by such a name.
  !(field.name in Object.prototype) && (isNew ? field.isSetOnCreate : field.isSetOnUpdate)

/** Whether a form of these fields has an input that shows the problem of a path. */
export const isShownAt = (fields: ReadonlyArray<FieldDescription>, path: string, isNew: boolean): boolean => {
  const [name, ...rest] = path.split(".")
  const field = fields.find((one) => one.name === name)
  return field !== undefined && isEntered(field, isNew) && isShownWithin(field, rest)
}

const isShownWithin = ({ fields, items, type }: FieldDescription, [first, ...rest]: ReadonlyArray<string>): boolean => {
  if (first === undefined || type === "json" || (type === "list" && items === undefined)) return true
  // The parts of a new document are entered as those of any.
  if (fields !== undefined) return isShownAt(fields, [first, ...rest].join("."), false)
  // A model, and a file, in a list show no problem of themselves.
  return items !== undefined && /^\d+$/u.test(first) && items.file === undefined &&
    (rest.length > 0 || items.type !== "model") && isShownWithin(items, rest)
}

/** The message of the problem of a whole list or model, whose parts may have their own. */
export const problemAt = (errors: object, source: string): string | undefined => {
  let found: unknown = errors
  for (const key of source.split(".")) {
    found = typeof found === "object" && found !== null
      ? Reflect.get(found, key)
      : undefined
  }
  const own = isObject(found) ? found["message"] : undefined
  const root = typeof found === "object" && found !== null ? Reflect.get(found, "root") as unknown : undefined
  const message = typeof own === "string" ? own : isObject(root) ? root["message"] : undefined
  return typeof message === "string" ? message : undefined
}

/** The message of the problem of a value, or of the first of its parts that has one: they have no inputs of their own. */
export const anyProblemAt = (errors: object, source: string): string | undefined => {
  const own = problemAt(errors, source)
  if (own !== undefined) return own
  const found = valueAt(errors, source)
  const parts = isObject(found) || Array.isArray(found) ? Object.keys(found).filter((key) => key !== "ref") : []
  return parts.map((key) => anyProblemAt(errors, `${source}.${key}`)).find((message) => message !== undefined)
}
