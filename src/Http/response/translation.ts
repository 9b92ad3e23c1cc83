import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { type FieldProblem, typeInMessage } from "../../Model/introspection.ts"
import type { FieldMetadata, Metadata, TypeMetadata } from "../../Model/Metadata.ts"
import { type Failure, fromFailure, type HttpError, statusOf } from "../HttpError.ts"
import { labelFrom } from "../messages/label.ts"
import { type Labels, type Said, saidOf, saidOfProblem } from "../messages/message.ts"
import { type Instance, textOf } from "../ServiceError.ts"
import { type Arguments, inEnglish, type Language, type Translations } from "../Translations.ts"
import * as answers from "./json.ts"
import type { Place, PlaceOf } from "./translationPlaces.ts"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse>

type Headers = { readonly [name: string]: string }

/**
 * The 400 response in the request's language. Its message is `message` if the application provides one, otherwise it
 * lists all problems.
 *
 * @internal
 */
export type Refuse = (problems: ReadonlyArray<FieldProblem>, message?: string) => Answer

/** @internal */
export const refusal = (translations: Translations, placeOf: PlaceOf): Refuse => {
  const sentences = sentencesAt(placeOf)
  return (problems, message) =>
    withLanguage(translations, (language, headers) => {
      const said = problems.map((problem) => sentences(language, problem))
      return answers.badRequest(
        message ?? say(language, {
          key: "errors.Invalid",
          args: { problems: said.map(({ message }) => message).join("; "), count: problems.length }
        }),
        said,
        headers
      )
    })
}

/**
 * Answers what is no matter of fields, in the language of the request.
 *
 * @internal
 */
export interface Tell {
  /** An error of the engine, or one that an application made, which says what it says. */
  readonly failure: (failure: HttpError | Failure) => Answer
  /** An error that an application declared: by the key of its name, with its fields. */
  readonly serviceError: (error: Instance, status: number) => Answer
  /** 405 (RFC 9110, section 15.5.6). */
  readonly notAllowed: (method: string, path: string, allowed: ReadonlyArray<string>) => Answer
  /** A sentence with a status. */
  readonly sentence: (status: number, said: Said, headers?: Headers) => Answer
}

/** @internal */
export const telling = (translations: Translations): Tell => {
  const sentence: Tell["sentence"] = (status, said, own) =>
    withLanguage(
      translations,
      (language, headers) =>
        answers.errorMessage(status, say(language, said), own === undefined ? headers : { ...headers, ...own })
    )
  return {
    sentence,
    notAllowed: (method, path, allowed) =>
      sentence(405, { key: "errors.MethodNotAllowed", args: { method, path } }, { allow: allowed.join(", ") }),
    failure: (failure) =>
      withLanguage(translations, (language, headers) => {
        const error = isHttpError(failure) ? failure : fromFailure(failure)
        const said = saidOf(failure)
        const message = said === undefined ? error.message : say(language, said)
        return error._tag === "BadRequest"
          ? answers.badRequest(message, error.errors, headers)
          : answers.errorMessage(statusOf[error._tag], message, headers)
      }),
    serviceError: (error, status) =>
      Effect.flatMap(
        withLanguage(translations, (language, headers) => ({ language, headers })),
        ({ headers, language }) =>
          Effect.map(
            textOf(error, language.text(`errors.${error._tag}`, fieldsOf(error)) ?? error.message),
            (text) => answers.json(text, status, headers)
          )
      )
  }
}

const isHttpError = (error: HttpError | Failure): error is HttpError => Object.hasOwn(statusOf, error._tag)

/** What a message can show of an error. */
const fieldsOf = (error: Instance): Arguments =>
  Object.fromEntries(
    Object.entries(error).filter(([, value]) => typeof value === "string" || typeof value === "number")
  )

