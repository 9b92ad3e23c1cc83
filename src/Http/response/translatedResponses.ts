/** Writes errors and metadata in the language and format that a request asks for. */
import { getOrMake } from "@appkernel/document-store/internal"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import { memoize } from "effect/Function"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { type Label, type Text, worded } from "../../internal/text.ts"
import { textOfKey } from "../../internal/texts.ts"
import {
  choicesOf,
  elementOf,
  type FieldProblem,
  kindOf,
  limitProblems,
  type ModelLike,
  modelOf,
  typeInMessage,
  unwrapped
} from "../../Model/internal.ts"
import type { FieldMetadata, Metadata, TypeMetadata } from "../../Model/Metadata.ts"
import { partFields } from "../description/operationEndpoint.ts"
import type { Part } from "../description/operationOptions.ts"
import { type Failure, fromFailure, type HttpError, isHttpError, statusOf, type Tag } from "../HttpError.ts"
import type { ErrorOptions } from "../KernelConfig.ts"
import { labelFrom } from "../messages/label.ts"
import { inEnglish } from "../messages/languages.ts"
import { textIn } from "../messages/message.ts"
import type { Call } from "../registration/registration.ts"
import { type Instance, textOf } from "../ServiceError.ts"
import type { Arguments, Language, Translations } from "../Translations.ts"
import { requiredHeadersOf } from "../UpstreamError.ts"
import { type FieldResolver, type ProblemField, unknownField } from "./fieldResolver.ts"
import * as responses from "./json.ts"
import { ErrorFormat, inErrorFormat, problemText, varyOf, wantsProblem } from "./problemDetails.ts"

type TranslatedResponse = Effect.Effect<HttpServerResponse.HttpServerResponse>

type Headers = { readonly [name: string]: string }

/** The request headers that select the language and the format of an error. */
interface Accepting {
  readonly "accept"?: string | undefined
  readonly "accept-language"?: string | undefined
}

/** The 400 in the request's language, with a message of its own or a list of all problems. */
export type BadRequestResponder = (problems: ReadonlyArray<FieldProblem>, message?: Text | string) => TranslatedResponse

export const makeBadRequest = (
  translations: Translations,
  resolveField: FieldResolver = unknownField,
  /** The member `error` of all of them. */
  code?: string
): BadRequestResponder => {
  const sentences = sentencesFor(resolveField)
  return (all, message) =>
    inFormat(translations, (language, headers) => {
      const problems = limitProblems(all)
      const translated = problems.map((problem) => sentences(language, problem))
      const text = message ?? {
        key: "errors.Invalid",
        args: { problems: translated.map(({ message }) => message), count: problems.length }
      }
      return responses.badRequest(
        typeof text === "string" ? text : format(language, text),
        translated,
        headers,
        code === undefined ? undefined : { error: code }
      )
    })
}

/** Responses to errors without fields, in the request's language. */
export interface ErrorResponses {
  /** The response to an error of the engine, with an application's own message if it has one. */
  readonly failure: (failure: HttpError | Failure) => TranslatedResponse
  /** The response to a declared error of the application. Its name is the key of its message; its fields are arguments. */
  readonly serviceError: (error: Instance, status: number) => TranslatedResponse
  /** 405 (RFC 9110, section 15.5.6). */
  readonly notAllowed: (method: string, path: string, allowed: ReadonlyArray<string>) => TranslatedResponse
  /** The response to a request that has no fiber yet, by its headers. */
  readonly early: (
    tag: Tag,
    text: Text,
    options: ErrorOptions
  ) => (headers: Accepting) => { readonly status: number; readonly text: string; readonly headers: Headers }
  /** The response to an error of the engine that is not made: it costs a stack. */
  readonly sentence: (tag: Tag, text: Text, headers?: Headers) => TranslatedResponse
}

