import type { EffectiveGrant, ModelDecision, RowFilters } from "../../Repository/introspection.ts"
import type { Caller } from "../Permission.ts"
import { areSameGrants, copyOf } from "./grantCopies.ts"
import type { ModelPolicy } from "./modelPolicy.ts"
import { linksByGrants } from "./permittedLinks.ts"
import { filtersOfAction, filtersOfCreation, filtersOfMethod } from "./rowFilters.ts"

type Grants = ReadonlyArray<EffectiveGrant>

/**
 * Decides what callers may do with the documents of an endpoint's model, by the grants that apply to them. The decision for a
 * user is used again as long as the same grants with the same filters apply. Each request evaluates its grants, and only the
 * decision that follows from them is kept. It is kept as long as the object of the user, which the cache of verified tokens holds.
 *
 * @internal
 */
export const endpointDecision = ({ hasLinks, isCall, name, ownIds, policy }: {
  readonly policy: ModelPolicy
  readonly hasLinks: boolean
  /** The numbers of the grants for the endpoint; the others are those for `GET` and, of a `POST`, for `PUT`. */
  readonly ownIds: ReadonlySet<number>
  readonly name: string
  readonly isCall: boolean
}): (user: Caller | undefined, grants: Grants) => ModelDecision => {
  const decide = (grants: Grants): ModelDecision => {
    const write = grants.filter(({ id }) => ownIds.has(id))
    const read = policy.forMethods(grants, ["GET"])
    const filtersBy = isCall
      ? (own: Grants): RowFilters => filtersOfAction(own, read)
      : name === "POST"
      ? filtersOfCreation(write, policy.forMethods(grants, ["PUT"]))
      : filtersOfMethod
    return {
      read,
      write,
      rows: filtersBy(write),
      rowsBy: (some) => filtersBy(write.filter((grant) => some.includes(grant))),
      links: hasLinks && policy.links !== undefined ? linksByGrants(policy.links, grants) : undefined,
      matcher: policy.matcher,
      reason: notAllowed
    }
  }
  const anonymous = {}
  const known = new WeakMap<object, { readonly grants: Grants; readonly decision: ModelDecision }>()
  return (user, grants) => {
    const before = known.get(user ?? anonymous)
    if (before !== undefined && areSameGrants(before.grants, grants)) return before.decision
    const copied = copyOf(grants)
    const decision = decide(copied)
    known.set(user ?? anonymous, { grants: copied, decision })
    return decision
  }
}

/** @internal */
export const notAllowed = "the caller's grants do not allow it"
