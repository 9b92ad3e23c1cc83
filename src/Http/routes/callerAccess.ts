import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { ModelLike } from "../../Model/introspection.ts"
import type { Filter } from "../../Repository/DocumentStore.ts"
import {
  type Access,
  CallerRules,
  type RowRules,
  storedIdOf,
  type UpdateGrant
} from "../../Repository/introspection.ts"
import type { Rules } from "../../Security/Grant.ts"
import { type Held, rulesFor } from "../../Security/introspection.ts"
import type { Failure } from "../../Security/Permission.ts"
import { identifierOf } from "../response/identifier.ts"
import { type CallerView, CallerViews } from "../view/callerView.ts"
import { type LinkRules, linkRulesOf } from "./linkRights.ts"
import { allOf, anyOf, leftBy, reachOf } from "./reach.ts"
import type { ServedResource } from "./served.ts"

/**
 * The rules of one registration of a model.
 *
 * @internal
 */
export interface RuledModel {
  readonly model: ModelLike
  readonly rules: Rules
  /** The numbers of the rules. */
  readonly numbers: ReadonlyArray<number>
  /** The numbers of the rules for each method. */
  readonly byMethod: ReadonlyMap<string, ReadonlySet<number>>
  readonly path: string
  /** The rules of the links of its documents; `undefined` if these have none. */
  readonly links: LinkRules | undefined
  /** What `CurrentSubject` says of the documents. */
  readonly subjects: ReturnType<typeof subjectsOf>
}

/** @internal */
export const ruledModel = (registration: ServedResource): RuledModel => ({
  model: registration.model,
  rules: registration.rules,
  path: registration.path,
  links: linkRulesOf(registration),
  subjects: subjectsOf(registration.model),
  numbers: registration.rules.grants.map((_, number) => number),
  byMethod: new Map(methods.map((method) => [method, new Set(rulesFor(registration.rules, method, false))]))
})

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/**
 * What `CurrentSubject` says of a model's documents: whether the subject is the addressed one, and a filter for it.
 *
 * @internal
 */
export const subjectsOf = (model: ModelLike) => {
  const { parse, print } = identifierOf(model)
  const toStored = storedIdOf(model)
  const stored = (text: string): unknown => {
    const id = parse(text)
    return id === undefined ? undefined : toStored(id)
  }
  return (subject: string, addressed: string | undefined) => {
    const own = stored(subject)
    if (own === undefined) return false
    if (addressed !== undefined && addressed !== subject) {
      const other = stored(addressed)
      if (other === undefined || print(other) !== print(own)) return false
    }
    return { _id: own }
  }
}

/** The methods whose grants an operation of a handler takes. */
const methodsOf: { readonly [K in Access]: ReadonlyArray<string> } = {
  read: ["GET"],
  insert: ["POST"],
  update: ["PUT", "PATCH"],
  delete: ["DELETE"]
}

/**
 * The grants of a caller for a registration.
 *
 * @internal
 */
export interface HeldOf {
  readonly registration: RuledModel
  readonly held: ReadonlyArray<Held>
}

/**
 * The held grants for some methods.
 *
 * @internal
 */
export const heldFor = (all: ReadonlyArray<HeldOf>, methods: ReadonlyArray<string>): ReadonlyArray<HeldOf> =>
  all.map(({ held, registration }) => ({
    registration,
    held: held.filter(({ id }) => methods.some((method) => registration.byMethod.get(method)?.has(id)))
  }))

/**
 * The rules for the model of a route: the grants for the request's method, whatever the repository does.
 *
 * @internal
 */
export const rulesOfRoute = (held: ReadonlyArray<Held>): RowRules => {
  const [reach, left, grants] = [reachOf(held), leftBy(held), distinguished(held)]
  return { rows: () => reach, check: () => left, grants: () => grants }
}

/**
 * The grants for updates, if their rows and what they may leave behind have to be of the same one: `undefined` if one grant
 * allows everything, or all reach the same documents, or all leave the same ones behind.
 */
const distinguished = (grants: ReadonlyArray<UpdateGrant>): ReadonlyArray<UpdateGrant> | undefined => {
  const isSame = (key: keyof UpdateGrant) => grants.every((grant) => grant[key] === grants[0]?.[key])
  return isSame("rows") || isSame("check") ||
      grants.some(({ check, rows }) => check === undefined && rows === undefined)
    ? undefined
    : grants.map(({ check, rows }) => ({ rows, check }))
}

/**
 * The rules for a `POST` by some of the grants for it. It inserts by these, and replaces a document of the same identifier only
 * if the grants for `PUT` would let the caller do so as well, with the same fields.
 *
 * @internal
 */
export const rulesOfCreating = (
  inserting: ReadonlyArray<Held>,
  replacing: ReadonlyArray<Held>
): (by: ReadonlyArray<Held>) => RowRules => {
  const sameFields = fieldsOf(inserting) === fieldsOf(replacing)
  return (by) => {
    const inserted = leftBy(by)
    const pairs = !sameFields ?
      [] :
      by.flatMap((one) =>
        replacing.flatMap((other) =>
          one.id === other.id || one.fields === undefined && other.fields === undefined
            ? [{ rows: allOf(one.rows, other.rows), check: allOf(one.check, other.check) }]
            : []
        )
      )
    const [reach, replaced, grants] = [reachOf(pairs), leftBy(pairs), distinguished(pairs)]
    return {
      grants: () => grants,
      // What was inserted is read for its response.
      rows: (access) => access === "insert" ? inserted : reach,
      check: (access) => access === "insert" ? inserted : replaced
    }
  }
}

