/** The references of a resource's documents that lead to documents of other registrations. */
import { modelTypeId, referencesOf } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"

/** What relations say of a registration. */
interface Registered {
  readonly model: Model.Any
  readonly path: `/${string}`
  readonly methods?: ReadonlyArray<string> | undefined
}

/** A reference to the documents of a registration that has `GET`. */
export interface Relation {
  /** The path of the reference: `patient`, `lines.product`. */
  readonly name: string
  readonly path: ReadonlyArray<string>
  readonly target: Registered
}

/** The relations of a model's documents. Of several registrations of a model, the first one with `GET` is the target. */
export const relationsOf = (
  model: Model.Any,
  registrations: ReadonlyArray<{ readonly _tag: "Service" } | { readonly _tag: "Resource" } & Registered>
): ReadonlyArray<Relation> =>
  referencesOf(model).flatMap(({ path, target }) => {
    const linked = registrations.find((one) =>
      one._tag === "Resource" && one.methods?.includes("GET") === true && one.model.modelName === target().modelName
    )
    if (linked?._tag !== "Resource" || model[modelTypeId][path[0] ?? ""]?.omitted === true) return []
    return [{ name: path.join("."), path, target: linked }]
  })
