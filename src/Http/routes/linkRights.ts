import * as Effect from "effect/Effect"
import type { Filter } from "../../Repository/DocumentStore.ts"
import type { Rules } from "../../Security/Grant.ts"
import { type Held, heldBy, isOfDocument, rulesFor, type Situation } from "../../Security/introspection.ts"
import type { Failure } from "../../Security/Permission.ts"
import { linkedEndpoints } from "../response/links.ts"
import type { Rights } from "../view/callerView.ts"
import { allOf, reachOf } from "./reach.ts"
import type { ServedResource } from "./served.ts"

/**
 * The rules of the endpoints that the links of a registration's documents list.
 *
 * @internal
 */
export interface LinkRules {
  /** The rules of all these endpoints, as their numbers. */
  readonly numbers: ReadonlyArray<number>
  /** Those of them that may depend on the document. */
  readonly ofDocument: ReadonlySet<number>
  /** The rules of each endpoint, in the order of the links. */
  readonly endpoints: ReadonlyArray<{
    readonly kind: "document" | "collection" | "action"
    readonly numbers: ReadonlySet<number>
  }>
  /** The rules for `GET`. */
  readonly reading: ReadonlySet<number>
}

/**
 * The rules of a registration's links, prepared once; `undefined` if its documents have no links.
 *
 * @internal
 */
export const linkRulesOf = (registration: ServedResource): LinkRules | undefined => {
  const { enableHateoas, rules } = registration
  if (!enableHateoas) return undefined
  const endpoints = linkedEndpoints(registration).map(({ isCall, name }) => ({
    kind: isCall ? "action" as const : name === "POST" ? "collection" as const : "document" as const,
    numbers: new Set(rulesFor(rules, name, isCall))
  }))
  const reading = new Set(rulesFor(rules, "GET", false))
  const numbers = [...new Set([...reading, ...endpoints.flatMap(({ numbers }) => [...numbers])])]
  const ofDocument = numbers.filter((number) => {
    const rule = rules.grants[number]
    return rule !== undefined && isOfDocument(rule.permission)
  })
  return { numbers, ofDocument: new Set(ofDocument), endpoints, reading }
}

/** A value, or the effect that computes it. */
type Maybe<A> = A | Effect.Effect<A, Failure>

/**
 * What the links of a route's documents list, which the caller has read, if no rule depends on a document that is not known.
 * `held` are the rules that the caller holds for the request.
 *
 * @internal
 */
export const rightsByRules = (links: LinkRules, held: ReadonlyArray<Held>): Rights | undefined =>
  links.ofDocument.size === 0 ? rightsOf(links, held, { isRead: true }) : undefined

/**
 * {@link rightsByRules} if some rule does.
 *
 * @internal
 */
export const rightsOfRoute = (
  rules: Rules,
  links: LinkRules,
  held: ReadonlyArray<Held>,
  situation: Situation
): Maybe<Rights> => {
  const { ofDocument } = links
  const others = held.filter(({ id }) => !ofDocument.has(id))
  return mapped(
    heldBy(rules, [...ofDocument], { ...situation, document: undefined }),
    (possible) => rightsOf(links, [...others, ...possible], { isRead: true })
  )
}

/**
 * What the links of a registration's documents list, whichever documents these are.
 *
 * @internal
 */
export const rightsElsewhere = (
  rules: Rules,
  links: LinkRules,
  situation: Omit<Situation, "document">
): Maybe<Rights> =>
  mapped(
    heldBy(rules, links.numbers, { ...situation, document: undefined }),
    (held) => rightsOf(links, held, { isRead: false })
  )

const mapped = <A, B>(value: Maybe<A>, f: (value: A) => B): Maybe<B> =>
  Effect.isEffect(value) ? Effect.map(value, f) : f(value)

/** What a permission says of a document is not known before there is one, and may hold. */
const rightsOf = (
  { endpoints, reading }: LinkRules,
  held: ReadonlyArray<Held>,
  { isRead }: { readonly isRead: boolean }
): Rights => {
  const known = new Map<string, Filter | undefined>()
  // Endpoints with the same rules have the same filter, which is then evaluated once for a document.
  const reachBy = (some: ReadonlyArray<Held>): Filter | undefined => {
    const key = some.map(({ id }) => id).join()
    if (!known.has(key)) known.set(key, reachOf(some))
    return known.get(key)
  }
  const readable = held.filter(({ id }) => reading.has(id))
  const read = readable.length === 0 ? undefined : reachBy(readable)
  return endpoints.map(({ kind, numbers }) => {
    const own = held.filter(({ id }) => numbers.has(id))
    if (own.length === 0) return false
    if (kind === "collection") return true
    const reach = reachBy(own)
    if (isRead) return reach === undefined || reach === read ? true : reach
    return (kind === "action" ? allOf(reach, read) : reach) ?? true
  })
}
