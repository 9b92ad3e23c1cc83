/** Builds the class that `Model.Class` returns: variants, attributes, constructor and static members. */
import * as Schema from "effect/Schema"
import type * as VariantSchema from "effect/schema/VariantSchema"
import type * as SchemaAST from "effect/SchemaAST"
import { type ModelIndex, modelIndexesTypeId, type ShardKind } from "../FieldIndex.ts"
import { addressable } from "../shape/addressable.ts"
import { type FieldAttributes, loggedTypeId, modelAnnotation } from "../shape/annotations.ts"
import { attributesOf, type FieldInput, schemasOf } from "../shape/fields.ts"
import { assertShardKey, shardKeyTypeId } from "../shape/shardKey.ts"
import { assertStorable } from "../shape/storable.ts"
import {
  assertNotReserved,
  assertSeparable,
  elementOf,
  modelTypeId,
  type Validation,
  validationTypeId,
  type Variant,
  variants
} from "../shape/variants.ts"
import { type Arguments, validatedArguments } from "./constructorArguments.ts"
import { display } from "./display.ts"
import { mergePatchOf } from "./mergePatch.ts"

/** Makes the class of a model: the schemas of its variants, its attributes, and its constructor. */
export const makeClass = (
  name: string,
  fields: { readonly [key: string]: FieldInput },
  options: Options | undefined,
  versions: object
): unknown => {
  const all: { [key: string]: VariantSchema.Field<{ readonly [V in Variant]?: Schema.Top }> } = {}
  const attributes: { [key: string]: FieldAttributes } = {}
  for (const [key, declared] of Object.entries(fields)) {
    assertNotReserved(name, key)
    // A field named `id` is the identifier, however it is declared.
    attributes[key] = { ...(key === "id" ? { managed: "id" } : {}), ...attributesOf(declared) }
    const field = attributes[key].managed === "id" ? addressable(declared) : declared
    const { patch, ...schemas } = schemasOf(field)
    all[key] = variants.Field(
      patch === undefined ? schemas : { ...schemas, patch: Schema.optionalKey(mergePatchOf(patch)) }
    )
    for (const schema of [schemas.wire, schemas.create, patch]) {
      if (schema !== undefined) assertSeparable(name, key, schema, { suspended: false })
    }
    const visible = schemas.wire ?? schemas.store
    if (visible !== undefined) {
      assertStorable(name, key, visible.ast, { isVisible: schemas.wire !== undefined, suspended: false })
    }
  }
  if (options?.shardKey !== undefined) {
    assertShardKey(name, options.shardKey, {
      attributes,
      indexes: options.indexes ?? [],
      isList: (field) => {
        const { store } = schemasOf(fields[field]!)
        return store !== undefined && elementOf(store) !== undefined
      }
    })
  }
  const annotations = { [modelAnnotation]: () => Model }
  const Base = variants.Class<unknown>(name)(all, annotations)
  const wire = { _type: Schema.tag(name), ...Base.wire.fields }
  const own = {
    [modelTypeId]: attributes,
    [validationTypeId]: options?.validate,
    [modelIndexesTypeId]: options?.indexes ?? [],
    ...(options?.logged === undefined || options.logged === false
      ? {}
      : { [loggedTypeId]: options.logged === true ? {} : options.logged }),
    ...(options?.shardKey === undefined ? {} : { [shardKeyTypeId]: options.shardKey }),
    ...versions,
    modelName: name,
    store: withChecks(Base.store, options?.validators ?? []).annotate({
      ...annotations,
      identifier: `${name}Stored`
    }),
    wire: Schema.Struct(wire).annotate({ ...annotations, identifier: name }),
    create: Base.create.annotate({ ...annotations, identifier: `${name}Create` }),
    patch: Base.patch.annotate({ ...annotations, identifier: `${name}Patch` })
  }
  // The variants are static members of `Base`, which a class declaration can't redefine.
  class Model extends (Base as unknown as new(...args: Arguments) => object) {
    constructor(input: Arguments[0], options?: Arguments[1]) {
      // The loop below gives the class the members of a model.
      super(...validatedArguments(Model as never, input, options))
    }
    static make(input: Arguments[0], options?: Arguments[1]): unknown {
      return input instanceof this ? input : new this(input, options)
    }
  }
  for (const key of Reflect.ownKeys(own)) {
    Object.defineProperty(Model, key, { value: Reflect.get(own, key), enumerable: true })
  }
  Object.defineProperties(Model.prototype, display(name, attributes))
  return Model
}

/** The options of a model, for instances of any type. */
interface Options {
  readonly indexes?: ReadonlyArray<ModelIndex> | undefined
  readonly shardKey?: { readonly [field: string]: ShardKind | undefined } | undefined
  readonly validators?: ReadonlyArray<SchemaAST.Check<never>> | undefined
  readonly validate?: Validation | undefined
  readonly logged?: unknown
}

const withChecks = <S extends Schema.Top>(
  schema: S,
  [check, ...others]: ReadonlyArray<SchemaAST.Check<never>>
): S["Rebuild"] | S =>
  check === undefined
    ? schema
    // The checks apply to values of the schema's type.
    : (schema.check as (...checks: ReadonlyArray<SchemaAST.Check<never>>) => S["Rebuild"])(check, ...others)
