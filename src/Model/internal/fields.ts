import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as VariantSchema from "effect/schema/VariantSchema"
import type * as SchemaAST from "effect/SchemaAST"
import type { Converter } from "../Converter.ts"
import type { Field } from "../Field.ts"
import type { FieldAttributes } from "./annotations.ts"
import { convertedChecks, isConvertedCheck } from "./conversion.ts"
import { isModelLike, nested, type Variant, variants } from "./variants.ts"

/** @internal */
export type Schemas = { readonly [V in Variant]?: Schema.Top }

/**
 * How a combinator changes the schemas of a field.
 *
 * @internal
 */
export type Change = { readonly [V in Variant]?: (schema: Schema.Top) => Schema.Top }

/**
 * A field taken apart: the schemas of its value, what combinators put around them, in their order, and the rest. Checks
 * go to the value, whether or not it may be missing.
 */
interface Parts {
  readonly value: Schemas
  readonly around: ReadonlyArray<Change>
  readonly attributes: FieldAttributes
}

const partsKey = Symbol.for("~appkernel/Model/Field/parts")

/**
 * The schemas of a field by variant, whichever way it was written.
 *
 * @internal
 */
export const schemasOf = (self: Field.Input): Schemas => {
  const { around, value } = partsOf(self)
  return around.reduce(changed, value)
}

/** @internal */
export const attributesOf = (self: Field.Input): FieldAttributes => partsOf(self).attributes

/**
 * The field with `change` put around the schemas that it has so far.
 *
 * @internal
 */
export const evolve = (self: Field.Input, change: Change, attributes: FieldAttributes = {}): Field.Any => {
  const parts = partsOf(self)
  return make(parts.value, [...parts.around, change], { ...parts.attributes, ...attributes })
}

/**
 * The field with other schemas of its value.
 *
 * @internal
 */
export const evolveValue = (
  self: Field.Input,
  f: (value: Schemas, attributes: FieldAttributes) => Schemas,
  attributes: FieldAttributes = {}
): Field.Any => {
  const parts = partsOf(self)
  return make(f(parts.value, parts.attributes), parts.around, { ...parts.attributes, ...attributes })
}

/**
 * The field whose value passes the check as well. Of a field that is converted, the check is for what conversion gives.
 *
 * @internal
 */
export const checked = (self: Field.Input, check: SchemaAST.Check<never>): Field.Input => {
  if (!VariantSchema.isField(self)) return withCheck(asSchema(self), check)
  const add = (schema: Schema.Top) => withCheck(schema, check)
  return evolveValue(self, (value, { converter }) =>
    changed(
      value,
      converter === undefined
        ? { store: add, wire: add, create: add, patch: add }
        : { store: add, wire: add }
    ))
}

/**
 * The value's stored schema.
 *
 * @internal
 */
export const valueOf = (self: Field.Input): Schema.Top | undefined => partsOf(self).value.store

/**
 * The schema without its checks, but for those that tell integers and finite numbers from others.
 *
 * @internal
 */
export const stripped = (schema: Schema.Top): Schema.Top =>
  withChecks(schema, (check) => isKind(check, "isInt") || isKind(check, "isFinite"))

/**
 * The schema that accepts only what the converter makes, as far as that is known at once.
 *
 * @internal
 */
export const convertedOnly = (schema: Schema.Top, converter: Converter<unknown>): Schema.Top =>
  // The class of a model would be another schema with a check.
  isModelLike(schema)
    ? schema
    : convertedChecks(converter).reduce<Schema.Top>(
      withCheck,
      withChecks(schema, (check) => !isConvertedCheck(check))
    )

const withChecks = (schema: Schema.Top, isKept: (check: SchemaAST.Check<never>) => boolean): Schema.Top => {
  const { ast } = schema
  const kept = ast.checks?.filter(isKept)
  if (kept === undefined || kept.length === ast.checks?.length) return schema
  const checks = { value: kept.length === 0 ? undefined : kept, enumerable: true }
  // A node has no constructor that changes its checks alone; the copy differs from it in nothing else.
  const copy = Object.create(Object.getPrototypeOf(ast), { ...Object.getOwnPropertyDescriptors(ast), checks })
  return schema.rebuild(copy as SchemaAST.AST)
}

/** @internal */
export const changed = (schemas: Schemas, change: Change): Schemas => {
  const all: { [V in Variant]?: Schema.Top } = { ...schemas }
  for (const variant of ["store", "wire", "create", "patch"] as const) {
    const schema = all[variant]
    const f = change[variant]
    if (schema !== undefined && f !== undefined) all[variant] = f(schema)
  }
  return all
}

/**
 * Whether the check says what kind of number a number is.
 *
 * @internal
 */
export const isKind = (check: SchemaAST.Check<never>, kind: "isInt" | "isFinite"): boolean =>
  representsAs(check.annotations, `effect/schema/${kind}`)

/**
 * Whether a check or a node of a syntax tree is the one that Effect knows by this name.
 *
 * @internal
 */
export const representsAs = (annotations: Schema.Annotations.Annotations | undefined, id: string): boolean => {
  const representation: unknown = annotations?.["representation"]
  return Predicate.hasProperty(representation, "id") && representation.id === id
}

const make = (value: Schemas, around: ReadonlyArray<Change>, attributes: FieldAttributes): Field.Any => {
  const parts: Parts = { value, around, attributes }
  return Object.defineProperty(variants.Field(around.reduce(changed, value)), partsKey, { value: parts })
}

const partsOf = (self: Field.Input): Parts => {
  const parts: unknown = Reflect.get(self, partsKey)
  // Only `make` writes under this key.
  if (parts !== undefined) return parts as Parts
  return { value: VariantSchema.isField(self) ? self.schemas : variantsOf(asSchema(self)), around: [], attributes: {} }
}

const variantsOf = (schema: Schema.Top): Schemas => ({
  store: schema,
  wire: nested(schema, "wire"),
  create: nested(schema, "create"),
  patch: nested(schema, "patch")
})

/** A field is either a schema or made of several. */
const asSchema = (self: Field.Input): Schema.Top => self as Schema.Top

// A check asks for values of the schema's type, which `Schema.Top` has forgotten.
const withCheck = (self: Schema.Top, check: SchemaAST.Check<never>): Schema.Top =>
  (self.check as (check: SchemaAST.Check<never>) => Schema.Top).call(self, check)
