/** Payloads as bodies, and bodies of answers as values. */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpBody from "effect/http/HttpBody"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Stream from "effect/Stream"
import { isFileHandle, readingOf } from "../../internal/fileHandle.ts"
import { isPlainObject } from "../../internal/objects.ts"
import { fold, isModelLike, type ModelLike, wireFormOf } from "../../Model/internal.ts"
import * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import type { RequestHandlingException } from "../ClientError.ts"
import { unusable } from "./failures.ts"

/** The body of a payload: instances of models, records and lists as JSON, others as they are. */
export const requestBodyOf = (payload: unknown): Effect.Effect<HttpBody.HttpBody, Unsendable> => {
  if (payload === undefined) return Effect.succeed(HttpBody.empty)
  if (typeof payload === "string") return Effect.succeed(HttpBody.raw(payload, { contentType: "text/plain" }))
  if (typeof payload !== "object" || payload === null) return jsonBody(payload)
  if (isInstance(payload) || isPlainObject(payload) || Array.isArray(payload)) return jsonBody(payload)
  if (HttpBody.isHttpBody(payload)) return Effect.succeed(payload)
  if (payload instanceof Uint8Array) return Effect.succeed(HttpBody.uint8Array(payload))
  if (payload instanceof ArrayBuffer) return Effect.succeed(HttpBody.uint8Array(new Uint8Array(payload)))
  if (payload instanceof FormData) return Effect.succeed(HttpBody.formData(payload))
  if (payload instanceof URLSearchParams) {
    return Effect.succeed(HttpBody.raw(payload.toString(), { contentType: "application/x-www-form-urlencoded" }))
  }
  // The only streams that can be sent are those of bytes.
  // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off
  if (Stream.isStream(payload)) return Effect.succeed(HttpBody.stream(payload as Stream.Stream<Uint8Array, unknown>))
  if (isFileHandle(payload)) return Effect.succeed(HttpBody.raw(readingOf(payload), { contentType: octetStream }))
  if (Symbol.asyncIterator in payload) return Effect.succeed(HttpBody.raw(payload, { contentType: octetStream }))
  if (payload instanceof Blob) {
    const contentType = payload.type === "" ? octetStream : payload.type
    return Effect.succeed(HttpBody.raw(payload, { contentType, contentLength: payload.size }))
  }
  // JSON has nothing of objects such as maps.
  return Object.keys(payload).length > 0 || "toJSON" in payload ? jsonBody(payload) : Effect.fail(new Unsendable())
}

/** The headers of a request with those of its body. */
export const withBodyHeaders = (
  headers: { readonly [name: string]: string },
  body: HttpBody.HttpBody
): { readonly [name: string]: string } => {
  if (body._tag === "Empty") return headers
  const { contentLength, contentType } = body
  return {
    ...headers,
    ...(contentType === undefined || "content-type" in headers ? {} : { "content-type": contentType }),
    ...(contentLength === undefined ? {} : { "content-length": String(contentLength) })
  }
}

const octetStream = "application/octet-stream"

/** Occurs when a payload has no JSON form: it refers to itself, or has a `bigint`. */
class Unsendable extends Schema.TaggedError<Unsendable>()("Unsendable", {}) {}

const isInstance = (value: unknown): value is { readonly constructor: ModelLike } =>
  typeof value === "object" && value !== null && isModelLike(value.constructor)

/** Instances are written in their wire form, at any depth. They are valid by construction. */
const jsonBody = (value: unknown) =>
  Effect.flatMap(
    Effect.try({
      try: () =>
        JSON.stringify(value, function(this: object, key: string, shown: unknown) {
          // `shown` is the result of `toJSON`, which omits fields, so the value itself is read from its owner.
          const part: unknown = Reflect.get(this, key)
          return isInstance(part) ? wireFormOf(part) : shown
        }),
      catch: () => new Unsendable()
    }),
    (text) =>
      typeof text === "string"
        ? Effect.succeed(HttpBody.raw(text, { contentType: "application/json" }))
        : Effect.fail(new Unsendable())
  )

