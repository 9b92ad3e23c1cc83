import { managedField, type ModelLike } from "../../Model/introspection.ts"
import { type FieldPart, partsOf } from "./fieldCodec.ts"

/**
 * A place in the documents of a model.
 *
 * @internal
 */
export interface FieldPath {
  /** The name of the model whose documents they are. */
  readonly model: string
  /** As the store names it: an identifier is `_id`. */
  readonly path: string
  /** As the model names it, without positions in lists. */
  readonly name: string
  readonly part: FieldPart
  /** The path of the innermost list of models that the path leads through. */
  readonly list: string | undefined
  /** Whether any value that the path leads through may be missing, the last one included. */
  readonly mayBeMissing: boolean
}

/** Where the fields of a model stand in a document. */
interface Base {
  readonly model: ModelLike
  /** The name of the model that the whole document is one of. */
  readonly root: string
  /** Begins every path, and ends in a dot unless it is empty. */
  readonly prefix: string
  readonly name: string
  /** Whether the model is that of the whole document. */
  readonly isRoot: boolean
  /** Whether nothing may be told of the values. */
  readonly discreet: boolean
  readonly list: string | undefined
  readonly mayBeMissing: boolean
}

/** @internal */
export const rootOf = (model: ModelLike): Base => ({ ...elementBaseOf(model), isRoot: true })

/**
 * The model's fields in an element of a list, for a condition on elements.
 *
 * @internal
 */
export const elementBaseOf = (model: ModelLike): Base => ({
  model,
  root: model.modelName,
  prefix: "",
  name: "",
  isRoot: false,
  discreet: false,
  list: undefined,
  mayBeMissing: false
})

/** The fields of the model that a field holds; of a list, those of any element. */
const baseWithin = (
  { list, mayBeMissing, model: root, name, part, path }: FieldPath,
  model: ModelLike
): Base => ({
  model,
  root,
  prefix: `${path}.`,
  name: `${name}.`,
  isRoot: false,
  discreet: part.attributes.omitted === true,
  list: part.isList ? path : list,
  mayBeMissing
})

const fieldAt = (base: Base, key: string): FieldPath | undefined => {
  const part = partsOf(base.model, base.discreet).get(key)
  if (part === undefined) return undefined
  const { attributes } = part
  const isId = base.isRoot && attributes.managed === "id"
  return {
    model: base.root,
    path: isId ? "_id" : base.prefix + key,
    name: base.name + key,
    part,
    list: base.list,
    mayBeMissing: base.mayBeMissing || attributes.optional === true || attributes.default !== undefined ||
      part.nullIsValue
  }
}

/**
 * The field that a name with dots leads to: that of the model (`id`), or that of the store (`_id`).
 *
 * @internal
 */
export const fieldNamed = (model: ModelLike, name: string): FieldPath | undefined => {
  let base: Base = rootOf(model)
  let field: FieldPath | undefined
  for (const key of name.split(".")) {
    if (field !== undefined) {
      if (field.part.model === undefined) return undefined
      base = baseWithin(field, field.part.model)
    }
    field = fieldAt(base, base.isRoot && key === "_id" ? managedField(model, "id") ?? key : key)
    if (field === undefined) return undefined
  }
  return field
}

/**
 * An object of what `make` makes of each field of a model, once it is asked for. What is made of a model holds its
 * fields in turn, where `opens` says so; something of the same name that `make` gave it goes first.
 *
 * @internal
 */
export const fieldsUnder = (
  base: Base,
  make: (field: FieldPath) => object,
  opens: (part: FieldPart) => boolean,
  target: object = Object.create(null)
): object => {
  for (const key of Object.keys(base.model.store.fields)) {
    if (Object.hasOwn(target, key)) continue
    let made: object | undefined
    const get = () => made ??= nodeOf(base, key, make, opens)
    Object.defineProperty(target, key, { enumerable: true, get })
  }
  return target
}

/**
 * What `make` makes of a field, with the fields in it.
 *
 * @internal
 */
export const opened = (
  field: FieldPath,
  make: (field: FieldPath) => object,
  opens: (part: FieldPart) => boolean
): object => {
  const node = make(field)
  const { model } = field.part
  return model !== undefined && opens(field.part)
    ? fieldsUnder(baseWithin(field, model), make, opens, node)
    : node
}

const nodeOf = (
  base: Base,
  key: string,
  make: (field: FieldPath) => object,
  opens: (part: FieldPart) => boolean
): object => {
  const field = fieldAt(base, key)
  return field === undefined ? {} : opened(field, make, opens)
}
