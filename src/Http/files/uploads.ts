/** The files that requests bring for the documents of a model. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type { Service } from "../../Files/FileStore.ts"
import { isPicture, type PictureRefused } from "../../Files/internal.ts"
import { ownValue } from "../../internal/objects.ts"
import {
  type FieldProblem,
  type FileField,
  fileFieldsOf,
  modelTypeId,
  nestedModel,
  problemsOf,
  type StoredFile
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import type { PictureSizes, Room, UnfinishedUploads } from "../../Repository/internal.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import { errorOf, type HttpError } from "../HttpError.ts"
import type { Brought } from "../request/bodyInstead.ts"
import { type Given, receive, unavailable } from "./received.ts"
import { checkedType, refusedBefore } from "./refusals.ts"

/** A file of a field, as an instance of a document has it. */
export interface Received {
  readonly field: string
  readonly file: StoredFile
}

/** Takes the files of a model. */
export interface Uploads {
  readonly store: Service
  readonly fields: ReadonlyMap<string, FileField>
  /** Keeps uploads that come in several requests; `undefined` if they don't. */
  readonly unfinished: UnfinishedUploads | undefined
  /** Keeps a file of a field. It fails before the bytes are read where its sender says that it has a type that the field does not take. */
  readonly receive: (
    field: string,
    given: Given & { readonly size?: number | undefined; readonly room?: Room | undefined }
  ) => Effect.Effect<Received, HttpError>
  /** What is known before the bytes: why the field does not take a file of a size and a type. */
  readonly refused: (
    field: string,
    said: { readonly type: string | undefined; readonly size: number | undefined; readonly room: Room | undefined }
  ) => HttpError | undefined
  /** Fails for first bytes of a file that the field does not take. */
  readonly checked: (field: string, head: Uint8Array, said: string | undefined) => Effect.Effect<unknown, HttpError>
  /** How many bytes the quotas leave for the files of a document; `undefined` for any number. */
  readonly roomFor: (document: Document) => Effect.Effect<Room | undefined, ReadError>
  /** Removes the bytes of files that no document will have. */
  readonly discard: (files: ReadonlyArray<Received>) => Effect.Effect<void>
  /** What becomes of files with the write that brought them. */
  readonly brought: (files: ReadonlyArray<Received>) => Brought
  /** A picture in one of the sizes of its field. */
  readonly sized: (field: string, file: StoredFile, size: string) => Effect.Effect<StoredFile, HttpError | ReadError>
  /** What the validators of lists say of the values of a new document, which the schema of its body does not have. */
  readonly problemsIn: (values: { readonly [field: string]: unknown }) => ReadonlyArray<FieldProblem>
  /** A problem for each file that a new document needs and lacks; the names of fields follow `prefix`. */
  readonly missingIn: (
    document: { readonly [field: string]: unknown },
    prefix?: string
  ) => ReadonlyArray<FieldProblem>
  /** The fields whose files a patch removes: the optional ones that it sets to null. */
  readonly removedIn: (body: unknown) => ReadonlyArray<string>
  /** The values of fields: a file, or a list. */
  readonly valuesOf: (files: ReadonlyArray<Received>) => { readonly [field: string]: unknown }
}

