/** The references of a resource's documents that lead to documents of other registrations. */
import { backReferencesOf, modelTypeId, referencesOf } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"

/** What relations say of a registration. */
interface Registered {
  readonly model: Model.Any
  readonly path: `/${string}`
  readonly methods?: ReadonlyArray<string> | undefined
}

/** A reference to the documents of a registration that has `GET`, or one of theirs to these. */
export interface Relation {
  /** The path of the reference: `patient`, `lines.product`; the name of one of theirs. */
  readonly name: string
  /** Empty for one of theirs. */
  readonly path: ReadonlyArray<string>
  readonly target: Registered
  readonly referring?: Referring
}

/** A reference of a relation's target. */
export interface Referring {
  /** Its path. */
  readonly field: string
  /** The model that it leads to. */
  readonly to: Model.Any
}

/** The relations of a model's documents. Of several registrations of a model, the first one with `GET` is the target. */
export const relationsOf = (
  model: Model.Any,
  registrations: ReadonlyArray<{ readonly _tag: "Service" } | { readonly _tag: "Resource" } & Registered>
): ReadonlyArray<Relation> => {
  const registered = (target: () => { readonly modelName: string }): ReadonlyArray<Registered> => {
    const found = registrations.find((one) =>
      one._tag === "Resource" && one.methods?.includes("GET") === true && one.model.modelName === target().modelName
    )
    return found?._tag === "Resource" ? [found] : []
  }
  return [
    ...referencesOf(model).flatMap(({ path, target }) =>
      model[modelTypeId][path[0] ?? ""]?.omitted === true
        ? []
        : registered(target).map((target) => ({ name: path.join("."), path, target }))
    ),
    ...backReferencesOf(model).flatMap(({ field, model: target, name }) =>
      registered(target).map((target) => ({ name, path: [], target, referring: { field, to: model } }))
    )
  ]
}
