/**
 * The types of the languages of a service, and the error of translations that can't be used.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The folder of the catalogues, and the languages.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The folder of the files `<language>.json`. A relative path is resolved against the working directory. */
  readonly path: string
  /** The language tags (BCP 47: `en`, `de-CH`), the default first. Without any, nothing is translated. */
  readonly languages: ReadonlyArray<string>
}

/**
 * The arguments of a message, by name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Arguments {
  readonly [name: string]: string | number | Date | undefined
}

/**
 * A language with its compiled messages.
 *
 * @category models
 * @since 0.1.0
 */
export interface Language {
  /** The tag for `Content-Language`: `de-CH`. */
  readonly tag: string
  /** The text of a key; `undefined` if there is none, or if its message can't be formatted with the arguments. */
  readonly text: (key: string, args?: Arguments) => string | undefined
  /** The keys of its own catalogues, each with its file. */
  readonly keys?: ReadonlyMap<string, string> | undefined
  /** What differs when a catalogue does. @internal */
  readonly digest?: number | undefined
}

/**
 * The languages of a service.
 *
 * @category models
 * @since 0.1.0
 */
export interface Languages {
  /** The first language is the default. */
  readonly languages: ReadonlyArray<Language>
  /** The best match for an `Accept-Language` header; `undefined` only if there are no languages. */
  readonly languageOf: (acceptLanguage: string | undefined) => Language | undefined
}

/**
 * Occurs when translations can't be used: a language tag is invalid, its file is missing, is no valid JSON or contains
 * values other than texts, or a message is no valid ICU message or uses unknown arguments. A retry fails again.
 *
 * @category errors
 * @since 0.1.0
 */
export class TranslationsInvalid extends Schema.TaggedError<TranslationsInvalid>()("TranslationsInvalid", {
  /** The configured tag. */
  language: Schema.String,
  file: Schema.optionalKey(Schema.String),
  key: Schema.optionalKey(Schema.String),
  detail: Schema.String
}) {
  override get message(): string {
    const { detail, file, key, language } = this
    const place = [file, key].filter((part) => part !== undefined).join(", ")
    return `Can't translate to "${language}": ${place === "" ? "" : `${place}: `}${detail}`
  }
}
