import { BoundedCache } from "../../internal/boundedCache.ts"
import { compileSerialiser, memoizeByModel, type Serialiser } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { type FieldNames, modelWithout } from "./fieldRules.ts"
import { selectionSerialisers } from "./selection.ts"

/**
 * How documents without some fields are written.
 *
 * @internal
 */
export interface DocumentForm {
  readonly serialise: Serialiser
  /** The serialiser of the selected fields. */
  readonly selected: (fields: ReadonlyArray<string>) => Serialiser
}

/**
 * The form of the model's documents without the hidden fields, compiled once.
 *
 * @internal
 */
export const formWithout = (model: Model.Any, hidden: FieldNames): DocumentForm =>
  forms(model).getOrMake(hidden.join(), () => {
    const shown = modelWithout(model, hidden)
    return { serialise: compileSerialiser(shown), selected: selectionSerialisers(shown) }
  })

const maxForms = 256

const forms = memoizeByModel(() => new BoundedCache<DocumentForm>(maxForms))
