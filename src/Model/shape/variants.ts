/** The four schemas of a model: derives each of them through nested models, lists, unions and optional fields. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as VariantSchema from "effect/schema/VariantSchema"
import * as SchemaAST from "effect/SchemaAST"
import { DeclarationError } from "../../internal/declarationError.ts"
import type { Problem } from "../ModelError.ts"
import { type FieldAttributes, modelAnnotation } from "./annotations.ts"
import { childrenOf, nodesIn } from "./nodes.ts"
import { storedForm } from "./storedForm.ts"

/** A model's schemas: of what is stored, what callers read, what they send to create and to change. */
export type Variant = "store" | "wire" | "create" | "patch"

/** @internal */
export const variants = VariantSchema.make({
  variants: ["store", "wire", "create", "patch"],
  defaultVariant: "store"
})

export const modelTypeId = "~appkernel/Model"

export const validationTypeId = "~appkernel/Model/validation"

/** A rule over all fields of an instance. */
export type Validation = (instance: never) => Effect.Effect<void, Problem | ReadonlyArray<Problem>>

export interface ModelLike extends Schema.Top {
  readonly [modelTypeId]: { readonly [key: string]: FieldAttributes }
  readonly [validationTypeId]: Validation | undefined
  readonly modelName: string
  readonly store: Schema.Struct<Schema.Struct.Fields>
  readonly wire: Schema.Struct<Schema.Struct.Fields>
  readonly create: Schema.Struct<Schema.Struct.Fields>
  readonly patch: Schema.Struct<Schema.Struct.Fields>
}

/**
 * The type of a schema in a variant: a nested model becomes its own variant, a list becomes a list of its converted
 * elements, any other schema stays as it is. A patch replaces a list as a whole, so its elements have the `create`
 * form. A patch merges structs and records, so each of their parts may be missing, and `null` if it can be removed.
 */
export type Nested<S, V extends Variant> = V extends "store" ? S
  : S extends { readonly [modelTypeId]: unknown } ? S[V & keyof S]
  : S extends { readonly ast: SchemaAST.Arrays; readonly value: infer Item }
    ? Schema.$Array<Nested<Item, V extends "patch" ? "create" : V> & Schema.Top>
  : S extends { readonly ast: SchemaAST.Union; readonly members: readonly [infer Inner, Schema.Null] }
    ? Schema.NullOr<Nested<Inner, V> & Schema.Top>
  : S extends { readonly schema: infer Inner; readonly "~type.optionality": "optional" }
    ? Schema.optionalKey<Nested<Inner, V> & Schema.Top>
  : V extends "patch" ? MergePatch<S>
  : S

/** The type of a JSON merge patch for a value. */
type MergePatch<S> = S extends
  { readonly ast: SchemaAST.Objects; readonly fields: infer F extends Schema.Struct.Fields }
  ? Schema.Struct<{ readonly [K in keyof F]: Schema.optionalKey<PartPatch<F[K]> & Schema.Top> }>
  : S extends
    { readonly ast: SchemaAST.Objects; readonly key: infer K extends Schema.Record.Key; readonly value: infer Value }
    ? Schema.$Record<K, Schema.NullOr<MergePatch<Value> & Schema.Top>>
  : S

/** The type of a merge patch for a part of a struct. */
type PartPatch<S> = S extends { readonly schema: infer Inner; readonly "~type.optionality": "optional" }
  ? Schema.NullOr<MergePatch<Inner> & Schema.Top>
  : MergePatch<S>

/** Whether the model has rules over several fields. @internal */
export const hasRules = (model: ModelLike): boolean =>
  model[validationTypeId] !== undefined || model.store.ast.checks !== undefined

/** @internal */
export const isModelLike = (u: unknown): u is ModelLike => typeof u === "function" && modelTypeId in u

/** The model whose class or variant has this syntax tree. @internal */
export const modelOf = (ast: SchemaAST.AST): ModelLike | undefined => {
  const model: unknown = ast.annotations?.[modelAnnotation]
  // Only `Class` writes this annotation.
  return model === undefined ? undefined : (model as () => ModelLike)()
}

/** @internal */
export const isOptionalKey = (u: Schema.Top): u is Schema.optionalKey<Schema.Top> =>
  SchemaAST.isOptional(u.ast) && "schema" in u && Schema.isSchema(u.schema)

const hasValue = (u: Schema.Top): u is Schema.$Array<Schema.Top> =>
  u.ast._tag === "Arrays" && "value" in u && Schema.isSchema(u.value)

