/**
 * Labels and messages in the language of a request, from catalogues of ICU messages: a folder with one JSON file for
 * each language.
 *
 * **Details**
 *
 * A catalogue is an object of texts, flat (`"User.name": "Name"`) or nested (`"User": { "name": "Name" }`). Its keys:
 *
 * - `<Model>.<field>`: the label of a field. It takes no arguments.
 * - `models.<Model>`: the name of a model's documents. It takes no arguments.
 * - `validators.<Type>`: the message to follow the label. The type is a validator's (`NotEmpty`, `Min`, …), `Required`,
 *   `Type` (a value of the wrong type), `Parameter` (a parameter of the URL), `Id` or `Url` (an identifier that differs
 *   from that in the URL, or that no URL can address). Arguments: `{label}`, `{field}` (the path: `lines.0.quantity`),
 *   `{type}` (the field's type by the metadata's names, `object` for a model, `unknown` for an unknown field), and
 *   `{value}` (the validator's argument; the choices of an `enum`; the largest `page_size`).
 * - `validators.<Type>@<Model>.<field>`, or `@` and the name of a parameter: the same for one field only.
 * - `errors.Invalid`: the `message` of a 400. Arguments: `{problems}`, `{count}`.
 * - `errors.Problem`: one of these problems, and the `message` of each of the `errors`. Arguments: `{label}`,
 *   `{field}`, `{message}`.
 * - `errors.<Tag>`: the `message` of a `ServiceError`. Arguments: its fields that are texts or numbers.
 * - `errors.DocumentNotFound`, `errors.DuplicateKey`, `errors.Route`, …: the other messages of the engine; see
 *   `docs/behaviour.md`.
 *
 * A missing key is looked up in the catalogue of the base language (`de-CH` → `de`), if the folder has one, then in the
 * package's own catalogues, which are English and German, and finally in English. A field without a label is named
 * after the field: `lent_to` becomes `Lent to`. Messages of custom schemas without a key are not translated. An unused
 * key causes a warning at the start.
 *
 * The first language is the default, for requests without a preference or without a supported one. An engine takes its
 * languages from the configuration, {@link config}, unless a layer provides others.
 *
 * **Example** (Two languages)
 *
 * ```ts check
 * import { NodeRuntime, NodeServices } from "@effect/platform-node"
 * import { EmbeddedStore, KernelEngine, Model, Translations } from "appkernel"
 * import { Layer, Schema } from "effect"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const engine = KernelEngine.make("notes").register(Note)
 *
 * engine.layer.pipe(
 *   Layer.provide(Translations.layerWith({ path: "./translations", languages: ["en", "de"] })),
 *   Layer.provide([EmbeddedStore.layer, NodeServices.layer]),
 *   engine.launch,
 *   NodeRuntime.runMain
 * )
 * ```
 *
 * @since 0.1.0
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import Negotiator from "negotiator"
import { compile, type Entry, type Fault, type Messages, parse } from "./messages/catalogue.ts"
import { de } from "./messages/catalogues/de.ts"
import { en } from "./messages/catalogues/en.ts"
import type { Arguments } from "./messages/message.ts"

export type { Arguments } from "./messages/message.ts"

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
}

/**
 * The languages of a service.
 *
 * @category models
 * @since 0.1.0
 */
export interface Translations {
  /** The first language is the default. */
  readonly languages: ReadonlyArray<Language>
  /** The best match for an `Accept-Language` header; `undefined` only if there are no languages. */
  readonly languageOf: (acceptLanguage: string | undefined) => Language | undefined
}

/**
 * The current translations. Unless a layer provides others, they are those of the configuration, {@link config}.
 *
 * @category references
 * @since 0.1.0
 */
export const Translations: Context.Reference<Translations> = Context.Reference<Translations>(
  "appkernel/Http/Translations",
  { defaultValue: () => configured }
)

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

