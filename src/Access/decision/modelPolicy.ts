/** The grants of a registration, prepared once. */
import type { ModelLike } from "../../Model/internal.ts"
import type { Filter } from "../../Repository/DocumentStore.ts"
import { modelMatcher } from "../../Repository/evaluation.ts"
import {
  type EffectiveGrant,
  identifierOf,
  type Matcher,
  nothing,
  type Privilege,
  storedIdOf
} from "../../Repository/internal.ts"
import type { Rules } from "../Grant.ts"
import { type Linked, type LinkPolicy, linkPolicy } from "./permittedLinks.ts"

/** A registration as access control sees it. */
export interface Registered {
  readonly model: ModelLike
  readonly rules: Rules
  readonly path: string
  /** The endpoints that links of its documents list; `undefined` if these have no links. */
  readonly linked: Linked | undefined
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

// internal

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/** The methods whose grants hold for a kind of operation of a handler. */
const methodsOf: { readonly [K in Privilege]: ReadonlyArray<string> } = {
  read: ["GET"],
  insert: ["POST"],
  update: ["PUT", "PATCH"],
  delete: ["DELETE"]
}
