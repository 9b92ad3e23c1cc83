import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as VariantSchema from "effect/schema/VariantSchema"
import * as SchemaAST from "effect/SchemaAST"
import { Misdeclared } from "../../internal/misdeclared.ts"
import type { Problem } from "../ModelError.ts"
import { type FieldAttributes, modelAnnotation } from "./annotations.ts"
import { partsOf } from "./nodes.ts"
import { storedForm } from "./storedForm.ts"

/**
 * The schemas that one model has: what is stored, what a caller sees, what a caller may send, what a caller may change.
 *
 * @internal
 */
export type Variant = "store" | "wire" | "create" | "patch"

/** @internal */
export const variants = VariantSchema.make({
  variants: ["store", "wire", "create", "patch"],
  defaultVariant: "store"
})

/** @internal */
export const modelTypeId = "~appkernel/Model"

/** @internal */
export const validationTypeId = "~appkernel/Model/validation"

/**
 * Looks at all fields of an instance.
 *
 * @internal
 */
export type Validation = (instance: never) => Effect.Effect<void, Problem | ReadonlyArray<Problem>>

/** @internal */
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
 * What a schema becomes in a variant: a nested model its own variant, a list the list of what its elements become,
 * anything else itself. Lists are replaced as a whole by a patch, so their elements are those of `create`; structs and
 * records are merged, so any part of them may be there, or be `null`.
 *
 * @internal
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

/**
 * What a JSON merge patch may say of a value.
 */
type MergePatch<S> = S extends
  { readonly ast: SchemaAST.Objects; readonly fields: infer F extends Schema.Struct.Fields }
  ? Schema.Struct<{ readonly [K in keyof F]: Schema.optionalKey<Schema.NullOr<MergePatch<Named<F[K]>> & Schema.Top>> }>
  : S extends
    { readonly ast: SchemaAST.Objects; readonly key: infer K extends Schema.Record.Key; readonly value: infer Value }
    ? Schema.$Record<K, Schema.NullOr<MergePatch<Value> & Schema.Top>>
  : S

type Named<S> = S extends { readonly schema: infer Inner; readonly "~type.optionality": "optional" } ? Inner : S

/**
 * Whether the model says anything of several of its fields at once.
 *
 * @internal
 */
export const hasRules = (model: ModelLike): boolean =>
  model[validationTypeId] !== undefined || model.store.ast.checks !== undefined

/** @internal */
export const isModelLike = (u: unknown): u is ModelLike => typeof u === "function" && modelTypeId in u

/**
 * The model whose class or variant this is the syntax tree of.
 *
 * @internal
 */
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

/** What stands beside `null` in a union with it. */
const nullable = (u: Schema.Top): Schema.Top | undefined => {
  if (!hasMembers(u) || u.members.length !== 2) return undefined
  const other = u.members.filter((member) => member.ast._tag !== "Null")
  return other.length === 1 ? other[0] : undefined
}

/**
 * The second schema with the checks of the first, too.
 *
 * @internal
 */
export const withChecksOf = (source: Schema.Top, target: Schema.Top): Schema.Top => {
  const [check, ...others] = (source.ast.checks ?? []).filter((check) => target.ast.checks?.includes(check) !== true)
  return check === undefined ? target : target.check(check, ...others)
}

/** A recursive model names itself in a suspended schema, which has no class yet when it is made. */
const suspended = (schema: Schema.Top): Schema.Top | undefined => {
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
  // What is in lists of lists is not looked for, so that a model there is refused.
  if (hasValue(schema) && hasValue(nullable(schema.value) ?? schema.value)) return schema
  if (hasValue(schema)) {
    const item = nested(schema.value, variant === "patch" ? "create" : variant)
    return item === schema.value ? schema : withChecksOf(schema, Schema.Array(item))
  }
  const other = nullable(schema)
  if (other !== undefined) {
    const inner = nested(other, variant)
    return inner === other ? schema : withChecksOf(schema, Schema.NullOr(inner))
  }
  return schema.ast._tag === "Suspend" ? Schema.suspend(() => nested(suspended(schema)!, variant)) : schema
}

/**
 * The schema whose encoded side is what is stored, with the parts that `nested` and `unwrapped` look for.
 *
 * @internal
 */
export const storable = (schema: Schema.Top): Schema.Top => {
  if (isModelLike(schema)) return schema
  const ast = storedForm(schema.ast)
  if (ast === schema.ast) return schema
  if (isOptionalKey(schema)) return Schema.make(ast, { schema: storable(schema.schema) })
  if (hasValue(schema)) return Schema.make(ast, { value: storable(schema.value) })
  if (hasMembers(schema)) return Schema.make(ast, { members: schema.members.map(storable) })
  return Schema.make(ast)
}

/**
 * The schema without `undefined`, where that is one of its values: then there need not be one.
 *
 * @internal
 */