/**
 * The options from the configuration: `appkernel.i18n.languages` and `appkernel.i18n.path`, or
 * `APPKERNEL_I18N_LANGUAGES`, separated by commas, and `APPKERNEL_I18N_PATH` in the environment. Without them there are
 * no languages, and the folder is `./translations`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const config: Config.Config<Options> = Config.all({
  path: Config.String("PATH").pipe(Config.withDefault("./translations")),
  languages: Config.Array(Schema.String, "LANGUAGES").pipe(Config.withDefault([]))
}).pipe(Config.nested("I18N"), Config.nested("APPKERNEL"))

/**
 * Reads the catalogues and compiles their messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options: Options
) => Effect.Effect<Translations, TranslationsInvalid, FileSystem.FileSystem> = Effect.fnUntraced(
  function*({ languages, path }: Options) {
    const tags = new Set<string>()
    for (const language of languages) {
      const name = language.trim()
      if (name !== "") tags.add(yield* canonical(name))
    }
    return negotiated(yield* Effect.forEach(tags, (tag) => languageFrom(path, tag)))
  }
)

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<never, TranslationsInvalid, FileSystem.FileSystem> =>
  Layer.effect(Translations, make(options))

/**
 * {@link make} as a layer with the options of {@link config}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, TranslationsInvalid | Config.ConfigError, FileSystem.FileSystem> = Layer.effect(
  Translations,
  Effect.gen(function*() {
    return yield* make(yield* config)
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const canonical = (language: string): Effect.Effect<string, TranslationsInvalid> =>
  Effect.try({
    try: () => new Intl.Locale(language).toString(),
    catch: () =>
      new TranslationsInvalid({ language, detail: "it is no tag of a language, such as en or de-CH (BCP 47)" })
  })

const languageFrom = Effect.fnUntraced(function*(path: string, tag: string) {
  const own = yield* entriesOf(path, tag, tag)
  const tags = [tag, ...basesOf(tag)]
  if (own === undefined && !tags.some((one) => included.has(one))) {
    return yield* new TranslationsInvalid({ language: tag, file: fileOf(path, tag), detail: "there is no such file" })
  }
  let entries: ReadonlyMap<string, Entry> = own ?? new Map()
  for (const base of basesOf(tag)) {
    // A language's own keys take precedence over those of its base language.
    entries = new Map([...(yield* entriesOf(path, base, tag)) ?? [], ...entries])
  }
  const keys = new Map([...entries].map(([key, { file }]) => [key, file]))
  const packaged = tags.flatMap((one) => [...included.get(one) ?? []])
  return languageOf(tag, yield* orFail(tag, compile(new Map([...packaged, ...entries]), tag)), keys)
})

const languageOf = (
  tag: string,
  messages: Messages,
  keys: ReadonlyMap<string, string>
): Language => ({
  tag,
  keys,
  text: (key, args) => {
    const message = messages.get(key)
    if (message === undefined) return undefined
    // A platform's formatter throws for values that it can't format.
    const made = Result.try(() => message.format(args))
    return Result.isSuccess(made) && typeof made.success === "string" ? made.success : undefined
  }
})

const entriesIn = (catalogue: { readonly [key: string]: string }): ReadonlyMap<string, Entry> =>
  new Map(Object.entries(catalogue).map(([key, text]) => [key, { text, file: "appkernel" }]))

/** The package's own catalogues. */
const included: ReadonlyMap<string, ReadonlyMap<string, Entry>> = new Map([["en", entriesIn(en)], [
  "de",
  entriesIn(de)
]])

let english: Language | undefined

/**
 * The messages without languages, and those that a language lacks.
 *
 * @internal
 */
export const inEnglish = (): Language => {
  english ??= languageOf("en", Result.getOrElse(compile(entriesIn(en), "en"), (): Messages => new Map()), new Map())
  return english
}

const configured: Translations = { languages: [], languageOf: () => undefined }

/**
 * The current translations: those of a layer, otherwise the configured ones.
 *
 * @internal
 */
export const current: Effect.Effect<Translations, TranslationsInvalid | Config.ConfigError> = Effect.gen(function*() {
  const given = yield* Translations
  if (given !== configured) return given
  return yield* Effect.provide(make(yield* config), NodeFileSystem.layer)
})

const fileOf = (path: string, tag: string): string => `${path}/${tag}.json`

/** RFC 4647, section 3.4: the prefixes of a tag, the longest first. */
const basesOf = (tag: string): ReadonlyArray<string> => {
  const end = tag.lastIndexOf("-")
  if (end === -1) return []
  const base = tag.slice(0, end)
  return [base, ...basesOf(base)]
}

/** The entries of a tag's file, if it exists. */
const entriesOf = (
  path: string,
  tag: string,
  language: string
): Effect.Effect<ReadonlyMap<string, Entry> | undefined, TranslationsInvalid, FileSystem.FileSystem> => {
  const file = fileOf(path, tag)
  return Effect.flatMap(FileSystem.FileSystem, (files) => files.readFileString(file)).pipe(
    Effect.flatMap((text) => orFail(language, parse(text, file))),
    Effect.catchTag("PlatformError", ({ reason }) =>
      reason._tag === "NotFound"
        ? Effect.undefined
        : Effect.fail(new TranslationsInvalid({ language, file, detail: `it can't be read: ${reason.message}` })))
  )
}

const orFail = <A>(language: string, result: Result.Result<A, Fault>): Effect.Effect<A, TranslationsInvalid> =>
  Result.isSuccess(result)
    ? Effect.succeed(result.success)
    : Effect.fail(new TranslationsInvalid({ language, ...result.failure }))

/** Longer than any browser's preferences. Parsing a longer header would dominate the request. */
const longestPreferences = 1_000

const negotiated = (languages: ReadonlyArray<Language>): Translations => {
  const byTag = new Map(languages.map((language) => [language.tag, language]))
  const tags = [...byTag.keys()]
  return {
    languages,
    languageOf: (acceptLanguage) => {
      const byDefault = languages[0]
      if (acceptLanguage === undefined || acceptLanguage.length > longestPreferences) return byDefault
      const tag = new Negotiator({ headers: { "accept-language": acceptLanguage } }).language(tags)
      return tag === undefined ? byDefault : byTag.get(tag)
    }
  }
}
