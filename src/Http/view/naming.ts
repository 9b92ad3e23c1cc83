import type * as Model from "../../Model/Model.ts"
import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import { indexesOf } from "../../Repository/introspection.ts"
import * as FieldAccess from "../query/fieldAccess.ts"
import type { Naming } from "../query/naming.ts"
import type { HeldGrant } from "./callerView.ts"
import { hiddenBy, isWithin, modelWithout, type Taken, withoutIndexes } from "./fieldRules.ts"

/**
 * The naming of a caller with grants that show different fields of different documents. A request that names a field
 * gets only the documents that show it.
 *
 * @internal
 */
export const namingOf = (model: Model.Any, grants: ReadonlyArray<HeldGrant>, hidden: Taken): Naming => {
  const named = new Set<string>()
  const everywhere = FieldAccess.of(modelWithout(model, hidden.ever))
  const somewhere = FieldAccess.of(modelWithout(model, hidden.always))
  const hiddenElsewhere = (name: string) => {
    const field = everywhere.field(name)
    if (field !== undefined) return field
    // A field with fields that only some documents show can't be compared as a whole.
    const path = withoutIndexes(name)
    const within = hidden.ever.filter((other) => other.startsWith(`${path}.`))
    const own = within.length === 0 ? somewhere : FieldAccess.of(modelWithout(model, [...hidden.always, ...within]))
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
      projectionOf(model, hidden.ever.filter((other) => !Array.from(named).some((name) => isWithin(name, [other]))))
  }
}

const projectionOf = (model: Model.Any, hidden: ReadonlyArray<string>): Document =>
  FieldAccess.of(modelWithout(model, hidden.toSorted())).projection

/** The filter for the documents that show all of the named fields; `undefined`: all do. */
const conditionOf = (grants: ReadonlyArray<HeldGrant>, named: ReadonlySet<string>): Filter | undefined => {
  const conditions = new Map<string, Filter>()
  for (const name of named) {
    const showing = grants.map((grant) => !isWithin(name, hiddenBy(grant)))
    const rows = rowsOf(grants.filter((_, i) => showing[i]))
    if (rows !== undefined) conditions.set(showing.join(), rows)
  }
  return conditions.size === 0 ? undefined : { $and: [...conditions.values()] }
}

/** The documents that one of the grants reaches; `undefined`: all. */
const rowsOf = (grants: ReadonlyArray<HeldGrant>): Filter | undefined => {
  const filters: Array<Filter> = []
  for (const { rows } of grants) {
    if (rows === undefined) return undefined
    filters.push(rows)
  }
  return { $or: filters }
}