export const defined = (schema: Schema.Top): Schema.Top | undefined => {
  if (isOptionalKey(schema)) return defined(schema.schema)
  if (!hasMembers(schema) || schema.ast.encoding !== undefined || schema.ast.checks !== undefined) return undefined
  const others = schema.members.filter((member) => member.ast._tag !== "Undefined")
  const [only, ...more] = others
  return only === undefined || others.length === schema.members.length
    ? undefined
    : more.length === 0
    ? only
    : Schema.Union(others)
}

/**
 * A field's own schema, without what optionality and defaults put around it.
 *
 * @internal
 */
export const unwrapped = (schema: Schema.Top): Schema.Top => {
  if ("schema" in schema && Schema.isSchema(schema.schema)) return unwrapped(schema.schema)
  if ("from" in schema && Schema.isSchema(schema.from) && SchemaAST.isOptional(schema.from.ast) && isKept(schema.ast)) {
    return unwrapped(schema.from)
  }
  const inner = nullable(schema) ?? suspended(schema)
  return inner === undefined ? schema : unwrapped(inner)
}

/** Whether values that are there are encoded to themselves, whatever stands for those that are not. */
const isKept = ({ encoding }: SchemaAST.AST): boolean =>
  encoding?.every(({ transformation }) =>
    transformation._tag === "Transformation" && transformation.encode._tag === "Passthrough"
  ) === true

/**
 * The schema of the elements of a list; `undefined` when the field is none.
 *
 * @internal
 */
export const elementOf = (schema: Schema.Top): Schema.Top | undefined => {
  const own = unwrapped(schema)
  return hasValue(own) ? own.value : undefined
}

/**
 * The model that a field holds: alone, in a list, or perhaps not at all.
 *
 * @internal
 */
export const nestedModel = (schema: unknown): ModelLike | undefined => {
  if (!Schema.isSchema(schema)) return undefined
  const own = unwrapped(schema)
  const inner = hasValue(own) ? unwrapped(own.value) : own
  return isModelLike(inner) ? inner : undefined
}

/**
 * Dies when the field has a name that documents and answers use themselves.
 *
 * @internal
 */
export const assertNotReserved = (model: string, field: string): void => {
  if (field === "_type" || field === "_id" || field === "_links") {
    die(`${model}.${field} has a name that is not for fields`)
  }
  if (!isName(field)) {
    die(`${model}.${field} has a name that no path leads to: names have no dots, and begin with no dollar`)
  }
}

/**
 * Whether a field may have this name: dots separate the names of a path, and a dollar begins an operator.
 *
 * @internal
 */
export const isName = (name: string): boolean =>
  name !== "" && !name.includes(".") && !name.startsWith("$") && !name.includes("\0")

/**
 * Dies when a variant other than the stored one holds a model as it is stored: in a record, a tuple, or wherever else
 * `nested` doesn't look. What a model omits would be seen there, and nothing would be filled in.
 *
 * @internal
 */
export const assertSeparable = (model: string, field: string, schema: Schema.Top, options: {
  /** Whether to look into suspended schemas, which are not there yet while their class is being made. */
  readonly suspended: boolean
}): void => {
  const hidden = storedModelIn(schema.ast, options.suspended, new Set())
  if (hidden === undefined) return
  die(
    `${model}.${field} holds the model ${hidden.modelName} where its variants can't be told apart. ` +
      `A field may be a model, Schema.Array or Schema.NullOr of one, or Model.optional; ` +
      `make a model of the part that ${hidden.modelName} stands in.`
  )
}

/**
 * A model that is declared wrongly is a mistake in the program: nothing could be done about it while it runs.
 *
 * @internal
 */
export const die = (message: string): never => Effect.runSync(Effect.die(new Misdeclared(message)))

const storedModelIn = (
  ast: SchemaAST.AST,
  intoSuspended: boolean,
  seen: Set<SchemaAST.AST>
): ModelLike | undefined => {
  if (seen.has(ast)) return undefined
  seen.add(ast)
  if (ast._tag === "Declaration" && modelOf(ast) !== undefined) return modelOf(ast)
  for (const part of partsOf(ast, intoSuspended)) {
    const found = storedModelIn(part, intoSuspended, seen)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Whether a caller who creates a document has to send the field: not where it is optional, where the server supplies a
 * value, and where a caller can't send one.
 *
 * @internal
 */
export const hasToBeSent = (model: ModelLike, field: string): boolean => {
  const { default: byDefault, generator } = model[modelTypeId][field] ?? {}
  const sent = model.create.fields[field]
  // A field of a struct is a schema.
  return sent !== undefined && !SchemaAST.isOptional(SchemaAST.toEncoded((sent as Schema.Top).ast)) &&
    byDefault === undefined && generator === undefined
}

/**
 * The field that the framework keeps up to date for this purpose, if the model has one.
 *
 * @internal
 */
export const managedField = (model: ModelLike, purpose: FieldAttributes["managed"]): string | undefined =>
  Object.entries(model[modelTypeId]).find(([, { managed }]) => managed === purpose)?.[0]
