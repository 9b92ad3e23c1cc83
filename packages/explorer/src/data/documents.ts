import type { FieldDescription, ResourceDescription } from "@appkernel/react-admin"
import { textOf } from "./text.ts"

/** A document as react-admin has it. */
export interface Document {
  readonly id: string
  readonly [field: string]: unknown
}

export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value at a path such as `address.city`. */
export const valueAt = (document: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>(
    (value, key) => isObject(value) || Array.isArray(value) ? Reflect.get(value, key) : undefined,
    document
  )

/** Whether its values are files, which are written at addresses of their own. */
export const isOfFiles = ({ file, items }: FieldDescription): boolean => file !== undefined || items?.file !== undefined

/**
 * A value without what says nothing: members that are missing, or `null` where they may be missing, and names that begin with `_`,
 * which the service adds. Free JSON stays as it is.
 */
export const plain = (value: unknown, field?: FieldDescription): unknown => {
  if (field?.type === "json" || value instanceof Blob) return value
  if (Array.isArray(value)) return value.map((one: unknown) => plain(one, field?.items) ?? null)
  if (!isObject(value)) return value ?? undefined
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      if (key.startsWith("_")) return []
      const part = (field?.fields ?? field?.items?.fields)?.find(({ name }) => name === key)
      const within = member === null && part?.isRequired === true ? null : plain(member, part)
      return within === undefined ? [] : [[key, within] as const]
    })
  )
}

export const isSame = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, i) => isSame(value, other[i]))
  }
  if (!isObject(one) || !isObject(other) || one instanceof Blob || other instanceof Blob) return false
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
}

/** What is sent of what was entered: fields without a value are left out, but for those of which `null` is one. */
export const sentOf = (
  fields: ReadonlyArray<FieldDescription>,
  entered: { readonly [field: string]: unknown }
): { readonly [field: string]: unknown } =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = plain(entered[field.name], field) ?? (field.isNullable ? null : undefined)
      return value === undefined ? [] : [[field.name, value] as const]
    })
  )

/** What of a document differs from another state of it, by the names of its fields; `null` is no value. */
export const changesOf = (
  fields: ReadonlyArray<FieldDescription>,
  before: { readonly [field: string]: unknown },
  after: { readonly [field: string]: unknown }
): { readonly [field: string]: unknown } =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = plain(after[field.name], field)
      return isSame(plain(before[field.name], field), value) ? [] : [[field.name, value ?? null] as const]
    })
  )

/** Whether something of a document differs from another state of it. */
export const hasChanges = (...states: Parameters<typeof changesOf>): boolean =>
  Object.keys(changesOf(...states)).length > 0

/**
 * What is left to be entered of a form that was written in part: the document as it is now, with the files that it has not taken.
 * Files are written in the order in which they were chosen.
 */
export const leftOf = (
  fields: ReadonlyArray<FieldDescription>,
  { before, entered, now }: { readonly [state in "before" | "entered" | "now"]: { readonly [field: string]: unknown } }
): { readonly [field: string]: unknown } => ({
  ...now,
  ...Object.fromEntries(
    fields.filter(isOfFiles).map(({ items, name }) => {
      const [had, chosen, has] = [before, entered, now].map((state) => filesOf(state[name])) as [Files, Files, Files]
      const isNew = (file: unknown) => !had.some((one) => keyOf(one) === keyOf(file))
      const taken = has.filter(isNew).length
      if (items === undefined) return [name, taken > 0 ? now[name] : entered[name]]
      const kept = has.filter((file) => isNew(file) || chosen.some((one) => keyOf(one) === keyOf(file)))
      return [name, [...kept, ...chosen.filter((one) => one instanceof Blob).slice(taken)]]
    })
  )
})

type Files = ReadonlyArray<unknown>

/** The files of a field, of which there may be one. */
export const filesOf = (value: unknown): Files =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]

const keyOf = (file: unknown): unknown => isObject(file) ? file["key"] : undefined

/** How a document is named to people. */
export const nameOf = (
  resource: ResourceDescription,
  document: { readonly [field: string]: unknown } | undefined
): string => {
  const name = valueAt(document, resource.representation)
  const text = typeof name === "string" || typeof name === "number" ? String(name) : ""
  return text.trim() === "" ? textOf(document?.["id"]) : text
}

/** Whether a document is deleted, and can be restored. */
export const isDeletedIn = ({ isSoftDeleted }: ResourceDescription, document: Document): boolean =>
  isSoftDeleted && (document["deleted"] ?? null) !== null

/** Whether the links of a document, which say what the caller may do with it, have one of these methods for it itself. */
export const mayBy = (document: Document, methods: ReadonlyArray<string>): boolean => {
  const links = document["_links"]
  const self = isObject(links) ? links["self"] : undefined
  const allowed = isObject(self) ? self["methods"] : undefined
  if (allowed === undefined) return !isObject(links)
  return methods.some((method) => allowed === method || (Array.isArray(allowed) && allowed.includes(method)))
}

/** Whether a document has a link of that name; one without links is asked about nothing. */
export const hasLink = (document: Document, name: string): boolean => {
  const links = document["_links"]
  return !isObject(links) || Object.hasOwn(links, name)
}
