/** How fields with converters tell converted values from others, so that no value is converted twice. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import type { Converter } from "../Converter.ts"
import { validatorAnnotation, type ValidatorEntry } from "./annotations.ts"

/** The validator name that unconverted values are reported with. */
export const unconvertedEntry: ValidatorEntry = { type: "Converted" }

export const unconvertedMessage = "must be converted first, as Model.finalise does"

/** Applies `first`, then `next`. What `next` has produced stays unchanged, as `first` never sees it. */
export const composed = (first: Converter<unknown>, next: Converter<unknown>): Converter<unknown> => {
  const { makes } = next
  const isOutput = outputGuardOf(next)
  return Object.assign(
    (value: unknown) => isOutput?.(value) === true ? Effect.succeed(value) : Effect.flatMap(first(value), next),
    {
      convert: (value: unknown) => Effect.flatMap(convertAlways(first, value), (output) => convertAlways(next, output)),
      isCostly: first.isCostly === true || next.isCostly === true,
      maxLength: first.maxLength ?? next.maxLength,
      makes
    }
  )
}

/** Converts a value whatever it looks like, since a value from a caller was never converted before. */
export const convertAlways = <A>(converter: Converter<A>, value: A): Effect.Effect<A> =>
  converter.convert === undefined ? converter(value) : converter.convert(value)

/** Whether the converter can produce the value; `undefined` if the converter does not declare its output. */
export const outputGuardOf = ({ makes }: Converter<unknown>): ((value: unknown) => boolean) | undefined =>
  makes === undefined ? undefined : SchemaParser.is(makes)

/**
 * Accepts the converter's output, as far as this can be tested synchronously. Without a declared output, a value counts
 * as converted if the converter returns it unchanged. An asynchronous converter is only tested before a write.
 */
export const convertedChecks = (converter: Converter<unknown>): SchemaAST.Checks => {
  const [check, ...others] = (converter.makes?.ast.checks ?? []).map((check) => check.annotate(annotations))
  return check !== undefined
    ? [check, ...others]
    : [Schema.makeFilter((value: unknown) => isConvertedAtOnce(converter, value), annotations)]
}

const annotations = { message: unconvertedMessage, [validatorAnnotation]: unconvertedEntry }

export const isConvertedCheck = (check: SchemaAST.Check<never>): boolean =>
  check.annotations?.[validatorAnnotation] === unconvertedEntry

const isConvertedAtOnce = (converter: Converter<unknown>, value: unknown): boolean => {
  const isOutput = outputGuardOf(converter)
  if (isOutput !== undefined) return isOutput(value)
  const output = converter(value)
  return !Exit.isExit(output) || Exit.isSuccess(output) && Equal.equals(output.value, value)
}

/** Whether the converter can produce the value. */
export const isConverted = (converter: Converter<unknown>, value: unknown): Effect.Effect<boolean> => {
  const isOutput = outputGuardOf(converter)
  return isOutput !== undefined
    ? Effect.succeed(isOutput(value))
    : Effect.mapEager(converter(value), (output) => Equal.equals(output, value))
}
