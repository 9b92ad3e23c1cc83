/** Installs and removes the validators of collections. */
import type { Document, DocumentStore, ValidatorOptions } from "@appkernel/document-store/DocumentStore"
import { fromProblem, normalise, type Problem, queryProblem } from "@appkernel/mql/internal"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Catalog } from "../catalog/catalog.ts"
import { checkedName } from "../catalog/collectionName.ts"
import { parseValidator, type Validator } from "../catalog/validator.ts"
import type { KeyValue } from "../storage/orderedStore.ts"

export const makeValidators = (store: KeyValue, catalog: Catalog): Pick<DocumentStore["Service"], "setValidator"> => ({
  setValidator: (name, jsonSchema, options) =>
    Effect.flatMap(
      Effect.suspend(() =>
        fromProblem(Result.andThen(checkedName(name), () => validatorOf(jsonSchema, options)), operation)
      ),
      (validator) =>
        validator === undefined && catalog.get(name) === undefined
          ? Effect.void
          : store.write(operation, () => install(catalog, name, validator))
    )
})

// internal

const operation = "setValidator"

const validatorOf = (
  jsonSchema: Document | undefined,
  options: ValidatorOptions | undefined
): Result.Result<Validator | undefined, Problem> =>
  jsonSchema === undefined
    ? Result.succeed(undefined)
    : Result.flatMap(
      Result.mapError(normalise(jsonSchema), queryProblem),
      (normalised) => parseValidator(normalised, options)
    )

/** For jobs: sets or removes the validator of a collection. */
const install = (catalog: Catalog, name: string, validator: Validator | undefined): void => {
  const collection = catalog.ensure(name)
  // A new list of indexes is a conflict for transactions that have begun.
  catalog.save({ ...collection, indexes: [...collection.indexes], validator })
}
