import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { FieldProblem } from "../../Model/internal/issues.ts"
import type { FieldMetadata, Metadata, TypeMetadata } from "../../Model/Metadata.ts"
import type { Language, Translations } from "../Translations.ts"
import * as answers from "./answers.ts"
import type { Place, PlaceOf } from "./translationPlaces.ts"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse>

/**
 * Answers 400, in the language of the request where there are languages. The message is that of the error, when there
 * is one.
 *
 * @internal
 */
export type Refuse = (problems: ReadonlyArray<FieldProblem>, message?: string) => Answer

/** @internal */
export const refusal = (translations: Translations, placeOf: PlaceOf): Refuse => {
  return translations.languages.length === 0
    ? (problems, message) => Effect.succeed(inEnglish(problems, message))
    : (problems, message) =>
      withLanguage(translations, (language) => {
        if (language === undefined) return inEnglish(problems, message)
        const translated = problems.map((problem) => translate(language, placeOf(problem.field), problem))
        const sentence = language.text("errors.Invalid", {
          problems: translated.map(({ sentence }) => sentence).join("; "),
          count: problems.length
        })
        return answers.badRequest(sentence ?? message ?? answers.sentence(translated), translated, headersOf(language))
      })
}

const inEnglish = (problems: ReadonlyArray<FieldProblem>, message = answers.sentence(problems)) =>
  answers.badRequest(message, problems)

/**
 * Answers the metadata, its labels in the language of the request. The texts of all languages are made here, once.
 *
 * @internal
 */
export const described = (translations: Translations, metadata: Metadata): Answer => {
  const untranslated = answers.json(JSON.stringify(metadata))
  if (translations.languages.length === 0) return Effect.succeed(untranslated)
  const texts = new Map(
    translations.languages.map((language) => [
      language,
      answers.json(JSON.stringify(labelled(metadata, language)), 200, headersOf(language))
    ])
  )
  return withLanguage(
    translations,
    (language) => language === undefined ? untranslated : texts.get(language) ?? untranslated
  )
}

const withLanguage = (
  translations: Translations,
  answer: (language: Language | undefined) => HttpServerResponse.HttpServerResponse
): Answer =>
  Effect.withFiber((fiber) => {
    const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return Effect.succeed(answer(translations.languageOf(headers["accept-language"])))
  })

const headersOf = ({ tag }: Language) => ({ "content-language": tag, "vary": "Accept-Language" })

interface Translated extends FieldProblem {
  readonly sentence: string
}

const translate = (language: Language, place: Place, problem: FieldProblem): Translated => {
  const { field, validator } = problem
  const label = place.label === undefined ? undefined : language.text(place.label)
  const named = { field, label: label ?? field }
  const message = messageOf(language, place, problem, named)
  const sentence = field === ""
    ? message
    : language.text("errors.Problem", { ...named, message }) ?? `${field} ${message}`
  return { field, validator, message, sentence }
}

const messageOf = (
  { text }: Language,
  place: Place,
  { field, message, mismatch, validator }: FieldProblem,
  named: { readonly field: string; readonly label: string }
): string => {
  // What a program's own schema says of a value is in its own words only.
  if (validator === "Type" && mismatch !== true) return message
  const key = `validators.${validator}`
  const args = { ...named, type: place.type, value: argument(place.argumentOf(validator, message)) }
  return (place.label === undefined ? undefined : text(`${key}@${place.label}`, args)) ??
    text(`${key}@${field}`, args) ??
    text(key, args) ??
    message
}

const argument = (value: unknown): string | number | undefined =>
  value === undefined || typeof value === "string" || typeof value === "number" ? value : Formatter.format(value)

const labelled = (metadata: Metadata, language: Language): Metadata =>
  Object.fromEntries(
    Object.entries(metadata).map(([name, field]): [string, FieldMetadata] => [name, {
      ...field,
      ...nested(field, language),
      label: language.text(field.label) ?? field.label,
      ...(typeof field.sub_type === "object"
        ? { sub_type: { ...field.sub_type, ...nested(field.sub_type, language) } }
        : {})
    }])
  )

const nested = ({ props }: Pick<TypeMetadata, "props">, language: Language) =>
  props === undefined ? {} : { props: labelled(props, language) }
