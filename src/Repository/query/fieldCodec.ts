/** Encodes the values of single fields, for conditions and updates. */
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import {
  elementOf,
  evolve,
  type FieldAttributes,
  isNullValue,
  type ModelLike,
  modelTypeId,
  nestedModel,
  unwrapped,
  variants,
  withoutChecks
} from "../../Model/internal.ts"
import * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import { encoderOf } from "./bsonForm.ts"

/** The codec of a field or of the elements of a list, with the properties that conditions and updates depend on. */
export interface FieldCodec {
  readonly attributes: FieldAttributes
  /** The schema of the value, without the wrappers for optionality and defaults. */
  readonly own: Schema.Top
  /** The nested model: of the field itself, of its elements, or of an optional value. */
  readonly model: ModelLike | undefined
  readonly isList: boolean
  /** Whether `null` is a value of the field, and not the absence of one. */
  readonly nullIsValue: boolean
  /** The codec of the elements of a list. */
  readonly element: () => FieldCodec | undefined
  /** The codec of an amount to add: a number of the same kind, without the field's bounds. */
  readonly amount: () => FieldCodec
  /** The codec of a factor to multiply by. */
  readonly factor: () => FieldCodec
  /** Encodes a value without validating it, because a query may look for an invalid value. */
  readonly encode: (value: unknown) => unknown
  /** Converts, validates and encodes a value. Returns `undefined` for a missing value that is not required. */
  readonly convertAndEncode: (value: unknown) => Effect.Effect<unknown, ModelError>
}

/** The codecs of a model's fields, by name. With `hidesValues`, their errors contain no values. */
export const fieldCodecsOf = (model: ModelLike, hidesValues: boolean): ReadonlyMap<string, FieldCodec> =>
  (hidesValues ? codecsHidingValues : codecs)(model)

/** The codec of one field. Errors about an omitted field, and about the fields in it, contain no values. */
export const fieldCodecOf = (name: string, schema: Schema.Top, attributes: FieldAttributes): FieldCodec => {
  let single: Model.Any | undefined
  let element: FieldCodec | undefined
  let amount: FieldCodec | undefined
  let factor: FieldCodec | undefined
  let encode: ((value: unknown) => unknown) | undefined
  const model = () => single ??= singleFieldModel(name, schema, attributes)
  const encoder = () => {
    const record = encoderOf(model(), "id")
    return (value: unknown) => record({ [name]: value })[name]
  }
  const item = elementOf(schema)
  const own = unwrapped(schema)
  const { omitted } = attributes
  return {
    attributes,
    own,
    model: nestedModel(schema),
    isList: item !== undefined,
    nullIsValue: isNullValue(schema, attributes),
    element: () => item === undefined ? undefined : element ??= fieldCodecOf(name, item, { omitted }),
    amount: () => amount ??= fieldCodecOf(name, withoutChecks(own), { omitted }),
    factor: () => factor ??= fieldCodecOf(name, Schema.Finite, { omitted }),
    encode: (value) => (encode ??= encoder())(value) ?? null,
    convertAndEncode: (value) =>
      Effect.map(
        // The model has this one field only.
        Model.finalise(model(), { [name]: value }),
        (instance) => (encode ??= encoder())(Reflect.get(Object(instance), name))
      )
  }
}

// internal

const compileCodecs = (hidesValues: boolean) =>
  memoize((model: ModelLike): ReadonlyMap<string, FieldCodec> =>
    new Map(
      Object.entries(model.store.fields).map(([name, schema]) => {
        const attributes = model[modelTypeId][name] ?? {}
        // Each field of a struct is a schema.
        const field = schema as Schema.Top
        return [name, fieldCodecOf(name, field, hidesValues ? { ...attributes, omitted: true } : attributes)]
      })
    )
  )

const codecs = compileCodecs(false)

const codecsHidingValues = compileCodecs(true)

// A model with one field: the model codec encodes, converts and validates the field like any other.
const singleFieldModel = (name: string, schema: Schema.Top, attributes: FieldAttributes): Model.Any => {
  const { converter, omitted, optional, unconverted } = attributes
  const field = evolve(variants.Field({ store: schema }), {}, { converter, omitted, optional, unconverted })
  return Model.Class<unknown>()("Part", { [name]: field })
}