const hasMembers = (u: Schema.Top): u is Schema.Union<ReadonlyArray<Schema.Top>> =>
  u.ast._tag === "Union" && "members" in u && Array.isArray(u.members)

/** The other member of a union of two with `null`. */
const nonNullMember = (u: Schema.Top): Schema.Top | undefined => {
  if (!hasMembers(u) || u.members.length !== 2) return undefined
  const other = u.members.filter((member) => member.ast._tag !== "Null")
  return other.length === 1 ? other[0] : undefined
}

/** The target schema with the checks of the source added. @internal */
export const withChecksOf = (source: Schema.Top, target: Schema.Top): Schema.Top => {
  const [check, ...others] = (source.ast.checks ?? []).filter((check) => target.ast.checks?.includes(check) !== true)
  return check === undefined ? target : target.check(check, ...others)
}

/** A recursive model refers to itself by a suspended schema, since the class does not exist yet at that point. */
const resolvedSuspend = (schema: Schema.Top): Schema.Top | undefined => {
  const { ast } = schema
  return ast._tag === "Suspend" ? modelOf(ast.thunk()) ?? Schema.make<Schema.Top>(ast.thunk()) : undefined
}

/** @internal */
export const nested = (schema: Schema.Top, variant: Variant): Schema.Top => {
  if (variant === "store") return schema
  if (isModelLike(schema)) return schema[variant]
  if (isOptionalKey(schema)) {
    const inner = nested(schema.schema, variant)
    return inner === schema.schema ? schema : Schema.optionalKey(inner)
  }
  // Lists of lists are not converted, so that a model inside them is rejected.
  if (hasValue(schema) && hasValue(nonNullMember(schema.value) ?? schema.value)) return schema
  if (hasValue(schema)) {
    const item = nested(schema.value, variant === "patch" ? "create" : variant)
    return item === schema.value
      ? schema
      : withChecksOf(schema, schema.ast.elements.length > 0 ? Schema.NonEmptyArray(item) : Schema.Array(item))
  }
  const other = nonNullMember(schema)
  if (other !== undefined) {
    const inner = nested(other, variant)
    return inner === other ? schema : withChecksOf(schema, Schema.NullOr(inner))
  }
  return schema.ast._tag === "Suspend"
    ? Schema.suspend(() => nested(resolvedSuspend(schema)!, variant)).annotate({ ...schema.ast.annotations })
    : schema
}

/**
 * The schema whose encoded side is the stored form. It keeps the properties that `nested` and `unwrapped` read.
 *
 * @internal
 */
export const storableSchema = (schema: Schema.Top): Schema.Top => {
  if (isModelLike(schema)) return schema
  const ast = storedForm(schema.ast)
  if (ast === schema.ast) return schema
  if (isOptionalKey(schema)) return Schema.make(ast, { schema: storableSchema(schema.schema) })
  if (hasValue(schema)) return Schema.make(ast, { value: storableSchema(schema.value) })
  if (hasMembers(schema)) return Schema.make(ast, { members: schema.members.map(storableSchema) })
  return Schema.make(ast)
}

/**
 * The schema without its member `undefined`; a field of such a schema is optional. `undefined` if there is no such
 * member.
 *
 * @internal
 */
export const withoutUndefined = (schema: Schema.Top): Schema.Top | undefined => {
  if (isOptionalKey(schema)) return withoutUndefined(schema.schema)
  if (!hasMembers(schema) || schema.ast.encoding !== undefined || schema.ast.checks !== undefined) return undefined
  const others = schema.members.filter((member) => member.ast._tag !== "Undefined")
  const [only, ...more] = others
  return only === undefined || others.length === schema.members.length
    ? undefined
    : more.length === 0
    ? only
    : Schema.Union(others)
}

/** The schema of a field's value without the wrappers of optionality and defaults. @internal */
export const unwrapped = (schema: Schema.Top): Schema.Top => {
  if ("schema" in schema && Schema.isSchema(schema.schema)) {
    const own = childrenOf(schema.ast, false)
    const inner = childrenOf(schema.schema.ast, false)
    // The schema in a brand has the same parts. That in `StructWithRest` or `toType` is another one.
    if (SchemaAST.isOptional(schema.ast) || own.length === inner.length && own.every((part, i) => part === inner[i])) {
      return unwrapped(schema.schema)
    }
  }
  if (
    "from" in schema && Schema.isSchema(schema.from) && SchemaAST.isOptional(schema.from.ast) &&
    encodesToItself(schema.ast)
  ) {
    return unwrapped(schema.from)
  }
  const inner = nonNullMember(schema) ?? resolvedSuspend(schema)
  return inner === undefined ? schema : unwrapped(inner)
}

