/**
 * The errors of the engine with the catalogue keys and arguments by which other languages word them.
 *
 * @since 0.1.0
 */
import type { FieldProblem } from "../../Model/internal.ts"
import { Problem } from "../../Model/ModelError.ts"
import { BadRequest, type Failure, type HttpError, TooManyRequests } from "../HttpError.ts"
import { type CallError, messageIn, secondsOf } from "../UpstreamError.ts"
import { en } from "./catalogues/en.ts"

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
 * A message that can be translated: a key of a catalogue and its arguments. Arguments that are labels are resolved in
 * each language.
 *
 * @internal
 */
export interface TranslatableMessage {
  readonly key: string
  readonly args?: Arguments | ((labels: Labels) => Arguments) | undefined
}

/** @internal */
export interface Labels {
  readonly ofModel: (model: string) => string
  readonly ofField: (model: string, field: string) => string
  /** A message within another one. */
  readonly of: (failure: Failure) => string
  readonly ofProblem: (problem: FieldProblem) => string
  readonly ofKey: (key: Key) => string
}

/** Marks an error or a problem as translatable. Errors of an application keep their own messages. @internal */
export const translatable = <E extends HttpError | FieldProblem>(
  error: E,
  key: string,
  args?: TranslatableMessage["args"]
): E => {
  texts.set(error, { key, args })
  return error
}

/** The key of a message that the package has in English. @internal */
export type Key = keyof typeof en

/** The English message of a key with its arguments, without plural rules. @internal */
export const englishOf = (key: Key, args: Arguments = {}): string =>
  en[key].replaceAll(/\{(\w+)\}/gu, (_, name: string) => String(args[name]))

/** An error of the engine with the message of a key. @internal */
export const errorOf = <E extends HttpError>(
  Class: new(fields: { readonly message: string }) => E,
  key: Key,
  args?: Arguments
): E => translatable(new Class({ message: englishOf(key, args) }), key, args)

/** A bad request without fields. @internal */
export const badRequest = (key: Key, args?: Arguments): BadRequest =>
  translatable(new BadRequest({ message: englishOf(key, args), errors: [] }), key, args)

/** The error for all problems of a request. @internal */
export const badRequestOf = (problems: ReadonlyArray<FieldProblem>): BadRequest => {
  const message = `The request is not valid: ${problems.map(({ field, message }) => `${field} ${message}`).join("; ")}`
  const errors = problems.map((problem) => copyProblem(problem, new Problem(problem)))
  return translatable(new BadRequest({ message, errors }), "errors.Invalid")
}

/** The error of a caller who has to wait. `wait` is in milliseconds. @internal */
export const tooManyRequests = (
  key: "errors.TooManyRequests" | "errors.TooManyAttempts" | "errors.CostlyStreams",
  wait: number
): TooManyRequests => {
  const seconds = Math.max(1, Math.ceil(wait / 1_000))
  return translatable(
    new TooManyRequests({ message: englishOf(key, { retry_after: seconds }), retry_after: seconds }),
    key,
    { retry_after: seconds }
  )
}

/** The application's own message for a bad request. @internal */
export const ownMessageOf = (error: BadRequest): string | undefined =>
  translationOf(error) === undefined ? error.message : undefined

/** A problem with the message of a key. @internal */
export const problemOf = (field: string, validator: string, key: Key, args?: Arguments): FieldProblem =>
  translatable({ field, validator, message: englishOf(key, args) }, key, args)

/** A copy of a problem that keeps its translations. @internal */
export const copyProblem = <P extends FieldProblem>(problem: FieldProblem, copy: P): P => {
  const said = texts.get(problem)
  return said === undefined ? copy : translatable(copy, said.key, said.args)
}

/** The problem with another field. @internal */
export const at = (field: string, problem: FieldProblem): FieldProblem => copyProblem(problem, { ...problem, field })

/** The translatable message of a problem; `undefined` if its validator defines the message. @internal */
export const translationOfProblem = (problem: FieldProblem): TranslatableMessage | undefined => texts.get(problem)

/** The translatable message of a failure; `undefined` for an error that an application made. @internal */
export const translationOf = (failure: HttpError | Failure): TranslatableMessage | undefined => {
  switch (failure._tag) {
    case "DocumentNotFound":
      return {
        key: "errors.DocumentNotFound",
        args: ({ ofModel }) => ({ model: ofModel(failure.model), id: failure.id })
      }
    case "DuplicateKey":
      return failure.fields.length === 0
        ? { key: "errors.DuplicateValue", args: ({ ofModel }) => ({ model: ofModel(failure.collection) }) }
        : {
          key: "errors.DuplicateKey",
          args: ({ ofField, ofModel }) => ({
            model: ofModel(failure.collection),
            fields: failure.fields.map((field) => ofField(failure.collection, field === "_id" ? "id" : field)).join(
              ", "
            )
          })
        }
    case "VersionConflict":
      return {
        key: "errors.VersionConflict",
        args: ({ ofModel }) => ({ model: ofModel(failure.model), id: failure.id, expected: failure.expected })
      }
    case "DocumentReferenced":
      return {
        key: "errors.DocumentReferenced",
        args: ({ ofField, ofModel }) => ({
          model: ofModel(failure.model),
          id: failure.id,
          by: ofModel(failure.by),
          field: ofField(failure.by, failure.field)
        })
      }
    case "AccessDenied":
      return { key: "errors.Denied" }
    case "Unsupported":
      return { key: "errors.Unsupported", args: { feature: failure.feature } }
    case "QueryRejected":
      return failure.advice === undefined ? { key: "errors.QueryRejected" } : undefined
    case "QueryTimeout":
    case "StoreUnavailable":
    case "DataDamaged":
      return { key: `errors.${failure._tag}` }
    case "RequestHandlingException":
    case "CircuitOpenError":
      return translationOfCall(failure)
    default:
      return texts.get(failure)
  }
}

/** The message for a failed call to another service; `undefined` if that service has one for callers. @internal */
export const translationOfCall = (failure: CallError, isDeclared = false): TranslatableMessage | undefined => {
  const service = failure.upstreamService
  if (failure._tag === "CircuitOpenError") {
    return { key: "errors.UpstreamUnavailable", args: { service, retry_after: secondsOf(failure.retryAfter) } }
  }
  if (messageIn(failure, isDeclared) !== undefined) return undefined
  return {
    key: answered.has(failure.reason._tag) ? "errors.UpstreamFailed" : "errors.UpstreamSilent",
    args: { service }
  }
}

/** The reasons of calls that were answered. */
const answered: ReadonlySet<string> = new Set([
  "Status",
  "InvalidAnswer",
  "TooManyRedirects",
  "NotRepeatable",
  "InvalidRequest"
])

const texts = new WeakMap<object, TranslatableMessage>()
