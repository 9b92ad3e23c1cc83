/** The grants of a registration, prepared once, and which links of its documents they permit. */
import * as Effect from "effect/Effect"
import type { ModelLike } from "../../Model/internal.ts"
import type { Filter } from "../../Repository/DocumentStore.ts"
import { modelMatcher } from "../../Repository/evaluation.ts"
import {
  allOf,
  type EffectiveGrant,
  identifierOf,
  type Matcher,
  nothing,
  type PermittedLinks,
  type Privilege,
  storedIdOf
} from "../../Repository/internal.ts"
import type { Rules } from "../Grant.ts"
import type { Failure } from "../Permission.ts"
import { type AccessRequest, dependsOnDocument, effectiveGrants } from "./effectiveGrants.ts"
import { rowsOf } from "./rowFilters.ts"

/** A registration as access control sees it. */
export interface Registered {
  readonly model: ModelLike
  readonly rules: Rules
  readonly path: string
  /** The endpoints that links of its documents list; `undefined` if these have no links. */
  readonly linked: ReadonlyArray<{ readonly name: string; readonly isOperation: boolean }> | undefined
}

/** The grants of one registration of a model. */
export interface ModelPolicy extends Pick<Registered, "model" | "path" | "rules"> {
  /** The numbers of all grants. */
  readonly ids: ReadonlyArray<number>
  readonly links: LinkPolicy | undefined
  /** The grants among these that are for one of the methods. */
  readonly forMethods: (grants: Grants, methods: ReadonlyArray<string>) => Grants
  /** The grants among these for a kind of operation. */
  readonly forPrivilege: (grants: Grants, privilege: Privilege) => Grants
  readonly matcher: Matcher
  /** The filter that `CurrentSubject` means, for the addressed document if there is one. */
  readonly subjectFilter: (subject: string, addressed: string | undefined) => Filter
}

type Grants = ReadonlyArray<EffectiveGrant>

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

export const modelPolicy = ({ linked, model, path, rules }: Registered): ModelPolicy => {
  const byMethod = new Map(methods.map((method) => [method, new Set(rules.idsFor(method, false))]))
  const forMethods = (grants: Grants, methods: ReadonlyArray<string>) =>
    grants.filter(({ id }) => methods.some((method) => byMethod.get(method)?.has(id)))
  const matcher: Matcher = (filter) => modelMatcher(model, filter)
  return {
    model,
    rules,
    matcher,
    path,
    ids: rules.grants.map((_, id) => id),
    links: linked === undefined ? undefined : linkPolicy(rules, linked, matcher),
    forMethods,
    forPrivilege: (grants, privilege) => forMethods(grants, methodsOf[privilege]),
    subjectFilter: subjectFilterOf(model)
  }
}

/** What `CurrentSubject` means for the documents of a model. */
export const subjectFilterOf = (model: ModelLike): ModelPolicy["subjectFilter"] => {
  const { parse, print } = identifierOf(model)
  const toStored = storedIdOf(model)
  const stored = (text: string): unknown => {
    const id = parse(text)
    return id === undefined ? undefined : toStored(id)
  }
  return (subject, addressed) => {
    const own = stored(subject)
    if (own === undefined) return nothing
    if (addressed !== undefined && addressed !== subject) {
      const other = stored(addressed)
      if (other === undefined || print(other) !== print(own)) return nothing
    }
    return { _id: own }
  }
}

/** What links list, by the grants; `undefined` if some depend on the document: see {@link linksOfRequest}. */
export const linksByGrants = (links: LinkPolicy, grants: Grants): PermittedLinks | undefined =>
  links.ofDocument.size === 0 ? permittedLinks(links, grants, { isRead: true }) : undefined

/** What links list of documents that the caller has read. Grants that depend on the document may apply to it. */
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

/** What links list of a registration's documents, whether the caller may read them or not. */
export const linksOfAny = (
  { links, rules }: Pick<ModelPolicy, "rules"> & { readonly links: LinkPolicy },
  request: Omit<AccessRequest, "document">
): Effect.Effect<PermittedLinks, Failure> =>
  Effect.mapEager(
    effectiveGrants(rules, links.ids, { ...request, document: undefined }),
    (grants) => permittedLinks(links, grants, { isRead: false })
  )

// internal

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/** The methods whose grants hold for a kind of operation of a handler. */
const methodsOf: { readonly [K in Privilege]: ReadonlyArray<string> } = {
  read: ["GET"],
  insert: ["POST"],
  update: ["PUT", "PATCH"],
  delete: ["DELETE"]
}

const linkPolicy = (rules: Rules, linked: NonNullable<Registered["linked"]>, matcher: Matcher): LinkPolicy => {
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
