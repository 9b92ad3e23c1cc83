/**
 * Definitions of indexes, for every store: which are valid, and which are the same. A server completes
 * their collations by the defaults of their locale.
 */
import { EJSON } from "bson"
import * as Result from "effect/Result"
import type { Collation, IndexDescription } from "../DocumentStore.ts"
import { QueryRejected } from "../StoreError.ts"

/** A description whose options are either given or absent. */
type Definition = { readonly [K in keyof IndexDescription]: Exclude<IndexDescription[K], undefined> }

/** A description in canonical form: without defaults, its keys in a fixed order. */
export const normalised = (description: IndexDescription): Definition => {
  const { defaultLanguage, expireAfterSeconds, key, name, partialFilterExpression, sparse, unique } = description
  const weights = weightsOf(description).filter(([, weight]) => weight !== 1)
  const collation = shortened(description.collation)
  return {
    name,
    key: { ...key },
    ...unique === true ? { unique } : {},
    // A text index is always sparse; the server ignores the option.
    ...sparse === true && !isText(description) ? { sparse } : {},
    ...expireAfterSeconds === undefined ? {} : { expireAfterSeconds },
    ...partialFilterExpression === undefined ? {} : { partialFilterExpression },
    ...weights.length === 0 ? {} : { weights: Object.fromEntries(weights) },
    ...defaultLanguage === undefined || defaultLanguage === standardLanguage ? {} : { defaultLanguage },
    ...collation === undefined ? {} : { collation }
  }
}

const standardLanguage = "english"

export const isText = ({ key }: IndexDescription): boolean => Object.values(key).includes("text")

const weightsOf = ({ key, weights = {} }: IndexDescription): ReadonlyArray<readonly [path: string, weight: number]> =>
  Object.keys(key).toSorted().flatMap((path) => key[path] === "text" ? [[path, weights[path] ?? 1] as const] : [])

// The fields of a text index have no order.
const keyOf = (description: IndexDescription): ReadonlyArray<unknown> => [
  ...Object.entries(description.key).filter(([, kind]) => kind !== "text"),
  isText(description) ? Object.keys(description.key).findIndex((path) => description.key[path] === "text") : -1,
  weightsOf(description).map(([path]) => path)
]

const conditionOf = ({ partialFilterExpression }: IndexDescription): string =>
  partialFilterExpression === undefined ? "" : EJSON.stringify(partialFilterExpression)

// Some locales always normalise, which a server tells, and which changes hardly any order.
const collationOf = ({ collation }: IndexDescription): unknown => ({
  ...shortened(collation),
  normalization: undefined
})

// A collection can have only one index of an identity.
const identityOf = (description: IndexDescription): string =>
  isText(description)
    ? "text"
    : JSON.stringify([
      keyOf(description),
      description.unique === true,
      description.sparse === true,
      conditionOf(description),
      collationOf(description)
    ])

const definitionOf = (description: IndexDescription): string => {
  const { defaultLanguage, expireAfterSeconds, sparse, unique } = normalised(description)
  return JSON.stringify([
    keyOf(description),
    weightsOf(description),
    [unique, sparse, expireAfterSeconds, defaultLanguage],
    conditionOf(description),
    collationOf(description)
  ])
}

/** Whether two indexes exclude each other from one collection: they share the name or the identity. */
export const excludeEachOther = (a: IndexDescription, b: IndexDescription): boolean =>
  a.name === b.name || identityOf(a) === identityOf(b)

export const isSameIndex = (a: IndexDescription, b: IndexDescription): boolean =>
  a.name === b.name && definitionOf(a) === definitionOf(b)

