import type { ResourceDescription } from "@appkernel/react-admin"

/** The names of fields that say when a document was made or changed. */
const names = [
  "updated",
  "updated_at",
  "created",
  "created_at",
  "inserted",
  "placed",
  "added",
  "at",
  "time",
  "date",
  "due"
]

/** The field by which the newest documents of a model are found; `undefined` if it does not say when they were made. */
export const newestField = ({ fields }: ResourceDescription): string | undefined => {
  const dates = fields.filter(({ isSortable, type }) => isSortable && (type === "dateTime" || type === "date"))
  return names.find((name) => dates.some(({ path }) => path === name))
}

/** The order of a list until somebody chooses another. */
export const newestFirst = (
  resource: ResourceDescription
): { readonly field: string; readonly order: "ASC" | "DESC" } => {
  const field = newestField(resource)
  return field === undefined ? { field: "id", order: "ASC" } : { field, order: "DESC" }
}
