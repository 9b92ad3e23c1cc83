import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import type { Converter } from "../Converter.ts"
import { validatorAnnotation, type ValidatorEntry } from "./annotations.ts"

/**
 * What is reported of a value that is yet to be converted.
 *
 * @internal
 */
export const unconvertedEntry: ValidatorEntry = { type: "Converted" }

/** @internal */
export const unconvertedMessage = "must be converted first, as Model.finalise does"

/**
 * The converter that applies `first` and then `next`. What `next` makes is left alone, since `first` never sees it.
 *
 * @internal
 */
export const chained = (first: Converter<unknown>, next: Converter<unknown>): Converter<unknown> => {
  const { makes } = next
  const isMade = madeBy(next)
  return Object.assign(
    (value: unknown) => isMade?.(value) === true ? Effect.succeed(value) : Effect.flatMap(first(value), next),
    { convert: (value: unknown) => Effect.flatMap(always(first, value), (made) => always(next, made)), makes }
  )
}

/**
 * Converts a value whatever it looks like: what a caller sends was never converted before.
 *
 * @internal
 */
export const always = <A>(converter: Converter<A>, value: A): Effect.Effect<A> =>
  converter.convert === undefined ? converter(value) : converter.convert(value)

/**
 * Whether the converter makes such a value; `undefined` for a converter that does not say what it makes.
 *
 * @internal
 */
export const madeBy = ({ makes }: Converter<unknown>): ((value: unknown) => boolean) | undefined =>
  makes === undefined ? undefined : SchemaParser.is(makes)

/**
 * Accepts what the converter makes, as far as that is known at once. A converter that does not say what it makes makes
 * what it gives back unchanged; one that needs time for its answer is only asked before a write.
 *
 * @internal
 */
export const convertedChecks = (converter: Converter<unknown>): SchemaAST.Checks => {
  const [check, ...others] = (converter.makes?.ast.checks ?? []).map((check) => check.annotate(annotations))
  return check !== undefined
    ? [check, ...others]
    : [Schema.makeFilter((value: unknown) => isConvertedAtOnce(converter, value), annotations)]
}

const annotations = { message: unconvertedMessage, [validatorAnnotation]: unconvertedEntry }

/** @internal */
export const isConvertedCheck = (check: SchemaAST.Check<never>): boolean =>
  check.annotations?.[validatorAnnotation] === unconvertedEntry

const isConvertedAtOnce = (converter: Converter<unknown>, value: unknown): boolean => {
  const isMade = madeBy(converter)
  if (isMade !== undefined) return isMade(value)
  const made = converter(value)
  return !Exit.isExit(made) || Exit.isSuccess(made) && Equal.equals(made.value, value)
}

/**
 * Whether the converter makes such a value.
 *
 * @internal
 */
export const isConverted = (converter: Converter<unknown>, value: unknown): Effect.Effect<boolean> => {
  const isMade = madeBy(converter)
  return isMade !== undefined
    ? Effect.succeed(isMade(value))
    : Effect.mapEager(converter(value), (made) => Equal.equals(made, value))
}
