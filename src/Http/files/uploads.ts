/** The files that requests bring for the documents of a model. */
import * as Effect from "effect/Effect"
import type { Service } from "../../Files/FileStore.ts"
import { type FileField, fileFieldsOf, nestedModel, type StoredFile } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { HttpError } from "../HttpError.ts"
import { type Given, receive, refusedBefore, unavailable } from "./received.ts"

/** A file of a field, as an instance of a document has it. */
export interface Received {
  readonly field: string
  readonly file: StoredFile
}

/** Takes the files of a model. */
export interface Uploads {
  readonly store: Service
  readonly fields: ReadonlyMap<string, FileField>
  /** Keeps a file of a field. It fails before the bytes are read where its sender says that it has a type that the field does not take. */
  readonly receive: (
    field: string,
    given: Given & { readonly size?: number | undefined }
  ) => Effect.Effect<Received, HttpError>
  /** Removes the bytes of files that no document will have. */
  readonly discard: (files: ReadonlyArray<Received>) => Effect.Effect<void>
  /** The values of fields: a file, or a list. */
  readonly valuesOf: (files: ReadonlyArray<Received>) => { readonly [field: string]: unknown }
}

/** `undefined` for a model without files. */
export const uploadsOf = (
  model: Model.Any,
  store: Service,
  { maxMultipartSize }: { readonly maxMultipartSize: number }
): Uploads => {
  const fields = new Map(fileFieldsOf(model).map((field) => [field.name, field]))
  return {
    store,
    fields,
    receive: (name, given) => {
      const { maxSize = maxMultipartSize, types = [] } = fields.get(name) ?? {}
      const rules = { types, maxSize }
      const refused = refusedBefore(rules, { size: given.size, type: given.type })
      if (refused !== undefined) return Effect.fail(refused)
      // Each file field is a field of such models.
      const inner = nestedModel(model.store.fields[name]) as unknown as new(file: StoredFile) => StoredFile
      return Effect.map(receive(store, rules, given), (file) => ({ field: name, file: new inner(file) }))
    },
    discard: (files) =>
      files.length === 0 ? Effect.void : Effect.ignore(
        Effect.catch(store.remove(files.map(({ file }) => file.id)), unavailable)
      ),
    valuesOf: (files) =>
      Object.fromEntries(
        Array.from(Map.groupBy(files, ({ field }) => field), ([name, own]) => [
          name,
          fields.get(name)?.isList === true ? own.map(({ file }) => file) : own[0]?.file
        ])
      )
  }
}
