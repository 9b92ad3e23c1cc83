/** The annotations of schemas that other modules read, the sentences of bounds, and the attributes of a field beside its type. */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Converter } from "../Converter.ts"
import type { Index } from "../FieldIndex.ts"

/** Marks the encoded side of a date or a date-time. @internal */
export const temporalKind = "appkernel/temporal"

/** The annotation of a check that holds the validator's name and argument for error reports. @internal */
export const validatorAnnotation = "appkernel/validator"

/** Marks the validator that requires a non-empty value. */
export const notEmptyTypeId = "~appkernel/Validator/notEmpty"

/** The annotation of a struct's check that holds the field which the check reports on. @internal */
export const relatedAnnotation = "appkernel/related"

/** Marks the checks that test whether a value can be stored. @internal */
export const storableAnnotation = "appkernel/storable"

/**
 * The annotation that links a model's class and variants to the model. It holds a function, since the class is
 * annotated before it exists.
 *
 * @internal
 */
export const modelAnnotation = "appkernel/model"

/** The name and the argument that a validator is reported with. */
export interface ValidatorEntry {
  readonly type: string
  readonly value?: unknown
}

/** The sentence about a bound: of a number, or of how many there are of a noun. */
export const boundMessage = (kind: "least" | "most", bound: unknown, noun?: string): string =>
  noun === undefined
    ? `must be at ${kind} ${String(bound)}`
    : `must have at ${kind} ${String(bound)} ${noun}${bound === 1 ? "" : "s"}`

/**
 * Describes what `expand` embeds in the documents of a model, with the schemas of a document and of a list. References have it, so that
 * only programs with references load it.
 */
export type Embed = (
  model: AnyModel,
  document: (model: AnyModel) => Schema.Codec<unknown>,
  collection: (item: Schema.Codec<unknown>) => Schema.Struct<Schema.Struct.Fields>
) => Schema.Codec<unknown>

interface AnyModel {
  readonly modelName: string
}

/** A reference of another model, seen from the documents that it leads to. */
export interface BackReference {
  /** Its class may not exist yet while this one is declared. */
  readonly model: () => { readonly modelName: string }
  /** The path of the reference: `patient`, `lines.product`. */
  readonly field: string
  readonly embed: Embed
}

/** What a file may be. */
export interface FileRules {
  /** The media types that the bytes may have; all if there are none. */
  readonly types: ReadonlyArray<string>
  /** The maximum number of bytes; `undefined` for that of the configuration. */
  readonly maxSize: number | undefined
  /** The sizes in which pictures are made, by their names. */
  readonly image: { readonly [size: string]: PictureSize }
  /** Whether pictures are kept without what their cameras have written into them. */
  readonly stripMetadata: boolean
  /** The maximum number of pixels of a picture that is decoded. */
  readonly maxPixels: number
}

/**
 * A size of pictures: they become as large as it says, and never larger than they are.
 *
 * @category models
 * @since 0.1.0
 */
export interface PictureSize {
  /** In pixels. Defaults to what the height makes of it. */
  readonly width?: number | undefined
  /** In pixels. Defaults to what the width makes of it. */
  readonly height?: number | undefined
  /**
   * What a picture of another shape than the width and the height becomes: `cover` cuts its edges, `contain` leaves some of the
   * width or the height. Defaults to `cover`.
   */
  readonly fit?: "contain" | "cover" | undefined
  /** Defaults to `webp`. */
  readonly format?: "avif" | "jpeg" | "png" | "webp" | undefined
  /** From 1 to 100. Defaults to 80. */
  readonly quality?: number | undefined
}

/** The attributes of a field beside its type. */
export interface FieldAttributes {
  /** Supplies the value when the input has none. */
  readonly generator?: Effect.Effect<unknown> | undefined
  /** The value when the input has none and there is no generator. */
  readonly default?: (() => unknown) | undefined
  /** The value as which a stored document without the field is read. */
  readonly absent?: (() => unknown) | undefined
  /** Converts a given value before validation. */
  readonly converter?: Converter<unknown> | undefined
  /** The schema of a value before conversion. */
  readonly unconverted?: Schema.Top | undefined
  /** The field may be missing, and `null` means missing. */
  readonly optional?: boolean | undefined
  /** The field has its own stored form and its own wire form. */
  readonly marshalled?: boolean | undefined
  /** The field is excluded from every output. */
  readonly omitted?: boolean | undefined
  /** The server sets the field: callers read it and can't send it. */
  readonly readOnly?: boolean | undefined
  readonly index?: Index | undefined
  /** What a file may be, if the field holds files. */
  readonly file?: FileRules | undefined
  /** What the documents of another model refer to these by. Documents have no such field. */
  readonly referencedBy?: BackReference | undefined
  /**
   * The purpose for which the framework itself keeps the field up to date: the identifier, the version, the audit
   * fields, the deletion time, the revision number.
   */
  readonly managed?:
    | "id"
    | "version"
    | "inserted"
    | "updated"
    | "created_by"
    | "updated_by"
    | "deleted"
    | "revision"
    | undefined
}

/** The property of a model that says how its changes are recorded. @internal */
export const loggedTypeId = "~appkernel/Model/logged"
