/**
 * Validates what a model's constructor gets, so that it throws a `ModelError` with all problems instead of Effect's
 * error.
 */
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import { problemsOf } from "../codec/issues.ts"
import { modelErrorOf } from "../codec/validationContext.ts"
import type { ModelLike } from "../shape/variants.ts"

export type Arguments = [
  input: { readonly [field: string]: unknown },
  options?: Schema.MakeOptions | undefined
]

/** The validated arguments that a model's constructor passes on. Throws the `ModelError` that lists the fields. */
export const validatedArguments = (model: ModelLike, ...[input, options]: Arguments): Arguments => {
  // Decoded values are valid, and the caller may disable the checks.
  if (options !== undefined && ("~payload" in options || options.disableChecks === true)) return [input, options]
  const values = makerOf(model).makeOption(input ?? {}, options)
  return values._tag === "Some"
    ? [values.value, { ...options, disableChecks: true }]
    : Effect.runSync(dieInvalid(model, input ?? {}))
}

/** The struct of an instance's own values. */
const makerOf: (model: ModelLike) => Schema.Struct<Schema.Struct.Fields> = memoize((model) =>
  // The fields of a class are those of its struct.
  Schema.Struct((model as unknown as { readonly fields: Schema.Struct.Fields }).fields)
)

const dieInvalid = (model: ModelLike, input: Arguments[0]): Effect.Effect<never> => {
  // Fields need no services.
  const made = makerOf(model).makeEffect(input, { parseOptions: { errors: "all" } }) as Effect.Effect<
    unknown,
    Parameters<typeof problemsOf>[0]
  >
  return Effect.matchEffect(made, {
    onFailure: (issue) => Effect.die(modelErrorOf(model, input, problemsOf(issue))),
    onSuccess: () => Effect.die(new Error(`${model.modelName} accepts arguments that it has rejected before`))
  })
}
