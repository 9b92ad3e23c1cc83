/** Validates either all fields of an instance or only those that differ from the previous one. */
import { getOrMake } from "@appkernel/document-store/internal"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import { ownValue } from "../../internal/objects.ts"
import type { ModelLike } from "../shape/variants.ts"
import { issueFinder, reportIssue, runInOrder, type ValidationContext } from "./validationContext.ts"

/** The checks of a model's fields and its checks over several fields, without the model's own `validate`. */
export interface Validity {
  /** The issue of the values, if they have one. */
  readonly issueOf: (values: unknown) => Effect.Effect<SchemaIssue.Issue | undefined>
  /** Whether a field differs from the previous instance. */
  readonly isChanged: (values: unknown, previous: unknown) => boolean
  /** Reports issues of changed values. Rules over several fields run only if each changed field is valid. */
  readonly reportChanges: (values: unknown, context: ValidationContext, previous: unknown) => Effect.Effect<boolean>
}

export const validityOf: (model: ModelLike) => Validity = memoize((model) => {
  const names = Object.keys(model.store.fields)
  const changedFields = (values: unknown, previous: unknown) =>
    names.filter((name) => !Equal.equals(ownValue(values, name), ownValue(previous, name)))
  return {
    issueOf: issueFinder(Schema.toType(model.store)),
    isChanged: (values, previous) => changedFields(values, previous).length > 0,
    reportChanges: (values, context, previous) => {
      const changed = changedFields(values, previous)
      const { issueOfField, issueOfRules } = partialValidatorsOf(model)
      let isValid = true
      const addIssue = (part: unknown) => (issue: SchemaIssue.Issue | undefined) => {
        if (issue === undefined) return
        isValid = false
        reportIssue(issue, part, context)
      }
      const fieldsChecked = runInOrder(changed.length, (i) => {
        const name = changed[i]!
        const value = ownValue(values, name)
        const part = value === undefined ? {} : { [name]: value }
        return Effect.mapEager(issueOfField(name)(part), addIssue(part))
      }, () => {})
      return Effect.flatMapEager(fieldsChecked, () =>
        isValid && changed.length > 0
          ? Effect.mapEager(Effect.mapEager(issueOfRules(values), addIssue(values)), () => isValid)
          : Effect.succeed(isValid))
    }
  }
})

/** Validators for each field and for the rules alone, to separate new issues from old ones. */
const partialValidatorsOf = memoize((model: ModelLike) => {
  const fields = new Map<string, ReturnType<typeof issueFinder>>()
  return {
    // The keys are the model's field names, so the map is bounded.
    issueOfField: (name: string) =>
      getOrMake(fields, name, () => issueFinder(Schema.toType(Schema.Struct({ [name]: model.store.fields[name]! })))),
    issueOfRules: issueFinder(withChecks(model.store.ast.checks ?? []))
  }
})

const withChecks = ([check, ...others]: ReadonlyArray<SchemaAST.Check<never>>): Schema.Top =>
  check === undefined
    ? Schema.Unknown
    // The checks get the values of the model's fields that they were written for.
    : (Schema.Never.check as (...checks: ReadonlyArray<SchemaAST.Check<never>>) => Schema.Top)
      .call(Schema.Unknown, check, ...others)

/** The issue of an object of one field's value, if it has one. */
export const fieldIssueOf = (model: ModelLike, name: string): ReturnType<typeof issueFinder> =>
  partialValidatorsOf(model).issueOfField(name)
