/**
 * The rules of a JSON schema: whether they accept a value, and which of them a value breaks.
 */
import type { BrokenRule } from "../../../internal/brokenRules.ts"
import { charge } from "../limits/costBudget.ts"
import type { Condition } from "../predicate/comparison.ts"

/** @internal */
export interface Rule {
  /** Whether a value that is there fulfils it. */
  readonly accepts: Condition
  /** What a value breaks that it does not accept. */
  readonly broken: (value: unknown, path: ReadonlyArray<string>) => ReadonlyArray<BrokenRule>
}

/**
 * A rule about a value as a whole.
 *
 * @internal
 */
export const rule = (keyword: string, accepts: Condition): Rule => ({
  accepts,
  broken: (_, path) => [{ path, keyword }]
})

/**
 * Several rules, each of which a value has to fulfil.
 *
 * @internal
 */
export const all = (rules: ReadonlyArray<Rule>): Rule => ({
  accepts: (value) => {
    charge(costOfRule * (1 + rules.length))
    return rules.every(({ accepts }) => accepts(value))
  },
  broken: (value, path) => rules.flatMap(({ accepts, broken }) => accepts(value) ? [] : broken(value, path))
})

/**
 * The keywords of a schema, as far as they are given.
 *
 * @internal
 */
export interface Keywords {
  readonly [keyword: string]: unknown
}

/**
 * Parses a schema within a schema; rejects what is none.
 *
 * @internal
 */
export type SchemaParser = (schema: unknown, keyword: string) => Rule

/**
 * The rules of some keywords of a schema.
 *
 * @internal
 */
export type RuleParser = (keywords: Keywords, parse: SchemaParser) => ReadonlyArray<Rule>

// internal

const costOfRule = 5
