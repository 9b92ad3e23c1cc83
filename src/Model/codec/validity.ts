import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import { perModel } from "../shape/perModel.ts"
import type { ModelLike } from "../shape/variants.ts"
import { inOrder, type Place, report, validator } from "./place.ts"

/**
 * What a model asks of the values of its fields, its own rules for several of them included, but for what its `validate`
 * says.
 *
 * @internal
 */
export interface Validity {
  /** What is wrong with the values. */
  readonly issueOf: (values: unknown) => Effect.Effect<SchemaIssue.Issue | undefined>
  /** Whether a field has another value than in the instance before. */
  readonly isChanged: (values: unknown, previous: unknown) => boolean
  /**
   * Adds to the problems what is wrong with values that changed, and says whether nothing is. Rules for several fields
   * are asked when each is valid by itself.
   */
  readonly reportChanges: (values: unknown, place: Place, previous: unknown) => Effect.Effect<boolean>
}

/** @internal */
export const validityOf: (model: ModelLike) => Validity = perModel((model) => {
  const names = Object.keys(model.store.fields)
  const changedIn = (values: unknown, previous: unknown) =>
    names.filter((name) => !Equal.equals(valueAt(values, name), valueAt(previous, name)))
  return {
    issueOf: validator(Schema.toType(model.store)),
    isChanged: (values, previous) => changedIn(values, previous).length > 0,
    reportChanges: (values, place, previous) => {
      const changed = changedIn(values, previous)
      const { issueOfField, issueOfRules } = separateOf(model)
      let isValid = true
      const found = (part: unknown) => (issue: SchemaIssue.Issue | undefined) => {
        if (issue === undefined) return
        isValid = false
        report(issue, part, place)
      }
      const ofFields = inOrder(changed.length, (i) => {
        const name = changed[i]!
        const value = valueAt(values, name)
        const part = value === undefined ? {} : { [name]: value }
        return Effect.mapEager(issueOfField(name)(part), found(part))
      }, () => {})
      return Effect.flatMapEager(ofFields, () =>
        isValid && changed.length > 0
          ? Effect.mapEager(Effect.mapEager(issueOfRules(values), found(values)), () => isValid)
          : Effect.succeed(isValid))
    }
  }
})

/** Each field as a struct of its own, and the rules without the fields: needed only where something is wrong. */
const separateOf = perModel((model) => {
  const fields = new Map<string, ReturnType<typeof validator>>()
  return {
    issueOfField: (name: string) => {
      // A name comes from the model, so that there are no more than fields.
      const issueOf = fields.get(name) ??
        validator(Schema.toType(Schema.Struct({ [name]: model.store.fields[name]! })))
      fields.set(name, issueOf)
      return issueOf
    },
    issueOfRules: validator(withChecks(model.store.ast.checks ?? []))
  }
})

const withChecks = ([check, ...others]: ReadonlyArray<SchemaAST.Check<never>>): Schema.Top =>
  check === undefined
    ? Schema.Unknown
    // The checks are for values of the model's fields, which they get.
    : (Schema.Never.check as (...checks: ReadonlyArray<SchemaAST.Check<never>>) => Schema.Top)
      .call(Schema.Unknown, check, ...others)

const valueAt = (values: unknown, name: string): unknown =>
  // An instance has its fields as own properties.
  (values as { readonly [name: string]: unknown })[name]
