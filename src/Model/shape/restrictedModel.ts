/** Derives a model without some fields, for callers who may not see or need not send them. */
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { type FieldAttributes, modelAnnotation } from "./annotations.ts"
import { fold, mapParts, withParts } from "./nodes.ts"
import { elementOf, type ModelLike, modelOf, modelTypeId, nestedModel, type Variant } from "./variants.ts"

/** The names of fields, sorted: `cost`, `address.phone`, `lines.cost`. */
export type FieldNames = ReadonlyArray<string>

/** Whether the field is one of these, or is part of one. */
export const isAmongFields = (name: string, names: FieldNames): boolean =>
  names.some((other) => name === other || name.startsWith(`${other}.`))

/** The name of a field without the indexes of list items: `lines.0.cost` is `lines.cost`. */
export const withoutIndexes = (path: string): string =>
  /\d/u.test(path) ? path.split(".").filter((segment) => !/^\d+$/u.test(segment)).join(".") : path

/** A model without the fields `hide`, in which callers need not send the fields `loose`. */
export const modelWithout = (model: ModelLike, hide: FieldNames, loose: FieldNames = []): ModelLike =>
  hide.length === 0 && loose.length === 0
    ? model
    : restrictedModels(model).getOrMake(
      JSON.stringify([hide, loose]),
      () => restrictedModel(model, restrictionsOf(hide, loose))
    )

/** Why a path, through nested models and lists of them, names no field to restrict; `undefined` if it does. */
export const restrictionProblem = (model: ModelLike, path: string): string | undefined => {
  const [key = "", ...rest] = path.split(".")
  const field = Object.hasOwn(model.store.fields, key) ? model.store.fields[key] : undefined
  if (field === undefined) return `${model.modelName} has no field ${JSON.stringify(key)}`
  if (rest.length === 0) return undefined
  const inner = nestedModel(field)
  return inner === undefined
    ? `${model.modelName}.${key} is no nested model, so only the complete field can be hidden or read-only`
    : restrictionProblem(inner, rest.join("."))
}

/** Whether the field is a list of models. */
export const isModelList = (model: ModelLike, key: string): boolean =>
  // Every struct field is a schema.
  elementOf(model.store.fields[key] as Schema.Top) !== undefined

// internal

const maxModels = 256

const restrictedModels = memoize(() => new BoundedCache<ModelLike>(maxModels))

interface Draft {
  isHidden: boolean
  isLoose: boolean
  readonly inner: Map<string, Draft>
}

const restrictionsOf = (hide: FieldNames, loose: FieldNames): Restrictions => {
  const root = new Map<string, Draft>()
  const at = (name: string): Draft => {
    let fields = root
    let draft: Draft | undefined
    for (const key of name.split(".")) {
      draft = fields.get(key) ?? { isHidden: false, isLoose: false, inner: new Map() }
      fields.set(key, draft)
      fields = draft.inner
    }
    return draft!
  }
  for (const name of hide) at(name).isHidden = true
  for (const name of loose) at(name).isLoose = true
  const restrictions: ReadonlyMap<string, Restriction> = root
  return restrictions
}

/** The fields to restrict by name: the complete field, or fields of the nested model in it. */
interface Restrictions extends ReadonlyMap<string, Restriction> {}

interface Restriction {
  /** Whether the field is omitted. */
  readonly isHidden: boolean
  /** Whether callers may leave the field out of what they send to create a document. */
  readonly isLoose: boolean
  /** Fields of the nested model. */
  readonly inner: Restrictions
}

