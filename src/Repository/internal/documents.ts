import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { temporalKind } from "../../Model/internal/annotations.ts"
import { isNullValue } from "../../Model/internal/finaliser.ts"
import { problemsOf } from "../../Model/internal/issues.ts"
import { elementOf, isModelLike, modelTypeId, nestedModel, unwrapped } from "../../Model/internal/variants.ts"
import type * as Model from "../../Model/Model.ts"
import { Problem } from "../../Model/ModelError.ts"
import type { Document, IndexDescription } from "../DocumentStore.ts"
import { DocumentInvalid } from "../RepositoryError.ts"

/**
 * Between instances and stored documents, whose identifier is named `_id`.
 *
 * @internal
 */
export interface DocumentCodec<A> {
  readonly toDocument: (instance: A) => Document
  readonly fromDocument: (document: Document) => Effect.Effect<A, DocumentInvalid>
}

/** @internal */
export const documentCodec = <M extends Model.Any>(model: M): DocumentCodec<M["Type"]> => {
  // Fields are plain codecs: no field combinator lets a schema with services through unnoticed to here.
  const codec = model as unknown as Schema.Codec<M["Type"], Document>
  SchemaJITCompiler.enable(codec.ast)
  // Validators are for what comes in: a moment that was in the future when it was stored is none later.
  const decode = SchemaParser.decodeUnknownExit(codec, { disableChecks: true })
  const decodeAll = SchemaParser.decodeUnknownExit(codec, { disableChecks: true, errors: "all" })
  return {
    toDocument: documentEncoder(model),
    fromDocument: (document) => {
      const { _id, ...fields } = document
      const input = _id === undefined ? fields : { id: _id, ...fields }
      const exit = decode(input)
      if (exit._tag === "Success") return Effect.succeed(exit.value)
      // Compiled code stops at the first problem; only a document that has one is decoded the long way.
      const all = decodeAll(input)
      const issue = Cause.findErrorOption(all._tag === "Failure" ? all.cause : exit.cause)
      return issue._tag === "None"
        ? Effect.die(exit.cause)
        : Effect.fail(
          new DocumentInvalid({
            model: model.modelName,
            id: String(_id),
            problems: problemsOf(issue.value).map((problem) => new Problem(problem))
          })
        )
    }
  }
}

/**
 * The way of a model's instances, or of what has the same fields, into the store.
 *
 * @internal
 */
export const documentEncoder = (model: Model.Any): (instance: unknown) => Document => encoder(model, "_id")

type Encode = (value: unknown) => unknown

/**
 * Instances are valid by construction, so they are not validated again on their way into the store. What was completed
 * has the same fields, and `null` where an instance has nothing.
 */
const encoder = (model: Model.Any, idKey: string): (instance: unknown) => Document => {
  const fields = Object.entries(model.store.fields).map(([key, field]) => {
    // A field of a struct is a schema.
    const schema = field as Schema.Top
    const attributes = model[modelTypeId][key] ?? {}
    return {
      key,
      storedKey: attributes.managed === "id" ? idKey : key,
      nullIsValue: isNullValue(schema, attributes),
      encode: encoderOf(unwrapped(schema))
    }
  })
  return (instance) => {
    const document: { [key: string]: unknown } = {}
    for (let i = 0; i < fields.length; i++) {
      const { encode, key, nullIsValue, storedKey } = fields[i]!
      // An instance has its fields as own properties.
      const value = (instance as Document)[key]
      if (value === undefined || value === null && !nullIsValue) continue
      document[storedKey] = value === null || encode === undefined ? value : encode(value)
    }
    return document
  }
}

/** `undefined` where the value of a field is what is stored. */
const encoderOf = (schema: Schema.Top): Encode | undefined => {
  if (isModelLike(schema)) {
    const model = schema
    let encode: ((instance: unknown) => Document) | undefined
    return (value) => (encode ??= encoder(model, "id"))(value)
  }
  if (!isTransformed(schema.ast)) return undefined
  const element = elementOf(schema)
  const encodeElement = element === undefined ? undefined : encoderOf(unwrapped(element))
  if (encodeElement !== undefined) {
    return (value) => Array.isArray(value) ? value.map((item) => encodeElement(item)) : value
  }
  if (SchemaAST.toEncoded(schema.ast).annotations?.[temporalKind] === "datetime") {
    return (value) => DateTime.isDateTime(value) ? DateTime.toDateUtc(value) : value
  }
  // Fields are plain codecs.
  const codec = schema as unknown as Schema.Codec<unknown>
  SchemaJITCompiler.enable(SchemaAST.flip(codec.ast))
  return SchemaParser.encodeUnknownSync(codec)
}

/** Whether the stored form of a schema's values is another than the values themselves. */
const isTransformed = (ast: SchemaAST.AST): boolean => {
  if (ast.encoding !== undefined) return true
  switch (ast._tag) {
    case "Arrays":
      return [...ast.elements, ...ast.rest].some(isTransformed)
    case "Objects":
      return ast.propertySignatures.some(({ type }) => isTransformed(type)) ||
        ast.indexSignatures.some(({ type }) => isTransformed(type))
    case "Union":
      return ast.types.some(isTransformed)
    case "Declaration":
      return ast.typeParameters.length > 0
    case "Suspend":
      return true
    default:
      return false
  }
}

/**
 * The indexes that the fields of a model ask for, those of nested models included.
 *
 * @internal
 */
export const indexesOf = (model: Model.Any): ReadonlyArray<IndexDescription> => {
  const indexes = new Map<string, { name: string; key: Record<string, 1 | -1>; unique: boolean; sparse?: boolean }>()
  const visit = (current: Model.Any, prefix: string, seen: ReadonlySet<unknown>): void => {
    for (const [field, schema] of Object.entries(current.store.fields)) {
      const path = prefix + field
      const index = current[modelTypeId][field]?.index
      if (index !== undefined) {
        const name = index.name ?? `${path}_${index.direction}`
        // Of what may be missing, any number of documents may miss it.
        const isSparse = index.unique && current[modelTypeId][field]?.optional === true
        const known = indexes.get(name) ??
          { name, key: {}, unique: index.unique, ...(isSparse ? { sparse: true } : {}) }
        known.key[path] = index.direction
        indexes.set(name, known)
      }
      const inner = nestedModel(schema)
      if (inner !== undefined && !seen.has(inner)) visit(inner, `${path}.`, new Set([...seen, inner]))
    }
  }
  visit(model, "", new Set([model]))
  return [...indexes.values()]
}