/** In the language, else in English. */
const say = (language: Language, { args, key }: Said): string => {
  const made = typeof args === "function" ? args(labelsIn(language)) : args
  return language.text(key, made) ?? inEnglish().text(key, made) ?? key
}

const labelsIn = (language: Language): Labels => ({
  ofModel: (model) => language.text(`models.${model}`) ?? labelFrom(model),
  ofField: (model, field) => language.text(`${model}.${field}`) ?? labelFrom(field),
  of: (failure) => {
    const said = saidOf(failure)
    return said === undefined ? failure.message : say(language, said)
  },
  ofProblem: (problem) => {
    const said = saidOfProblem(problem)
    return said === undefined ? problem.message : say(language, said)
  },
  ofKey: (key) => say(language, { key })
})

/**
 * The response of a model's metadata, with labels in the request's language. The texts of all languages are built once,
 * here.
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
  return withLanguage(translations, (language) => texts.get(language) ?? untranslated)
}

/** Without configured languages all is said in English, and no header says so. */
const withLanguage = <A>(translations: Translations, use: (language: Language, headers: Headers | undefined) => A) =>
  Effect.withFiber<A>((fiber) => {
    const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const language = translations.languageOf(headers["accept-language"])
    return Effect.succeed(
      language === undefined ? use(inEnglish(), undefined) : use(language, headersOf(language))
    )
  })

const headersOf = ({ tag }: Language) => ({ "content-language": tag, "vary": "Accept-Language" })

/**
 * Caches the sentences of problems, since clients repeat their mistakes. Fields and messages may contain a client's own
 * text, so only short ones are cached, and a full cache is cleared.
 */
const sentencesAt = (placeOf: PlaceOf) => {
  const cache = new Map<string, FieldProblem>()
  return (language: Language, problem: FieldProblem): FieldProblem => {
    const { field, message, validator } = problem
    if (field.length + message.length > maxCachedLength) return sentenceOf(language, placeOf(field), problem)
    const key = `${language.tag} ${field.length} ${field} ${validator} ${message}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const made = sentenceOf(language, placeOf(field), problem)
    if (cache.size === maxCached) cache.clear()
    cache.set(key, made)
    return made
  }
}

const maxCached = 500

const maxCachedLength = 200

/** The problem as a sentence: the label of the field, and what is expected. */
const sentenceOf = (language: Language, place: Place, problem: FieldProblem): FieldProblem => {
  const { field, validator } = problem
  const label = labelOf(language, place)
  const message = messageOf(language, place, problem, label)
  const sentence = validator === "More"
    ? `${message.charAt(0).toUpperCase()}${message.slice(1)}`
    : field === ""
    ? say(language, { key: validator === "Parameter" ? "errors.Nameless" : "errors.Body", args: { message } })
    : say(language, { key: "errors.Problem", args: { field, label, message } })
  return { field, validator, message: sentence }
}

const labelOf = (language: Language, place: Place): string => {
  const { name, position } = place
  const label = (place.label === undefined ? undefined : language.text(place.label)) ?? name
  if (position === undefined) return label
  return say(
    language,
    label === ""
      ? { key: "errors.Position", args: { position } }
      : { key: "errors.Item", args: { label, position } }
  )
}

const messageOf = (language: Language, place: Place, problem: FieldProblem, label: string): string => {
  const { text } = language
  const { field, message, validator } = problem
  const detail = saidOfProblem(problem)
  const said = validator === "Type"
    ? typeInMessage(message) ?? (place.type === "enum" ? "enum" : undefined)
    : place.type
  // What a program's own schema says of a value is in its own words only.
  if (said === undefined && detail === undefined) return message
  const key = `validators.${validator}`
  const args = { field, label, type: said ?? place.type, value: argument(place.argumentOf(validator, message)) }
  return (place.label === undefined ? undefined : text(`${key}@${place.label}`, args)) ??
    text(`${key}@${field}`, args) ??
    (detail === undefined ? text(key, args) : say(language, detail)) ??
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
