/** A value in words: as it is if it is a text, a number or a boolean, and otherwise as JSON. */
export const textOf = (value: unknown): string => {
  switch (typeof value) {
    case "string":
      return value
    case "number":
    case "boolean":
    case "bigint":
      return String(value)
    default:
      return value === undefined || value === null ? "" : JSON.stringify(value)
  }
}