export const makeErrorResponses = (translations: Translations): ErrorResponses => {
  const sentence: ErrorResponses["sentence"] = (tag, text, own) =>
    inFormat(
      translations,
      (language, headers) =>
        responses.errorMessage(
          statusOf[tag],
          format(language, text),
          own === undefined ? headers : { ...headers, ...own }
        )
    )
  return {
    sentence,
    early: (tag, text, options) => {
      const status = statusOf[tag]
      const made = new Map<string, { readonly status: number; readonly text: string; readonly headers: Headers }>()
      return ({ "accept-language": accepted, accept }) => {
        const language = translations.languageOf(accepted)
        const isProblem = wantsProblem(accept, options)
        const key = `${isProblem} ${language?.tag}`
        return getOrMake(made, key, () => {
          const message = responses.errorText(status, format(language ?? inEnglish(), text))
          const body = isProblem ? problemText(message, status, options) : message
          const headers = {
            "content-type": isProblem ? "application/problem+json" : "application/json",
            "content-length": String(Buffer.byteLength(body)),
            ...language === undefined ? {} : headersOf(language),
            ...varyOf(language === undefined ? undefined : headersOf(language).vary, options)
          }
          return { status, text: body, headers }
        })
      }
    },
    notAllowed: (method, path, allowed) =>
      sentence("MethodNotAllowed", textOfKey("errors.MethodNotAllowed", { method, path }), {
        allow: allowed.join(", ")
      }),
    failure: (failure) =>
      inFormat(translations, (language, headers) => {
        const error = isHttpError(failure) ? failure : fromFailure(failure)
        const text = error === failure ? textIn(error) : error.text
        const message = text === undefined ? error.message : format(language, text)
        switch (error._tag) {
          case "BadRequest":
            return responses.badRequest(message, error.errors, headers)
          case "TooManyRequests":
            return responses.tooManyRequests(message, error.retry_after, headers)
          case "UpstreamError":
            return responses.upstreamError(message, error, { ...headers, ...requiredHeadersOf(error) })
          default:
            return responses.errorMessage(statusOf[error._tag], message, headers)
        }
      }),
    serviceError: (error, status) =>
      Effect.flatMap(
        withLanguage(translations, (language, headers) => ({ language, headers })),
        ({ headers, language }) =>
          Effect.map(
            textOf(error, language.text(`errors.${error._tag}`, fieldsOf(error)) ?? error.message),
            (text) => responses.json(text, status, headers)
          ).pipe(Effect.flatMap(formatted))
      )
  }
}

/** The fields of an error that a message may show. */
const fieldsOf = (error: Instance): Arguments =>
  Object.fromEntries(
    Object.entries(error)
      .map(([name, value]) => [name, DateTime.isDateTime(value) ? DateTime.toDateUtc(value) : value])
      .filter(([, value]) => typeof value === "string" || typeof value === "number" || value instanceof Date)
  )

/** The message in the language, otherwise in English. */
const format = (language: Language, { args = {}, key }: Text): string => {
  const words = {
    text: (text: Text) => format(language, text),
    label: ({ field, model }: Label) =>
      language.text(field === undefined ? `models.${model}` : `${model}.${field}`) ?? labelFrom(field ?? model)
  }
  const made = Record.map(args, (argument) => worded(argument, words))
  return language.text(key, made) ?? inEnglish().text(key, made) ?? key
}

/**
 * The response of a model's metadata with labels in the request's language, also of its documents and actions where a catalogue has
 * some, and with the members of `more`. It is built once for each language.
 */
export const metadataResponse = (
  translations: Translations,
  metadata: Metadata,
  { calls, model: { modelName } }: { readonly model: ModelLike; readonly calls: ReadonlyArray<LabelledCall> },
  more?: object
): TranslatedResponse => {
  const untranslated = responses.json(JSON.stringify({ ...more, ...metadata }))
  const translated = memoize((language: Language) =>
    responses.json(
      JSON.stringify({
        ...modelLabels(modelName, language),
        ...callLabels(calls, language),
        ...more,
        ...labelled(metadata, language)
      }),
      200,
      headersOf(language)
    )
  )
  return withLanguage(
    translations,
    (language, headers) => headers === undefined ? untranslated : translated(language)
  )
}

/** What people call operations and their arguments in the language of a request; `undefined` without configured languages. */
export const operationLabels = (
  { languageOf }: Translations,
  accepted: string | undefined
): OperationLabels | undefined => {
  const language = languageOf(accepted)
  return language && {
    tag: language.tag,
    version: language.digest,
    headers: headersOf(language),
    of: (calls) => callLabels(calls, language)._actions ?? {},
    ofService: (name) => language.text(`services.${name}`)
  }
}