const restrictedModel = (model: ModelLike, restrictions: Restrictions): ModelLike => {
  if (restrictions.size === 0) return model
  // The class of a model has its schemas as static members.
  const View = class extends (model as unknown as new() => object) {} as unknown as ModelLike
  const annotations = { [modelAnnotation]: () => View }
  const inner = new Map<string, Replacement>()
  for (const [key, restriction] of restrictions) {
    const nested = nestedModel(model.store.fields[key])
    if (nested !== undefined && restriction.inner.size > 0) {
      inner.set(key, replacementOf(nested, restrictedModel(nested, restriction.inner)))
    }
  }
  const variantOf = (variant: Variant): ModelLike["store"] => {
    const own = model[variant]
    const fields = Object.fromEntries(
      Object.entries(own.fields).flatMap(([key, field]) => {
        const restriction = restrictions.get(key)
        if (variant === "wire" && restriction?.isHidden === true) return []
        const replace = inner.get(key)
        // Every struct field is a schema.
        const schema = replace === undefined ? field as Schema.Top : replace.schema(field as Schema.Top)
        return [[key, variant === "create" && restriction?.isLoose === true ? loosened(schema) : schema]]
      })
    )
    const { ast } = Schema.Struct(fields)
    return Schema.make(
      withParts(ast, { checks: own.ast.checks, annotations: { ...own.ast.annotations, ...annotations } }),
      { fields }
    )
  }
  const attributes: { readonly [key: string]: FieldAttributes } = Object.fromEntries(
    Object.entries(model[modelTypeId]).map(([key, attributes]) => [
      key,
      restrictions.get(key)?.isHidden === true ? { ...attributes, omitted: true } : attributes
    ])
  )
  const own = {
    [modelTypeId]: attributes,
    ast: withParts(model.ast, { annotations: { ...model.ast.annotations, ...annotations } }),
    store: variantOf("store"),
    wire: variantOf("wire"),
    create: variantOf("create"),
    patch: variantOf("patch")
  }
  for (const key of Reflect.ownKeys(own)) {
    Object.defineProperty(View, key, { value: Reflect.get(own, key), enumerable: true })
  }
  return View
}

/** Replaces a nested model within the schemas of a field. */
interface Replacement {
  readonly schema: (schema: Schema.Top) => Schema.Top
}

const replacementOf = (nested: ModelLike, view: ModelLike): Replacement => {
  const isNested = (ast: SchemaAST.AST) => modelOf(ast)?.wire === nested.wire
  const replaceNode: (ast: SchemaAST.AST) => SchemaAST.AST = fold<SchemaAST.AST>({
    // An instance is decoded from the complete document.
    first: (ast, byCase) => isNested(ast) ? viewed(ast) : withReplacedSources(byCase()),
    Arrays: (ast) => mapParts(ast, replaceNode),
    Union: (ast) => mapParts(ast, replaceNode),
    Suspend: (inner, ast) => withParts(ast, { thunk: inner }),
    otherwise: (ast) => ast
  })
  const viewed = (ast: SchemaAST.AST): SchemaAST.AST =>
    withParts(ast, {
      ...(ast._tag === "Objects" ? { propertySignatures: propertiesFor(ast, nested, view) } : {}),
      annotations: { ...ast.annotations, [modelAnnotation]: () => view }
    })
  /** The schemas that the node is decoded from. */
  const withReplacedSources = (ast: SchemaAST.AST): SchemaAST.AST => {
    const links = ast.encoding?.map((link) => new SchemaAST.Link(replaceNode(link.to), link.transformation))
    return links?.some(({ to }, i) => to !== ast.encoding?.[i]?.to) === true ? withParts(ast, { encoding: links }) : ast
  }

  const replaceSchema = (schema: Schema.Top): Schema.Top => {
    if ("modelName" in schema && "wire" in schema && schema.wire === nested.wire) return view
    const ast = replaceNode(schema.ast)
    if (ast === schema.ast) return schema
    const parts: { [part: string]: unknown } = {}
    for (const part of ["schema", "from", "value"] as const) {
      const own: unknown = Reflect.get(schema, part)
      if (Schema.isSchema(own)) parts[part] = replaceSchema(own)
    }
    const members: unknown = Reflect.get(schema, "members")
    if (Array.isArray(members)) {
      parts["members"] = members.map((member: unknown) => Schema.isSchema(member) ? replaceSchema(member) : member)
    }
    return Schema.make<Schema.Top>(ast, parts)
  }
  return { schema: replaceSchema }
}

const variantNames = ["wire", "create", "patch", "store"] as const

/** The fields of the variant that the node is. */
const propertiesFor = (
  { propertySignatures }: SchemaAST.Objects,
  nested: ModelLike,
  view: ModelLike
): ReadonlyArray<SchemaAST.PropertySignature> => {
  const variant = variantNames.find((name) => objectsOf(nested[name]).propertySignatures === propertySignatures)
  if (variant !== undefined) return objectsOf(view[variant]).propertySignatures
  // Another form of the wire variant.
  return propertySignatures.flatMap(({ name }) =>
    objectsOf(view.wire).propertySignatures.filter((shown) => shown.name === name)
  )
}

const objectsOf = ({ ast }: ModelLike["store"]): SchemaAST.Objects => ast

const loosened = (schema: Schema.Top): Schema.Top =>
  SchemaAST.isOptional(schema.ast) ? schema : Schema.optionalKey(schema)
