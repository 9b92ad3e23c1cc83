/** The fields that grants take away. */
import * as Effect from "effect/Effect"
import { type FieldNames, isAmongFields, type ModelLike, nestedModel } from "../../Model/internal.ts"
import { type AccessDecision, type EffectiveGrant, hiddenBy } from "../../Repository/internal.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"

/** The fields that a set of grants takes away, depending on the document. */
export interface Masked {
  /** In every document. */
  readonly always: FieldNames
  /** In some document. */
  readonly ever: FieldNames
  readonly dependsOnDocument: boolean
}

/** The fields that all of the grants take away, since the grants for a document give their fields together. */
export const maskedByAll = (sets: ReadonlyArray<FieldNames>): FieldNames => {
  const names = new Set(sets.flat())
  return [...names].filter((name) => sets.every((set) => isAmongFields(name, set))).toSorted()
}

export const maskedBy = (
  grants: ReadonlyArray<EffectiveGrant>,
  namesOf: (grant: EffectiveGrant) => FieldNames
): Masked => {
  const always = maskedByAll(grants.map(namesOf))
  const whole = grants.filter(({ rows }) => rows === undefined)
  const most = whole.length > 0 ? maskedByAll(whole.map(namesOf)) : grants.flatMap(namesOf)
  // One document may hide a field, and another one only a part of it.
  const ever = [...new Set(grants.flatMap(namesOf))].filter((name) => isAmongFields(name, most)).toSorted()
  return { always, ever, dependsOnDocument: !ever.every((name) => isAmongFields(name, always)) }
}

/**
 * The fields that no write by one of the grants may change. A single grant has to allow the whole write. If one grant allows
 * whatever the others allow, it decides for every document. Otherwise the fields depend on the document before and after
 * the write.
 */
export const unwritableByAll = (grants: ReadonlyArray<EffectiveGrant>): Masked => {
  const always = maskedByAll(grants.map(unwritableBy))
  const isCovered = grants.some((grant) =>
    grant.rows === undefined && grant.check === undefined &&
    unwritableBy(grant).every((name) => isAmongFields(name, always))
  )
  const ever = isCovered ? always : [...new Set(grants.flatMap(unwritableBy))].toSorted()
  return { always, ever, dependsOnDocument: !ever.every((name) => isAmongFields(name, always)) }
}

/** A field that the grant of a write hides can't be written by it. */
export const unwritableBy = ({ fields }: EffectiveGrant): FieldNames =>
  fields === undefined ? [] : [...fields.hide, ...fields.readOnly]

/** The fields that a caller does not see of a model without a registration, in some document. */
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
