/**
 * Says after the start, in one line each, what a sample of the stored documents shows: those that don't fit their model, and
 * those in earlier forms. `npx appkernel check` looks at all.
 */
import * as Effect from "effect/Effect"
import type * as Model from "../../Model/Model.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import * as Upgrade from "../../Repository/Upgrade.ts"

export const logFindings = (models: Iterable<Model.Any>): Effect.Effect<void, never, DocumentStore> =>
  Effect.forEach(new Set(models), (model) =>
    Effect.matchEffect(Upgrade.sample(model), {
      onFailure: (error) => Effect.logWarning(`${model.modelName} was not looked at: ${error.message}`),
      onSuccess: (sample) => Effect.forEach(linesOf(sample), (line) => Effect.logWarning(line))
    }), { discard: true })

// internal

const linesOf = ({ documents, earlier, misfits, model, newest }: Upgrade.Sample): ReadonlyArray<string> => {
  const [first] = misfits
  const of = `of the first ${documents} documents of ${model}`
  return [
    ...first === undefined ? [] : [
      `${misfits.length} ${of} can't be read, such as ${first.id} (${
        first.problems.map(({ field }) => field).join(", ")
      }): see npx appkernel check`
    ],
    ...earlier === 0
      ? []
      : [`${earlier} ${of} are stored in an earlier form: npx appkernel upgrade brings them to form ${newest}`]
  ]
}