/** The wanted indexes that are not installed. Fails when one conflicts with an installed index. */
export const missingIndexesOf = (
  operation: string,
  collection: string,
  wanted: ReadonlyArray<IndexDescription>,
  installed: ReadonlyArray<IndexDescription>
): Result.Result<ReadonlyArray<IndexDescription>, QueryRejected> => {
  const missing: Array<IndexDescription> = []
  for (const given of wanted) {
    const description = withDirections(given)
    const problem = definitionProblem(description)
    if (problem !== undefined) return Result.fail(new QueryRejected({ operation, detail: problem }))
    if (isIdentifier(description)) continue
    const index = normalised(description)
    const others = [...installed, ...missing].filter((other) => excludeEachOther(other, index))
    const other = others.find((other) => !isSameIndex(other, index))
    if (other !== undefined) return Result.fail(conflict(operation, collection, index, normalised(other)))
    if (others.length === 0) missing.push(index)
  }
  return Result.succeed(missing)
}

const withDirections = (description: IndexDescription): IndexDescription => ({
  ...description,
  // What is neither a direction nor a kind is rejected next.
  key: Object.fromEntries(
    Object.entries(description.key).map(([path, kind]) => [path, directionOf(kind)])
  ) as IndexDescription["key"]
})

/** A number of any BSON type as JavaScript's; anything else is returned as it is. */
const directionOf = (kind: unknown): unknown =>
  typeof kind === "object" && kind !== null && "_bsontype" in kind ? Number(kind) : kind

const conflict = (
  operation: string,
  collection: string,
  index: IndexDescription,
  other: IndexDescription
): QueryRejected => {
  const [installed, requested] = [EJSON.stringify(other), EJSON.stringify(index)]
  return new QueryRejected({
    operation,
    detail: `the index "${index.name}" of "${collection}" is in conflict with one that is there: ${installed} is `
      + `installed, ${requested} is asked for`,
    conflict: { collection, index: index.name, installed, requested }
  })
}

// Every collection has this index.
const isIdentifier = ({ key }: IndexDescription): boolean =>
  Object.keys(key).length === 1 && (key["_id"] === 1 || key["_id"] === -1)

const maxSeconds = 2 ** 31 - 1

/** Why a description is invalid in every store, if it is. */
const definitionProblem = (description: IndexDescription): string | undefined => {
  const { expireAfterSeconds, key, name, partialFilterExpression, sparse, unique, weights = {} } = description
  const fields = Object.entries(key)
  if (name === "" || name === "*" || fields.length === 0) return "an index needs a name and at least one path"
  const wrong = fields.find(([path, kind]) =>
    (kind !== 1 && kind !== -1 && typeof kind !== "string")
    || path.split(".").some((segment) => segment === "" || (segment.startsWith("$") && segment !== "$**"))
  )
  if (wrong !== undefined) return `"${wrong[0]}" can't be indexed by ${wrong[1]}`
  if (sparse === true && partialFilterExpression !== undefined) return `the index "${name}" is both sparse and partial`
  if (unique === true && isText(description)) return `the text index "${name}" can't be unique`
  if (unique === true && fields.some(([, kind]) => kind === "hashed")) {
    return `the index "${name}" of hashes can't be unique`
  }
  if (shortened(description.collation) !== undefined && (isText(description) || isIdentifier(description))) {
    return `the index "${name}" can't have a collation: that takes other fields than _id, and no text index`
  }
  const isExpiring = expireAfterSeconds !== undefined
  if (isExpiring && (fields.length > 1 || isIdentifier(description) || typeof fields[0]?.[1] === "string")) {
    return `the index "${name}" can't make documents expire: that takes one field other than _id`
  }
  if (
    isExpiring && !(Number.isInteger(expireAfterSeconds) && expireAfterSeconds >= 0 && expireAfterSeconds <= maxSeconds)
  ) {
    return `the index "${name}" needs a whole number of seconds from 0 to ${maxSeconds}, not ${expireAfterSeconds}`
  }
  const weight = Object.entries(weights).find(([path, weight]) =>
    key[path] !== "text" || !Number.isInteger(weight) || weight < 1 || weight > 99_999
  )
  return weight === undefined
    ? undefined
    : `the index "${name}" can't give "${weight[0]}" the weight ${weight[1]}: it takes a text field and 1 to 99,999`
}

/** A collation without what its locale means anyway, its fields in a fixed order; `undefined` for the simple one. */
const shortened = (collation: Collation | undefined): Collation | undefined => {
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