/** The labels of operations in a language. */
export interface OperationLabels {
  readonly tag: string
  /** Another one once the catalogues have been read again with other texts. */
  readonly version: number | undefined
  readonly headers: Headers
  readonly of: (calls: ReadonlyArray<LabelledCall>) => { readonly [name: string]: object }
  /** What people call a service, by the name of its registration. */
  readonly ofService: (name: string) => string | undefined
}

/** An action or an operation, by whose names a catalogue has its label and those of its arguments. */
export interface LabelledCall {
  readonly name: string
  /** `users.change_password`. */
  readonly key: string
  /** The arguments, with the members of enumerations. */
  readonly arguments: ReadonlyArray<{ readonly name: string; readonly values: ReadonlyArray<unknown> }>
  /** The model of its payload, which may have the labels. */
  readonly model: string | undefined
}

/** A call of a registration, by the parts of what it is given. */
export const labelledCall = (
  registration: string,
  { name, options: { params, payload, query } }: Call,
  isShown: (field: string, part: Part | undefined) => boolean = () => true
): LabelledCall => ({
  name,
  key: `${registration}.${name}`,
  arguments: [params, query, payload].flatMap((part) =>
    Object.entries(partFields(part)).filter(([one]) => isShown(one, part)).map(([one, schema]) => ({
      name: one,
      // Every struct field is a schema.
      values: membersOf(schema as Schema.Top)
    }))
  ),
  model: Schema.isSchema(payload) ? modelOf(payload.ast)?.modelName : undefined
})

/** The members of an enumeration, or of one whose values are in a list. */
const membersOf = (schema: Schema.Top): ReadonlyArray<unknown> => {
  const { ast } = unwrapped(elementOf(schema) ?? schema)
  return kindOf(ast) === "enum" ? choicesOf(ast) : []
}

/** The response in the format that the request or the configuration asks for. */
const inFormat = (
  translations: Translations,
  use: (language: Language, headers: Headers | undefined) => HttpServerResponse.HttpServerResponse
): TranslatedResponse => Effect.flatMap(withLanguage(translations, use), formatted)

const formatted = (response: HttpServerResponse.HttpServerResponse): TranslatedResponse =>
  Effect.withFiber((fiber) => {
    const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const options = fiber.getRef(ErrorFormat)
    return Effect.succeed(inErrorFormat(response, headers["accept"], options))
  })

/** Without configured languages, messages are English and the response has no `Content-Language`. */
const withLanguage = <A>(translations: Translations, use: (language: Language, headers: Headers | undefined) => A) =>
  Effect.withFiber<A>((fiber) => {
    const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const language = translations.languageOf(headers["accept-language"])
    return Effect.succeed(
      language === undefined ? use(inEnglish(), undefined) : use(language, headersOf(language))
    )
  })

const headersOf = ({ tag }: Language) => ({ "content-language": tag, "vary": "Accept-Language" })

/** Caches sentences of problems, since clients repeat mistakes; only short ones, which may contain their texts. */
const sentencesFor = (resolveField: FieldResolver) => {
  const cacheOf = memoize<Language, BoundedCache<FieldProblem>>(() => new BoundedCache(maxCached))
  return (language: Language, problem: FieldProblem): FieldProblem => {
    const { field, message, validator } = problem
    const sentence = () => sentenceOf(language, resolveField(field), problem)
    if (field.length + message.length > maxCachedLength) return sentence()
    return cacheOf(language).getOrMake(`${field.length} ${field} ${validator} ${message}`, sentence)
  }
}

const maxCached = 500

const maxCachedLength = 200

/** The sentence of a problem: the field's label and the expectation. */
const sentenceOf = (language: Language, problemField: ProblemField, problem: FieldProblem): FieldProblem => {
  const { field, validator } = problem
  const label = labelOf(language, problemField)
  const message = messageOf(language, problemField, problem, label)
  const sentence = validator === "More"
    ? `${message.charAt(0).toUpperCase()}${message.slice(1)}`
    : field === ""
    ? format(language, { key: validator === "Parameter" ? "errors.Nameless" : "errors.Body", args: { message } })
    : format(language, { key: "errors.Problem", args: { field, label, message } })
  return { field, validator, message: sentence }
}

