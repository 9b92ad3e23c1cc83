import { isObject, valueAt } from "../data/documents.ts"

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
