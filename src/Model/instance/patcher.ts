/** Applies changes to an instance and validates only what they change. */
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import { isPlainObject } from "../../internal/objects.ts"
import { childContext, collectingProblems, runInOrder, type ValidationContext } from "../codec/validationContext.ts"
import { fieldIssueOf } from "../codec/validity.ts"
import type { ModelError } from "../ModelError.ts"
import { type ModelLike, modelTypeId, nestedModel } from "../shape/variants.ts"
import { instantiatorOf, resolversOf } from "./finaliser.ts"

type Values = { readonly [key: string]: unknown }

export interface InstancePatch {
  readonly current: object
  /** The fields of the current instance with the changes applied. */
  readonly merged: Values
  /** The changes that were sent. Only the fields in it change. */
  readonly changes: Values
  /** Whether a caller sent the changes. */
  readonly isSent: boolean
}

/** Applies a patch: only patched fields are validated, and rules over several fields if one of them changes. */
export const patcher = (model: ModelLike): (patch: InstancePatch) => Effect.Effect<unknown, ModelError> => (patch) =>
  collectingProblems(model, patch.merged, (context) => planOf(model)(patch, context), patch.isSent)

/**
 * Tells whether changes are new values of whole fields that nothing else of an instance decides, each valid as it is. {@link patcher}
 * has to do the others: it converts and merges, removes fields, and says what is wrong.
 */
export const replacementGuard = (model: ModelLike): (changes: Values) => Effect.Effect<boolean> => {
  const issueFinders = new Map(
    Object.keys(model.store.fields).flatMap((key) => {
      const { converter, managed } = model[modelTypeId][key] ?? {}
      return converter !== undefined || managed !== undefined || nestedModel(model.store.fields[key]) !== undefined
        ? []
        : [[key, fieldIssueOf(model, key)] as const]
    })
  )
  return (changes) => {
    const issues: Array<Effect.Effect<unknown>> = []
    for (const [key, value] of Object.entries(changes)) {
      const issueOf = value === undefined || value === null ? undefined : issueFinders.get(key)
      if (issueOf === undefined) return Effect.succeed(false)
      issues.push(issueOf({ [key]: value }))
    }
    let isValid = true
    const checked = runInOrder(issues.length, (i) => issues[i], (_, issue) => {
      if (issue !== undefined) isValid = false
    })
    return Effect.mapEager(checked, () => isValid)
  }
}

type Plan = (patch: Omit<InstancePatch, "isSent">, context: ValidationContext) => Effect.Effect<unknown>

const planOf: (model: ModelLike) => Plan = memoize((model) => compile(model))

const compile = (model: ModelLike): Plan => {
  const instantiate = instantiatorOf(model)
  const fields = resolversOf(model).map((field) => ({
    ...field,
    inner: nestedModel(model.store.fields[field.key]),
    omitted: model[modelTypeId][field.key]?.omitted,
    isVersion: model[modelTypeId][field.key]?.managed === "version"
  }))
  return ({ changes, current, merged }, context) => {
    const values: Record<string, unknown> = { ...current }
    const patchedFields = fields.filter(({ isVersion, key }) =>
      !isVersion && Object.hasOwn(changes, key) && changes[key] !== undefined
    )
    const setValue = (i: number, value: unknown) => {
      const { key } = patchedFields[i]!
      if (value === undefined) delete values[key]
      else values[key] = value
    }
    const resolved = runInOrder(patchedFields.length, (i) => {
      const { inner, key, nullIsValue, omitted, resolve } = patchedFields[i]!
      const currentValue = values[key]
      const change = changes[key]
      // In a field where `null` is a value, `null` does not remove anything.
      const value = change === null ? null : merged[key]
      if (inner !== undefined && isInstance(currentValue) && isPlainObject(change) && isPlainObject(value)) {
        return planOf(inner)(
          { current: currentValue, merged: value, changes: change },
          childContext(context, key, omitted)
        )
      }
      const input = value === null && !nullIsValue ? undefined : value
      if (resolve === undefined) return setValue(i, input)
      // A patch replaces a list, but the new list may contain previous elements.
      return resolve(input, context, Array.isArray(input) ? currentValue : undefined)
    }, setValue)
    return Effect.flatMapEager(resolved, () => instantiate(values, context, current))
  }
}

const isInstance = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !isPlainObject(value)
