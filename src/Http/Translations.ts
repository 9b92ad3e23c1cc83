/**
 * Labels and messages in the language of a request: catalogues of ICU messages in a folder, one JSON file for each
 * language.
 *
 * **Details**
 *
 * A catalogue is an object of texts, flat (`"User.name": "Name"`) or nested (`"User": { "name": "Name" }`). Its keys:
 *
 * - `<Model>.<field>`: the label of a field. It takes no arguments.
 * - `models.<Model>`: what documents of a model are called. It takes no arguments.
 * - `validators.<Type>`: what is wrong, to go behind the label: the type is a validator's (`NotEmpty`, `Min`, …),
 *   `Required`, `Type` (a value of another type), `Parameter` (a parameter of the URL), `Id` or `Url` (an identifier that
 *   is not that of the URL, or that none leads to). Arguments: `{label}`, `{field}` (the path: `lines.0.quantity`),
 *   `{type}` (the field's type in the words of the metadata, but `object` for a model; `unknown` where there is no such
 *   field), and `{value}` (the validator's argument; the choices of an `enum`; the largest `page_size`).
 * - `validators.<Type>@<Model>.<field>`, or `@` and the name of a parameter: the same for one place only.
 * - `errors.Invalid`: the `message` of a 400. Arguments: `{problems}`, `{count}`.
 * - `errors.Problem`: one problem within it, and the `message` of each of its `errors`. Arguments: `{label}`, `{field}`,
 *   `{message}`.
 * - `errors.<Tag>`: the `message` of a `ServiceError`. Arguments: its fields that are texts or numbers.
 * - `errors.DocumentNotFound`, `errors.DuplicateKey`, `errors.Route`, …: what else the engine says; see
 *   `docs/behaviour.md`.
 *
 * What a catalogue lacks is taken from that of its base language (`de-CH` → `de`), if there is one in the folder, then
 * from what comes with the package, which is English and German, and else it is said in English. A field without a label
 * is called by its name: `lent_to` is `Lent to`. Texts of a program's own schemas, which no key stands for, are said as
 * they are. A key that nothing of the service asks for is a warning at the start.
 *
 * The first language is the default: that of a request that names none, or none of these. An engine takes its languages
 * from the configuration, {@link config}, unless a layer gives it others.
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
 * KernelEngine.make("notes").register(Note).layer.pipe(
 *   Layer.provide(Translations.layerWith({ path: "./translations", languages: ["en", "de"] })),
 *   Layer.provide([EmbeddedStore.layer, NodeServices.layer]),
 *   KernelEngine.launch,
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
 * Where the catalogues are, and which there are.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The folder of the files `<language>.json`. A relative one is relative to where the process was started. */
  readonly path: string
  /** Tags of languages (BCP 47: `en`, `de-CH`), the default first. Without any, nothing is translated. */
  readonly languages: ReadonlyArray<string>
}

/**
 * One language, its messages ready for use.
 *
 * @category models
 * @since 0.1.0
 */
export interface Language {
  /** As `Content-Language` says it: `de-CH`. */
  readonly tag: string
  /** The text of a key; `undefined` when there is none, or when its message can't be made of the arguments. */
  readonly text: (key: string, args?: Arguments) => string | undefined
  /** The keys of its own catalogues, each with the file that has it. */
  readonly keys?: ReadonlyMap<string, string> | undefined
}

/**
 * The languages that a service speaks.
 *
 * @category models
 * @since 0.1.0
 */
export interface Translations {
  /** The default is the first. */
  readonly languages: ReadonlyArray<Language>
  /** The best for a value of `Accept-Language`; `undefined` only when there are no languages. */
  readonly languageOf: (acceptLanguage: string | undefined) => Language | undefined
}

/**
 * The translations in force. Unless a layer says otherwise, they are those of the configuration, {@link config}.
 *
 * @category references
 * @since 0.1.0
 */
export const Translations: Context.Reference<Translations> = Context.Reference<Translations>(
  "appkernel/Http/Translations",
  { defaultValue: () => configured }
)

/**
 * Occurs when translations can't be used: a language's tag is none, its file is missing, is no JSON, or has something
 * else than texts; or a message is not ICU's, or has arguments that there are not. A retry fails again.
 *
 * @category errors
 * @since 0.1.0
 */
export class TranslationsInvalid extends Schema.TaggedError<TranslationsInvalid>()("TranslationsInvalid", {
  /** As it was configured. */
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
 * The options as configuration: `appkernel.i18n.languages` and `appkernel.i18n.path`, in the environment
 * `APPKERNEL_I18N_LANGUAGES`, separated by commas, and `APPKERNEL_I18N_PATH`. Without them there are no languages, and
 * the folder is `./translations`.
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
 * {@link make} as a layer, with the options of {@link config}.
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
    // What a language says itself stands over what its base says.
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
    // A formatter of the platform throws at what it can't format.
    const made = Result.try(() => message.format(args))
    return Result.isSuccess(made) && typeof made.success === "string" ? made.success : undefined
  }
})

const entriesIn = (catalogue: { readonly [key: string]: string }): ReadonlyMap<string, Entry> =>
  new Map(Object.entries(catalogue).map(([key, text]) => [key, { text, file: "appkernel" }]))

/** The languages that come with the package. */
const included: ReadonlyMap<string, ReadonlyMap<string, Entry>> = new Map([["en", entriesIn(en)], [
  "de",
  entriesIn(de)
]])

let english: Language | undefined

/**
 * What is said where there are no languages, or where a language says nothing.
 *
 * @internal
 */
export const inEnglish = (): Language => {
  english ??= languageOf("en", Result.getOrElse(compile(entriesIn(en), "en"), (): Messages => new Map()), new Map())
  return english
}

const configured: Translations = { languages: [], languageOf: () => undefined }

/**
 * The translations in force: those of a layer, else those that are configured.
 *
 * @internal
 */
export const current: Effect.Effect<Translations, TranslationsInvalid | Config.ConfigError> = Effect.gen(function*() {
  const given = yield* Translations
  if (given !== configured) return given
  return yield* Effect.provide(make(yield* config), NodeFileSystem.layer)
})

const fileOf = (path: string, tag: string): string => `${path}/${tag}.json`

/** RFC 4647, section 3.4: what a tag begins with, from the longest. */
const basesOf = (tag: string): ReadonlyArray<string> => {
  const end = tag.lastIndexOf("-")
  if (end === -1) return []
  const base = tag.slice(0, end)
  return [base, ...basesOf(base)]
}

/** What the file of a tag has, when there is one. */
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

/** Longer than any browser's preferences; reading one would take longer than the rest of the request. */
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
