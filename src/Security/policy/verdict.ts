import type { Filter } from "../../Repository/DocumentStore.ts"

/**
 * What a permission or a rule says of documents: all of them, none, or those that match a filter.
 *
 * @internal
 */
export type Verdict = boolean | Filter

/** @internal */
export const both = (one: Verdict, other: Verdict): Verdict => {
  if (one === false || other === false) return false
  if (one === true) return other
  return other === true ? one : { $and: [one, other] }
}

/** @internal */
export const either = (one: Verdict, other: Verdict): Verdict => {
  if (one === true || other === true) return true
  if (one === false) return other
  return other === false ? one : { $or: [one, other] }
}

/** @internal */
export const contrary = (verdict: Verdict): Verdict => typeof verdict === "boolean" ? !verdict : { $nor: [verdict] }
