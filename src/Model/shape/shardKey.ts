/** The key by which a cluster distributes a model's documents, and the rules of a model that has one. */
import type { ModelIndex, ShardKind } from "../FieldIndex.ts"
import type { FieldAttributes } from "./annotations.ts"
import { die, managedField, type ModelLike } from "./variants.ts"

export const shardKeyTypeId = "~appkernel/Model/shardKey"

/** The fields of a key as they are declared. */
type Declared = { readonly [field: string]: ShardKind | undefined }

/** The fields of the key in stored documents, in order; none if the model has no key. */
export const shardKeyOf = (model: ModelLike): ReadonlyArray<readonly [field: string, kind: ShardKind]> => {
  // Only the options of a model set this property.
  const declared = Reflect.get(model, shardKeyTypeId) as Declared | undefined
  const id = managedField(model, "id")
  return kindsOf(declared ?? {}).map(([field, kind]) => [field === id ? "_id" : field, kind] as const)
}

/** An index, by the paths that it begins with. */
interface IndexPaths {
  readonly name: string
  readonly unique: boolean
  readonly paths: ReadonlyArray<string>
}

/** Dies if an index is unique without the key: shards know only their own documents. Identifiers are exempt. */
export const assertUniqueByShard = (
  model: string,
  shardKey: ReadonlyArray<readonly [path: string, kind: ShardKind]>,
  indexes: Iterable<IndexPaths>
): void => {
  for (const { name, paths, unique } of indexes) {
    if (!unique || paths[0] === "_id" || shardKey.every(([path], i) => paths[i] === path)) continue
    die(
      `${model} can't be unique by its index "${name}" (${
        paths.join(", ")
      }), which does not begin with the shard key (${shardKey.map(([path]) => path).join(", ")})`
    )
  }
}

/** Dies if the key has no fields, a list or two hashes, or a unique index of the model lacks it. */
export const assertShardKey = (model: string, declared: Declared, { attributes, indexes, isList }: {
  readonly attributes: { readonly [field: string]: FieldAttributes }
  readonly indexes: ReadonlyArray<ModelIndex>
  readonly isList: (field: string) => boolean
}): void => {
  const key = kindsOf(declared)
  if (key.length === 0) die(`${model} has a shard key without fields`)
  for (const [field] of key) {
    if (attributes[field] === undefined) die(`${model} has no field "${field}" for its shard key`)
    if (isList(field)) die(`${model}.${field} is a list, which a shard key can't have`)
  }
  if (key.filter(([, kind]) => kind === "hashed").length > 1) die(`${model} has more than one hash in its shard key`)
  const stored = (path: string): string => attributes[path]?.managed === "id" ? "_id" : path
  const byName = new Map<string, { readonly name: string; readonly unique: boolean; readonly paths: Array<string> }>()
  for (const [field, { index }] of Object.entries(attributes)) {
    if (index === undefined) continue
    // Fields with one name form one index, which is as unique as the first of them says.
    const name = index.name ?? `${stored(field)}_${index.direction}`
    const known = byName.get(name)
    if (known === undefined) byName.set(name, { name, unique: index.unique, paths: [stored(field)] })
    else known.paths.push(stored(field))
  }
  const compound = indexes.map(({ key, options }) => ({
    name: options.name ?? key.flat().join("_"),
    unique: options.unique === true,
    paths: key.map(([path]) => stored(path))
  }))
  assertUniqueByShard(model, key.map(([path, kind]) => [stored(path), kind]), [...byName.values(), ...compound])
}

// internal

const kindsOf = (declared: Declared): ReadonlyArray<readonly [field: string, kind: ShardKind]> =>
  Object.entries(declared).flatMap(([field, kind]) => kind === undefined ? [] : [[field, kind] as const])
