/**
 * The fields that grants take away, and models without them.
 */
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import { BoundedCache } from "../../internal/boundedCache.ts"
import {
  managedField,
  type ModelLike,
  nestedModel,
  restrictedModel,
  type Restriction,
  restrictionProblem,
  type Restrictions
} from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { AccessDecision, EffectiveGrant } from "../../Repository/introspection.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"

/**
 * The names of fields, sorted: `cost`, `address.phone`, `lines.cost`.
 *
 * @internal
 */
export type FieldNames = ReadonlyArray<string>

/**
 * Why no grant can hide a field of this name or make it read-only; `undefined` if one can.
 *
 * @internal
 */
export const fieldRuleProblem = (model: Model.Any, name: string): string | undefined =>
  name === managedField(model, "id")
    ? `${model.modelName}.${name} is the identifier, which is part of every URL`
    : restrictionProblem(model, name)

/**
 * Whether the field is one of these, or is part of one.
 *
 * @internal
 */
export const isWithin = (name: string, names: FieldNames): boolean =>
  names.some((other) => name === other || name.startsWith(`${other}.`))

/**
 * The name of a field without the indexes of list items: `lines.0.cost` is `lines.cost`.
 *
 * @internal
 */
export const withoutIndexes = (path: string): string =>
  /\d/u.test(path) ? path.split(".").filter((segment) => !/^\d+$/u.test(segment)).join(".") : path

/**
 * The fields that a set of grants takes away, depending on the document.
 *
 * @internal
 */
export interface Masked {
  /** In every document. */
  readonly always: FieldNames
  /** In some document. */
  readonly ever: FieldNames
  readonly dependsOnDocument: boolean
}

/**
 * The fields that all of the grants take away, since the grants for a document give their fields together.
 *
 * @internal
 */
export const maskedByAll = (sets: ReadonlyArray<FieldNames>): FieldNames => {
  const names = new Set(sets.flat())
  return [...names].filter((name) => sets.every((set) => isWithin(name, set))).toSorted()
}

/** @internal */
export const maskedBy = (
  grants: ReadonlyArray<EffectiveGrant>,
  namesOf: (grant: EffectiveGrant) => FieldNames
): Masked => {
  const always = maskedByAll(grants.map(namesOf))
  const whole = grants.filter(({ rows }) => rows === undefined)
  const most = whole.length > 0 ? maskedByAll(whole.map(namesOf)) : grants.flatMap(namesOf)
  // One document may hide a field, and another one only a part of it.
  const ever = [...new Set(grants.flatMap(namesOf))].filter((name) => isWithin(name, most)).toSorted()
  return { always, ever, dependsOnDocument: !ever.every((name) => isWithin(name, always)) }
}

/**
 * The fields that no write by one of the grants may change. A single grant has to allow the whole write. If one grant allows
 * whatever the others allow, it decides for every document. Otherwise the fields depend on the document before and after
 * the write.
 *
 * @internal
 */
export const unwritableByAll = (grants: ReadonlyArray<EffectiveGrant>): Masked => {
  const always = maskedByAll(grants.map(unwritableBy))
  const isCovered = grants.some((grant) =>
    grant.rows === undefined && grant.check === undefined && unwritableBy(grant).every((name) => isWithin(name, always))
  )
  const ever = isCovered ? always : [...new Set(grants.flatMap(unwritableBy))].toSorted()
  return { always, ever, dependsOnDocument: !ever.every((name) => isWithin(name, always)) }
}

/** @internal */
export const hiddenBy = ({ fields }: EffectiveGrant): FieldNames => fields?.hide ?? none

/**
 * A field that the grant of a write hides can't be written by it.
 *
 * @internal
 */
export const unwritableBy = ({ fields }: EffectiveGrant): FieldNames =>
  fields === undefined ? none : [...fields.hide, ...fields.readOnly]

const none: FieldNames = []

/**
 * A model without the fields `hide`, in which callers need not send the fields `loose`.
 *
 * @internal
 */
export const modelWithout = (model: Model.Any, hide: FieldNames, loose: FieldNames = none): Model.Any =>
  hide.length === 0 && loose.length === 0
    ? model
    : restrictedModels(model).getOrMake(
      JSON.stringify([hide, loose]),
      () => restrictedModel(model, restrictionsOf(hide, loose))
    )

const maxModels = 256

const restrictedModels = memoize(() => new BoundedCache<Model.Any>(maxModels))

interface Draft {
  isHidden: boolean
  isLoose: boolean
  readonly inner: Map<string, Draft>
}

const restrictionsOf = (hide: FieldNames, loose: FieldNames): Restrictions => {
  const root = new Map<string, Draft>()
  const at = (name: string): Draft => {
    let fields = root
    let draft: Draft | undefined
    for (const key of name.split(".")) {
      draft = fields.get(key) ?? { isHidden: false, isLoose: false, inner: new Map() }
      fields.set(key, draft)
      fields = draft.inner
    }
    return draft!
  }
  for (const name of hide) at(name).isHidden = true
  for (const name of loose) at(name).isLoose = true
  const restrictions: ReadonlyMap<string, Restriction> = root
  return restrictions
}

/**
 * The fields that a caller does not see of a model without a registration: those that are hidden from them, in some document,
 * of the registered models that stand in it.
 *
 * @internal
 */
export const hiddenWithin = (
  model: ModelLike,
  decision: Pick<AccessDecision, "of">
): Effect.Effect<FieldNames, ReadError> =>
  Effect.map(
    walk(model, decision, "", [model]),
    ({ cycles, names }) => names.length === 0 ? names : [...names, ...cycles].toSorted()
  )

// internal

interface Walked {
  readonly names: FieldNames
  /** The fields in which a model holds one of its own kind, which no list of paths describes to any depth. */
  readonly cycles: FieldNames
}

const walk = Effect.fnUntraced(function*(
  model: ModelLike,
  decision: Pick<AccessDecision, "of">,
  path: string,
  ancestors: ReadonlyArray<ModelLike>
): Effect.fn.Return<Walked, ReadError> {
  const names: Array<string> = []
  const cycles: Array<string> = []
  for (const [key, field] of Object.entries(model.store.fields)) {
    const nested = nestedModel(field)
    if (nested === undefined) continue
    const name = path + key
    const grants = yield* decision.of(nested)
    if (grants !== undefined) names.push(...maskedBy(grants.read, hiddenBy).ever.map((hidden) => `${name}.${hidden}`))
    else if (ancestors.includes(nested)) cycles.push(name)
    else {
      const within: Walked = yield* walk(nested, decision, `${name}.`, [...ancestors, nested])
      names.push(...within.names)
      cycles.push(...within.cycles)
    }
  }
  return { names, cycles }
})
