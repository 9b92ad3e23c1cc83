/**
 * Fields that hold files. `Model` exports them.
 *
 * @since 0.1.0
 */
import * as ByteSize from "effect/ByteSize"
import type * as DateTimes from "effect/DateTime"
import * as Schema from "effect/Schema"
import type * as VariantSchema from "effect/schema/VariantSchema"
import { DeclarationError } from "../internal/declarationError.ts"
import { DateTime } from "./codec/temporal.ts"
import { type Field, omitted, readOnly, withDefault } from "./Field.ts"
import { makeClass } from "./instance/modelClass.ts"
import type { FileRules, PictureSize } from "./shape/annotations.ts"
import { type AnyField, evolve } from "./shape/fields.ts"
import type { ModelLike, Variant } from "./shape/variants.ts"

export type { PictureSize } from "./shape/annotations.ts"

/**
 * What is known of a file: what a document has in the place of its bytes.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredFile {
  /** What names the bytes in the `FileStore`. Callers never see it. */
  readonly id: string
  /** What names the file in a list of files, as long as it is there. */
  readonly key: string
  /** The name that the caller gave it, or `file`. */
  readonly name: string
  /** The number of bytes. */
  readonly size: number
  /** The media type, as the bytes tell it. */
  readonly type: string
  /** The SHA-256 checksum, in hexadecimal digits. */
  readonly sha256: string
  /** When it was written. */
  readonly at: DateTimes.Utc
}

/**
 * The schema of the files of documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface FileModel
  extends VariantSchema.Class<StoredFile, Variants, Schema.Struct<Extracted<"store", true>>, Variant, "store">
{
  readonly "~appkernel/Model/trait": "file"
  readonly "~appkernel/Model": ModelLike["~appkernel/Model"]
  readonly "~appkernel/Model/validation": undefined
  readonly modelName: "StoredFile"
  readonly store: Schema.Struct<Extracted<"store">>
  readonly wire: Schema.Struct<{ readonly _type: Schema.tag<"StoredFile"> } & Extracted<"wire">>
  readonly create: Schema.Struct<Extracted<"create">>
  readonly patch: Schema.Struct<Extracted<"patch">>
}

/**
 * What a file may be.
 *
 * @category models
 * @since 0.1.0
 */
export interface FileOptions {
  /**
   * The media types that are taken, as the bytes tell them: a file that says it is another one is refused. Defaults to all; a type that
   * is not known by its bytes is then `application/octet-stream`, or `text/plain` for text.
   */
  readonly types?: ReadonlyArray<string> | undefined
  /** The maximum size of a file. Defaults to `server.max_multipart_size`. */
  readonly maxSize?: ByteSize.Input | undefined
  /**
   * The sizes in which pictures are served beside the file, by their names: `{ thumbnail: { width: 200 } }`. The package `sharp` makes
   * them. Defaults to none.
   */
  readonly image?: { readonly [size: string]: PictureSize } | undefined
  /**
   * Whether pictures are kept without what cameras write into them, such as the place and the time (EXIF, XMP, IPTC). They are
   * encoded again for it, by the package `sharp`; a picture that can't be is refused. Defaults to false. The pictures of `image` never have it.
   */
  readonly stripMetadata?: boolean | undefined
  /** The maximum number of pixels of a picture that is decoded, for a size or without its metadata. Defaults to 100 million. */
  readonly maxPixels?: number | undefined
}

/**
 * A file of the document. Its bytes are in a `FileStore`, and change together with the document, which holds their name, size, type
 * and checksum. A resource serves them below the document's address. Callers write it there, or in the `multipart/form-data` of the
 * document, and not by JSON.
 *
 * **Example** (A photo and its picture)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * class Photo extends Model.Class<Photo>()("Photo", {
 *   id: Model.id({ prefix: "P" }),
 *   title: Schema.String,
 *   picture: Model.file({ types: ["image/jpeg", "image/png"], maxSize: "10 MB" }).pipe(Model.optional)
 * }) {}
 *
 * Model.metadata(Photo)["picture"]?.file // => { types: ["image/jpeg", "image/png"], max_size: 10_000_000 }
 * ```
 *
 * **Example** (A picture in two sizes)
 *
 * ```ts
 * import { Model } from "appkernel"
 *
 * class Profile extends Model.Class<Profile>()("Profile", {
 *   id: Model.id(),
 *   portrait: Model.file({
 *     types: ["image/jpeg", "image/png", "image/webp"],
 *     image: { thumbnail: { width: 100, height: 100 }, page: { width: 1200, format: "avif" } },
 *     stripMetadata: true
 *   }).pipe(Model.optional)
 * }) {}
 *
 * Object.keys(Model.metadata(Profile)["portrait"]?.file?.image ?? {}) // => ["thumbnail", "page"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const file = (options?: FileOptions): Field.ReadOnly<FileModel> =>
  // `StoredFile` is a model with the fields that its type has.
  holding(model(), options) as never

/**
 * A list of files, which is empty at first. Callers append to it below the document's address, where each file has an address of its
 * own, by its `key`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const files = (
  options?: FileOptions
): Field.ReadOnly<Field.Defaulted<Schema.$Array<FileModel>>> =>
  // A list of files is a field of such a list.
  holding(withDefault((): ReadonlyArray<never> => [])(Schema.Array(model())), options) as never

// internal

// Nothing of it is loaded by what has no files.
const declared = () => ({
  id: omitted(Schema.String),
  key: Schema.String,
  name: Schema.String,
  size: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  type: Schema.String,
  sha256: Schema.String,
  at: DateTime
})

type Declared = ReturnType<typeof declared>

type Variants = { readonly [K in keyof Declared]: VariantSchema.Field<Field.ConfigOf<Declared[K]>> }

type Extracted<V extends Variant, IsDefault extends boolean = false> = VariantSchema.ExtractFields<
  V,
  Variants,
  IsDefault
>

let known: FileModel | undefined

/** The model of files is made when a model has some. */
const model = (): FileModel =>
  // A class of the declared fields.
  known ??= makeClass("StoredFile", declared(), undefined, {}) as FileModel

const holding = (
  self: Parameters<typeof readOnly>[0],
  { image = {}, maxPixels = 100_000_000, maxSize, stripMetadata = false, types = [] }: FileOptions = {}
): AnyField => {
  for (const [name, { height, quality = 80, width }] of Object.entries(image)) {
    const isValid = /^[\w-]+$/u.test(name) && (width ?? height) !== undefined && quality >= 1 && quality <= 100 &&
      [width ?? 1, height ?? 1, quality].every((one) => Number.isInteger(one) && one >= 1 && one <= 16_383)
    if (!isValid) {
      throw new DeclarationError(
        `The size "${name}" of a picture needs a name of letters, digits, - and _, a width or a height from 1 to 16,383, and a quality from 1 to 100`
      )
    }
  }
  const rules: FileRules = {
    types,
    maxSize: maxSize === undefined ? undefined : Number(ByteSize.fromInputUnsafe(maxSize)),
    image,
    stripMetadata,
    maxPixels
  }
  return evolve(readOnly(self), {}, { file: rules })
}
