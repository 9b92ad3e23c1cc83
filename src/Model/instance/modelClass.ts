/** Builds the class that `Model.Class` returns: variants, attributes, constructor and static members. */
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import { memoize } from "effect/Function"
import * as Inspectable from "effect/Inspectable"
import * as Schema from "effect/Schema"
import type * as VariantSchema from "effect/schema/VariantSchema"
import type * as SchemaAST from "effect/SchemaAST"
import { problemsOf } from "../codec/fieldProblems.ts"
import { modelErrorOf } from "../codec/validationContext.ts"
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
  type ModelLike,
  modelTypeId,
  type Validation,
  validationTypeId,
  type Variant,
  variants
} from "../shape/variants.ts"
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

/** An instance without omitted fields, as in `JSON.stringify`, on the console and in logs. */
const display = (
  name: string,
  attributes: { readonly [key: string]: FieldAttributes }
): PropertyDescriptorMap => {
  if (Object.values(attributes).every(({ omitted }) => omitted !== true)) return {}
  const shown = (self: object): object =>
    Object.fromEntries(Object.entries(self).filter(([key]) => attributes[key]?.omitted !== true))
  return nonEnumerable({
    toString(this: object) {
      return `${name}(${Formatter.format(shown(this))})`
    },
    toJSON(this: object) {
      return shown(this)
    },
    [Inspectable.NodeInspectSymbol](this: object, _depth: number, options: object, inspect: Inspect) {
      return `${name} ${inspect(shown(this), options)}`
    }
  })
}

type Inspect = (value: unknown, options: object) => string

const nonEnumerable = (all: object): PropertyDescriptorMap =>
  Object.fromEntries(
    Reflect.ownKeys(all).map((key) => [
      key,
      { value: Reflect.get(all, key), configurable: true, writable: true, enumerable: false }
    ])
  )

type Arguments = [
  input: { readonly [field: string]: unknown },
  options?: Schema.MakeOptions | undefined
]

/** The validated arguments that a model's constructor passes on. Throws the `ModelError` that lists the fields. */
const validatedArguments = (model: ModelLike, ...[input, options]: Arguments): Arguments => {
  // Decoded values are valid, and the caller may disable the checks.
  if (options !== undefined && ("~payload" in options || options.disableChecks === true)) return [input, options]
  const values = makerOf(model).makeOption(input ?? {}, options)
  return values._tag === "Some"
    ? [values.value, { ...options, disableChecks: true }]
    : Effect.runSync(dieInvalid(model, input ?? {}))
}

/** The struct of an instance's own values. */
const makerOf: (model: ModelLike) => Schema.Struct<Schema.Struct.Fields> = memoize((model) =>
  // The fields of a class are those of its struct.
  Schema.Struct((model as unknown as { readonly fields: Schema.Struct.Fields }).fields)
)

const dieInvalid = (model: ModelLike, input: Arguments[0]): Effect.Effect<never> => {
  // Fields need no services.
  const made = makerOf(model).makeEffect(input, { parseOptions: { errors: "all" } }) as Effect.Effect<
    unknown,
    Parameters<typeof problemsOf>[0]
  >
  return Effect.matchEffect(made, {
    onFailure: (issue) => Effect.die(modelErrorOf(model, input, problemsOf(issue))),
    // A check that does not answer the same twice has accepted it.
    onSuccess: Effect.die
  })
}
