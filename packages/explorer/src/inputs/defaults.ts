import type { FieldDescription } from "@appkernel/react-admin"

/** What a new model begins with: the values that the service would set, so that one sees and can change them. */
export const defaultsOf = (fields: ReadonlyArray<FieldDescription>): { readonly [field: string]: unknown } =>
  Object.fromEntries(
    fields.flatMap((field): ReadonlyArray<readonly [string, unknown]> => {
      if (field.isReadOnly || !field.isSetOnCreate) return []
      if (field.default !== undefined) return [[field.name, field.default]]
      if (field.isNullable) return [[field.name, null]]
      if (field.type === "model" && field.isRequired) return [[field.name, defaultsOf(field.fields ?? [])]]
      if (field.type === "boolean" && field.isRequired) return [[field.name, false]]
      return field.type === "list" && field.isRequired ? [[field.name, []]] : []
    })
  )
