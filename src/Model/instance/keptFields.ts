import type { FieldAttributes } from "../shape/annotations.ts"
import { type ModelLike, modelTypeId, nestedModel } from "../shape/variants.ts"

/**
 * Whether a replacement without a value for the field keeps the previous value.
 *
 * @internal
 */
export const keepsPrevious = ({ generator, readOnly }: FieldAttributes): boolean =>
  generator !== undefined || readOnly === true

/**
 * The fields of which a replacement may keep the previous value, or a part of it.
 *
 * @internal
 */
export const keptFields = (model: ModelLike): ReadonlyArray<string> => {
  const seen = new Set<ModelLike>()
  const isKept = (model: ModelLike, key: string): boolean => {
    const attributes = model[modelTypeId][key] ?? {}
    const nested = nestedModel(model.store.fields[key])
    return attributes.managed === undefined && (keepsPrevious(attributes) || nested !== undefined && hasKept(nested))
  }
  const hasKept = (model: ModelLike): boolean => {
    if (seen.has(model)) return false
    seen.add(model)
    return Object.keys(model.store.fields).some((key) => isKept(model, key))
  }
  return Object.keys(model.store.fields).filter((key) => {
    seen.clear()
    return isKept(model, key)
  })
}
