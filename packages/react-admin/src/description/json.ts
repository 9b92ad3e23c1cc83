/** JSON that a service has answered, read part by part: what is missing is empty. */

/** An object of JSON. */
export interface Json {
  readonly [member: string]: unknown
}

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const jsonObject = (value: unknown): Json => isJson(value) ? value : {}

export const jsonList = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

export const jsonText = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

export const jsonNumber = (value: unknown): number | undefined => typeof value === "number" ? value : undefined

/** A value as text: what has parts as JSON. */
export const textOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : `${value as number}`

/** The texts of a list. */
export const jsonTexts = (value: unknown): ReadonlyArray<string> =>
  jsonList(value).filter((one) => typeof one === "string")

/** The own member of an object that others wrote. */
export const jsonMember = (value: Json, name: string): unknown => Object.hasOwn(value, name) ? value[name] : undefined

/** What a member that is `undefined` is left out of, for interfaces whose members are. */
export const withoutMissing = <T extends object>(value: T): T =>
  // Members that are missing read as `undefined`.
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T
