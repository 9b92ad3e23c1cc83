/**
 * Collations of indexes in one form, for every store: a server completes them by the defaults of their locale.
 */
import * as Result from "effect/Result"
import type { Collation } from "../DocumentStore.ts"

/**
 * A collation without what its locale means anyway, its fields in a fixed order; `undefined` for the simple one.
 *
 * @internal
 */
export const shortened = (collation: Collation | undefined): Collation | undefined => {
  if (collation === undefined || collation.locale === "simple") return undefined
  const { alternate, backwards, caseFirst, caseLevel, locale, maxVariable, normalization, numericOrdering, strength } =
    collation
  const usual = defaultsOf(locale)
  return {
    locale,
    ...strength === undefined || strength === 3 ? {} : { strength },
    ...caseLevel === true ? { caseLevel } : {},
    ...caseFirst === undefined || caseFirst === usual.caseFirst ? {} : { caseFirst },
    ...numericOrdering === true ? { numericOrdering } : {},
    ...alternate === undefined || alternate === usual.alternate ? {} : { alternate },
    ...maxVariable === undefined || maxVariable === "punct" ? {} : { maxVariable },
    ...backwards === undefined || backwards === usual.backwards ? {} : { backwards },
    ...normalization === true ? { normalization } : {}
  }
}

// internal

type Defaults = Required<Pick<Collation, "caseFirst" | "alternate" | "backwards">>

const defaultsOf = (locale: string): Defaults => {
  const tag = locale.replace(/@.*$/, "").replaceAll("_", "-")
  // The store rejects what is no locale.
  const { caseFirst, ignorePunctuation } = Result.getOrElse(
    Result.try(() => new Intl.Collator(tag).resolvedOptions()),
    () => ({ caseFirst: "false", ignorePunctuation: false })
  )
  return {
    caseFirst: caseFirst === "upper" || caseFirst === "lower" ? caseFirst : "off",
    alternate: ignorePunctuation ? "shifted" : "non-ignorable",
    backwards: /^fr-CA\b/.test(tag)
  }
}
