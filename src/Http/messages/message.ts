import type { Failure, HttpError } from "../HttpError.ts"
import type { Arguments } from "../Translations.ts"

/**
 * A sentence that can be said in several languages: a key of a catalogue, and its arguments. Those that are labels are
 * asked for in the language.
 *
 * @internal
 */
export interface Said {
  readonly key: string
  readonly args?: Arguments | ((labels: Labels) => Arguments) | undefined
}

/** @internal */
export interface Labels {
  readonly ofModel: (model: string) => string
  readonly ofField: (model: string, field: string) => string
  /** A sentence within another one. */
  readonly of: (failure: Failure) => string
}

/**
 * The error, which can be said in several languages. One that an application makes says what the application says.
 *
 * @internal
 */
export const sayable = <E extends HttpError>(error: E, key: string, args?: Said["args"]): E => {
  texts.set(error, { key, args })
  return error
}

/**
 * How a failure is said; `undefined` for an error that an application made.
 *
 * @internal
 */
export const saidOf = (failure: HttpError | Failure): Said | undefined => {
  switch (failure._tag) {
    case "DocumentNotFound":
      return {
        key: "errors.DocumentNotFound",
        args: ({ ofModel }) => ({ model: ofModel(failure.model), id: failure.id })
      }
    case "DuplicateKey":
      return {
        key: "errors.DuplicateKey",
        args: ({ ofField, ofModel }) => ({
          model: ofModel(failure.collection),
          fields: failure.fields.map((field) => ofField(failure.collection, field === "_id" ? "id" : field)).join(", ")
        })
      }
    case "VersionConflict":
      return {
        key: "errors.VersionConflict",
        args: ({ ofModel }) => ({ model: ofModel(failure.model), id: failure.id, expected: failure.expected })
      }
    case "Unsupported":
      return { key: "errors.Unsupported", args: { feature: failure.feature } }
    case "QueryRejected":
      return failure.advice === undefined ? { key: "errors.QueryRejected" } : undefined
    case "QueryTimeout":
    case "StoreUnavailable":
      return { key: `errors.${failure._tag}` }
    default:
      return texts.get(failure)
  }
}

const texts = new WeakMap<object, Said>()
