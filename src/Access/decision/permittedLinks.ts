/** Which links of a document its grants permit: those that a caller would be allowed to follow. */
import * as Effect from "effect/Effect"
import type { Filter } from "../../Repository/DocumentStore.ts"
import { allOf, type EffectiveGrant, type Matcher, type PermittedLinks } from "../../Repository/internal.ts"
import type { Rules } from "../Grant.ts"
import type { Failure } from "../Permission.ts"
import { type AccessRequest, dependsOnDocument, effectiveGrants } from "./effectiveGrants.ts"
import { rowsOf } from "./rowFilters.ts"

/** The endpoints that links list. */
export type Linked = ReadonlyArray<{ readonly name: string; readonly isOperation: boolean }>

/** The grants for the endpoints that links list. */
export interface LinkPolicy {
  /** The numbers of the grants for all these endpoints. */
  readonly ids: ReadonlyArray<number>
  /** The numbers of those grants that may depend on the document. */
  readonly ofDocument: ReadonlySet<number>
  /** In the order of the links. */
  readonly endpoints: ReadonlyArray<{
    readonly kind: "document" | "collection" | "action"
    readonly ids: ReadonlySet<number>
  }>
  /** The grants for `GET`. */
  readonly reading: ReadonlySet<number>
  readonly matcher: Matcher
}

type Grants = ReadonlyArray<EffectiveGrant>

export const linkPolicy = (rules: Rules, linked: Linked, matcher: Matcher): LinkPolicy => {
  const endpoints = linked.map(({ isOperation, name }) => ({
    kind: isOperation ? "action" as const : name === "POST" ? "collection" as const : "document" as const,
    ids: new Set(rules.idsFor(name, isOperation))
  }))
  const reading = new Set(rules.idsFor("GET", false))
  const ids = [...new Set([...reading, ...endpoints.flatMap(({ ids }) => [...ids])])]
  const ofDocument = ids.filter((id) => {
    const rule = rules.grants[id]
    return rule !== undefined && dependsOnDocument(rule.permission)
  })
  return { ids, ofDocument: new Set(ofDocument), endpoints, reading, matcher }
}

/** What links list, by the grants; `undefined` if some depend on the document: see {@link linksOfRequest}. */
export const linksByGrants = (links: LinkPolicy, grants: Grants): PermittedLinks | undefined =>
  links.ofDocument.size === 0 ? permittedLinks(links, grants, { isRead: true }) : undefined

/** What links list of documents that the caller has read. Grants that depend on the document may apply to it. */
export const linksOfRequest = (
  { links, rules }: { readonly links: LinkPolicy; readonly rules: Rules },
  grants: Grants,
  request: AccessRequest
): Effect.Effect<PermittedLinks, Failure> => {
  const others = grants.filter(({ id }) => !links.ofDocument.has(id))
  return Effect.mapEager(
    effectiveGrants(rules, [...links.ofDocument], { ...request, document: undefined }),
    (possible) => permittedLinks(links, [...others, ...possible], { isRead: true })
  )
}

/** What links list of a registration's documents, whether the caller may read them or not. */
export const linksOfAny = (
  { links, rules }: { readonly links: LinkPolicy; readonly rules: Rules },
  request: Omit<AccessRequest, "document">
): Effect.Effect<PermittedLinks, Failure> =>
  Effect.mapEager(
    effectiveGrants(rules, links.ids, { ...request, document: undefined }),
    (grants) => permittedLinks(links, grants, { isRead: false })
  )

// internal

const permittedLinks = (
  { endpoints, matcher, reading }: LinkPolicy,
  grants: Grants,
  { isRead }: { readonly isRead: boolean }
): PermittedLinks => {
  const known = new Map<string, Filter | undefined>()
  // Endpoints with the same grants have the same filter, which is then evaluated once for a document.
  const rowsBy = (some: Grants): Filter | undefined => {
    const key = some.map(({ id }) => id).join()
    if (!known.has(key)) known.set(key, rowsOf(some))
    return known.get(key)
  }
  const readable = grants.filter(({ id }) => reading.has(id))
  const read = readable.length === 0 ? undefined : rowsBy(readable)
  const permitted = endpoints.map(({ ids, kind }) => {
    const own = grants.filter(({ id }) => ids.has(id))
    if (own.length === 0) return false
    if (kind === "collection") return true
    const rows = rowsBy(own)
    if (isRead) return rows === undefined || rows === read ? true : rows
    return (kind === "action" ? allOf(rows, read) : rows) ?? true
  })
  return { endpoints: permitted, matcher }
}
