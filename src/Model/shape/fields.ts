/**
 * The internals of fields that combinators change: the schemas of each variant, checks and attributes.
 *
 * @since 0.1.0
 */
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as VariantSchema from "effect/schema/VariantSchema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import type { Converter } from "../Converter.ts"
import { type FieldAttributes, storableAnnotation } from "./annotations.ts"
import { convertedChecks, isConvertedCheck } from "./fieldConverter.ts"
import { withChecksThat } from "./nodes.ts"
import { nameOf, storableCheckOf } from "./storedForm.ts"
import {
  isModelLike,
  isOptionalKey,
  nested,
  storableSchema,
  type Variant,
  variants,
  withoutUndefined
} from "./variants.ts"

/** Any field with schemas of its own. */
// `any`: the configuration is invariant, so nothing else stands for all fields.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyField = VariantSchema.Field<any>

/** What the combinators of fields take. */
export type FieldInput = Schema.Constraint | AnyField

/**
 * The stored form of an optional field, in which `null` means missing.
 *
 * @category models
 * @since 0.1.0
 */
export interface OptionalStored<S extends Schema.Top>
  extends Schema.decodeTo<Schema.optionalKey<Schema.toType<S>>, Schema.optionalKey<Schema.NullOr<S>>>
{
  readonly "Rebuild": OptionalStored<S>
}

/** @internal */
export type Schemas = { readonly [V in Variant]?: Schema.Top }

/** How a combinator changes the schemas of a field. @internal */
export type VariantChange = { readonly [V in Variant]?: (schema: Schema.Top) => Schema.Top }

/** A field: its value's schemas, wrappers in order, and attributes. Checks apply to the value, optional or not. */
interface Parts {
  readonly value: Schemas
  readonly around: ReadonlyArray<VariantChange>
  readonly attributes: FieldAttributes
}

const partsKey = Symbol.for("~appkernel/Model/Field/parts")

/** The schemas of a field by variant, for fields and bare schemas alike. @internal */
export const schemasOf = (self: FieldInput): Schemas => {
  const { around, value } = fieldPartsOf(self)
  return around.reduce(applyChange, value)
}

/** @internal */
export const attributesOf = (self: FieldInput): FieldAttributes => fieldPartsOf(self).attributes

/** The field with `change` applied around its current schemas. @internal */
export const evolve = (self: FieldInput, change: VariantChange, attributes: FieldAttributes = {}): AnyField => {
  const parts = fieldPartsOf(self)
  return make(parts.value, [...parts.around, change], { ...parts.attributes, ...attributes })
}

/** The field with other schemas of its value. @internal */
export const evolveValue = (
  self: FieldInput,
  f: (value: Schemas, attributes: FieldAttributes) => Schemas,
  attributes: FieldAttributes = {}
): AnyField => {
  const parts = fieldPartsOf(self)
  return make(f(parts.value, parts.attributes), parts.around, { ...parts.attributes, ...attributes })
}

/**
 * The field with one more check on its value. The check of a field with a converter applies to the converted value.
 *
 * @internal
 */
export const checked = (self: FieldInput, check: SchemaAST.Check<never>): FieldInput => {
  if (!VariantSchema.isField(self)) return withCheck(asSchema(self), check)
  const add = (schema: Schema.Top) => withCheck(schema, check)
  return evolveValue(self, (value, { converter }) =>
    applyChange(
      value,
      converter === undefined
        ? { store: add, wire: add, create: add, patch: add }
        : { store: add, wire: add }
    ))
}

/** The stored schema of the field's value. @internal */
export const valueOf = (self: FieldInput): Schema.Top | undefined => fieldPartsOf(self).value.store

/** The schema without its checks, except those that define integers, finite numbers and storable values. @internal */
export const withoutChecks = (schema: Schema.Top): Schema.Top => withChecks(schema, definesKind)

/** Whether the check defines integers, finite numbers or storable values: a codec may rely on it. @internal */
export const definesKind = (check: SchemaAST.Check<never>): boolean =>
  isKind(check, "isInt") || isKind(check, "isFinite") || check.annotations?.[storableAnnotation] === true

