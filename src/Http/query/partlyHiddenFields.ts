/** What a request may name where documents show a caller different fields. */
import type { CallerDocuments } from "../../Access/internal.ts"
import { isAmongFields, modelWithout, withoutIndexes } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import { allOf, anyOf, type EffectiveGrant, hiddenBy, indexesOf } from "../../Repository/internal.ts"
import * as QueryFields from "./queryFields.ts"

/** What one request may name where documents show different fields, and what it has named. */
export interface Naming {
  /** The fields that at least one document shows. */
  readonly access: QueryFields.QueryFields
  /** The filter for the documents that show all fields that were named so far; `undefined`: all do. */
  readonly condition: () => Filter | undefined
  /** A projection to the fields that all of these documents show. */
  readonly projection: () => Document
}

/**
 * The naming of a caller with grants that show different fields of different documents; `undefined` if all documents show the
 * same ones. A request that names a field gets only the documents that show it.
 */
export const namingOf = (model: Model.Any, partlyHidden: CallerDocuments["partlyHidden"]): Naming | undefined => {
  if (partlyHidden === undefined) return undefined
  const { grants, hidden } = partlyHidden
  const named = new Set<string>()
  const everywhere = QueryFields.of(modelWithout(model, hidden.ever))
  const somewhere = QueryFields.of(modelWithout(model, hidden.always))
  const hiddenElsewhere = (name: string) => {
    const field = everywhere.field(name)
    if (field !== undefined) return field
    // A field with fields that only some documents show can't be compared as a whole.
    const path = withoutIndexes(name)
    const within = hidden.ever.filter((other) => other.startsWith(`${path}.`))
    const own = within.length === 0 ? somewhere : QueryFields.of(modelWithout(model, [...hidden.always, ...within]))
    const found = own.field(name)
    if (found !== undefined) named.add(path)
    return found
  }
  return {
    access: {
      id: somewhere.id,
      field: hiddenElsewhere,
      projection: somewhere.projection,
      get searchable() {
        for (const { key } of indexesOf(model)) {
          for (const [path, direction] of Object.entries(key)) if (direction === "text") hiddenElsewhere(path)
        }
        return somewhere.searchable
      }
    },
    condition: () => conditionOf(grants, named),
    projection: () =>
      projectionOf(
        model,
        hidden.ever.filter((other) => !Array.from(named).some((name) => isAmongFields(name, [other])))
      )
  }
}

const projectionOf = (model: Model.Any, hidden: ReadonlyArray<string>): Document =>
  QueryFields.of(modelWithout(model, hidden.toSorted())).projection

/** The filter for the documents that show all of the named fields; `undefined`: all do. */
const conditionOf = (grants: ReadonlyArray<EffectiveGrant>, named: ReadonlySet<string>): Filter | undefined => {
  const conditions = new Map<string, Filter | undefined>()
  for (const name of named) {
    const showing = grants.filter((grant) => !isAmongFields(name, hiddenBy(grant)))
    conditions.set(showing.map(({ id }) => id).join(), anyOf(showing.map(({ rows }) => rows)))
  }
  return allOf(...conditions.values())
}
