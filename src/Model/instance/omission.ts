/** Leaves out what no caller sees. */
import { type ModelLike, modelTypeId, nestedModel } from "../shape/variants.ts"

/** Any record of fields. */
interface Fields {
  readonly [field: string]: unknown
}

/** A record of a model in its stored form without the fields that the model omits, in nested models too. */
export const withoutOmitted = (model: ModelLike, record: Fields): Fields =>
  Object.fromEntries(
    Object.entries(record).filter(([key]) => model[modelTypeId][key]?.omitted !== true).map(([key, value]) => {
      const inner = nestedModel(model.store.fields[key])
      // The stored form of a nested model is a record.
      const skip = (part: unknown) =>
        inner !== undefined && part instanceof Object ? withoutOmitted(inner, part as Fields) : part
      return [key, Array.isArray(value) ? value.map(skip) : skip(value)]
    })
  )
