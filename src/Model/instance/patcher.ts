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
export const patcher = (model: ModelLike): (patch: InstancePatch) => Effect.Effect<unknown, ModelError> => {
  const plan = planOf(model)
  return (patch) => collectingProblems(model, patch.merged, (context) => plan(patch, context), patch.isSent)
}

/**
 * Validates changes that replace fields as a whole, apart from the instance. Succeeds with the values of the fields; with `undefined`
 * if one of the changes may depend on the instance, or is not valid: then {@link patcher} tells.
 */
export const replacementsOf = (model: ModelLike): Replacements => {
  const fields = new Map(
    resolversOf(model).filter(({ key }) =>
      model[modelTypeId][key]?.managed === undefined && nestedModel(model.store.fields[key]) === undefined
    ).map(({ key, resolve }) => [key, { resolve, issueOf: fieldIssueOf(model, key) }] as const)
  )
  return (changes, isSent) =>
    Effect.withFiber((fiber) => {
      const named = Object.keys(changes)
      const context: ValidationContext = { fiber, path: "", isConfidential: false, isSent, problems: [] }
      const values: Record<string, unknown> = {}
      let isValid = true
      const changed = runInOrder(named.length, (i) => {
        const key = named[i]!
        const field = fields.get(key)
        const change = changes[key]
        if (field === undefined || change === undefined || change === null) isValid = false
        if (!isValid) return
        // The field is there, as is checked above.
        const { issueOf, resolve } = field!
        return Effect.flatMapEager(
          resolve === undefined ? Effect.succeed(change) : resolve(change, context),
          (value) => {
            values[key] = value
            return Effect.mapEager(issueOf({ [key]: value }), (issue) => {
              if (issue !== undefined) isValid = false
            })
          }
        )
      }, () => {})
      return Effect.mapEager(changed, () => isValid && context.problems.length === 0 ? values : undefined)
    })
}

export type Replacements = (changes: Values, isSent: boolean) => Effect.Effect<Values | undefined>

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
