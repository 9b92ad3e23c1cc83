/** What the metadata of a model says of the requests that its registration serves beyond those of single documents and pages. */
import * as Effect from "effect/Effect"
import { AccessDecision } from "../../Repository/internal.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import { tableTypes } from "../description/listTypes.ts"
import * as History from "../History.ts"
import type { ResourceInfo } from "../registration/registration.ts"
import { linkedEndpoints } from "./links.ts"

/** What a caller may ask for. A member is missing where there is nothing of it. */
interface Serves {
  /** The methods that write many documents. */
  readonly many?: ReadonlyArray<string>
  /** The actions on deleted documents, by their names. */
  readonly deleted?: ReadonlyArray<History.Name>
  /** The actions on former states, by their names. */
  readonly history?: ReadonlyArray<History.Name>
  /** The types of a list that are tables. */
  readonly tables?: ReadonlyArray<string>
}

/** What metadata says of the requests that its caller may make. */
export interface Served {
  /** The member of the metadata, unless it is empty. */
  readonly members: { readonly _serves?: Serves }
  /** The names of actions. */
  readonly actions: ReadonlyArray<string>
}

/** What the caller of the request is served, by the grants that links follow; `undefined` if nobody is served anything of it. */
export const servesOf = (
  { calls, many, methods, path, tables }: Pick<ResourceInfo, "calls" | "many" | "methods" | "path" | "tables">
): Effect.Effect<Served, ReadError> | undefined => {
  const linked = linkedEndpoints({ calls, methods })
  const historical = calls.flatMap(({ name, options }) => {
    const own = History.nameOf(options)
    return own === undefined ? [] : [{ name, own }]
  })
  const serves = (isServed: (name: string, isOperation?: boolean) => boolean): Served => {
    const actions = calls.map(({ name }) => name).filter((name) => isServed(name, true))
    const ofHistory = historical.filter(({ name, own }) => {
      const method = methodOf[own]
      return isServed(name, true) && (method === undefined || isServed(method))
    }).map(({ own }) => own)
    const all = {
      many: many.filter((method) => isServed(method)),
      deleted: ofHistory.filter(History.isOfDeleted),
      history: ofHistory.filter((name) => !History.isOfDeleted(name)),
      tables: tables === undefined || !isServed("GET") ? [] : tableTypes
    }
    const _serves: Serves = Object.fromEntries(Object.entries(all).filter(([, names]) => names.length > 0))
    return { actions, members: Object.keys(_serves).length === 0 ? {} : { _serves } }
  }
  const everything = serves(() => true)
  if (calls.length === 0 && everything.members._serves === undefined) return undefined
  return Effect.flatMap(
    AccessDecision,
    (decision) =>
      decision === undefined ?
        Effect.succeed(everything) :
        Effect.map(decision.linksAt(path), ({ endpoints }) =>
          serves((name, isOperation = false) => {
            const i = linked.findIndex((one) => one.name === name && one.isOperation === isOperation)
            return (endpoints[i] ?? false) !== false
          }))
  )
}

// internal

/** The method that the caller of an action has to be allowed as well. */
const methodOf: { readonly [N in History.Name]?: string } = {
  deleted: "GET",
  purge: "DELETE",
  restore_revision: "PATCH"
}
