/**
 * What the links of documents list for a caller.
 */
import * as Effect from "effect/Effect"
import type { Filter } from "../../Repository/DocumentStore.ts"
import { allOf, type EffectiveGrant, type PermittedLinks } from "../../Repository/introspection.ts"
import type { Failure } from "../Permission.ts"
import { type AccessRequest, effectiveGrants } from "./effectiveGrants.ts"
import type { LinkPolicy, ModelPolicy } from "./modelPolicy.ts"
import { rowsOf } from "./rowFilters.ts"

type Grants = ReadonlyArray<EffectiveGrant>

/**
 * What links list of documents that the caller has read, by the grants for the request; `undefined` if some of the grants may
 * depend on the document: then {@link linksOfRequest} says it.
 *
 * @internal
 */
export const linksByGrants = (links: LinkPolicy, grants: Grants): PermittedLinks | undefined =>
  links.ofDocument.size === 0 ? permittedLinks(links, grants, { isRead: true }) : undefined

/**
 * What links list of documents that the caller has read. Grants that depend on the document may apply to it.
 *
 * @internal
 */
export const linksOfRequest = (
  { links, rules }: Pick<ModelPolicy, "rules"> & { readonly links: LinkPolicy },
  grants: Grants,
  request: AccessRequest
): Effect.Effect<PermittedLinks, Failure> => {
  const others = grants.filter(({ id }) => !links.ofDocument.has(id))
  return Effect.mapEager(
    effectiveGrants(rules, [...links.ofDocument], { ...request, document: undefined }),
    (possible) => permittedLinks(links, [...others, ...possible], { isRead: true })
  )
}

/**
 * What links list of a registration's documents, whether the caller may read them or not.
 *
 * @internal
 */
export const linksOfAny = (
  { links, rules }: Pick<ModelPolicy, "rules"> & { readonly links: LinkPolicy },
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