const labelOf = (language: Language, problemField: ProblemField): string => {
  const { name, position } = problemField
  const label = (problemField.label === undefined ? undefined : language.text(problemField.label)) ?? name
  if (position === undefined) return label
  return format(
    language,
    label === ""
      ? { key: "errors.Position", args: { position } }
      : { key: "errors.Item", args: { label, position } }
  )
}

const messageOf = (language: Language, problemField: ProblemField, problem: FieldProblem, label: string): string => {
  const { text } = language
  const { field, message, text: detail, validator } = problem
  const type = validator === "Type"
    ? typeInMessage(message) ?? (problemField.type === "enum" ? "enum" : undefined)
    : problemField.type
  if (type === undefined && detail === undefined) {
    // A custom schema's message has no translation.
    const { args, name } = problemField.checkOf?.(message) ?? {}
    return (name === undefined
      ? undefined
      : text(`validators.${name}`, { field, label, type: problemField.type, ...args })) ?? message
  }
  const key = `validators.${validator}`
  const value = argument(problemField.argumentOf(validator, message))
  // A text that needs a value which is unknown here is none.
  const args = { field, label, type: type ?? problemField.type, ...value === undefined ? {} : { value } }
  return (problemField.label === undefined ? undefined : text(`${key}@${problemField.label}`, args)) ??
    text(`${key}@${field}`, args) ??
    (detail === undefined ? text(key, args) : format(language, detail)) ??
    message
}

const argument = (value: unknown): string | number | undefined =>
  value === undefined || typeof value === "string" || typeof value === "number" ? value : Formatter.format(value)

/** What people call the documents of a model, one and many. */
const modelLabels = (modelName: string, language: Language) => {
  const [label, plural] = ["models", "collections"].map((key) => language.text(`${key}.${modelName}`))
  return label === undefined && plural === undefined ? {} : { _model: { label, plural } }
}

/** What people call actions, their arguments and the members of enumerations, as far as a catalogue says it. */
const callLabels = (
  calls: ReadonlyArray<LabelledCall>,
  language: Language
): { readonly _actions?: { readonly [name: string]: object } } => {
  const labels = calls.flatMap(({ arguments: given, key, model, name }) => {
    const label = language.text(`actions.${key}`)
    // The model of the payload may have what the call has not.
    const inCatalogue = (prefix: string, path: string) =>
      language.text(`${prefix}${key}.${path}`) ??
        (model === undefined ? undefined : language.text(`${prefix}${model}.${path}`))
    const args = given.flatMap((argument) => {
      const text = inCatalogue("", argument.name)
      return text === undefined ? [] : [[argument.name, text] as const]
    })
    const members = given.flatMap((argument) => {
      const texts = argument.values.flatMap((value) => {
        const text = inCatalogue("values.", `${argument.name}.${String(value)}`)
        return text === undefined ? [] : [[String(value), text] as const]
      })
      return texts.length === 0 ? [] : [[argument.name, Object.fromEntries(texts)] as const]
    })
    return label === undefined && args.length === 0 && members.length === 0 ? [] : [
      [name, {
        label,
        arguments: Object.fromEntries(args),
        ...members.length === 0 ? {} : { values: Object.fromEntries(members) }
      }] as const
    ]
  })
  return labels.length === 0 ? {} : { _actions: Object.fromEntries(labels) }
}

const labelled = (metadata: Metadata, language: Language): Metadata =>
  Record.map(metadata, (field): FieldMetadata => ({
    ...field,
    ...inner(field, field.label, language),
    label: language.text(field.label) ?? field.label,
    help: language.text(`help.${field.label}`),
    ...(typeof field.sub_type === "object"
      ? { sub_type: { ...field.sub_type, ...inner(field.sub_type, field.label, language) } }
      : {})
  }))

/** The labels of what is in a field or an element: the fields of a model, the members of an enumeration. */
const inner = (
  { props, values = [] }: Pick<TypeMetadata, "props" | "values">,
  field: string,
  language: Language
): Pick<TypeMetadata, "props" | "value_labels"> => {
  const labels = values.flatMap((value) => {
    const label = language.text(`values.${field}.${value}`)
    return label === undefined ? [] : [[String(value), label] as const]
  })
  return {
    ...props === undefined ? {} : { props: labelled(props, language) },
    ...labels.length === 0 ? {} : { value_labels: Object.fromEntries(labels) }
  }
}