/** Whether present values are encoded to themselves. A transformation may still supply missing ones. */
const encodesToItself = ({ encoding }: SchemaAST.AST): boolean =>
  encoding?.every(({ transformation }) =>
    transformation._tag === "Transformation" && transformation.encode._tag === "Passthrough"
  ) === true

/** The schema of a list's elements; `undefined` if the field is no list. @internal */
export const elementOf = (schema: Schema.Top): Schema.Top | undefined => {
  const own = unwrapped(schema)
  return hasValue(own) ? own.value : undefined
}

/** The model in a field, directly, in a list, or optional. @internal */
export const nestedModel = (schema: unknown): ModelLike | undefined => {
  if (!Schema.isSchema(schema)) return undefined
  const own = unwrapped(schema)
  const inner = hasValue(own) ? unwrapped(own.value) : own
  return isModelLike(inner) ? inner : undefined
}

/** The model and the models in its fields, at every depth, each once, outer ones first. @internal */
export const modelsIn = (model: ModelLike): ReadonlyArray<ModelLike> => {
  const models = new Set([model])
  // A set goes on with what is added to it meanwhile.
  for (const one of models) {
    for (const schema of Object.values(one.store.fields)) {
      const inner = nestedModel(schema)
      if (inner !== undefined) models.add(inner)
    }
  }
  return [...models]
}

/** Whether a field of the model, or of a model in it, is as the predicate says. @internal */
export const someFieldIn = (
  model: ModelLike,
  predicate: (attributes: FieldAttributes, key: string, model: ModelLike) => boolean
): boolean =>
  modelsIn(model).some((one) =>
    Object.keys(one.store.fields).some((key) => predicate(one[modelTypeId][key] ?? {}, key, one))
  )

/** Dies if the field has a name that documents and responses use themselves. @internal */
export const assertNotReserved = (model: string, field: string): void => {
  if (/^_(type|id|links|embedded)$/u.test(field)) {
    die(`${model}.${field} has a name that is not for fields`)
  }
  if (!isName(field)) {
    die(`${model}.${field} has a name that no path leads to`)
  }
}

/**
 * Whether the name is allowed for a field. Dots separate the segments of a path, a dollar sign starts an operator, and
 * `__proto__` is no property of an object.
 *
 * @internal
 */
export const isName = (name: string): boolean => !/^(?:$|\$|__proto__$)|[.\0]/u.test(name)

/**
 * Dies if a variant other than the stored one contains the stored form of a model, as in a record or a tuple, which
 * `nested` does not convert. Omitted fields would be visible there, and no defaults would be applied.
 *
 * @internal
 */
export const assertSeparable = (model: string, field: string, schema: Schema.Top, options: {
  /** Whether to follow suspended schemas. They can't be resolved while their class is being declared. */
  readonly suspended: boolean
}): void => {
  const hidden = storedModelIn(schema.ast, options.suspended)
  if (hidden === undefined) return
  die(
    `${model}.${field} holds the model ${hidden.modelName} where its variants can't be told apart. ` +
      "Use Schema.Array, Schema.NullOr or Model.optional, or a model around it."
  )
}

/** Dies with a mistake in a declaration, which the running program can't recover from. @internal */
export const die = (message: string): never => Effect.runSync(Effect.die(new DeclarationError(message)))

const storedModelIn = (ast: SchemaAST.AST, intoSuspended: boolean): ModelLike | undefined =>
  nodesIn(ast, (node) => childrenOf(node, intoSuspended))
    .map((node) => node._tag === "Declaration" ? modelOf(node) : undefined)
    .find((model) => model !== undefined)

/**
 * Whether a caller has to send the field to create a document. A field is not required if it is optional, if the server
 * supplies it, or if callers can't send it.
 *
 * @internal
 */
export const isRequiredInput = (model: ModelLike, field: string): boolean => {
  const { default: byDefault, generator } = model[modelTypeId][field] ?? {}
  const sent = model.create.fields[field]
  // Every struct field is a schema.
  return sent !== undefined && !SchemaAST.isOptional(SchemaAST.toEncoded((sent as Schema.Top).ast)) &&
    byDefault === undefined && generator === undefined
}

/** The field that the framework manages for the purpose, if the model has one. @internal */
export const managedField = (model: ModelLike, purpose: FieldAttributes["managed"]): string | undefined =>
  Object.entries(model[modelTypeId]).find(([, { managed }]) => managed === purpose)?.[0]