/** The models of answers, by their names. */
export type Models = ReadonlyMap<string, Model.Any>

export const modelsByName = (models: ReadonlyArray<Model.Any>): Models =>
  new Map(models.map((model) => [model.modelName, model]))

/**
 * The value of a body: JSON, or `{ result: text }` if it is not.
 *
 * A body is JSON if it parses as JSON and, where its type is another one, is an object or a list: a text of digits is a text.
 */
export const answerValue = (text: string, contentType: string | undefined): unknown => {
  const isDeclared = contentType === undefined || /^[^;]*[/+]json\s*(?:;|$)/iu.test(contentType)
  return isDeclared || /^\s*[[{]/u.test(text)
    ? Result.getOrElse(parsed(text), () => ({ result: text }))
    : { result: text }
}

/** A value with instances of `models` for the documents, and items of collections, whose `_type` names one. */
export const withInstances = (
  value: unknown,
  models: Models,
  upstream: string
): Effect.Effect<unknown, RequestHandlingException> => {
  if (models.size === 0 || !isPlainObject(value)) return Effect.succeed(value)
  const { _items: items, _type: type } = value
  const model = typeof type === "string" ? models.get(type) : undefined
  if (model !== undefined) return instanceOf(model, value, upstream)
  if (!Array.isArray(items)) return Effect.succeed(value)
  return Effect.map(
    Effect.forEach(items, (item) => {
      const model = Predicate.hasProperty(item, "_type") && typeof item._type === "string"
        ? models.get(item._type)
        : undefined
      return model === undefined ? Effect.succeed(item) : instanceOf(model, item, upstream)
    }),
    (_items) => ({ ...value, _items })
  )
}

/** A reader by a model, whose instances it makes also without `_type`, or by any schema, from its JSON form. */
export const reader = (schema: Schema.Constraint) => {
  const read: (value: unknown) => Effect.Effect<unknown, ModelError | Schema.SchemaError> = isModelLike(schema)
    ? (value) => Model.fromWire(schema, withTypes(schema.wire.ast)(value))
    // The type of `as` rules out schemas with services.
    : Schema.decodeUnknownEffect(Schema.toCodecJson(schema as Schema.Codec<unknown>))
  return (value: unknown, upstream: string) => Effect.mapError(read(value), () => unexpected(upstream))
}

// internal

/** Values in which the documents without a `_type` have that of their model. */
const withTypes: (ast: SchemaAST.AST) => (value: unknown) => unknown = fold<(value: unknown) => unknown>({
  Suspend: (inner) => (value) => inner()(value),
  Union: ({ types }) => {
    const [only, ...others] = types.filter((type) => SchemaAST.isObjects(type) || SchemaAST.isArrays(type))
    return only === undefined || others.length > 0 ? identity : withTypes(only)
  },
  Arrays: ({ elements, rest }) => {
    const [first, others = identity] = [elements.map(withTypes), ...rest.map(withTypes)]
    return (value) => Array.isArray(value) ? value.map((item, i) => (first[i] ?? others)(item)) : value
  },
  Objects: ({ propertySignatures }) => {
    const types = propertySignatures.map(({ name, type }) => [name, type, withTypes(type)] as const)
    return (value) => {
      if (!isPlainObject(value)) return value
      const typed: { [key: string]: unknown } = { ...value }
      for (const [name, type, typesIn] of types) {
        if (typeof name !== "string") continue
        if (name in value) typed[name] = typesIn(value[name])
        else if (name === "_type" && SchemaAST.isLiteral(type)) typed[name] = type.literal
      }
      return typed
    }
  },
  otherwise: () => identity
})

const parsed = (text: string) => Result.try((): unknown => JSON.parse(text))

const instanceOf = (model: Model.Any, document: unknown, upstream: string) =>
  Effect.mapError(Model.fromWire(model, document), () => unexpected(upstream, model.modelName))

const unexpected = (upstream: string, model?: string) =>
  unusable(upstream, `answered with a body that is not as expected${model === undefined ? "" : ` of a ${model}`}`)
