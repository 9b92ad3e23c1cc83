/**
 * Labels and messages in the language of a request, from catalogues of ICU messages: a folder with one JSON file for
 * each language.
 *
 * **Details**
 *
 * A catalogue is an object of texts, flat (`"User.name": "Name"`) or nested (`"User": { "name": "Name" }`). Its keys:
 *
 * - `<Model>.<field>`: the label of a field. It takes no arguments.
 * - `models.<Model>`, `collections.<Model>`: what one and what many of a model's documents are called. They take no arguments.
 * - `help.<Model>.<field>`: what a field is for, and `values.<Model>.<field>.<value>`: what a member of its enumeration is called.
 *   They take no arguments.
 * - `validators.<Type>`: the message to follow the label. The type is a validator's (`NotEmpty`, `Min`, …), `Required`,
 *   `Type` (a value of the wrong type), `Parameter` (a parameter of the URL), `Id` or `Url` (an identifier that differs
 *   from that in the URL, or that no URL can address). Arguments: `{label}`, `{field}` (the path: `lines.0.quantity`),
 *   `{type}` (the field's type by the metadata's names, `object` for a model, `unknown` for an unknown field), and
 *   `{value}` (the validator's argument; the choices of an `enum`; the largest `page_size`).
 * - `validators.<Type>@<Model>.<field>`, or `@` and the name of a parameter: the same for one field only.
 * - `errors.Invalid`: the `message` of a 400. Arguments: `{problems}`, `{count}`.
 * - `errors.Problem`: one of these problems, and the `message` of each of the `errors`. Arguments: `{label}`,
 *   `{field}`, `{message}`.
 * - `errors.<Tag>`: the `message` of a `ServiceError`. Arguments: its fields that are texts, numbers or dates.
 *   `{on}` shows a date by ISO 8601, `{on, date, long}` in the form of the language.
 * - `errors.DocumentNotFound`, `errors.DuplicateKey`, `errors.Route`, …: the other messages of the engine; see
 *   `docs/guides/translations.md`.
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
 * import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
 * import * as NodeServices from "@effect/platform-node/NodeServices"
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
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { section } from "../internal/configurationKeys.ts"
import { onReload } from "../internal/reload.ts"
import type { Languages, Options, TranslationsInvalid } from "./messages/languageTypes.ts"

export {
  type Arguments,
  type Language,
  type Options,
  /**
   * Occurs when translations can't be used: a language tag is invalid, its file is missing, is no valid JSON or contains
   * values other than texts, or a message is no valid ICU message or uses unknown arguments. A retry fails again.
   *
   * @category errors
   * @since 0.1.0
   */
  TranslationsInvalid
} from "./messages/languageTypes.ts"

/**
 * The languages of a service.
 *
 * @category models
 * @since 0.1.0
 */
export interface Translations extends Languages {}

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
 * The options from the configuration: `appkernel.i18n.languages` and `appkernel.i18n.path`, or
 * `APPKERNEL_I18N_LANGUAGES`, separated by commas, and `APPKERNEL_I18N_PATH` in the environment. Without them there are
 * no languages, and the folder is `./translations`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const config: Config.Config<Options> = section("i18n")

/**
 * Reads the catalogues and compiles their messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<Translations, TranslationsInvalid, FileSystem.FileSystem> =>
  // The formatter of ICU messages is loaded by programs that use it, and by no others.
  Effect.flatMap(Effect.promise(() => import("./messages/languages.ts")), ({ load }) => load(options))

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<never, TranslationsInvalid, FileSystem.FileSystem> =>
  Layer.effect(Translations, reloadable(Effect.succeed(options)))

/**
 * {@link make} as a layer with the options of {@link config}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, TranslationsInvalid | Config.ConfigError, FileSystem.FileSystem> = Layer.effect(
  Translations,
  reloadable(config)
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Says that the languages are those of the configuration. @internal */
export const configured: Translations = { languages: [], languageOf: () => undefined }

/**
 * {@link make} with options that are looked up again, and catalogues that are read again, with the configuration.
 *
 * @internal
 */
export function reloadable<E extends { readonly message: string }>(
  options: Effect.Effect<Options, E>
): Effect.Effect<Translations, TranslationsInvalid | E, FileSystem.FileSystem> {
  return Effect.gen(function*() {
    let current = yield* make(yield* options)
    yield* onReload(
      ["i18n.languages", "i18n.path"],
      Effect.gen(function*() {
        const next = yield* make(yield* options)
        return {
          changed: digestOf(next) === digestOf(current)
            ? undefined
            : { translations: { from: tagsOf(current), to: tagsOf(next) } },
          apply: Effect.sync(() => {
            current = next
          })
        }
      })
    )
    const translations: Translations = {
      get languages() {
        return current.languages
      },
      languageOf: (acceptLanguage) => current.languageOf(acceptLanguage)
    }
    return translations
  })
}

const tagsOf = ({ languages }: Translations): string => languages.map(({ tag }) => tag).join(", ") || "none"

const digestOf = ({ languages }: Translations): string =>
  languages.map(({ digest, tag }) => `${tag} ${digest ?? 0}`).join(", ")
