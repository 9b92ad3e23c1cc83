/** Resolves the paths of fields in the documents of a model. */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { managedField, type ModelLike, modelOf } from "../../Model/internal.ts"
import { type FieldCodec, fieldCodecsOf } from "./fieldCodec.ts"

/** The position of a field in the documents of a model. */
export interface FieldPath {
  /** The name of the model of the document. */
  readonly model: string
  /** The path in the store, where the identifier is `_id`. */
  readonly path: string
  /** The path in the model, without list indexes. */
  readonly name: string
  readonly codec: FieldCodec
  /** The path of the innermost list of models on the path. */
  readonly list: string | undefined
  /** Whether a value on the path, including the last one, may be missing. */
  readonly mayBeMissing: boolean
}

/** The position of a model's fields in a document. */
interface Base {
  readonly model: ModelLike
  /** The name of the model of the document. */
  readonly root: string
  /** The prefix of every path. Empty, or ends with a dot. */
  readonly prefix: string
  readonly name: string
  /** Whether the model is the model of the document, not a nested one. */
  readonly isRoot: boolean
  /** Whether errors must not contain values. */
  readonly hidesValues: boolean
  readonly list: string | undefined
  readonly mayBeMissing: boolean
}

export const rootBase = (model: ModelLike): Base => ({ ...elementBaseOf(model), isRoot: true })

/** The fields of a list's element, for a condition on elements. */
export const elementBaseOf = (model: ModelLike): Base => ({
  model,
  root: model.modelName,
  prefix: "",
  name: "",
  isRoot: false,
  hidesValues: false,
  list: undefined,
  mayBeMissing: false
})

/** The fields of a nested model or, of a list of models, of its elements. */
const baseWithin = (
  { codec, list, mayBeMissing, model: root, name, path }: FieldPath,
  model: ModelLike
): Base => ({
  model,
  root,
  prefix: `${path}.`,
  name: `${name}.`,
  isRoot: false,
  hidesValues: codec.attributes.omitted === true,
  list: codec.isList ? path : list,
  mayBeMissing
})

const fieldAt = (base: Base, key: string): FieldPath | undefined => {
  const codec = fieldCodecsOf(base.model, base.hidesValues).get(key)
  if (codec === undefined) return undefined
  const { attributes } = codec
  const isId = base.isRoot && attributes.managed === "id"
  return {
    model: base.root,
    path: isId ? "_id" : base.prefix + key,
    name: base.name + key,
    codec,
    list: base.list,
    mayBeMissing: base.mayBeMissing || attributes.optional === true || attributes.absent !== undefined ||
      codec.nullIsValue
  }
}

/** Resolves a dotted name to a field. The identifier may be named as in the model (`id`) or as in the store (`_id`). */
export const fieldNamed = (model: ModelLike, name: string): FieldPath | undefined => {
  let base: Base = rootBase(model)
  let field: FieldPath | undefined
  for (const key of name.split(".")) {
    if (field !== undefined) {
      if (field.codec.model === undefined) return undefined
      base = baseWithin(field, field.codec.model)
    }
    field = fieldAt(base, base.isRoot && key === "_id" ? managedField(model, "id") ?? key : key)
    if (field === undefined) return undefined
  }
  return field
}

/**
 * The schema of the value that a path to a part of a field leads to, such as one of a struct or of the first element of a list.
 * `several` if it leads to several values; `undefined` if it leads nowhere.
 */
export const valueWithin = (
  { store }: ModelLike,
  [name = "", ...names]: ReadonlyArray<string>
): SchemaAST.AST | "several" | undefined => {
  const field = store.fields[name]
  return Schema.isSchema(field) ? valueAt(field.ast, names) : undefined
}

const valueAt = (ast: SchemaAST.AST, names: ReadonlyArray<string>): ReturnType<typeof valueWithin> => {
  if (ast._tag === "Suspend") return valueAt(ast.thunk(), names)
  const model = modelOf(ast)
  const [key, ...rest] = names
  if (key === undefined) {
    const hasParts = model !== undefined ||
      ast.encoding === undefined && (ast._tag === "Objects" || ast._tag === "Arrays")
    return hasParts ? "several" : ast
  }
  if (model !== undefined) return valueWithin(model, names)
  if (ast.encoding !== undefined) return undefined
  switch (ast._tag) {
    case "Union": {
      const [only, ...others] = ast.types.filter(({ _tag }) => _tag !== "Null")
      return only === undefined || others.length > 0 ? undefined : valueAt(only, names)
    }
    case "Arrays": {
      const element = /^\d{1,9}$/u.test(key) ? ast.elements[Number(key)] ?? ast.rest[0] : undefined
      return element === undefined ? "several" : valueAt(element, rest)
    }
    case "Objects": {
      const part = ast.propertySignatures.find(({ name }) => name === key) ?? ast.indexSignatures[0]
      return part === undefined ? undefined : valueAt(part.type, rest)
    }
    default:
      return undefined
  }
}

/**
 * An object with the operators that `make` returns for each field of a model, made on first access. Where `nests` allows
 * it, the operators of a field with a nested model have the nested fields as further properties. An operator takes
 * precedence over a nested field of the same name.
 */
export const operatorsOfField = (
  base: Base,
  make: (field: FieldPath) => object,
  nests: (codec: FieldCodec) => boolean,
  target: object = Object.create(null)
): object => {
  for (const key of Object.keys(base.model.store.fields)) {
    if (Object.hasOwn(target, key)) continue
    let made: object | undefined
    const get = () => made ??= operatorsAt(base, key, make, nests)
    Object.defineProperty(target, key, { enumerable: true, get })
  }
  return target
}

/** The operators of one field, with those of its nested fields. */
export const withNestedFields = (
  field: FieldPath,
  make: (field: FieldPath) => object,
  nests: (codec: FieldCodec) => boolean
): object => {
  const operators = make(field)
  const { model } = field.codec
  return model !== undefined && nests(field.codec)
    ? operatorsOfField(baseWithin(field, model), make, nests, operators)
    : operators
}

const operatorsAt = (
  base: Base,
  key: string,
  make: (field: FieldPath) => object,
  nests: (codec: FieldCodec) => boolean
): object => {
  const field = fieldAt(base, key)
  return field === undefined ? {} : withNestedFields(field, make, nests)
}
