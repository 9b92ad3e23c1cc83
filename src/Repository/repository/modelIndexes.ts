/** The indexes that a model declares, in the store's own form. */
import * as Duration from "effect/Duration"
import { type Direction, type ModelIndex, modelIndexesTypeId } from "../../Model/FieldIndex.ts"
import { managedField, modelTypeId, nestedModel, referencesOf, shardKeyOf } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { IndexDescription } from "../DocumentStore.ts"

/** The indexes of a model, its fields and nested fields; equal names form one compound index. */
export const indexesOf = (model: Model.Any): ReadonlyArray<IndexDescription> => {
  const indexes = new Map<string, IndexDraft>()
  const visit = (current: Model.Any, prefix: string, seen: ReadonlySet<unknown>, mayLack = false): void => {
    for (const [field, schema] of Object.entries(current.store.fields)) {
      const { index, managed, optional } = current[modelTypeId][field] ?? {}
      const path = prefix === "" && managed === "id" ? "_id" : prefix + field
      if (index !== undefined) {
        const name = index.name ?? (index.direction === "text" ? "text" : `${path}_${index.direction}`)
        // A sparse index lets any number of documents lack a unique field.
        const isSparse = index.unique && (mayLack || optional === true)
        const draft = indexes.get(name) ?? { name, key: {}, unique: index.unique, ...isSparse ? { sparse: true } : {} }
        draft.key[path] = index.direction
        if (index.expireAfter !== undefined) draft.expireAfterSeconds = toSecondsRoundedUp(index.expireAfter)
        if (index.weight !== undefined) draft.weights = { ...draft.weights, [path]: index.weight }
        if (index.language !== undefined) draft.defaultLanguage = index.language
        indexes.set(name, draft)
      }
      const inner = nestedModel(schema)
      if (inner !== undefined && !seen.has(inner)) {
        // A field with another schema is optional or nullable, has a default, or is a list, which may be empty.
        visit(inner, `${path}.`, new Set([...seen, inner]), mayLack || optional === true || schema !== inner)
      }
    }
  }
  visit(model, "", new Set([model]))
  const declared = [
    ...indexes.values(),
    ...declaredIndexes(model).map((index) => descriptionOf(index, managedField(model, "id")))
  ]
  const own = [...declared, ...shardIndexes(model, declared)]
  return [...own, ...referenceIndexes(model, own)]
}

// internal

interface IndexDraft {
  readonly name: string
  readonly key: Record<string, Direction>
  readonly unique: boolean
  readonly sparse?: boolean
  expireAfterSeconds?: number
  weights?: { readonly [path: string]: number }
  defaultLanguage?: string
}

/** The index that begins with the shard key and has all documents, which a cluster needs, unless one is declared. */
const shardIndexes = (
  model: Model.Any,
  declared: ReadonlyArray<IndexDescription>
): ReadonlyArray<IndexDescription> => {
  const shardKey = shardKeyOf(model)
  if (shardKey.length === 0) return []
  const isIdentifier = shardKey.length === 1 && shardKey[0]?.[0] === "_id" && shardKey[0][1] === 1
  const isIndexed = declared.some(({ key, partialFilterExpression, sparse }) => {
    const fields = Object.entries(key)
    return partialFilterExpression === undefined && sparse !== true &&
      shardKey.every(([path, kind], i) => fields[i]?.[0] === path && fields[i][1] === kind)
  })
  return isIdentifier || isIndexed
    ? []
    : [{ name: shardKey.flat().join("_"), key: Object.fromEntries(shardKey), unique: false }]
}

/** An index for each reference by which deletions find referring documents, unless a declared index begins with it. */
const referenceIndexes = (
  model: Model.Any,
  declared: ReadonlyArray<IndexDescription>
): ReadonlyArray<IndexDescription> => {
  const paths = referencesOf(model).flatMap(({ onDelete, path }) => onDelete === undefined ? [] : [path.join(".")])
  const isIndexed = (path: string): boolean =>
    declared.some(({ key, partialFilterExpression }) => {
      const [[first, direction] = []] = Object.entries(key)
      return first === path && typeof direction === "number" && partialFilterExpression === undefined
    })
  return [...new Set(paths)].filter((path) => !isIndexed(path)).map((path) => ({
    name: `${path}_1`,
    key: { [path]: 1 },
    unique: false
  }))
}

const declaredIndexes = (model: object): ReadonlyArray<ModelIndex> => {
  const declared: unknown = Reflect.get(model, modelIndexesTypeId)
  // Only the options of a model set this property.
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
    expireAfterSeconds: expireAfter === undefined ? undefined : toSecondsRoundedUp(expireAfter),
    partialFilterExpression: where
  }
}

const toSecondsRoundedUp = (duration: Duration.Input): number => Math.ceil(Duration.toSeconds(duration))
