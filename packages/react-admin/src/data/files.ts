/** Files that forms send, and the addresses that they are written at. */
import type { Call, Caller } from "../calls/caller.ts"
import type { FieldDescription } from "../Description.ts"
import { isJson, type Json, jsonList } from "../description/json.ts"
import { KernelError, KernelPartialWrite } from "../KernelError.ts"

/** The file that a form has chosen: as it is, or as react-admin's inputs have it. */
const chosenFile = (value: unknown): File | Blob | undefined => {
  const file = isJson(value) && "rawFile" in value ? value["rawFile"] : value
  return file instanceof Blob ? file : undefined
}

export const isFileField = ({ file, items }: FieldDescription): boolean =>
  file !== undefined || items?.file !== undefined

/** The chosen files of a field. */
export const chosenFiles = (data: Json, { items, name }: FieldDescription): ReadonlyArray<File | Blob> =>
  (items === undefined ? [data[name]] : jsonList(data[name])).map(chosenFile).filter((file) => file !== undefined)

/** Says of an error of files, which names no field, at which one it is: the only one, or that which takes none of such files. */
export const atFileField = (error: unknown, fields: ReadonlyArray<FieldDescription>, data: Json): unknown => {
  if (!(error instanceof KernelError) || !refusals.has(error.status)) return error
  if (Object.keys(error.body.errors).length > 0) return error
  const at = fields.length === 1 ? fields[0] : fields.find((field) => {
    const { maxSize = Infinity, types = [] } = (field.items ?? field).file ?? {}
    return chosenFiles(data, field).some(({ size, type }) =>
      size > maxSize || (types.length > 0 && !types.includes(type))
    )
  })
  if (at === undefined) return error
  const body = { ...error.body, errors: { [at.name]: error.message } }
  return new KernelError(error.status, error.message, body, { cause: error })
}

interface FileCall extends Call {
  readonly field: FieldDescription
  readonly headers: { readonly [name: string]: string }
}

/** Too large, of another type, unreadable. */
const refusals = new Set([413, 415, 422])

/**
 * Writes the files of a document that differ from those that it has; whether there were some. A file that is another one than the
 * caller has seen is refused with 412. What is refused after something of the document was written fails with a `KernelPartialWrite`.
 */
export const writeFiles = async (
  caller: Caller,
  at: string,
  fields: ReadonlyArray<FieldDescription>,
  { current, data, isWritten, previous }: {
    /** Reads the document as it is now, as far as the caller sees it. */
    readonly current: () => Promise<Json | undefined>
    readonly data: Json
    readonly previous: Json | undefined
    /** Whether the other fields have been written. */
    readonly isWritten: boolean
  }
): Promise<boolean> => {
  const calls = fields.filter(isFileField).flatMap((field): ReadonlyArray<FileCall> => {
    if (!Object.hasOwn(data, field.name)) return []
    const path = `${at}/${encodeURIComponent(field.name)}`
    // Of a field that the caller does not see, nothing is known.
    const condition = previous === undefined || field.isWriteOnly ? {} : conditionOf(previous[field.name])
    const sent = chosenFiles(data, field).map((file) => ({
      field,
      method: field.items === undefined ? "PUT" : "POST",
      path,
      body: file,
      headers: { ...headersOf(file), ...field.items === undefined ? condition : {} }
    }))
    const kept = new Set((field.items === undefined ? [data[field.name]] : jsonList(data[field.name])).map(keyOf))
    const gone = jsonList(field.items === undefined ? [previous?.[field.name]] : previous?.[field.name]).map(keyOf)
      .filter(
        (key) => key !== undefined && !kept.has(key)
      )
    // A new file takes the place of the one before by itself.
    const removed = field.items === undefined
      ? gone.length > 0 && sent.length === 0 ? [{ field, method: "DELETE", path, headers: condition }] : []
      : gone.map((key) => ({ field, method: "DELETE", path: `${path}/${encodeURIComponent(key ?? "")}`, headers: {} }))
    // What a list holds is only removed when it has the new ones, as far as there is room for both.
    const room = field.maxItems ?? Infinity
    const before = Math.max(0, jsonList(previous?.[field.name]).length + sent.length - room)
    return [...removed.slice(0, before), ...sent, ...removed.slice(before)]
  })
  /** Where the file that is in the way is hidden from the caller in this document, nobody has seen it: it is written over. */
  const sendUnless = async ({ headers, ...call }: Omit<FileCall, "field">, { name }: FieldDescription) => {
    const { "if-none-match": isFirst, ...others } = headers
    try {
      await caller.send({ ...call, headers })
    } catch (error) {
      if (isFirst === undefined || !(error instanceof KernelError) || error.status !== 412) throw error
      // Who can't see what is there is told of the file.
      const now = await current().catch(() => undefined)
      if (now === undefined || (now[name] ?? undefined) !== undefined) throw error
      await caller.send({ ...call, headers: others })
    }
  }
  for (const [i, { field, ...call }] of calls.entries()) {
    // oxlint-disable-next-line eslint/no-await-in-loop -- each is a write of the same document
    await sendUnless(call, field).catch((cause: unknown) => {
      const error = atFileField(cause, [field], data)
      if (!(error instanceof KernelError) || !(isWritten || i > 0)) throw error
      throw new KernelPartialWrite(error.status, error.message, error.body, { cause })
    })
  }
  return calls.length > 0
}

const keyOf = (value: unknown): string | undefined =>
  isJson(value) && typeof value["key"] === "string" ? value["key"] : undefined

/** That there is no other file than the one before: its tag is that of its bytes. */
const conditionOf = (value: unknown): { readonly [name: string]: string } => {
  if (value === undefined || value === null) return { "if-none-match": "*" }
  return isJson(value) && typeof value["sha256"] === "string" ? { "if-match": `"${value["sha256"]}"` } : {}
}

const headersOf = (file: File | Blob): { readonly [name: string]: string } => ({
  "content-type": file.type === "" ? "application/octet-stream" : file.type,
  ..."name" in file && file.name !== ""
    ? { "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.name).replaceAll("'", "%27")}` }
    : {}
})