/** The grants with rules for fields; none beside one that allows everything. */
const fieldsOf = (held: ReadonlyArray<Held>): string =>
  held.some(({ check, fields, rows }) => fields === undefined && rows === undefined && check === undefined) ||
    held.every(({ fields }) => fields === undefined)
    ? ""
    : held.map(({ id }) => id).toSorted((one, other) => one - other).join()

/**
 * The rules for addressing the document of an action: what the action's own grants reach, of what the caller may read, if the
 * caller may read anything. What is left behind is up to the action's own grants.
 *
 * @internal
 */
export const rulesOfAddressing = (own: ReadonlyArray<Held>, readable: ReadonlyArray<Held>): RowRules => {
  const read = readable.length === 0 ? undefined : reachOf(readable)
  const reach = allOf(reachOf(own), read)
  const left = leftBy(own)
  const grants = distinguished(own.map(({ check, rows }) => ({ rows: allOf(rows, read), check })))
  return { rows: () => reach, check: () => left, grants: () => grants }
}

/**
 * The rules for a model that a handler works with: the grants for the kind of operation, of all registrations. Where a caller
 * holds none of this kind, an operation is limited to what they may read.
 *
 * @internal
 */
export const rulesOfHandler = (all: ReadonlyArray<HeldOf>, addressed?: RowRules): RowRules => {
  const of = (access: Access): ReadonlyArray<Held> => {
    const own = heldFor(all, methodsOf[access]).flatMap(({ held }) => held)
    return own.length > 0 ? own : heldFor(all, methodsOf.read).flatMap(({ held }) => held)
  }
  const also = (filter: Filter | undefined, more: Filter | undefined): Filter | undefined =>
    addressed === undefined ? filter : anyOf([filter, more])
  // Repositories parse each filter once.
  const rows = once((access: Access) => also(reachOf(of(access)), addressed?.rows(access)))
  const check = once((access: "insert" | "update") => also(leftBy(of(access)), addressed?.check(access)))
  const grants = once<"update", ReadonlyArray<UpdateGrant> | undefined>(() =>
    distinguished([...of("update"), ...addressed === undefined ? [] : updateGrantsOf(addressed)])
  )
  return { rows, check, grants: () => grants("update") }
}

const updateGrantsOf = ({ check, grants, rows }: RowRules): ReadonlyArray<UpdateGrant> =>
  grants?.() ?? [{ rows: rows("update"), check: check("update") }]

const once = <K, A>(f: (key: K) => A): (key: K) => A => {
  const known = new Map<K, { readonly value: A }>()
  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before.value
    const value = f(key)
    known.set(key, { value })
    return value
  }
}

/**
 * The grants as views take them.
 *
 * @internal
 */
export const viewOf = (
  read: ReadonlyArray<HeldOf>,
  write: ReadonlyArray<Held>,
  rowRulesOf: (write: ReadonlyArray<Held>) => RowRules
): CallerView => ({
  read: read.flatMap(({ held }) => held),
  write,
  rowRulesOf: (some) => rowRulesOf(write.filter((one) => some.includes(one)))
})

/**
 * What the caller of a request may do with models: computed when it is first asked for, once for each model, with all data.
 *
 * @internal
 */
export const accessOnDemand = (
  registrations: ReadonlyArray<RuledModel>,
  heldIn: (registration: RuledModel) => ReadonlyArray<Held> | Effect.Effect<ReadonlyArray<Held>, Failure>
): (model: ModelLike) => Effect.Effect<ReadonlyArray<HeldOf> | undefined, Failure> => {
  let asked: { readonly known: Map<ModelLike, ReadonlyArray<HeldOf>>; readonly turn: Semaphore.Semaphore } | undefined
  return (model) => {
    const own = registrations.filter((registration) => registration.model === model)
    if (own.length === 0) return Effect.undefined
    // Most requests work with the model of their endpoint only.
    const { known, turn } = asked ??= { known: new Map(), turn: Semaphore.makeUnsafe(1) }
    const computed = Effect.suspend(() => {
      const before = known.get(model)
      if (before !== undefined) return Effect.succeed(before)
      return Effect.map(
        Effect.forEach(own, (registration) => {
          const held = heldIn(registration)
          return Effect.map(Effect.isEffect(held) ? held : Effect.succeed(held), (held) => ({ registration, held }))
        }),
        (all) => {
          known.set(model, all)
          return all
        }
      )
    })
    const before = known.get(model)
    return before === undefined ? withAllData(turn.withPermits(1)(computed)) : Effect.succeed(before)
  }
}

/**
 * Rules are evaluated with all data.
 *
 * @internal
 */
export const withAllData = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideContext(effect, allData)

const allData = Context.make(CallerRules, undefined).pipe(Context.add(CallerViews, undefined))
