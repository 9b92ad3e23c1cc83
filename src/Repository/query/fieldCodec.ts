import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import {
  elementOf,
  evolve,
  type FieldAttributes,
  isNullValue,
  type ModelLike,
  modelTypeId,
  nestedModel,
  perModel,
  unwrapped,
  variants,
  withoutChecks
} from "../../Model/introspection.ts"
import * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import { encoderOf } from "./bsonForm.ts"

/**
 * A field by itself, or the elements of a list: what conditions and updates have to know of it.
 *
 * @internal
 */
export interface FieldPart {
  readonly attributes: FieldAttributes
  /** The schema of the value, without what optionality and defaults put around it. */
  readonly own: Schema.Top
  /** The model that it holds: alone, in a list, or perhaps not at all. */
  readonly model: ModelLike | undefined
  readonly isList: boolean
  /** Whether `null` is a value, and not the same as nothing. */
  readonly nullIsValue: boolean
  /** The elements, if it is a list. */
  readonly element: () => FieldPart | undefined
  /** What can be added to the value: a number of its kind, within no bounds. */
  readonly amount: () => FieldPart
  /** What the value can be multiplied by. */
  readonly factor: () => FieldPart
  /** A value as documents have it. Validators are not asked: one may look for what may not be written. */
  readonly encode: (value: unknown) => unknown
  /**
   * A value as documents have it, once it went through the field's converter and validators; `undefined` when there is
   * none and need not be.
   */
  readonly accept: (value: unknown) => Effect.Effect<unknown, ModelError>
}

/**
 * The parts that the fields of a model are, by name.
 *
 * @internal
 */
export const partsOf = (model: ModelLike, discreet: boolean): ReadonlyMap<string, FieldPart> =>
  (discreet ? discreetParts : openParts)(model)

/**
 * What is told of the values of omitted fields, and of all in them, is told without the values.
 *
 * @internal
 */
export const partOf = (name: string, schema: Schema.Top, attributes: FieldAttributes): FieldPart => {
  let alone: Model.Any | undefined
  let element: FieldPart | undefined
  let amount: FieldPart | undefined
  let factor: FieldPart | undefined
  let encode: ((value: unknown) => unknown) | undefined
  const model = () => alone ??= modelOf(name, schema, attributes)
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
    element: () => item === undefined ? undefined : element ??= partOf(name, item, { omitted }),
    amount: () => amount ??= partOf(name, withoutChecks(own), { omitted }),
    factor: () => factor ??= partOf(name, Schema.Finite, { omitted }),
    encode: (value) => (encode ??= encoder())(value) ?? null,
    accept: (value) =>
      Effect.map(
        // The only field is the one that there is a value for.
        Model.finalise(model(), { [name]: value }),
        (instance) => (encode ??= encoder())(Reflect.get(Object(instance), name))
      )
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const parts = (discreet: boolean) =>
  perModel((model: ModelLike): ReadonlyMap<string, FieldPart> =>
    new Map(
      Object.entries(model.store.fields).map(([name, schema]) => {
        const attributes = model[modelTypeId][name] ?? {}
        // A field of a struct is a schema.
        return [name, partOf(name, schema as Schema.Top, discreet ? { ...attributes, omitted: true } : attributes)]
      })
    )
  )

const openParts = parts(false)

const discreetParts = parts(true)

// A field is encoded, converted and validated as that of a model without any other.
const modelOf = (name: string, schema: Schema.Top, attributes: FieldAttributes): Model.Any => {
  const { converter, omitted, optional, unconverted } = attributes
  const field = evolve(variants.Field({ store: schema }), {}, { converter, omitted, optional, unconverted })
  return Model.Class<unknown>()("Part", { [name]: field })
}
