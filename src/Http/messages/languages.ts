/** Reads catalogues, and chooses the language of a request. This module loads the formatter of ICU messages. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Hash from "effect/Hash"
import * as Result from "effect/Result"
import Negotiator from "negotiator"
import { de } from "../../internal/catalogues/de.ts"
import { en } from "../../internal/catalogues/en.ts"
import { compile, type Entry, type Fault, type Messages, packaged, parseCatalogue } from "./catalogue.ts"
import { type Language, type Languages, type Options, TranslationsInvalid } from "./languageTypes.ts"

/** Reads the catalogues and compiles their messages. */
export const load: (
  options: Options
) => Effect.Effect<Languages, TranslationsInvalid, FileSystem.FileSystem> = Effect.fnUntraced(
  function*({ languages, path }: Options) {
    const tags = new Set<string>()
    for (const language of languages) {
      const name = language.trim()
      if (name !== "") tags.add(yield* canonical(name))
    }
    return negotiated(yield* Effect.forEach(tags, (tag) => languageFrom(path, tag)))
  }
)

let english: Language | undefined

/** The messages without languages, and those that a language lacks. */
export const inEnglish = (): Language => {
  english ??= languageOf(
    "en",
    Result.getOrElse(compile(entriesIn(en), "en"), (): Messages => () => undefined),
    new Map()
  )
  return english
}

// internal

const canonical = (language: string): Effect.Effect<string, TranslationsInvalid> =>
  Effect.try({
    try: () => new Intl.Locale(language).toString(),
    catch: () =>
      new TranslationsInvalid({ language, detail: "it is no tag of a language, such as en or de-CH (BCP 47)" })
  })

const languageFrom = Effect.fnUntraced(function*(path: string, tag: string) {
  const own = yield* entriesOf(path, tag, tag)
  const tags = [tag, ...basesOf(tag)]
  if (own === undefined && !tags.some((one) => catalogues.has(one))) {
    return yield* new TranslationsInvalid({ language: tag, file: fileOf(path, tag), detail: "there is no such file" })
  }
  let entries: ReadonlyMap<string, Entry> = own ?? new Map()
  for (const base of basesOf(tag)) {
    // A language's own keys take precedence over those of its base language.
    entries = new Map([...(yield* entriesOf(path, base, tag)) ?? [], ...entries])
  }
  const keys = new Map([...entries].map(([key, { file }]) => [key, file]))
  const included = tags.flatMap((one) => [...catalogues.get(one) ?? []])
  const messages = yield* orFail(tag, compile(new Map([...included, ...entries]), tag))
  return { ...languageOf(tag, messages, keys), digest: Hash.string(JSON.stringify([...entries])) }
})

const languageOf = (
  tag: string,
  messages: Messages,
  keys: ReadonlyMap<string, string>
): Language => ({
  tag,
  keys,
  text: (key, args) => {
    const message = messages(key)
    if (message === undefined) return undefined
    // A platform's formatter throws for values that it can't format.
    const made = Result.try(() => message.formatToParts(args).map(({ value }) => shown(value)).join(""))
    return Result.isSuccess(made) ? made.success : undefined
  }
})

/** A date whose form the message does not say is a text of ISO 8601. */
const shown = (value: unknown): string => value instanceof Date ? value.toISOString() : String(value)

const entriesIn = (catalogue: { readonly [key: string]: string }): ReadonlyMap<string, Entry> =>
  new Map(Object.entries(catalogue).map(([key, text]) => [key, { text, file: packaged }]))

/** The package's own catalogues. */
const catalogues: ReadonlyMap<string, ReadonlyMap<string, Entry>> = new Map([["en", entriesIn(en)], [
  "de",
  entriesIn(de)
]])

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
    Effect.flatMap((text) => orFail(language, parseCatalogue(text, file))),
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

const negotiated = (languages: ReadonlyArray<Language>): Languages => {
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