/** `undefined` for a model without files. */
export const uploadsOf = (
  model: Model.Any,
  store: Service,
  pictures: PictureSizes | undefined,
  { maxMultipartSize, roomFor, unfinished }: Pick<Uploads, "roomFor" | "unfinished"> & {
    readonly maxMultipartSize: number
  }
): Uploads => {
  const fields = new Map(fileFieldsOf(model).map((field) => [field.name, field]))
  const discard = (files: ReadonlyArray<Received>) =>
    files.length === 0 ? Effect.void : Effect.ignore(
      Effect.catch(store.remove(files.map(({ file }) => file.id)), unavailable)
    )
  const rulesOf = (name: string) => {
    const { maxPixels, maxSize = maxMultipartSize, stripMetadata, types } = fields.get(name)!
    return { types, maxSize, stripMetadata, maxPixels }
  }
  const attributesOf = (field: string) => model[modelTypeId][field] ?? {}
  const needed = [...fields.keys()].filter((field) => {
    const { default: byDefault, optional } = attributesOf(field)
    return optional !== true && byDefault === undefined
  })
  const removable = [...fields.values()].flatMap(({ isList, name }) =>
    !isList && attributesOf(name).optional === true ? [name] : []
  )
  const lists = [...fields.values()].flatMap(({ isList, name }) =>
    // Every struct field is a schema.
    isList ? [[name, Schema.optional(Schema.toType(model.store.fields[name] as Schema.Top))] as const] : []
  )
  const decodeLists = SchemaParser.decodeUnknownExit(Schema.Struct(Object.fromEntries(lists)), { errors: "all" })
  return {
    store,
    fields,
    unfinished,
    roomFor,
    missingIn: (document, prefix = "") =>
      needed.filter((field) => document[field] === undefined).map((field) => ({
        field: prefix + field,
        validator: "File",
        message: "must be a file of a form"
      })),
    removedIn: (body) => removable.filter((field) => ownValue(body, field) === null),
    problemsIn: (values) => {
      const decoded = decodeLists(values)
      const issue = Exit.isSuccess(decoded) ? Option.none() : Cause.findErrorOption(decoded.cause)
      return Option.isSome(issue) ? problemsOf(issue.value) : []
    },
    refused: (name, { room, ...said }) => refusedBefore({ ...rulesOf(name), room }, said),
    checked: (name, head, said) => checkedType(head, said, rulesOf(name).types),
    receive: (name, given) => {
      const rules = { ...rulesOf(name), room: given.room }
      const refused = refusedBefore(rules, { size: given.size, type: given.type })
      if (refused !== undefined) return Effect.fail(refused)
      // Each file field is a field of such models.
      const inner = nestedModel(model.store.fields[name]) as unknown as new(file: StoredFile) => StoredFile
      return Effect.map(receive(store, rules, given), (file) => ({ field: name, file: new inner(file) }))
    },
    discard,
    brought: (files) => ({
      discard: discard(files),
      written: Effect.forEach(
        files,
        ({ field, file }) =>
          Effect.forEach(
            Object.values(fields.get(field)?.image ?? {}),
            (size) =>
              pictures === undefined || !isPicture(file.type)
                ? Effect.void
                : pictures.begin(file.id, { ...size, maxPixels: fields.get(field)!.maxPixels }),
            { discard: true }
          ),
        {
          discard: true
        }
      )
    }),
    sized: (name, file, size) => {
      const { image, maxPixels } = fields.get(name)!
      if (pictures === undefined || !isPicture(file.type)) return Effect.fail(noPicture)
      return pictures.get(file.id, { ...image[size], maxPixels }).pipe(
        Effect.map(({ id, sha256, size, type }) => ({
          ...file,
          id,
          sha256,
          size,
          type,
          name: `${file.name.replace(/\.\w+$/u, "")}.${type.slice("image/".length)}`
        })),
        Effect.catchTags({
          FileMissing: () => Effect.fail(noPicture),
          FileStoreFailed: unavailable,
          PictureRefused: ({ limit }: PictureRefused) =>
            Effect.fail(limit === undefined ? noPicture : errorOf("NotFound", "errors.PictureTooLarge", { limit }))
        })
      )
    },
    valuesOf: (files) =>
      Object.fromEntries(
        Array.from(Map.groupBy(files, ({ field }) => field), ([name, own]) => [
          name,
          fields.get(name)?.isList === true ? own.map(({ file }) => file) : own[0]?.file
        ])
      )
  }
}

// internal

const noPicture = errorOf("NotFound", "errors.PictureUnreadable")
