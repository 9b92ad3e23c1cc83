/** Reads collations: what `Intl` can compare by, in MongoDB's terms. */
import type { Collation } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { Collator } from "../bson/collator.ts"
import { type Problem, queryProblem, unsupported } from "../limits/queryProblem.ts"

/** The collator of a collation; `undefined` for the simple one, which compares texts by their code points. */
export const parseCollation = (collation: Collation | undefined): Result.Result<Collator | undefined, Problem> => {
  if (collation === undefined) return simple
  const known = collators.get(JSON.stringify(collation))
  if (known !== undefined) return Result.succeed(known)
  const problem = collationProblem(collation)
  if (problem !== undefined) return Result.fail(problem)
  if (collation.locale === "simple") return simple
  return Result.flatMap(toTag(collation.locale), (locale) => {
    const unfit = unfitFor(locale, collation)
    if (unfit !== undefined) return Result.fail(unfit)
    const collator = new Collator(locale, optionsOf(collation))
    // There is one for each way to write it in the program.
    if (collators.size < maxKnown) collators.set(JSON.stringify(collation), collator)
    return Result.succeed(collator)
  })
}

// internal

const simple: Result.Result<undefined> = Result.succeed(undefined)

const collators = new Map<string, Collator>()

const maxKnown = 100

const fields: { readonly [field in keyof Collation]-?: ReadonlyArray<unknown> } = {
  locale: [],
  strength: [1, 2, 3, 4, 5],
  caseLevel: [true, false],
  caseFirst: ["upper", "lower", "off"],
  numericOrdering: [true, false],
  alternate: ["non-ignorable", "shifted"],
  maxVariable: ["punct", "space"],
  backwards: [true, false],
  normalization: [true, false]
}

const collationProblem = (collation: Collation): Problem | undefined => {
  const { alternate, backwards, caseLevel = false, locale, maxVariable, strength = 3 } = collation
  if (typeof locale !== "string") return queryProblem("a collation needs a locale")
  const values = new Map<string, ReadonlyArray<unknown>>(Object.entries(fields))
  for (const [field, value] of Object.entries(collation)) {
    const allowed = values.get(field)
    if (allowed === undefined) return queryProblem(`a collation has no "${field}"`)
    if (field !== "locale" && value !== undefined && !allowed.includes(value)) {
      return queryProblem(`the ${field} of a collation is one of ${allowed.join(", ")}`)
    }
  }
  if (locale === "simple") {
    return Object.values(collation).filter((value) => value !== undefined).length > 1
      ? queryProblem("the simple collation has no other options")
      : undefined
  }
  if (strength > 3) return unsupported(`a collation of strength ${strength}`)
  if (caseLevel && strength > 1) return unsupported(`a collation of strength ${strength} with a caseLevel`)
  if (alternate === "shifted" && maxVariable === "space") return unsupported("a collation whose maxVariable is space")
  // `Intl` has no option for it.
  return backwards === undefined || backwards === isBackwards(locale)
    ? undefined
    : unsupported(`a collation of "${locale}" whose backwards is ${backwards}`)
}

// Only the French of Canada compares accents from the end.
const isBackwards = (locale: string): boolean => /^fr_CA\b/.test(locale)

/** Like MongoDB, rejects what can't have an effect, even if it is the rule of the locale. */
const unfitFor = (
  tag: string,
  { caseFirst, caseLevel = false, locale, strength = 3 }: Collation
): Problem | undefined => {
  const rule = caseFirst ?? new Intl.Collator(tag).resolvedOptions().caseFirst
  if (rule !== "off" && rule !== "false" && strength < 3 && !caseLevel) {
    return queryProblem(`a collation of "${locale}" of strength ${strength} needs a caseLevel, or a caseFirst of off`)
  }
  return isBackwards(locale) && strength === 1
    ? queryProblem(`a collation of "${locale}", which compares accents backwards, needs a strength from 2`)
    : undefined
}

/** The tag of a locale in MongoDB's spelling, which is ICU's: `de@collation=phonebook`. */
const toTag = (locale: string): Result.Result<string, Problem> => {
  const [, name = "", given] = /^(\w+)(?:@collation=(\w+))?$/u.exec(locale) ?? []
  const kind = given === undefined ? undefined : kinds.get(given) ?? given
  const language = name.replaceAll("_", "-")
  const tag = kind === undefined ? language : `${language}-u-co-${kind}`
  const [supported] = Result.getOrElse(Result.try(() => Intl.Collator.supportedLocalesOf(tag)), () => [])
  if (supported === undefined) return Result.fail(queryProblem(`a collation has no locale "${locale}"`))
  // `Intl` leaves out what it does not know.
  if (name === "en_US_POSIX" || (kind !== undefined && otherKinds.has(kind))) {
    return Result.fail(unsupported(`a collation of the locale "${locale}"`))
  }
  const resolved = new Intl.Collator(supported).resolvedOptions()
  // Another locale that Intl would take instead is none.
  const isKnown = resolved.locale.replace(/-u-.*$/, "") === language
    && (kind === undefined || resolved.collation === kind || (kind === "pinyin" && language === "zh"))
  return isKnown ? Result.succeed(supported) : Result.fail(queryProblem(`a collation has no locale "${locale}"`))
}

const otherKinds = new Set(["standard", "search", "searchjl"])

// ICU's names of kinds of collations that are shorter in tags.
const kinds = new Map([
  ["phonebook", "phonebk"],
  ["traditional", "trad"],
  ["dictionary", "dict"],
  ["gb2312han", "gb2312"]
])

const optionsOf = (collation: Collation): Intl.CollatorOptions => {
  const { alternate, caseFirst, caseLevel = false, numericOrdering, strength = 3 } = collation
  return {
    usage: "sort",
    sensitivity: strength === 3 ? "variant" : strength === 2 ? "accent" : caseLevel ? "case" : "base",
    ...caseFirst === undefined ? {} : { caseFirst: caseFirst === "off" ? "false" : caseFirst },
    ...numericOrdering === undefined ? {} : { numeric: numericOrdering },
    ...alternate === undefined ? {} : { ignorePunctuation: alternate === "shifted" }
  }
}
