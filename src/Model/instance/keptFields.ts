/** Which fields a replacement takes from the stored document when a client does not send them. */
import type { FieldAttributes } from "../shape/annotations.ts"
import { type ModelLike, modelTypeId, nestedModel, someFieldIn } from "../shape/variants.ts"

/** Whether a replacement without a value for the field keeps the previous value. */
export const keepsPrevious = ({ generator, readOnly }: FieldAttributes): boolean =>
  generator !== undefined || readOnly === true

/** The fields of which a replacement may keep the previous value, or a part of it. */
export const keptFields = (model: ModelLike): ReadonlyArray<string> =>
  Object.keys(model.store.fields).filter((key) => {
    const attributes = model[modelTypeId][key] ?? {}
    const nested = nestedModel(model.store.fields[key])
    return isKept(attributes) || attributes.managed === undefined && nested !== undefined && someFieldIn(nested, isKept)
  })

const isKept = (attributes: FieldAttributes): boolean => attributes.managed === undefined && keepsPrevious(attributes)

/** A stored value in the input of a write, which nobody has sent: it is neither converted nor replaced by a default. */
export class Kept {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}
