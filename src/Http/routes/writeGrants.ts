/** Checks writes against the grants of a caller: one grant has to allow both the fields and the document. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ModelView } from "../../Access/internal.ts"
import { modelTypeId } from "../../Model/internal.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import type { RowFilters } from "../../Repository/internal.ts"
import type { Forbidden } from "../HttpError.ts"
import { fieldForbidden } from "../response/hiddenNames.ts"
import type { Instance, Values, WriteContext, WriteFailure } from "./writeContext.ts"

/** An instance to write, and the row filters of grants that allow it; `undefined` for the caller's own. */
export interface GrantedInstance {
  readonly instance: Instance
  readonly filters: RowFilters | undefined
}

/**
 * The instance to write over the stored document. It has the sent values, and the stored values of fields that the caller
 * can't see or write; a write that would change those fails with `Forbidden`. A single grant has to allow both the changed
 * fields and the document after the write: `filters` are the row filters of such grants.
 */
export const keeping = (
  { codec, model, view }: WriteContext,
  values: Values,
  { document, mode, previous }: {
    readonly document: Document
    /** The stored instance; `undefined` if the document does not fit the model. */
    readonly previous: Instance
    readonly mode: "replace" | "merge"
  },
  complete: (kept: Values) => Effect.Effect<Instance, WriteFailure>
): Effect.Effect<GrantedInstance, WriteFailure> => {
  const whole = Effect.map(complete(values), (instance): GrantedInstance => ({ instance, filters: undefined }))
  return view.mask.isEmpty ? whole : Effect.withFiber<GrantedInstance, WriteFailure>((fiber) => {
    // A document that can't be decoded has no values to keep, so this fails with its problem.
    if (previous === undefined) return Effect.andThen(codec.fromDocument(document), whole)
    // Fields that the repository keeps, such as the user who inserted the document.
    const managed = Object.fromEntries(
      Object.entries(document).filter(([name]) => model[modelTypeId][name]?.managed !== undefined)
    )
    const attempts = view.of(fiber).updatesOf(document).map(({ allows, filters, mask }) =>
      Result.map(mask.keep(values, previous, mode), (kept): Attempt => ({
        allows: (instance) => allows({ ...managed, ...codec.toDocument(instance) }),
        granted: Effect.map(complete({ ...kept }), (instance) => ({ instance, filters }))
      }))
    )
    const [first, ...others] = Arr.getSuccesses(attempts)
    if (first !== undefined) return others.length === 0 ? first.granted : firstAllowed([first, ...others])
    const [denied = ""] = Arr.getFailures(attempts)
    return Effect.fail(fieldForbidden(denied))
  })
}

/** The row filters of grants that allow to insert the values, `undefined` for the caller's own; else `Forbidden`. */
export const insertFilters = (view: ModelView, value: Values): Effect.Effect<RowFilters | undefined, Forbidden> =>
  view.dependsOnDocument
    ? Effect.withFiber((fiber) =>
      Effect.fromResult(Result.mapError(view.of(fiber).insertFiltersOf(value), fieldForbidden))
    )
    : Effect.undefined

/** The {@link insertFilters} of several documents. The failure has the index of the document. */
export const bulkFilters = (
  view: ModelView,
  values: ReadonlyArray<Values>
): Effect.Effect<ReadonlyArray<RowFilters | undefined>, Forbidden> =>
  Effect.withFiber((fiber) => {
    const { insertFiltersOf } = view.of(fiber)
    return Effect.fromResult(Result.all(values.map((value, i) =>
      Result.mapError(insertFiltersOf(value), (field) => fieldForbidden(`${i}.${field}`))
    )))
  })

// internal

/** A write by some of the caller's grants. */
interface Attempt {
  readonly allows: (instance: Instance) => boolean
  readonly granted: Effect.Effect<GrantedInstance, WriteFailure>
}

/** The first write that its grants allow; otherwise the first valid one, because a hook may still change its instance. */
const firstAllowed = Effect.fnUntraced(function*(
  attempts: Arr.NonEmptyReadonlyArray<Attempt>
): Effect.fn.Return<GrantedInstance, WriteFailure> {
  const results: Array<Result.Result<GrantedInstance, WriteFailure>> = []
  for (const { allows, granted } of attempts) {
    const result = yield* Effect.result(granted)
    if (Result.isSuccess(result) && allows(result.success.instance)) return result.success
    results.push(result)
  }
  return yield* Effect.fromResult(results.find(Result.isSuccess) ?? results[0]!)
})
