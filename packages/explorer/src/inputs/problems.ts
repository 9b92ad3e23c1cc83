import { isObject } from "../data/documents.ts"

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