/** The schema that accepts converted values only, as far as this can be tested synchronously. @internal */
export const convertedOnly = (schema: Schema.Top, converter: Converter<unknown>): Schema.Top =>
  // A model's class with a check added would be another schema.
  isModelLike(schema)
    ? schema
    : convertedChecks(converter).reduce<Schema.Top>(
      withCheck,
      withChecks(schema, (check) => !isConvertedCheck(check))
    )

const withChecks = (schema: Schema.Top, isRetained: (check: SchemaAST.Check<never>) => boolean): Schema.Top => {
  const ast = withChecksThat(schema.ast, isRetained)
  return ast === schema.ast ? schema : schema.rebuild(ast)
}

/** @internal */
export const applyChange = (schemas: Schemas, change: VariantChange): Schemas => {
  const all: { [V in Variant]?: Schema.Top } = { ...schemas }
  for (const variant of ["store", "wire", "create", "patch"] as const) {
    const schema = all[variant]
    const f = change[variant]
    if (schema !== undefined && f !== undefined) all[variant] = f(schema)
  }
  return all
}

/** Whether the check defines the kind of number. @internal */
export const isKind = (check: SchemaAST.Check<never>, kind: "isInt" | "isFinite"): boolean =>
  nameOf(check) === `effect/schema/${kind}`

const make = (value: Schemas, around: ReadonlyArray<VariantChange>, attributes: FieldAttributes): AnyField => {
  const parts: Parts = { value, around, attributes }
  return Object.defineProperty(variants.Field(around.reduce(applyChange, value)), partsKey, { value: parts })
}

const fieldPartsOf = (self: FieldInput): Parts => {
  const parts: unknown = Reflect.get(self, partsKey)
  // Only `make` writes under this key.
  if (parts !== undefined) return parts as Parts
  if (VariantSchema.isField(self)) return { value: self.schemas, around: [], attributes: {} }
  const schema = asSchema(self)
  const own = withoutUndefined(schema)
  if (own !== undefined) return optional(own, Schema.UndefinedOr)
  return isOptionalKey(schema)
    ? optional(schema.schema, Function.identity)
    : { value: variantsOf(schema), around: [], attributes: {} }
}

const optional = (schema: Schema.Top, instance: (schema: Schema.Top) => Schema.Top): Parts => ({
  value: variantsOf(schema),
  around: [optionality(instance)],
  attributes: { optional: true }
})

/** Makes a field optional. `null` means missing. @internal */
export const optionality = (instance: (schema: Schema.Top) => Schema.Top): VariantChange => ({
  store: (schema) =>
    Schema.optionalKey(Schema.NullOr(schema)).pipe(
      Schema.decodeTo(Schema.optionalKey(instance(Schema.toType(schema))), {
        decode: SchemaGetter.transformOptional(Option.filter((value) => value !== null)),
        encode: SchemaGetter.passthrough({ strict: false })
      })
    ),
  wire: (schema) => Schema.optionalKey(instance(schema)),
  create: (schema) => Schema.optionalKey(Schema.NullOr(schema)),
  patch: Schema.NullOr
})

/**
 * What a caller creates, with the check of which values can be stored: a created document is not checked again before it
 * is.
 *
 * @internal
 */
export const withStorableCheckOf = (store: Schema.Top, create: Schema.Top): Schema.Top => {
  const limit = storableCheckOf(store.ast)
  return limit === undefined || create.ast.checks?.some((check) => check === limit) === true
    ? create
    : withCheck(create, limit)
}

const variantsOf = (schema: Schema.Top): Schemas => {
  const store = storableSchema(schema)
  const create = nested(schema, "create")
  return {
    store,
    wire: nested(schema, "wire"),
    create: store === schema ? create : withStorableCheckOf(store, create),
    patch: nested(schema, "patch")
  }
}

/** A field input that is no variant field is a schema. */
const asSchema = (self: FieldInput): Schema.Top => self as Schema.Top

// A check expects values of the schema's type, which `Schema.Top` does not carry.
const withCheck = (self: Schema.Top, check: SchemaAST.Check<never>): Schema.Top =>
  (self.check as (check: SchemaAST.Check<never>) => Schema.Top).call(self, check)
