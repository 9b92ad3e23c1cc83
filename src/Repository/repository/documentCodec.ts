import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Direction, type ModelIndex, modelIndexesTypeId } from "../../Model/FieldIndex.ts"
import { managedField, modelTypeId, nestedModel, recordDecoder } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { Problem } from "../../Model/ModelError.ts"
import type { Document, IndexDescription } from "../DocumentStore.ts"
import { documentEncoder } from "../query/bsonForm.ts"
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
  const decode = recordDecoder(model)
  return {
    toDocument: documentEncoder(model),
    fromDocument: (document) =>
      Effect.mapErrorEager(
        decode(document),
        (problems) =>
          new DocumentInvalid({
            model: model.modelName,
            id: String(document["_id"]),
            problems: problems.map((problem) => new Problem(problem))
          })
      )
  }
}

/**
 * The indexes that a model asks for: those of its fields, of the fields of nested models, and of the model as a whole.
 *
 * @internal
 */
export const indexesOf = (model: Model.Any): ReadonlyArray<IndexDescription> => {
  const indexes = new Map<string, Draft>()
  const visit = (current: Model.Any, prefix: string, seen: ReadonlySet<unknown>): void => {
    for (const [field, schema] of Object.entries(current.store.fields)) {
      const { index, managed, optional } = current[modelTypeId][field] ?? {}
      const path = prefix === "" && managed === "id" ? "_id" : prefix + field
      if (index !== undefined) {
        const name = index.name ?? (index.direction === "text" ? "text" : `${path}_${index.direction}`)
        // Of what may be missing, any number of documents may miss it.
        const isSparse = index.unique && optional === true
        const known = indexes.get(name) ?? { name, key: {}, unique: index.unique, ...isSparse ? { sparse: true } : {} }
        known.key[path] = index.direction
        if (index.expireAfter !== undefined) known.expireAfterSeconds = wholeSeconds(index.expireAfter)
        if (index.weight !== undefined) known.weights = { ...known.weights, [path]: index.weight }
        if (index.language !== undefined) known.defaultLanguage = index.language
        indexes.set(name, known)
      }
      const inner = nestedModel(schema)
      if (inner !== undefined && !seen.has(inner)) visit(inner, `${path}.`, new Set([...seen, inner]))
    }
  }
  visit(model, "", new Set([model]))
  return [...indexes.values(), ...declaredBy(model).map((index) => descriptionOf(index, managedField(model, "id")))]
}

interface Draft {
  readonly name: string
  readonly key: Record<string, Direction>
  readonly unique: boolean
  readonly sparse?: boolean
  expireAfterSeconds?: number
  weights?: { readonly [path: string]: number }
  defaultLanguage?: string
}

const declaredBy = (model: object): ReadonlyArray<ModelIndex> => {
  const declared: unknown = Reflect.get(model, modelIndexesTypeId)
  // Only a model's options write it.
  return Array.isArray(declared) ? declared as ReadonlyArray<ModelIndex> : []
}

const descriptionOf = ({ key, options }: ModelIndex, idField: string | undefined): IndexDescription => {
  const fields = key.map(([path, direction]) => [path === idField ? "_id" : path, direction] as const)
  const { expireAfter, name, sparse, unique, where } = options
  return {
    name: name ?? fields.flat().join("_"),
    key: Object.fromEntries(fields),
    unique,
    sparse,
    expireAfterSeconds: expireAfter === undefined ? undefined : wholeSeconds(expireAfter),
    partialFilterExpression: where
  }
}

const wholeSeconds = (duration: Duration.Input): number => Math.ceil(Duration.toSeconds(duration))
