/** The view of a model without restrictions. Services without access control use it and load nothing of `Access`. */
import * as Result from "effect/Result"
import type { CallerDocuments, ModelView, WriteMask } from "../../Access/internal.ts"
import { formWithout } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"

/** The view of callers who see and write everything. */
export const wholeView = (model: Model.Any): ModelView => {
  const form = formWithout(model, [])
  const same: CallerDocuments = {
    isShown: () => true,
    formOf: () => form,
    form,
    updatesOf: () => [{ mask, allows: () => true, filters: undefined }],
    insertFiltersOf: () => Result.succeed(undefined),
    partlyHidden: undefined
  }
  return {
    model,
    hidden: [],
    mask,
    form,
    isReadable: true,
    dependsOnDocument: false,
    maskDependsOnDocument: false,
    same,
    of: () => same,
    ofCaller: () => same
  }
}

// internal

const no = () => false

const mask: WriteMask = {
  isEmpty: true,
  loose: [],
  needsCompletion: false,
  forbiddenIn: () => undefined,
  isUnwritable: no,
  isClosed: no,
  isHidden: no,
  touches: no,
  keep: (values) => Result.succeed(values)
}
